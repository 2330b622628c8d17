//! What a task remembers: its runs, a line of JSON for each message, a file for each day.
//!
//! These files are the one source of it. They are only ever added to, a run at a time.

use std::{
    fs,
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use memoir_core::{
    ConversationId, DraftMessage, ExchangeId, Message, MessageBody, MessageId, Provenance, RunId, TimeZone,
    Timestamp, ToolCall, Visibility, count_tokens,
};
use memoir_redact::without_secrets;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line that calls tools is marked with this.
const TOOL_CALL: &str = "tool_call";

/// A message as it stands in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    role: String,
    #[serde(default)]
    content: String,
    /// What kind of message: a call of tools is not the end of a run.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<LineCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    /// Whether it contains text of others. Only given where the text itself would suggest the opposite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_others: Option<bool>,
    /// The run that it is of: what was cut off does not run into the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LineCall {
    id: String,
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    /// The last complete runs, oldest first, each with its messages in order.
    pub runs: Vec<Vec<Message>>,
    /// What was skipped.
    pub warnings: Vec<String>,
}

/// Where the histories of tasks are kept.
#[derive(Debug, Clone)]
pub struct History {
    folder: PathBuf,
}

impl History {
    /// Histories below the data directory.
    pub fn below(data: &Path) -> Self {
        Self { folder: data.join("conversations") }
    }

    /// The folder of a task.
    pub fn folder_of(&self, task: &str) -> PathBuf {
        self.folder.join(format!("scheduler_{task}"))
    }

    /// The last `most` complete runs of a task.
    pub fn load(&self, task: &str, most: usize) -> io::Result<Loaded> {
        let folder = self.folder_of(task);
        let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
            Ok(entries) => entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect(),
            // It has not run yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Loaded::default()),
            Err(error) => return Err(error),
        };
        files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file());
        // They are named after days; the newest are read first, and no more than is needed.
        files.sort();
        let mut loaded = Loaded::default();
        let mut lines: Vec<Line> = Vec::new();
        let mut complete: Vec<Vec<Line>> = Vec::new();
        for path in files.iter().rev() {
            let mut earlier = read(path, &mut loaded.warnings)?;
            earlier.append(&mut lines);
            lines = earlier;
            complete = runs(&lines);
            // The first may have begun in a file before.
            if complete.len() > most {
                break;
            }
        }
        // A clock that was wrong for a day names a file wrongly; numbers are given in order. A run may begin with a line of nobody's,
        // and ends with one of its own.
        complete.sort_by_key(|run| run.last().and_then(|line| line.run));
        let first = complete.len().saturating_sub(most);
        loaded.runs = (1..).zip(complete.drain(first..)).map(|(number, run)| messages(number, run)).collect();
        Ok(loaded)
    }

    /// Adds a run, whole or not at all.
    pub fn append(
        &self,
        task: &str,
        run: RunId,
        messages: &[DraftMessage],
        zone: &TimeZone,
        now: Timestamp,
    ) -> io::Result<()> {
        let mut text = String::new();
        for message in messages {
            text.push_str(&serde_json::to_string(&line(run, message))?);
            text.push('\n');
        }
        let folder = self.folder_of(task);
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        let day = now.day_in(zone);
        let mut options = fs::OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(folder.join(format!("{day}.jsonl")))?;
        let before = file.metadata()?.len();
        if ends_in_half_a_line(&mut file, before)? {
            text.insert(0, '\n');
        }
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        if written.is_err() {
            // Half a run is none.
            let _ = file.set_len(before);
        }
        written
    }

    /// Deletes what a task remembers.
    pub fn forget(&self, task: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.folder_of(task)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Someone may have died while he wrote.
fn ends_in_half_a_line(file: &mut fs::File, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else { return Ok(false) };
    file.seek(io::SeekFrom::Start(last))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    Ok(byte != *b"\n")
}

fn is_known(line: &Line) -> bool {
    match line.role.as_str() {
        "user" | "assistant" => true,
        "tool" => line.tool_call_id.is_some(),
        _ => false,
    }
}

fn is_end(line: &Line) -> bool {
    line.role == "assistant" && line.kind.as_deref() != Some(TOOL_CALL) && line.tool_calls.is_empty()
}

/// The messages of a file. What is none is skipped, and said.
fn read(path: &Path, warnings: &mut Vec<String>) -> io::Result<Vec<Line>> {
    let bytes = fs::read(path)?;
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Line>(text) {
            Ok(line) if is_known(&line) => lines.push(line),
            _ => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                warnings.push(format!("line {number} of {name} is not a message and was skipped"));
            }
        }
    }
    Ok(lines)
}

