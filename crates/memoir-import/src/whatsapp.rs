//! WhatsApp's "Export chat": a text file with a line for each message.
//!
//! Android writes `31/12/23, 22:15 - Anna: text`, iOS `[31/12/2023, 22:15:30] Anna: text`. Dates follow the
//! phone's settings: day, month or year first, with slashes, dots or dashes, in 24-hour or 12-hour time. A
//! line without a date continues the previous message; a line with a date but no name was written by WhatsApp
//! itself.

use std::collections::BTreeMap;

use jiff::{civil, tz::TimeZone};
use memoir_core::{DraftMessage, Timestamp};

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    builder::{FILES, PROGRAM},
    drafts,
};

/// Order of the numbers in a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    /// 31/12/2023
    DayFirst,
    /// 12/31/2023
    MonthFirst,
    /// 2023-12-31
    YearFirst,
}

impl DateOrder {
    const fn name(self) -> &'static str {
        match self {
            Self::DayFirst => "with the day first",
            Self::MonthFirst => "with the month first",
            Self::YearFirst => "with the year first",
        }
    }

    fn date(self, [a, b, c]: [i16; 3]) -> Option<civil::Date> {
        let (year, month, day) = match self {
            Self::DayFirst => (c, b, a),
            Self::MonthFirst => (c, a, b),
            Self::YearFirst => (a, b, c),
        };
        let year = if year < 100 { year + 2000 } else { year };
        civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
    }
}

/// A message or a notice: a line that begins with a date, and the lines that continue it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ChatEntry {
    line: usize,
    /// The date as written in the file.
    date: String,
    /// The whole first line.
    raw: String,
    numbers: [i16; 3],
    time: civil::Time,
    author: Option<String>,
    text: String,
}

/// Placeholders for media that the export omits, in lower case.
const MEDIA: [&str; 16] = [
    "<media omitted>",
    "<medien ausgeschlossen>",
    "<multimedia omitido>",
    "<médias omis>",
    "<mídia oculta>",
    "<media weggelaten>",
    "<media omessi>",
    "image omitted",
    "video omitted",
    "audio omitted",
    "sticker omitted",
    "gif omitted",
    "document omitted",
    "contact card omitted",
    "video note omitted",
    "null",
];

const DELETED: [&str; 6] = [
    "this message was deleted",
    "you deleted this message",
    "diese nachricht wurde gelöscht",
    "du hast diese nachricht gelöscht",
    "se eliminó este mensaje",
    "ce message a été supprimé",
];

/// What WhatsApp appends to a message that was edited.
const EDITED: [&str; 2] = ["<This message was edited>", "<Diese Nachricht wurde bearbeitet.>"];

/// Left-to-right mark, which iOS puts in front of text written by WhatsApp. Right-to-left text of people
/// begins with other marks.
const PROGRAM_MARK: char = '\u{200e}';

/// Characters that control the text direction, and the byte order mark.
const MARKS: [char; 6] = ['\u{200e}', '\u{200f}', '\u{202a}', '\u{202c}', '\u{feff}', '\u{2068}'];

/// Reads a chat exported from WhatsApp. `chat` is the name of the chat. Without `order`, the date order is
/// inferred from the dates.
///
/// # Errors
///
/// Fails if the text has another format, or if its first date does not exist in the given order.
pub fn read_whatsapp(
    text: &str,
    chat: &str,
    zone: &TimeZone,
    order: Option<DateOrder>,
) -> Result<ImportedHistory, ImportError> {
    let mut entries: Vec<ChatEntry> = Vec::new();
    let mut leading_lines = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end_matches('\r');
        match (parse_entry(number, line), entries.last_mut()) {
            (Some(entry), _) => entries.push(entry),
            (None, Some(last)) => {
                last.text.push('\n');
                last.text.push_str(line.trim_matches(MARKS));
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => leading_lines += 1,
        }
    }
    if entries.is_empty() {
        return Err(ImportError::WrongFormat("a chat exported from WhatsApp as text"));
    }
    let order = order.unwrap_or_else(|| guess_order(&entries));
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    if leading_lines > 0 {
        counts.insert("lines before the first message", leading_lines);
    }
    let mut days: BTreeMap<civil::Date, Vec<DraftMessage>> = BTreeMap::new();
    for (date, entry) in date_entries(entries, order)? {
        let (Some(author), Some(text)) = (&entry.author, extract_text(&entry, &mut counts)) else { continue };
        // A time in the hour skipped by daylight saving is moved to the next hour.
        let Ok(zoned) = date.to_datetime(entry.time).to_zoned(zone.clone()) else { continue };
        let created = Timestamp::from_millis(zoned.timestamp().as_millisecond());
        days.entry(date).or_default().push(drafts::person(author, created, text));
    }
    let conversations =
        days.into_iter().map(|(date, messages)| build_conversation(chat, date, messages)).collect();
    Ok(ImportedHistory { conversations, skipped: counts.into_iter().collect() })
}

