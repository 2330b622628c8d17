//! What is sent in the place of what has left the window: a summary, and the user's standing instructions word by word.

use std::collections::{HashMap, HashSet};

use memoir_core::{Digest, telling_words, without_fence};
use memoir_models::ChatMessage;

use super::{cut, fragment::tokens, window::PastExchange};

/// How much of a prompt and of an answer a line of an extract quotes, in characters.
const QUOTED: usize = 140;

/// A longer message is likely something that was pasted: what it says is not what the user wants.
const LONGEST_PROMPT: usize = 800;

/// A longer sentence is no instruction.
const LONGEST_INSTRUCTION: usize = 300;

/// So many instructions are kept word by word; beyond, the oldest give way.
const MOST_INSTRUCTIONS: usize = 40;

/// The section of the system prompt, of at most so many tokens. The instructions come first, the latest of them if not all
/// fit; what they leave is the summary's.
pub(crate) fn section(digest: &Digest, most: u64) -> String {
    let mut left = most.saturating_sub(FRAMES);
    let mut kept: Vec<String> = Vec::new();
    let mut for_pinned = left * 2 / 3;
    for instruction in digest.pinned.iter().rev() {
        let line = format!("\n- {}", without_fence(instruction, "memory"));
        if tokens(&line) <= for_pinned {
            for_pinned -= tokens(&line);
            left -= tokens(&line);
            kept.push(line);
        }
    }
    let summary = extract(&memoir_recall::inside_fence(digest.summary.trim()), &[], left);
    let mut parts = Vec::new();
    if !summary.is_empty() {
        parts.push(format!("# Earlier in this conversation, in short\n\n<memory>\n{summary}\n</memory>"));
    }
    if !kept.is_empty() {
        kept.reverse();
        let title = "# What the user asked for earlier in this conversation, word by word; it still holds\n";
        parts.push(format!("{title}{}", kept.concat()));
    }
    parts.join("\n\n")
}

/// What the frames of both parts take.
const FRAMES: u64 = 48;

/// The digest after `left` has left the window too. A summary that was made ahead for just this is taken; otherwise one
/// is made of what was said.
pub(crate) fn moved(before: Option<&Digest>, left: &[PastExchange], most: u64) -> Option<Digest> {
    let through = left.last()?.id;
    let prepared = before.and_then(|digest| digest.prepared.as_ref());
    let summary = match prepared.filter(|prepared| prepared.through == through) {
        Some(prepared) => cut::from_start(prepared.summary.trim(), most),
        None => extract(before.map_or("", |digest| &digest.summary), left, most),
    };
    let mut pinned = before.map(|digest| digest.pinned.clone()).unwrap_or_default();
    for instruction in instructions(left) {
        // Said again, it is the later that counts.
        pinned.retain(|known| !known.eq_ignore_ascii_case(&instruction));
        pinned.push(instruction);
    }
    pinned.drain(..pinned.len().saturating_sub(MOST_INSTRUCTIONS));
    Some(Digest { through, summary, pinned, prepared: None, wanted: None })
}

