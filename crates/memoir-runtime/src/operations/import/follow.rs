//! Following the files of programs that are still writing them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use memoir_core::{Clock as _, SystemClock, TimeZone, Timestamp};
use memoir_import::{HistoryFormat, ImportOutcome, LastExchange, follow_conversation};
use memoir_store::{Conversations, Exchanges, Imports, Transcript, Transcripts};
use serde::Serialize;

use super::{discovery, files};
use crate::{environment::Environment, failure::Failure, scope::find_scope};

/// The programs whose files are followed.
pub const FOLLOWED: [HistoryFormat; 4] =
    [HistoryFormat::ClaudeCode, HistoryFormat::Codex, HistoryFormat::GeminiCli, HistoryFormat::OpenCode];

/// After this time without changes, a program will not complete an exchange any more.
const ABANDONED_AFTER: Duration = Duration::from_secs(60 * 60);

/// What following files has stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FollowReport {
    /// Conversations with new messages.
    pub conversations: u64,
    /// New messages.
    pub messages: u64,
    /// Files that could not be read.
    pub unreadable: u64,
}

impl FollowReport {
    /// Adds the figures of another report.
    pub fn add(&mut self, other: Self) {
        self.conversations += other.conversations;
        self.messages += other.messages;
        self.unreadable += other.unreadable;
    }
}

/// Stores the new exchanges of all files of these programs that have changed since they were last followed. A file that
/// cannot be read is counted, and the others are still followed.
///
/// # Errors
///
/// Fails if the store fails.
pub async fn follow_all(
    formats: &[HistoryFormat],
    environment: &Environment,
    store: &(impl Conversations + Exchanges + Imports + Transcripts + ?Sized),
    zone: &TimeZone,
) -> Result<FollowReport, Failure> {
    let mut report = FollowReport::default();
    for history in discovery::find_sessions(environment) {
        if !formats.contains(&history.format) {
            continue;
        }
        for file in history.files {
            report.add(
                follow_file(history.format, &file, LastExchange::MayBeOpen, environment, store, zone).await?,
            );
        }
    }
    Ok(report)
}

/// Stores the new exchanges of a file, unless it is unchanged since it was last followed.
///
/// # Errors
///
/// Fails if the store fails. A file that cannot be read is only counted.
pub async fn follow_file(
    format: HistoryFormat,
    file: &Path,
    last_exchange: LastExchange,
    environment: &Environment,
    store: &(impl Conversations + Exchanges + Imports + Transcripts + ?Sized),
    zone: &TimeZone,
) -> Result<FollowReport, Failure> {
    let now = SystemClock.now();
    let state = match read_state(file) {
        Ok(state) => state,
        // The program has deleted it. What it contained is stored already.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FollowReport::default()),
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "could not follow a file of another program");
            return Ok(FollowReport { unreadable: 1, ..FollowReport::default() });
        }
    };
    if store.transcript_state(&state.path).await?.as_ref() == Some(&state) {
        return Ok(FollowReport::default());
    }
    let idle = now.as_millis().saturating_sub(state.modified.as_millis());
    let last_exchange =
        match u64::try_from(idle).is_ok_and(|idle| Duration::from_millis(idle) > ABANDONED_AFTER) {
            true => LastExchange::Abandoned,
            false => last_exchange,
        };
    let history = match files::read_history(format, file, zone).await {
        Ok(history) => history,
        Err(failure) => {
            // A file that was just created may be empty.
            tracing::debug!(reason = failure.message, "could not follow a file of another program");
            return Ok(FollowReport { unreadable: 1, ..FollowReport::default() });
        }
    };
    let mut report = FollowReport::default();
    let mut holds_back = false;
    for mut conversation in history.conversations {
        let directory = PathBuf::from(&conversation.scope);
        if directory.is_absolute() {
            conversation.scope = find_scope(&directory, environment.user_home());
        }
        let outcome = follow_conversation(store, &conversation, last_exchange, now).await?;
        holds_back |= outcome.holds_back;
        if let ImportOutcome::New(count) | ImportOutcome::Extended(count) = outcome.outcome {
            report.conversations += 1;
            report.messages += count as u64;
        }
    }
    // What was held back is read again, even if nothing is added to the file.
    if !holds_back {
        store.put_transcript(&state).await?;
    }
    Ok(report)
}

/// Returns the state of a file. A database has changed if its log has.
pub(crate) fn read_state(file: &Path) -> io::Result<Transcript> {
    let metadata = fs::metadata(file)?;
    let (mut size, mut modified) = (metadata.len(), metadata.modified()?);
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    if let Ok(log) = fs::metadata(PathBuf::from(log)) {
        size += log.len();
        modified = modified.max(log.modified()?);
    }
    let elapsed = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let modified = Timestamp::from_millis(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX));
    Ok(Transcript { path: file.to_string_lossy().into_owned(), size, modified })
}