/// Adds the parsed date to each entry. An entry whose date does not exist is assumed to be pasted text and is
/// appended to the previous message.
fn date_entries(
    entries: Vec<ChatEntry>,
    order: DateOrder,
) -> Result<Vec<(civil::Date, ChatEntry)>, ImportError> {
    let mut dated: Vec<(civil::Date, ChatEntry)> = Vec::with_capacity(entries.len());
    for entry in entries {
        match (order.date(entry.numbers), dated.last_mut()) {
            (Some(date), _) => dated.push((date, entry)),
            (None, Some((_, previous))) => {
                previous.text.push('\n');
                previous.text.push_str(&entry.raw);
                if let Some((_, rest)) = entry.text.split_once('\n') {
                    previous.text.push('\n');
                    previous.text.push_str(rest);
                }
            }
            (None, None) => {
                return Err(ImportError::Date { line: entry.line, text: entry.date, order: order.name() });
            }
        }
    }
    Ok(dated)
}

fn build_conversation(chat: &str, date: civil::Date, messages: Vec<DraftMessage>) -> ImportedConversation {
    ImportedConversation {
        title: format!("{chat}, {date}"),
        origin: format!("whatsapp/{date}/"),
        name: chat.to_owned(),
        scope: "whatsapp".into(),
        model: UNKNOWN_MODEL.into(),
        has_times: true,
        is_open: false,
        messages,
    }
}

/// Returns the text of an entry, or `None` if no person wrote it or it has no text.
fn extract_text(entry: &ChatEntry, counts: &mut BTreeMap<&'static str, u64>) -> Option<String> {
    let mut skip = |kind| {
        *counts.entry(kind).or_default() += 1;
        None
    };
    if entry.author.is_none() {
        return skip(PROGRAM);
    }
    let is_by_program = entry.text.starts_with(PROGRAM_MARK);
    let text = entry.text.trim_matches(MARKS).trim();
    let lower = text.to_lowercase();
    let lower = lower.trim_end_matches('.');
    if DELETED.contains(&lower) {
        return skip("deleted messages");
    }
    if MEDIA.contains(&lower) || lower.is_empty() {
        return skip(FILES);
    }
    // The lines below the name of a file are its caption.
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let first = first.trim_matches(MARKS);
    let is_file_name = first.ends_with("(file attached)")
        || first.ends_with("(Datei angehängt)")
        || (first.starts_with('<') && first.ends_with('>') && first.contains(": "));
    if is_file_name {
        return match rest.trim() {
            "" => skip(FILES),
            caption => Some(caption.to_owned()),
        };
    }
    if is_by_program {
        return match lower.ends_with(" omitted") {
            true => skip(FILES),
            false => skip(PROGRAM),
        };
    }
    let original =
        EDITED.iter().find_map(|mark| text.strip_suffix(mark)).unwrap_or(text).trim_end_matches(MARKS);
    Some(original.trim_end().to_owned())
}

pub(crate) fn starts_message(line: &str) -> bool {
    parse_entry(0, line).is_some()
}

/// Parses a line that begins with a date and a time.
fn parse_entry(line: usize, text_line: &str) -> Option<ChatEntry> {
    let text = text_line.trim_start_matches(MARKS);
    let (when, rest) = match text.strip_prefix('[') {
        Some(inner) => inner.split_once("] ").or_else(|| Some((inner.strip_suffix(']')?, "")))?,
        None => text.split_once(" - ")?,
    };
    let (date, time) = when.split_once(", ").or_else(|| when.split_once(' '))?;
    let numbers = parse_numbers(date)?;
    let time = parse_time(time)?;
    // Names are short and contain no quotation marks; notices by WhatsApp quote text.
    let name_and_text = rest
        .split_once(": ")
        .or_else(|| Some((rest.strip_suffix(':')?, "")))
        .filter(|(name, _)| name.chars().count() <= 60 && !name.contains(['"', '“', '„', '«']));
    let (author, text) = match name_and_text {
        Some((name, text)) => {
            (Some(name.trim_matches(MARKS).trim_start_matches("~").trim().to_owned()), text)
        }
        None => (None, rest),
    };
    Some(ChatEntry {
        line,
        date: date.to_owned(),
        raw: text_line.to_owned(),
        numbers,
        time,
        author,
        text: text.to_owned(),
    })
}