/// The complete runs among lines. A run begins after the end of the one before, and where another is named.
fn runs(lines: &[Line]) -> Vec<Vec<Line>> {
    let (mut open, mut complete): (Vec<Line>, Vec<Vec<Line>>) = (Vec::new(), Vec::new());
    for line in lines {
        let is_of_another = |last: &Line| last.run.is_some() && line.run.is_some() && last.run != line.run;
        if open.last().is_some_and(is_of_another) {
            open.clear();
        }
        open.push(line.clone());
        if is_end(line) {
            complete.push(std::mem::take(&mut open));
        }
    }
    complete
}

/// Lines as messages of the `number`th run.
fn messages(number: i64, lines: Vec<Line>) -> Vec<Message> {
    lines
        .into_iter()
        .map(|line| {
            let created = line.time.as_deref().and_then(|time| time.parse::<jiff::Timestamp>().ok());
            let tokens = count_tokens(&line.content) as u64;
            let body = match line.role.as_str() {
                "user" => MessageBody::User { text: line.content },
                "tool" => MessageBody::Tool {
                    call_id: line.tool_call_id.unwrap_or_default(),
                    tool_name: line.tool_name.unwrap_or_default(),
                    text: line.content,
                },
                _ => MessageBody::Assistant {
                    text: line.content,
                    tool_calls: line
                        .tool_calls
                        .into_iter()
                        .map(|call| ToolCall { id: call.id, name: call.name, arguments: call.arguments })
                        .collect(),
                },
            };
            Message {
                id: MessageId::new(0),
                exchange_id: ExchangeId::new(number),
                conversation_id: ConversationId::new(0),
                author: None,
                by_others: line.by_others.unwrap_or_else(|| body.infer_by_others()),
                body,
                visibility: Visibility::Shown,
                provenance: Provenance::Said,
                tokens,
                created: Timestamp::from_millis(created.map_or(0, |created| created.as_millisecond())),
            }
        })
        .collect()
}

