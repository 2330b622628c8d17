//! Importing conversations from other programs, or from an export of Memoir.

mod discovery;
mod files;
mod follow;
mod report;
mod request;
mod watch;

use std::path::PathBuf;

use memoir_core::{Clock as _, SystemClock, TimeZone};
use memoir_import::{DateOrder, ImportOutcome, ImportedHistory, import_conversation};
use memoir_store::{Conversations, Exchanges, Imports, Transcripts};

use super::{Progress, ProgressUnit};
use crate::{environment::Environment, failure::Failure};

pub(crate) use discovery::session_files;
pub use discovery::{DiscoveryReport, LocalHistory, find_histories};
pub(crate) use follow::read_state;
pub use follow::{FOLLOWED, FollowReport, follow_all, follow_file};
pub use memoir_import::HistoryFormat;
pub use report::{ImportReport, UnreadableFile};
pub use request::{DateStyle, ImportRequest};
pub use watch::watch;

/// Imports conversations. If a conversation was imported before, only its new messages are added.
///
/// A file that cannot be read is listed in the report, and the others are still imported.
///
/// # Errors
///
/// Fails if there are no files to read, or if the store cannot be written. Conversations that were already added are
/// kept.
pub async fn import(
    request: &ImportRequest,
    environment: &Environment,
    store: &(impl Conversations + Exchanges + Imports + Transcripts + ?Sized),
    zone: &TimeZone,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<ImportReport, Failure> {
    let mut run = ImportRun {
        store,
        zone,
        progress,
        report: ImportReport { dry_run: request.dry_run, ..ImportReport::default() },
    };
    let format = request.source;
    let paths = paths_or_histories(format, &request.paths, environment)?;
    if format == HistoryFormat::WhatsApp {
        for file in &paths {
            let dates = request.dates.map(DateOrder::from);
            run.add(files::read_chat(file, request.name.as_deref(), dates, zone)?).await?;
            run.report.files_read += 1;
        }
    } else {
        run.add_files(format, files::expand(format, &paths)?).await?;
    }
    Ok(run.report)
}

/// Returns the given paths or, if there are none, the history of the program on this machine.
fn paths_or_histories(
    format: HistoryFormat,
    paths: &[PathBuf],
    environment: &Environment,
) -> Result<Vec<PathBuf>, Failure> {
    if !paths.is_empty() {
        return Ok(paths.to_vec());
    }
    let sessions = discovery::find_sessions(environment).into_iter().find(|history| history.format == format);
    sessions.map(|history| history.files).ok_or_else(|| {
        let history = if format.has_session_files() { "sessions were" } else { "history was" };
        Failure::failed(format!("no {} {history} found on this machine", format.name()))
            .hint("Specify the files, or the directory that contains them.")
    })
}

struct ImportRun<'a, S: ?Sized> {
    store: &'a S,
    zone: &'a TimeZone,
    progress: &'a mut (dyn FnMut(Progress) + Send),
    report: ImportReport,
}

impl<S: Conversations + Exchanges + Imports + Transcripts + ?Sized> ImportRun<'_, S> {
    async fn add_files(&mut self, format: HistoryFormat, files: Vec<PathBuf>) -> Result<(), Failure> {
        let total = files.len();
        self.report_progress(ProgressUnit::Files, 0, total);
        for (index, file) in files.into_iter().enumerate() {
            // What is added to the file while it is read will be new.
            let state = read_state(&file);
            match files::read_history(format, &file, self.zone).await {
                Ok(history) => {
                    self.report.files_read += 1;
                    let different = self.report.different.len();
                    self.add(history).await?;
                    let is_complete = !self.report.dry_run && self.report.different.len() == different;
                    if let Ok(state) = state.as_ref()
                        && is_complete
                    {
                        self.store.put_transcript(state).await?;
                    }
                }
                Err(failure) => self.report.unreadable.push(UnreadableFile::new(file, &failure)),
            }
            self.report_progress(ProgressUnit::Files, index + 1, total);
        }
        Ok(())
    }

    async fn add(&mut self, history: ImportedHistory) -> Result<(), Failure> {
        for (kind, count) in history.skipped {
            *self.report.skipped.entry(kind.to_owned()).or_default() += count;
        }
        let total = history.conversations.len();
        self.report_progress(ProgressUnit::Conversations, 0, total);
        for (index, conversation) in history.conversations.iter().enumerate() {
            match import_conversation(self.store, conversation, SystemClock.now(), self.report.dry_run)
                .await?
            {
                ImportOutcome::New(count) | ImportOutcome::Extended(count) => {
                    self.report.conversations += 1;
                    self.report.messages += count as u64;
                }
                ImportOutcome::Unchanged => self.report.unchanged += 1,
                ImportOutcome::Different => self.report.different.push(conversation.title.clone()),
            }
            self.report_progress(ProgressUnit::Conversations, index + 1, total);
        }
        Ok(())
    }

    fn report_progress(&mut self, unit: ProgressUnit, done: usize, total: usize) {
        (self.progress)(Progress { unit, done: done as u64, total: Some(total as u64) });
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::{fs, path::Path};

    use super::*;
    use crate::operations::{
        export::{self, ExportFormat, ExportRequest},
        test_support::{TestStore, store_with},
    };

    async fn export_to(path: &Path) {
        let (store, _) = store_with(&["The gate code is on the blue card.", "Trains to Graz."]).await;
        let all = ExportRequest { format: ExportFormat::Jsonl, conversation: None, scope: None };
        export::write_file(&all, path, &store, &TimeZone::UTC, &mut |_| {}).await.unwrap();
    }

    async fn run(paths: Vec<PathBuf>, dry_run: bool, store: &TestStore) -> Result<ImportReport, Failure> {
        let request = ImportRequest { dry_run, ..ImportRequest::new(HistoryFormat::Memoir, paths) };
        import(&request, &Environment::default(), store, &TimeZone::UTC, &mut |_| {}).await
    }

    #[tokio::test]
    async fn the_other_files_are_imported_if_one_cannot_be_read() {
        let directory = tempfile::tempdir().unwrap();
        export_to(&directory.path().join("a.jsonl")).await;
        fs::write(directory.path().join("b.jsonl"), "no json").unwrap();
        let (store, _) = store_with(&[]).await;
        let paths = vec![directory.path().to_owned()];
        let dry = run(paths.clone(), true, &store).await.unwrap();
        assert_eq!((dry.dry_run, dry.conversations, dry.messages), (true, 2, 4));
        let report = run(paths.clone(), false, &store).await.unwrap();
        assert_eq!((report.files_read, report.conversations, report.unchanged), (1, 2, 0));
        assert_eq!(report.unreadable[0].path, directory.path().join("b.jsonl"));
        let again = run(paths, false, &store).await.unwrap();
        assert_eq!((again.conversations, again.messages, again.unchanged), (0, 0, 2));
    }

    #[tokio::test]
    async fn an_empty_directory_is_a_failure() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _) = store_with(&[]).await;
        let failure = run(vec![directory.path().to_owned()], false, &store).await.unwrap_err();
        assert!(failure.message.ends_with("contains no Memoir history"), "{}", failure.message);
    }
}