/// Parses the three numbers of a date.
fn parse_numbers(date: &str) -> Option<[i16; 3]> {
    let separator = date.chars().find(|character| !character.is_ascii_digit())?;
    if !['/', '.', '-'].contains(&separator) {
        return None;
    }
    let numbers: Vec<i16> = date
        .trim_end_matches(separator)
        .split(separator)
        .map(|number| number.trim().parse().ok())
        .collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Parses times such as 22:15, 22.15, 10:15 PM and 10:15:30 p.m.
fn parse_time(text: &str) -> Option<civil::Time> {
    let text = text.replace(['\u{202f}', '\u{a0}'], " ").to_lowercase();
    let (clock, half) = match text.trim().split_once(' ') {
        Some((clock, half)) => (clock.to_owned(), Some(half.replace(['.', ' '], ""))),
        None => match text
            .trim()
            .strip_suffix("am")
            .map(|clock| (clock, "am"))
            .or_else(|| text.trim().strip_suffix("pm").map(|clock| (clock, "pm")))
        {
            Some((clock, half)) => (clock.to_owned(), Some(half.to_owned())),
            None => (text.trim().to_owned(), None),
        },
    };
    let parts: Vec<i8> = clock.split([':', '.']).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] => (*hour, *minute, 0),
        [hour, minute, second] => (*hour, *minute, *second),
        _ => return None,
    };
    let hour = match half.as_deref() {
        None => hour,
        Some("am") => hour % 12,
        Some("pm") => hour % 12 + 12,
        Some(_) => return None,
    };
    civil::Time::new(hour, minute, second, 0).ok()
}

