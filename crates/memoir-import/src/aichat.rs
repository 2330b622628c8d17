//! aichat's history: a YAML file for each session, and `messages.md` with the prompts outside of sessions.
//!
//! Sessions have no times. The prompts in `messages.md` do not form conversations, so each is one.

use std::path::Path;

use jiff::{civil, tz::TimeZone};
use memoir_core::{DraftMessage, Timestamp};
use serde_json::Value;

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    builder::{
        BAD_CONVERSATIONS, BAD_MESSAGES, EMPTY, FILES, HistoryBuilder, SYSTEM, THOUGHTS, TOOLS, choose_title,
        short_hash,
    },
    drafts,
    json::strip_bom,
    markup, yaml,
};

/// Line between a prompt and its answer, and after the answer.
const SEPARATOR: &str = "--------";

/// Returns the name of a session from the path of its file: its part below `sessions`, without the extension. The
/// sessions of an agent start with its name.
pub fn aichat_session_name(file: &Path) -> String {
    let parts: Vec<String> =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let Some(index) = parts.iter().rposition(|part| part == "sessions") else {
        return parts.last().cloned().unwrap_or_default();
    };
    let agent =
        index.checked_sub(2).filter(|agents| parts[*agents] == "agents").map(|agents| &parts[agents + 1]);
    agent.into_iter().chain(&parts[index + 1..]).cloned().collect::<Vec<_>>().join("/")
}

/// Reads a session, or `messages.md`. `name` is the name of the session, and `modified` the time when the file was
/// written.
///
/// # Errors
///
/// Fails if the text has another format.
pub fn read_aichat(
    text: &str,
    name: &str,
    modified: Timestamp,
    zone: &TimeZone,
) -> Result<ImportedHistory, ImportError> {
    match strip_bom(text).trim_start().starts_with("# CHAT:") {
        true => read_messages(text),
        false => read_session(text, name, modified, zone),
    }
}

fn read_session(
    text: &str,
    name: &str,
    modified: Timestamp,
    zone: &TimeZone,
) -> Result<ImportedHistory, ImportError> {
    const WRONG_FORMAT: ImportError = ImportError::WrongFormat("an aichat session");
    let session = yaml::to_json(strip_bom(text)).ok_or(WRONG_FORMAT)?;
    let model = session.get("model").and_then(Value::as_str).ok_or(WRONG_FORMAT)?;
    let list = |field: &str| session.get(field).and_then(Value::as_array);
    let lists = [list("compressed_messages"), list("messages")];
    if lists.iter().all(Option::is_none) {
        return Err(WRONG_FORMAT);
    }
    let mut history = HistoryBuilder::default();
    let file_name = name.rsplit('/').next().unwrap_or(name);
    let (time, topic) = split_time(file_name, zone);
    let created = time.unwrap_or(modified);
    let stored = lists.into_iter().flatten().flatten();
    let messages: Vec<DraftMessage> =
        stored.filter_map(|message| read_message(message, created, &mut history)).collect();
    let title = topic.replace('-', " ");
    history.add(ImportedConversation {
        title: choose_title(Some(if time.is_some() { &title } else { file_name }), &messages),
        origin: format!("aichat/sessions/{name}"),
        name: String::new(),
        scope: "aichat".into(),
        model: if model.is_empty() { UNKNOWN_MODEL } else { model }.into(),
        has_times: false,
        is_open: false,
        messages,
    });
    Ok(history.finish())
}

/// Splits the file name of an automatically saved session, such as `20250511T083000-tomato-beds`.
fn split_time<'a>(file_name: &'a str, zone: &TimeZone) -> (Option<Timestamp>, &'a str) {
    let (time, topic) = file_name.split_once('-').unwrap_or((file_name, ""));
    let zoned = civil::DateTime::strptime("%Y%m%dT%H%M%S", time).and_then(|time| time.to_zoned(zone.clone()));
    match zoned {
        Ok(zoned) => (Some(Timestamp::from_millis(zoned.timestamp().as_millisecond())), topic),
        Err(_) => (None, file_name),
    }
}

fn read_message(message: &Value, created: Timestamp, history: &mut HistoryBuilder) -> Option<DraftMessage> {
    let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
    let content = message.get("content");
    match role {
        "user" | "assistant" => {}
        "system" => {
            history.skip(SYSTEM);
            return None;
        }
        "tool" => {
            let results = content.and_then(|content| content.get("tool_results")?.as_array());
            history.skip_many(TOOLS, results.map_or(1, |results| results.len().max(1)));
            return None;
        }
        _ => {
            history.skip(BAD_MESSAGES);
            return None;
        }
    }
    let text = match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| part.get("text")?.as_str().map(str::to_owned);
            let texts: Vec<String> = parts.iter().filter_map(text).collect();
            history.skip_many(FILES, parts.len() - texts.len());
            texts.join("\n\n")
        }
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let (text, has_thoughts) = markup::strip_thoughts(&text);
    history.skip_many(THOUGHTS, usize::from(has_thoughts));
    if text.is_empty() {
        history.skip(EMPTY);
        return None;
    }
    Some(if role == "user" { drafts::user(created, text) } else { drafts::assistant(created, text) })
}

