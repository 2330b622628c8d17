//! The history of tasks: one file per day, one line of JSON per message.
//!
//! These files are the only record of the messages of earlier runs. Each run is appended as a whole.

use std::{
    fs,
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use memoir_core::{DraftMessage, Message, RunId, TimeZone, Timestamp};

use crate::history_line::HistoryLine;

/// Earlier runs of a task, read from its history files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadedRuns {
    /// The most recent complete runs, oldest first, each with its messages in order.
    pub runs: Vec<Vec<Message>>,
    /// One message for the user per skipped line.
    pub warnings: Vec<String>,
}

/// Reads and writes the history files of all tasks.
#[derive(Debug, Clone)]
pub struct TaskHistory {
    directory: PathBuf,
}

impl TaskHistory {
    /// Returns the history in the `conversations` directory below `data`.
    pub fn in_data_directory(data: &Path) -> Self {
        Self { directory: data.join("conversations") }
    }

    /// Returns the directory that holds the history files of a task.
    pub fn task_directory(&self, task: &str) -> PathBuf {
        self.directory.join(format!("scheduler_{task}"))
    }

    /// Reads the last `limit` complete runs of a task.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read. A task without files has no runs, and an invalid line is only a warning.
    pub fn load(&self, task: &str, limit: usize) -> io::Result<LoadedRuns> {
        let directory = self.task_directory(task);
        let mut files: Vec<PathBuf> = match fs::read_dir(&directory) {
            Ok(entries) => entries
                .filter_map(|entry| {
                    // The task can run without this part of its history.
                    let warn = |error: &io::Error| tracing::warn!(%error, task, "a history file was skipped");
                    entry.inspect_err(warn).ok().map(|entry| entry.path())
                })
                .collect(),
            // The task has not run yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LoadedRuns::default()),
            Err(error) => return Err(error),
        };
        files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file());
        // Files are named after days. Read them from the newest until there are enough runs.
        files.sort();
        let mut loaded = LoadedRuns::default();
        let mut lines: Vec<HistoryLine> = Vec::new();
        let mut complete: Vec<Vec<HistoryLine>> = Vec::new();
        for path in files.iter().rev() {
            let mut earlier = read_file(path, &mut loaded.warnings)?;
            earlier.append(&mut lines);
            lines = earlier;
            complete = split_runs(&lines);
            // Load one extra run: the first may have started in an earlier file.
            if complete.len() > limit {
                break;
            }
        }
        // A wrong clock produces misnamed files, so order runs by number. Use the last line: the first ones may have
        // been added by hand, without a number.
        complete.sort_by_key(|run| run.last().and_then(|line| line.run));
        let first = complete.len().saturating_sub(limit);
        loaded.runs = (1..)
            .zip(complete.drain(first..))
            .map(|(number, run)| run.into_iter().map(|line| line.into_message(number)).collect())
            .collect();
        Ok(loaded)
    }

    /// Appends the messages of a run, either all or none.
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
        let directory = self.task_directory(task);
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&directory)?;
        let day = now.format_date(zone);
        let mut options = fs::OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(directory.join(format!("{day}.jsonl")))?;
        let old_length = file.metadata()?.len();
        if ends_in_partial_line(&mut file, old_length)? {
            text.insert(0, '\n');
        }
        let result = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        if result.is_err()
            && let Err(error) = file.set_len(old_length)
        {
            // The caller gets the write error. The partial run is skipped when the file is read.
            tracing::warn!(%error, task, "could not remove a partially written run");
        }
        result
    }

    /// Deletes the history of a task.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be deleted. A missing directory is not an error.
    pub fn delete(&self, task: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.task_directory(task)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Returns whether the last line lacks its line break, as after a process was killed while writing.
fn ends_in_partial_line(file: &mut fs::File, length: u64) -> io::Result<bool> {
    let Some(last_byte) = length.checked_sub(1) else { return Ok(false) };
    file.seek(io::SeekFrom::Start(last_byte))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    Ok(byte != *b"\n")
}

/// Reads the messages of a file. Adds a warning for each line that is not a message.
fn read_file(path: &Path, warnings: &mut Vec<String>) -> io::Result<Vec<HistoryLine>> {
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

/// Splits lines into complete runs. A run starts after the end of the previous one, or where the run number changes.
fn split_runs(lines: &[HistoryLine]) -> Vec<Vec<HistoryLine>> {
    let (mut open, mut complete): (Vec<HistoryLine>, Vec<Vec<HistoryLine>>) = (Vec::new(), Vec::new());
    for line in lines {
        let is_another_run =
            |last: &HistoryLine| last.run.is_some() && line.run.is_some() && last.run != line.run;
        if open.last().is_some_and(is_another_run) {
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

    /// Creates a history of the task "news" with these files.
    fn history(files: &[(&str, &str)]) -> (tempfile::TempDir, TaskHistory) {
        let directory = tempfile::tempdir().unwrap();
        let history = TaskHistory::in_data_directory(directory.path());
        for (name, text) in files {
            let path = history.task_directory("news").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (directory, history)
    }

    fn run(number: u32) -> String {
        format!(
            "{{\"role\":\"user\",\"content\":\"ask {number}\"}}\n{{\"role\":\"assistant\",\"content\":\"report {number}\"}}\n"
        )
    }

    fn texts(loaded: &LoadedRuns) -> Vec<&str> {
        loaded.runs.iter().flatten().map(|message| message.body.text()).collect()
    }

    #[test]
    fn missing_scheduler_directory_returns_empty_list() {
        let (_directory, history) = history(&[]);
        assert_eq!(history.load("news", 5).unwrap(), LoadedRuns::default());
    }

    #[test]
    fn no_completed_runs_in_file_returns_empty_list() {
        let (_directory, history) =
            history(&[("2026-01-01.jsonl", "{\"role\":\"user\",\"content\":\"ask\"}\n")]);
        assert_eq!(history.load("news", 5).unwrap(), LoadedRuns::default());
    }

    #[test]
    fn single_complete_run_returned_correctly() {
        let (_directory, history) = history(&[("2026-01-01.jsonl", &run(1))]);
        assert_eq!(texts(&history.load("news", 5).unwrap()), ["ask 1", "report 1"]);
    }

    #[test]
    fn loads_last_n_complete_runs_oldest_run_first_in_output() {
        let all: String = (1..=4).map(run).collect();
        let (_directory, history) = history(&[("2026-01-01.jsonl", &all)]);
        assert_eq!(texts(&history.load("news", 2).unwrap()), ["ask 3", "report 3", "ask 4", "report 4"]);
    }

    #[test]
    fn incomplete_final_run_no_assistant_message_is_skipped() {
        let text = format!("{}{{\"role\":\"user\",\"content\":\"ask 2\"}}\n", run(1));
        let (_directory, history) = history(&[("2026-01-01.jsonl", &text)]);
        assert_eq!(texts(&history.load("news", 5).unwrap()), ["ask 1", "report 1"]);
    }

    #[test]
    fn runs_spanning_multiple_jsonl_files_merged_chronologically() {
        let (ask, report) = {
            let run = run(2);
            let (ask, report) = run.split_once('\n').unwrap();
            (format!("{ask}\n"), report.to_owned())
        };
        let (_directory, history) = history(&[
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
        let (_directory, history) = history(&[("2026-01-01.jsonl", &text)]);
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
        let (_directory, history) = history(&[("2026-01-01.jsonl", text)]);
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
        let (_directory, history) = history(&[("2026-01-01.jsonl", &all)]);
        assert_eq!(history.load("news", 3).unwrap().runs.len(), 3);
        assert!(history.load("news", 0).unwrap().runs.is_empty());
    }

    #[test]
    fn empty_jsonl_file_handled_gracefully() {
        let (_directory, history) = history(&[("2026-01-01.jsonl", ""), ("2026-01-02.jsonl", &run(1))]);
        assert_eq!(texts(&history.load("news", 5).unwrap()), ["ask 1", "report 1"]);
    }

    fn drafts(texts: &[&str]) -> Vec<DraftMessage> {
        let body = |position: usize, text: &str| match position % 2 {
            0 => MessageBody::User { text: text.into() },
            _ => MessageBody::Assistant { text: text.into(), tool_calls: Vec::new() },
        };
        let draft = |(position, text): (usize, &&str)| DraftMessage {
            author: None,
            body: body(position, text),
            visibility: Visibility::Shown,
            provenance: Provenance::Original,
            by_others: false,
            tokens: 1,
            created: Timestamp::from_millis(0),
        };
        texts.iter().enumerate().map(draft).collect()
    }

    #[test]
    fn runs_are_ordered_by_number_despite_a_wrong_clock() {
        let (_directory, history) = history(&[]);
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
    fn a_line_without_a_run_number_does_not_change_the_order() {
        let text = "{\"role\":\"user\",\"content\":\"ask 1\",\"run\":1}\n\
            {\"role\":\"assistant\",\"content\":\"report 1\",\"run\":1}\n\
            {\"role\":\"user\",\"content\":\"by hand\"}\n";
        let (_directory, history) = history(&[("2026-01-01.jsonl", text)]);
        let now = Timestamp::from_millis(1_767_261_600_000);
        history.append("news", RunId::new(2), &drafts(&["ask 2", "report 2"]), &TimeZone::UTC, now).unwrap();
        assert_eq!(texts(&history.load("news", 1).unwrap()), ["by hand", "ask 2", "report 2"]);
    }

    #[test]
    fn a_failed_write_is_an_error_and_changes_nothing() {
        let (_directory, history) = history(&[("2025-12-31.jsonl", &run(1))]);
        // Writing to this device always fails with "no space left".
        std::os::unix::fs::symlink("/dev/full", history.task_directory("news").join("2026-01-01.jsonl"))
            .unwrap();
        let now = Timestamp::from_millis(1_767_261_600_000);
        let error = history.append("news", RunId::new(2), &drafts(&["ask", "report"]), &TimeZone::UTC, now);
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::StorageFull);
        fs::remove_file(history.task_directory("news").join("2026-01-01.jsonl")).unwrap();
        assert_eq!(texts(&history.load("news", 5).unwrap()), ["ask 1", "report 1"]);
    }

    #[test]
    fn appended_runs_are_loaded_and_a_partial_line_is_skipped() {
        let (_directory, history) = history(&[]);
        let now = Timestamp::from_millis(1_767_261_600_000);
        let append = |number, texts: &[&str]| {
            history.append("news", RunId::new(number), &drafts(texts), &TimeZone::UTC, now).unwrap();
        };
        append(1, &["ask 1", "report 1"]);
        let path = history.task_directory("news").join("2026-01-01.jsonl");
        // Simulate a process that was killed in the middle of a run and of a line.
        append(2, &["ask 2"]);
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"role\":\"assis");
        fs::write(&path, text).unwrap();
        append(3, &["ask 3", "report 3"]);
        let loaded = history.load("news", 5).unwrap();
        assert_eq!(
            texts(&loaded),
            ["ask 1", "report 1", "ask 3", "report 3"],
            "the next run is not affected"
        );
        assert_eq!(loaded.warnings.len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let key = format!("ghp_{}", "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z9Q");
        append(4, &["ask 4", &format!("the key is {key}")]);
        assert!(!fs::read_to_string(&path).unwrap().contains(&key));
        history.delete("news").unwrap();
        history.delete("news").unwrap();
        assert_eq!(history.load("news", 5).unwrap(), LoadedRuns::default());
    }
}