/// Returns the order in which the most dates exist and follow each other closely. Prefers the day first.
fn guess_order(entries: &[ChatEntry]) -> DateOrder {
    let orders = [DateOrder::DayFirst, DateOrder::MonthFirst, DateOrder::YearFirst];
    let penalty = |order: DateOrder| {
        let dates: Vec<Option<civil::Date>> = entries.iter().map(|entry| order.date(entry.numbers)).collect();
        let invalid_count = dates.iter().filter(|date| date.is_none()).count();
        let valid: Vec<civil::Date> = dates.into_iter().flatten().collect();
        // In the wrong order, consecutive dates jump back and forth by months.
        let backward_steps = valid.windows(2).filter(|pair| pair[1] < pair[0]).count();
        let total_days: i64 =
            valid.windows(2).map(|pair| i64::from((pair[1] - pair[0]).get_days().abs())).sum();
        (invalid_count, backward_steps, total_days)
    };
    orders.into_iter().min_by_key(|order| penalty(*order)).unwrap_or(DateOrder::DayFirst)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn read(text: &str) -> ImportedHistory {
        read_whatsapp(text, "Anna", &TimeZone::UTC, None).unwrap()
    }

    fn read_messages(history: &ImportedHistory) -> Vec<(String, String, String)> {
        let messages = history.conversations.iter().flat_map(|conversation| &conversation.messages);
        messages
            .map(|message| {
                let author = message.author.clone().unwrap_or_default();
                (message.created.format_minute(&TimeZone::UTC), author, message.body.text().to_owned())
            })
            .collect()
    }

    fn line(time: &str, author: &str, text: &str) -> (String, String, String) {
        (time.into(), author.into(), text.into())
    }

    #[test]
    fn exports_from_android_and_ios_are_read() {
        let android = "31/12/2023, 22:15 - Messages and calls are end-to-end encrypted. Tap to learn more.\n\
            31/12/2023, 22:15 - Anna: Happy new year!\nto all of you: \n\n- and yours\n\
            01/01/2024, 00:01 - Ben B.: <Media omitted>\n\
            01/01/2024, 00:02 - Ben B.: You too\n";
        let ios = "\u{feff}[31/12/2023, 22:15:07] Group: \u{200e}Messages and calls are end-to-end encrypted.\r\n\
            [31/12/2023, 22:15:09] Anna: Happy new year!\r\nto all of you: \r\n\r\n- and yours\r\n\
            \u{200e}[01/01/2024, 00:01:00] Ben B.: \u{200e}image omitted\r\n\
            [01/01/2024, 00:02:30] ~ Ben B.: You too\r\n";
        for export in [android, ios] {
            let history = read(export);
            assert_eq!(
                read_messages(&history),
                [
                    line("2023-12-31 22:15", "Anna", "Happy new year!\nto all of you: \n\n- and yours"),
                    line("2024-01-01 00:02", "Ben B.", "You too"),
                ],
                "{export}"
            );
            let titles: Vec<&str> =
                history.conversations.iter().map(|conversation| conversation.title.as_str()).collect();
            assert_eq!(titles, ["Anna, 2023-12-31", "Anna, 2024-01-01"], "one conversation per day");
            assert_eq!(
                history.skipped,
                [("lines written by the program", 1), ("pictures, recordings and other files", 1)]
            );
        }
    }

    #[test]
    fn date_order_is_inferred_from_the_dates() {
        let american =
            "1/2/24, 10:15\u{202f}PM - Anna: a\n1/13/24, 9:05 AM - Anna: b\n2/1/24, 12:00 PM - Anna: c\n";
        let days: Vec<String> = read_messages(&read(american)).into_iter().map(|(time, ..)| time).collect();
        assert_eq!(days, ["2024-01-02 22:15", "2024-01-13 09:05", "2024-02-01 12:00"]);
        // No number is above 12, but with the day first the dates would jump by months.
        let close = "3/1/24, 08:00 - Anna: a\n3/2/24, 08:00 - Anna: b\n3/3/24, 08:00 - Anna: c\n";
        assert_eq!(read_messages(&read(close))[1].0, "2024-03-02 08:00");
        let german = "03.01.24, 08:00 - Anna: a\n05.01.24, 08:00 - Anna: b\n";
        assert_eq!(read_messages(&read(german))[1].0, "2024-01-05 08:00");
        let iso = "2024-01-03, 8.30 p.m. - Anna: a\n";
        assert_eq!(read_messages(&read(iso))[0].0, "2024-01-03 20:30");
        let month_first =
            read_whatsapp("3/2/24, 08:00 - Anna: a\n", "x", &TimeZone::UTC, Some(DateOrder::MonthFirst))
                .unwrap();
        assert_eq!(read_messages(&month_first)[0].0, "2024-03-02 08:00");
        let wrong =
            read_whatsapp("31/2/24, 08:00 - Anna: a\n", "x", &TimeZone::UTC, Some(DateOrder::DayFirst));
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "line 1: \"31/2/24\" is not a valid date with the day first"
        );
    }

    #[test]
    fn entries_without_text_are_skipped_and_counted() {
        let text = "1/1/24, 08:00 - Anna: This message was deleted\n\
            1/1/24, 08:01 - Anna: IMG-20240101-WA0001.jpg (file attached)\nOur new kitchen\n\
            1/1/24, 08:02 - Ben: \u{200e}<attached: 00000012-AUDIO.opus>\n\
            1/1/24, 08:03 - Anna changed the subject from \"a: b\" to \"c: d\"\n\
            1/1/24, 08:04 - Ben added Carl\n\
            1/1/24, 08:05 - Ben: Lovely. <This message was edited>\n";
        let history = read(text);
        assert_eq!(
            read_messages(&history),
            [line("2024-01-01 08:01", "Anna", "Our new kitchen"), line("2024-01-01 08:05", "Ben", "Lovely.")]
        );
        assert_eq!(
            history.skipped,
            [
                ("deleted messages", 1),
                ("lines written by the program", 2),
                ("pictures, recordings and other files", 1)
            ]
        );
    }

    #[test]
    fn other_formats_are_rejected() {
        for other in ["", "Dear diary,\n\ntoday: nothing - really.", "{\"a\": 1}", "[note] Anna: hello"] {
            let result = read_whatsapp(other, "x", &TimeZone::UTC, None);
            assert!(matches!(result, Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }

    #[test]
    fn pasted_and_right_to_left_text_is_preserved() {
        let text = "13/1/24, 08:00 - Anna: Look:\n12/31/2023, 10:15 - Bob: hi\nfunny\n\
            14/1/24, 08:00 - Anna: \u{200f}\u{5e9}\u{5dc}\u{5d5}\u{5dd}\n\
            14/1/24, 08:01 - Anna: \u{202a}+49 151 2345678\u{202c} call him\n";
        let messages = read_messages(&read(text));
        assert_eq!(messages[0].2, "Look:\n12/31/2023, 10:15 - Bob: hi\nfunny");
        assert_eq!(messages[1].2, "\u{5e9}\u{5dc}\u{5d5}\u{5dd}");
        assert!(messages[2].2.ends_with("call him"), "{:?}", messages[2]);
    }
}
