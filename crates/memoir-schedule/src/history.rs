//! The history of tasks: one file per day, one line of JSON per message.
//!
//! These files are the only record of earlier runs. They are append-only, and each run is added as a whole.

use std::{
    fs,
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use memoir_core::{DraftMessage, Message, RunId, TimeZone, Timestamp};

use crate::history_line::HistoryLine;

/// Runs that were read from files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    /// The last complete runs, oldest first, each with its messages in order.
    pub runs: Vec<Vec<Message>>,
    /// Lines that were skipped, as messages for the user.
    pub warnings: Vec<String>,
}

/// Reads and writes the histories of tasks.
#[derive(Debug, Clone)]
pub struct TaskHistory {
    folder: PathBuf,
}

impl TaskHistory {
    /// Keeps histories below the data directory.
    pub fn below(data: &Path) -> Self {
        Self { folder: data.join("conversations") }
    }

    /// Returns the directory of a task.
    pub fn folder_of(&self, task: &str) -> PathBuf {
        self.folder.join(format!("scheduler_{task}"))
    }

    /// Reads the last `most` complete runs of a task.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read. A task without files has no runs, and a broken line is only a warning.
    pub fn load(&self, task: &str, most: usize) -> io::Result<Loaded> {
        let folder = self.folder_of(task);
        let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
            Ok(entries) => entries
                .filter_map(|entry| {
                    // A day that cannot be read is missing from the history, but the task can still run.
                    let skip = |error: &io::Error| tracing::warn!(%error, task, "a history file was skipped");
                    entry.inspect_err(skip).ok().map(|entry| entry.path())
                })
                .collect(),
            // It has not run yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Loaded::default()),
            Err(error) => return Err(error),
        };
        files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file());
        // They are named after days; the newest are read first, and no more than is needed.
        files.sort();
        let mut loaded = Loaded::default();
        let mut lines: Vec<HistoryLine> = Vec::new();
        let mut complete: Vec<Vec<HistoryLine>> = Vec::new();
        for path in files.iter().rev() {
            let mut earlier = read(path, &mut loaded.warnings)?;
            earlier.append(&mut lines);
            lines = earlier;
            complete = split_runs(&lines);
            // The first may have begun in a file before.
            if complete.len() > most {
                break;
            }
        }
        // A clock that was wrong for a day names a file wrongly; numbers are given in order. A run may begin with a line of nobody's,
        // and ends with one of its own.
        complete.sort_by_key(|run| run.last().and_then(|line| line.run));
        let first = complete.len().saturating_sub(most);
        loaded.runs = (1..)
            .zip(complete.drain(first..))
            .map(|(number, run)| run.into_iter().map(|line| line.into_message(number)).collect())
            .collect();
        Ok(loaded)
    }

    /// Appends a run, as a whole or not at all.
    ///
    /// # Errors
    ///
    /// Fails if the directory or the file cannot be created or written.
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
            text.push_str(&serde_json::to_string(&HistoryLine::new(run, message))?);
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
        if written.is_err()
            && let Err(error) = file.set_len(before)
        {
            // The caller gets the first error. What is left of the run is skipped when the file is read.
            tracing::warn!(%error, task, "a run that was written in part could not be removed");
        }
        written
    }

    /// Deletes the history of a task.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be deleted. A missing directory is not an error.
    pub fn forget(&self, task: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.folder_of(task)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Returns whether the file does not end with a line break: a process may have been killed while it wrote.
fn ends_in_half_a_line(file: &mut fs::File, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else { return Ok(false) };
    file.seek(io::SeekFrom::Start(last))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    Ok(byte != *b"\n")
}

/// Reads the messages of a file. Adds a warning for each line that is not a message.
fn read(path: &Path, warnings: &mut Vec<String>) -> io::Result<Vec<HistoryLine>> {
    let bytes = fs::read(path)?;
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match HistoryLine::parse(text) {
            Some(line) => lines.push(line),
            None => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                warnings.push(format!("line {number} of {name} is not a message and was skipped"));
            }
        }
    }
    Ok(lines)
}

/// Splits lines into complete runs. A run begins after the end of the previous one, or where the run number changes.
fn split_runs(lines: &[HistoryLine]) -> Vec<Vec<HistoryLine>> {
    let (mut open, mut complete): (Vec<HistoryLine>, Vec<Vec<HistoryLine>>) = (Vec::new(), Vec::new());
    for line in lines {
        let is_of_another =
            |last: &HistoryLine| last.run.is_some() && line.run.is_some() && last.run != line.run;
        if open.last().is_some_and(is_of_another) {
            open.clear();
        }
        open.push(line.clone());
        if line.ends_run() {
            complete.push(std::mem::take(&mut open));
        }
    }
    complete
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::{MessageBody, Provenance, Visibility};

    use super::*;

    /// A history with these files.
    fn history(files: &[(&str, &str)]) -> (tempfile::TempDir, TaskHistory) {
        let folder = tempfile::tempdir().unwrap();
        let history = TaskHistory::below(folder.path());
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