fn read_messages(text: &str) -> Result<ImportedHistory, ImportError> {
    let lines: Vec<&str> = strip_bom(text).lines().collect();
    let is_start = |index: usize| {
        index == 0 || (lines[index - 1].is_empty() && (index == 1 || lines[index - 2] == SEPARATOR))
    };
    let headers: Vec<(usize, Header<'_>)> = lines
        .iter()
        .enumerate()
        .filter(|(index, _)| is_start(*index))
        .filter_map(|(index, line)| Some((index, parse_header(line)?)))
        .collect();
    if headers.is_empty() {
        return Err(ImportError::WrongFormat("the messages.md of aichat"));
    }
    let mut history = HistoryBuilder::default();
    let ends = headers.iter().skip(1).map(|(index, _)| *index).chain([lines.len()]);
    for ((start, header), end) in headers.iter().zip(ends) {
        match split_entry(&lines[start + 1..end], header.summary) {
            Some(entry) => add_entry(&entry, header.created, &mut history),
            None => history.skip(BAD_CONVERSATIONS),
        }
    }
    Ok(history.finish())
}

pub(crate) fn starts_entry(line: &str) -> bool {
    parse_header(line).is_some()
}

struct Header<'a> {
    /// Beginning of the prompt on one line. Empty in older versions.
    summary: &'a str,
    created: Timestamp,
}

/// Parses a line such as `# CHAT: How are you? [2025-05-11T08:30:00+02:00] (role)`.
fn parse_header(line: &str) -> Option<Header<'_>> {
    let rest = line.strip_prefix("# CHAT:")?;
    let (rest, scope) = rest.rsplit_once(']')?;
    let (summary, time) = rest.rsplit_once('[')?;
    let has_scope = scope.is_empty() || (scope.starts_with(" (") && scope.ends_with(')'));
    Some(Header { summary: summary.trim(), created: Timestamp::parse(time).filter(|_| has_scope)? })
}

struct Entry {
    prompt: String,
    answer: String,
}

/// Maximum number of separators that are tried as the end of a prompt.
const MAX_SEPARATORS: usize = 50;

/// Splits an entry into its prompt and answer. Both may contain separators, so the end of the prompt is the first
/// separator for which the prompt has the header's summary.
fn split_entry(lines: &[&str], summary: &str) -> Option<Entry> {
    let end = lines.iter().rposition(|line| *line == SEPARATOR)?;
    let separators: Vec<usize> = (0..end).filter(|index| lines[*index] == SEPARATOR).collect();
    let has_summary = |index: &&usize| {
        let prompt = lines[..**index].join(" ").replace(char::is_control, " ");
        match summary.strip_suffix("...") {
            Some(beginning) => prompt.trim().starts_with(beginning.trim_end()),
            None => prompt.trim() == summary,
        }
    };
    let candidates = separators.iter().take(if summary.is_empty() { 0 } else { MAX_SEPARATORS });
    let split = *candidates.into_iter().find(has_summary).or(separators.first())?;
    Some(Entry { prompt: lines[..split].join("\n"), answer: lines[split + 1..end].join("\n") })
}

fn add_entry(entry: &Entry, created: Timestamp, history: &mut HistoryBuilder) {
    let file_prompt = entry.prompt.strip_prefix(".file ").and_then(|rest| rest.split_once(" -- "));
    history.skip_many(FILES, usize::from(file_prompt.is_some()));
    let prompt = file_prompt.map_or(entry.prompt.as_str(), |(_, text)| text).trim();
    let (answer, call_count) = match entry.answer.starts_with("<tool_calls>\n") {
        true => markup::remove_blocks(&entry.answer, "<tool_calls>\n", "\n</tool_calls>"),
        false => (entry.answer.clone(), 0),
    };
    history.skip_many(TOOLS, call_count);
    let (answer, has_thoughts) = markup::strip_thoughts(&answer);
    history.skip_many(THOUGHTS, usize::from(has_thoughts));
    let mut messages = Vec::new();
    if !prompt.is_empty() {
        messages.push(drafts::user(created, prompt));
    }
    if !answer.is_empty() {
        messages.push(drafts::assistant(created, answer));
    }
    history.add(ImportedConversation {
        title: choose_title(None, &messages),
        origin: format!("aichat/messages/{created}/{}", short_hash(&entry.prompt)),
        name: String::new(),
        scope: "aichat".into(),
        model: UNKNOWN_MODEL.into(),
        has_times: true,
        is_open: false,
        messages,
    });
}

/// Returns the beginning of a hash, which distinguishes prompts of the same second.
#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn names_of_sessions_are_relative_to_their_directory() {
        for (file, name) in [
            ("/c/aichat/sessions/garden.yaml", "garden"),
            ("/c/aichat/sessions/_/20250514T190501-bread.yaml", "_/20250514T190501-bread"),
            ("/c/aichat/agents/cook/sessions/x.yaml", "cook/x"),
            ("x.yaml", "x"),
        ] {
            assert_eq!(aichat_session_name(Path::new(file)), name);
        }
    }

    #[test]
    fn separators_and_headers_inside_an_entry_do_not_split_it() {
        let text = "# CHAT: One -------- two [2025-05-11T08:30:00+02:00]\nOne\n--------\ntwo\n--------\n\
            An example:\n# CHAT: x [2025-05-11T08:30:00+02:00]\n--------\nDone.\n--------\n\n";
        let history = read_messages(text).unwrap();
        let texts: Vec<&str> =
            history.conversations[0].messages.iter().map(|message| message.body.text()).collect();
        assert_eq!(
            texts,
            ["One\n--------\ntwo", "An example:\n# CHAT: x [2025-05-11T08:30:00+02:00]\n--------\nDone."]
        );
    }

    #[test]
    fn other_formats_are_rejected() {
        for other in
            ["", "model: x\n", "- a\n- b\n", "messages: text\n", "{", "\u{0}", "# CHAT: x [yesterday]\n"]
        {
            let result = read_aichat(other, "x", Timestamp::from_millis(0), &TimeZone::UTC);
            assert!(matches!(result, Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }
}