fn line(run: RunId, message: &DraftMessage) -> Line {
    let clean = |text: &str| without_secrets(text).into_owned();
    let mut line = Line {
        role: String::new(),
        content: String::new(),
        kind: None,
        tool_calls: Vec::new(),
        tool_call_id: None,
        tool_name: None,
        by_others: (message.by_others != message.body.infer_by_others()).then_some(message.by_others),
        run: Some(run.get()),
        time: Some(message.created.to_string()),
    };
    match &message.body {
        MessageBody::User { text } => (line.role, line.content) = ("user".into(), clean(text)),
        MessageBody::Assistant { text, tool_calls } => {
            (line.role, line.content) = ("assistant".into(), clean(text));
            line.kind = (!tool_calls.is_empty()).then(|| TOOL_CALL.to_owned());
            line.tool_calls = tool_calls
                .iter()
                .map(|call| LineCall {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    arguments: serde_json::from_str(&clean(&call.arguments.to_string()))
                        .unwrap_or_else(|_| Value::Object(serde_json::Map::new())),
                })
                .collect();
        }
        MessageBody::Tool { call_id, tool_name, text } => {
            (line.role, line.content) = ("tool".into(), clean(text));
            line.tool_call_id = Some(call_id.clone());
            line.tool_name = Some(tool_name.clone());
        }
    }
    line
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    /// A history with these files.
    fn history(files: &[(&str, &str)]) -> (tempfile::TempDir, History) {
        let folder = tempfile::tempdir().unwrap();
        let history = History::below(folder.path());
        for (name, text) in files {
            let path = history.folder_of("news").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (folder, history)
    }

    fn run(number: u32) -> String {
        format!(
            "{{\"role\":\"user\",\"content\":\"ask {number}\"}}\n{{\"role\":\"assistant\",\"content\":\"report {number}\"}}\n"
        )
    }

    fn texts(loaded: &Loaded) -> Vec<&str> {
        loaded.runs.iter().flatten().map(|message| message.body.text()).collect()
    }

    #[test]
    fn missing_scheduler_directory_returns_empty_list() {
        let (_folder, history) = history(&[]);
        assert_eq!(history.load("news", 5).unwrap(), Loaded::default());
    }

    #[test]
    fn no_completed_runs_in_file_returns_empty_list() {
        let (_folder, history) =
            history(&[("2026-01-01.jsonl", "{\"role\":\"user\",\"content\":\"ask\"}\n")]);
        assert_eq!(history.load("news", 5).unwrap(), Loaded::default());
    }

    #[test]
    fn single_complete_run_returned_correctly() {
        let (_folder, history) = history(&[("2026-01-01.jsonl", &run(1))]);
        assert_eq!(texts(&history.load("news", 5).unwrap()), ["ask 1", "report 1"]);
    }

    #[test]
    fn loads_last_n_complete_runs_oldest_run_first_in_output() {
        let all: String = (1..=4).map(run).collect();
        let (_folder, history) = history(&[("2026-01-01.jsonl", &all)]);
        assert_eq!(texts(&history.load("news", 2).unwrap()), ["ask 3", "report 3", "ask 4", "report 4"]);
    }

    #[test]
    fn incomplete_final_run_no_assistant_message_is_skipped() {
        let text = format!("{}{{\"role\":\"user\",\"content\":\"ask 2\"}}\n", run(1));
        let (_folder, history) = history(&[("2026-01-01.jsonl", &text)]);
        assert_eq!(texts(&history.load("news", 5).unwrap()), ["ask 1", "report 1"]);
    }

    #[test]
    fn runs_spanning_multiple_jsonl_files_merged_chronologically() {
        let (ask, report) = {
            let run = run(2);
            let (ask, report) = run.split_once('\n').unwrap();
            (format!("{ask}\n"), report.to_owned())
        };
        let (_folder, history) = history(&[
            ("2026-01-03.jsonl", &run(3)),
            ("2026-01-02.jsonl", &format!("{}{ask}", run(1))),
            ("2026-01-02b.jsonl", &report),
            ("notes.txt", "not a history"),
        ]);
        let loaded = history.load("news", 5).unwrap();
        assert_eq!(texts(&loaded), ["ask 1", "report 1", "ask 2", "report 2", "ask 3", "report 3"]);
    }

    #[test]
    fn malformed_jsonl_line_skipped_rest_of_file_parsed() {
        let text = format!("{}{{\"role\":\"user\",\"cont\n[1]\n{{\"role\":\"robot\"}}\n{}", run(1), run(2));
        let (_folder, history) = history(&[("2026-01-01.jsonl", &text)]);
        let loaded = history.load("news", 5).unwrap();
        assert_eq!(texts(&loaded), ["ask 1", "report 1", "ask 2", "report 2"]);
        assert_eq!(loaded.warnings.len(), 3);
        assert_eq!(loaded.warnings[0], "line 3 of 2026-01-01.jsonl is not a message and was skipped");
    }

    #[test]
    fn tool_call_and_tool_result_messages_preserved_within_run() {
        let text = "{\"role\":\"user\",\"content\":\"ask\"}\n\
            {\"role\":\"assistant\",\"type\":\"tool_call\",\"tool_calls\":[{\"id\":\"c\",\"name\":\"file_read\",\"arguments\":{\"path\":\"a\"}}]}\n\
            {\"role\":\"tool\",\"tool_call_id\":\"c\",\"tool_name\":\"file_read\",\"content\":\"given\"}\n\
            {\"role\":\"assistant\",\"content\":\"report\"}\n";
        let (_folder, history) = history(&[("2026-01-01.jsonl", text)]);
        let loaded = history.load("news", 5).unwrap();
        assert_eq!(loaded.runs.len(), 1);
        assert_eq!(texts(&loaded), ["ask", "", "given", "report"]);
        assert!(
            matches!(&loaded.runs[0][1].body, MessageBody::Assistant { tool_calls, .. } if tool_calls[0].name == "file_read")
        );
    }

    #[test]
    fn returns_at_most_n_runs_when_more_exist() {
        let all: String = (1..=9).map(run).collect();
        let (_folder, history) = history(&[("2026-01-01.jsonl", &all)]);
        assert_eq!(history.load("news", 3).unwrap().runs.len(), 3);
        assert!(history.load("news", 0).unwrap().runs.is_empty());
    }

    #[test]
    fn empty_jsonl_file_handled_gracefully() {
        let (_folder, history) = history(&[("2026-01-01.jsonl", ""), ("2026-01-02.jsonl", &run(1))]);
        assert_eq!(texts(&history.load("news", 5).unwrap()), ["ask 1", "report 1"]);
    }

    fn drafts(texts: &[&str]) -> Vec<DraftMessage> {
        let body = |place: usize, text: &str| match place % 2 {
            0 => MessageBody::User { text: text.into() },
            _ => MessageBody::Assistant { text: text.into(), tool_calls: Vec::new() },
        };
        let draft = |(place, text): (usize, &&str)| DraftMessage {
            author: None,
            body: body(place, text),
            visibility: Visibility::Shown,
            provenance: Provenance::Said,
            by_others: false,
            tokens: 1,
            created: Timestamp::from_millis(0),
        };
        texts.iter().enumerate().map(draft).collect()
    }

    #[test]
    fn a_day_that_never_was_does_not_stay_the_last() {
        let (_folder, history) = history(&[]);
        for (number, day) in [(1, 1_767_261_600_000), (2, 1_925_000_000_000), (3, 1_767_348_000_000)] {
            let texts = [format!("ask {number}"), format!("report {number}")];
            let drafts = drafts(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            history
                .append("news", RunId::new(number), &drafts, &TimeZone::UTC, Timestamp::from_millis(day))
                .unwrap();
        }
        assert_eq!(texts(&history.load("news", 1).unwrap()), ["ask 3", "report 3"]);
        assert_eq!(texts(&history.load("news", 2).unwrap())[0], "ask 2");
    }

    #[test]
    fn a_line_without_a_number_does_not_make_the_last_run_the_first() {
        let text = "{\"role\":\"user\",\"content\":\"ask 1\",\"run\":1}\n\
            {\"role\":\"assistant\",\"content\":\"report 1\",\"run\":1}\n\
            {\"role\":\"user\",\"content\":\"by hand\"}\n";
        let (_folder, history) = history(&[("2026-01-01.jsonl", text)]);
        let now = Timestamp::from_millis(1_767_261_600_000);
        history.append("news", RunId::new(2), &drafts(&["ask 2", "report 2"]), &TimeZone::UTC, now).unwrap();
        assert_eq!(texts(&history.load("news", 1).unwrap()), ["by hand", "ask 2", "report 2"]);
    }

    #[test]
    fn what_cannot_be_written_is_an_error_and_changes_nothing() {
        let (_folder, history) = history(&[("2025-12-31.jsonl", &run(1))]);
        // A device that is always full, in the place of the file.
        std::os::unix::fs::symlink("/dev/full", history.folder_of("news").join("2026-01-01.jsonl")).unwrap();
        let now = Timestamp::from_millis(1_767_261_600_000);
        let error = history.append("news", RunId::new(2), &drafts(&["ask", "report"]), &TimeZone::UTC, now);
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::StorageFull);
        fs::remove_file(history.folder_of("news").join("2026-01-01.jsonl")).unwrap();
        assert_eq!(texts(&history.load("news", 5).unwrap()), ["ask 1", "report 1"]);
    }

    #[test]
    fn what_is_added_is_read_again_and_half_a_line_harms_nothing() {
        let (_folder, history) = history(&[]);
        let now = Timestamp::from_millis(1_767_261_600_000);
        let append = |number, texts: &[&str]| {
            history.append("news", RunId::new(number), &drafts(texts), &TimeZone::UTC, now).unwrap();
        };
        append(1, &["ask 1", "report 1"]);
        let path = history.folder_of("news").join("2026-01-01.jsonl");
        // Killed in the middle of a run, and of a line.
        append(2, &["ask 2"]);
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"role\":\"assis");
        fs::write(&path, text).unwrap();
        append(3, &["ask 3", "report 3"]);
        let loaded = history.load("news", 5).unwrap();
        assert_eq!(texts(&loaded), ["ask 1", "report 1", "ask 3", "report 3"], "the next run is clean");
        assert_eq!(loaded.warnings.len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let key = format!("ghp_{}", "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z9Q");
        append(4, &["ask 4", &format!("the key is {key}")]);
        assert!(!fs::read_to_string(&path).unwrap().contains(&key));
        history.forget("news").unwrap();
        history.forget("news").unwrap();
        assert_eq!(history.load("news", 5).unwrap(), Loaded::default());
    }
}