/// A summary made of quotations: of every exchange one line, and of these the most telling that fit.
pub(crate) fn extract(before: &str, left: &[PastExchange], most: u64) -> String {
    let (mut lines, prose): (Vec<String>, Vec<String>) = before
        .lines()
        .map(str::to_owned)
        .filter(|line| !line.trim().is_empty())
        .partition(|line| line.starts_with("- "));
    lines.extend(left.iter().filter_map(line));
    // A window that grew back leaves the same again.
    let mut seen = HashSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    // What a model wrote stays as it is; beside lines, at half of the room.
    let prose = cut::beginning(&prose.join("\n"), if lines.is_empty() { most } else { most / 2 }).to_owned();
    let words: Vec<Vec<String>> = lines.iter().map(|line| telling_words(line)).collect();
    let mut frequency: HashMap<&str, f64> = HashMap::new();
    words.iter().flatten().for_each(|word| *frequency.entry(word).or_default() += 1.0);
    let count = lines.len().max(1) as f64;
    let worth = |index: usize| {
        let rare: f64 = words[index].iter().map(|word| 1.0 / frequency[word.as_str()]).sum();
        rare * (1.0 + index as f64 / count)
    };
    let mut best: Vec<usize> = (0..lines.len()).collect();
    best.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)));
    let mut room = most.saturating_sub(tokens(&prose));
    let mut kept: HashSet<usize> = HashSet::new();
    for index in best {
        let needed = tokens(&lines[index]);
        if needed > room {
            break;
        }
        room -= needed;
        kept.insert(index);
    }
    let lines =
        lines.iter().enumerate().filter(|(index, _)| kept.contains(index)).map(|(_, line)| line.as_str());
    [prose.as_str()].into_iter().filter(|prose| !prose.is_empty()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// An exchange in one line; thanks and greetings are not worth one.
fn line(exchange: &PastExchange) -> Option<String> {
    let asked = said_by_user(exchange).next().unwrap_or_default();
    let answered = exchange.messages.iter().rev().find_map(|message| match message {
        ChatMessage::Assistant { text, .. } => Some(text.as_str()),
        _ => None,
    });
    (telling_words(asked).len() > 2)
        .then(|| format!("- user: {} / assistant: {}", quoted(asked), quoted(answered.unwrap_or_default())))
}

fn said_by_user(exchange: &PastExchange) -> impl Iterator<Item = &str> {
    exchange.messages.iter().filter_map(|message| match message {
        ChatMessage::User(text) => Some(text.as_str()),
        _ => None,
    })
}

/// The beginning of a text in one line.
fn quoted(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What the user wants always done, or never, word by word.
fn instructions(exchanges: &[PastExchange]) -> Vec<String> {
    // What others said in talk that was brought in is not the user's wish.
    let asked = exchanges.iter().flat_map(|exchange| exchange.asked.iter().map(String::as_str));
    let prompts = asked.filter(|text| text.len() <= LONGEST_PROMPT);
    prompts.flat_map(sentences).filter(|sentence| is_instruction(sentence)).collect()
}

/// The sentences of a prompt, without what is quoted, code, or a file that went along.
fn sentences(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut in_file = false;
    let mut sentences = Vec::new();
    for line in text.lines() {
        if in_file || line.starts_with("<file path=\"") {
            in_file = line != "</file>";
        } else if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && !line.trim_start().starts_with('>') {
            let mut sentence = String::new();
            for part in line.split_inclusive(['.', '!', '?', ';']) {
                sentence.push_str(part);
                // "e.g." and "3.5" end nothing.
                let ends = part.ends_with(['!', '?', ';'])
                    || (part.ends_with('.')
                        && part
                            .trim_end_matches('.')
                            .split(' ')
                            .next_back()
                            .is_some_and(|last| last.len() > 1));
                if ends {
                    sentences.push(std::mem::take(&mut sentence).trim().to_owned());
                }
            }
            sentences.push(sentence.trim().to_owned());
        }
    }
    sentences
}

/// How sentences begin that tell what to do from now on.
const OPENINGS: [&str; 20] = [
    "always ",
    "never ",
    "please always ",
    "please never ",
    "don't ever ",
    "do not ever ",
    "don't use ",
    "do not use ",
    "please don't use ",
    "stop using ",
    "keep your answers ",
    "keep answers ",
    "in future, ",
    "in the future, ",
    "for the rest of this ",
    "answer in ",
    "reply in ",
    "respond in ",
    "please answer in ",
    "please reply in ",
];

/// Words after which "always" and "never" tell someone what to do, not what someone does.
const TELLING: [&str; 5] = ["please", "should", "must", "shall", "to"];

/// What follows "never" when someone tells what happened.
const PAST: [&str; 12] =
    ["mind", "got", "saw", "seen", "had", "was", "been", "came", "went", "did", "knew", "heard"];

fn is_instruction(sentence: &str) -> bool {
    if sentence.is_empty() || sentence.ends_with('?') || sentence.chars().count() > LONGEST_INSTRUCTION {
        return false;
    }
    let lower = sentence.to_lowercase().replace('\u{2019}', "'");
    if lower.contains("from now on") || calls_by_name(sentence) {
        return true;
    }
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let told = |place: usize| {
        let next = words.get(place + 1).copied().unwrap_or_default();
        // "Always crashes", "never worked": that is what happens.
        let happens =
            (next.ends_with('s') && !next.ends_with("ss")) || next.ends_with("ed") || PAST.contains(&next);
        matches!(words[place], "always" | "never") && !happens
    };
    match OPENINGS.iter().find(|opening| lower.starts_with(**opening)) {
        Some(opening) if opening.ends_with("always ") || opening.ends_with("never ") => {
            (0..2.min(words.len())).any(told)
        }
        Some(_) => true,
        None => (1..words.len()).any(|place| told(place) && TELLING.contains(&words[place - 1])),
    }
}

/// "Call me Kim", but not "call me when it is done".
fn calls_by_name(sentence: &str) -> bool {
    let rest = sentence.strip_prefix("Please call me ").or_else(|| sentence.strip_prefix("Call me "));
    rest.is_some_and(|rest| rest.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use memoir_core::{ExchangeId, Prepared, count_tokens};

    use super::*;

    fn exchange(id: i64, asked: &str, answered: &str) -> PastExchange {
        let messages = vec![
            ChatMessage::User(asked.into()),
            ChatMessage::Assistant { text: answered.into(), tool_calls: Vec::new(), replay: None },
        ];
        PastExchange {
            id: ExchangeId::new(id),
            messages,
            asked: vec![asked.into()],
            by_others: false,
            tokens: 10,
        }
    }

    #[test]
    fn instructions_are_told_from_talk() {
        for instruction in [
            "Always answer in metric units.",
            "Please never use emoji!",
            "From now on, call me Kim.",
            "I want you to always show the command first.",
            "You should never touch main.rs, e.g. by renaming it.",
            "Answer in French",
            "Call me Ishmael.",
            "Don't use emoji.",
            "Keep your answers short.",
        ] {
            assert_eq!(
                instructions(&[exchange(1, &format!("Hi. {instruction} Thanks."), "ok")]).len(),
                1,
                "{instruction}"
            );
        }
        for talk in [
            "I always forget my keys.",
            "She never said so.",
            "Should I always use tabs?",
            "Tell me about Paris.",
            "> Always obey the quoted.",
            "```\nalways = true\nNever mind the code.\n```",
            "It is never late.",
            "Never mind, I found it.",
            "Always crashes on startup.",
            "I clicked and never got a response.",
            "I can never remember the syntax.",
            "Call me when the build is done.",
            "Never worked for me.",
        ] {
            assert_eq!(instructions(&[exchange(1, talk, "ok")]), [""; 0], "{talk}");
        }
        // Word by word, and only what was asked for.
        let said = "The trip was fine. From now on use 24-hour times, e.g. 14:30. What else?";
        assert_eq!(instructions(&[exchange(1, said, "ok")]), ["From now on use 24-hour times, e.g. 14:30."]);
    }

    #[test]
    fn an_extract_keeps_what_tells_most_in_order_and_fits() {
        let mut left: Vec<PastExchange> = (1..200)
            .map(|id| exchange(id, &format!("Tell me more about number {id} please"), "Here is more."))
            .collect();
        left.insert(
            50,
            exchange(500, "The boiler in Lisbon was repaired by Olaf from Nordheat", "Noted: Olaf, Lisbon."),
        );
        left.push(exchange(501, "thanks", "You are welcome."));
        let text =
            extract("- user: my cat Miso swallowed a marble yesterday / assistant: call the vet", &left, 300);
        assert!(text.starts_with("- user: my cat Miso") && text.contains("Olaf from Nordheat"), "{text}");
        assert!(!text.contains("thanks") && count_tokens(&text) <= 300, "{text}");
        // What a model wrote stays.
        let text = extract("They planned a trip to Japan.", &left, 300);
        assert!(text.starts_with("They planned a trip to Japan.\n- user:"), "{text}");
    }

    #[test]
    fn a_summary_that_was_made_ahead_is_taken_when_it_fits() {
        let before = Digest {
            through: ExchangeId::new(1),
            summary: "one".into(),
            pinned: vec!["Never shout.".into(), "Answer in French.".into()],
            prepared: Some(Prepared { through: ExchangeId::new(3), summary: "made ahead".into() }),
            wanted: None,
        };
        let left = [exchange(2, "Never shout.", "ok"), exchange(3, "The boiler was repaired by Olaf", "ok")];
        let digest = moved(Some(&before), &left, 300);
        let expected = Digest {
            through: ExchangeId::new(3),
            summary: "made ahead".into(),
            pinned: vec!["Answer in French.".into(), "Never shout.".into()],
            prepared: None,
            wanted: None,
        };
        assert_eq!(digest, Some(expected));
        let elsewhere = moved(Some(&before), &left[..1], 300).map(|digest| digest.summary);
        assert_ne!(elsewhere.as_deref(), Some("made ahead"));
        assert_eq!(moved(Some(&before), &[], 300), None);
    }

    #[test]
    fn the_section_fits_and_keeps_the_latest_instructions() {
        let digest = Digest {
            through: ExchangeId::new(1),
            summary: "word </memory> ".repeat(500),
            pinned: (0..40).map(|n| format!("Always do number {n} first.")).collect(),
            prepared: None,
            wanted: None,
        };
        let text = section(&digest, 300);
        assert!(count_tokens(&text) <= 300, "{}", count_tokens(&text));
        assert!(text.contains("- Always do number 39 first.") && !text.contains("number 0 first"), "{text}");
        // Lines of a summary that does not fit give way by what they tell, not from one end.
        let lines = (0..60).map(|n| format!("- user: something about topic {n} / assistant: ok\n")).collect();
        let digest = Digest { summary: lines, pinned: vec!["Use Vec<String>. </memory>".into()], ..digest };
        let text = section(&digest, 300);
        assert!(text.contains("topic 59") && count_tokens(&text) <= 300, "{text}");
        assert!(text.ends_with("- Use Vec<String>. ‹/memory>"), "{text}");
        assert_eq!(text.matches("</memory>").count(), 1);
        assert_eq!(section(&digest, 30), "");
    }
}
