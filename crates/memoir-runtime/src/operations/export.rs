//! Exporting conversations as Markdown, or in a format that can be imported.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use memoir_core::{Conversation, ConversationId, Message, Role, TimeZone, Visibility};
use memoir_import::memoir_format::ExportLine;
use memoir_store::{ConversationList, Conversations, Exchanges, Imports};
use serde::{Deserialize, Serialize};

use super::{
    Progress, ProgressUnit,
    conversations::{self, ConversationReport},
};
use crate::{failure::Failure, files::Partial, printable};

/// Request to export conversations.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportRequest {
    /// Format of the output.
    pub format: ExportFormat,
    /// Only export this conversation.
    pub conversation: Option<ConversationId>,
    /// Only export conversations of this project. Ignored if `conversation` is set.
    pub scope: Option<String>,
}

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// Prompts and answers as Markdown.
    Markdown,
    /// Complete data, as one JSON object per line. It can be imported.
    Jsonl,
}

impl ExportFormat {
    /// All export formats, in the order in which `--help` lists them.
    pub const ALL: [Self; 2] = [Self::Markdown, Self::Jsonl];

    /// Returns the name of the format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Jsonl => "jsonl",
        }
    }
}

/// Result of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// Number of exported conversations.
    pub conversations: u64,
    /// Path of the written file, or `None` if the export went to a writer.
    pub path: Option<PathBuf>,
}

/// Exports conversations to `out`, oldest first. The header and each conversation are each
/// written with a single `write_all` call.
///
/// # Errors
///
/// Fails if the conversation does not exist, or if writing to `out` fails.
pub async fn write(
    request: &ExportRequest,
    store: &(impl Conversations + Exchanges + Imports + ?Sized),
    zone: &TimeZone,
    out: &mut (dyn Write + Send),
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<ExportReport, Failure> {
    let conversations = select(request, store).await?;
    write_all(&conversations, &TextOptions { request, zone }, store, out, progress).await?;
    Ok(ExportReport { conversations: conversations.len() as u64, path: None })
}

/// Exports conversations to a file, replacing an existing one. The file only appears once it is complete.
///
/// # Errors
///
/// Fails if the conversation does not exist, or if the file cannot be written.
pub async fn write_file(
    request: &ExportRequest,
    path: &Path,
    store: &(impl Conversations + Exchanges + Imports + ?Sized),
    zone: &TimeZone,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<ExportReport, Failure> {
    let conversations = select(request, store).await?;
    let write_failure = |error: io::Error| {
        Failure::failed(format!("could not write {}: {error}", path.display())).hint("Choose another file.")
    };
    let options = TextOptions { request, zone };
    // A link keeps leading to the file. A device or a pipe is written to, not replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if target.exists() && !target.is_file() {
        let mut file = fs::OpenOptions::new().write(true).open(&target).map_err(write_failure)?;
        write_all(&conversations, &options, store, &mut file, progress).await?;
    } else {
        let (partial, mut file) = Partial::create_file(&target).map_err(write_failure)?;
        write_all(&conversations, &options, store, &mut file, progress).await?;
        file.sync_all().and_then(|()| partial.finish(&target)).map_err(write_failure)?;
    }
    Ok(ExportReport { conversations: conversations.len() as u64, path: Some(path.to_owned()) })
}

/// Returns the conversations that a request selects, oldest first.
async fn select(
    request: &ExportRequest,
    store: &(impl Conversations + ?Sized),
) -> Result<Vec<Conversation>, Failure> {
    if let Some(id) = request.conversation {
        return Ok(vec![conversations::find(id, store).await?]);
    }
    let scope = request.scope.clone();
    let list = ConversationList { scope, limit: u32::MAX, ..ConversationList::default() };
    let mut conversations = store.conversations(&list).await?;
    conversations.reverse();
    Ok(conversations)
}

struct TextOptions<'a> {
    request: &'a ExportRequest,
    zone: &'a TimeZone,
}

async fn write_all(
    conversations: &[Conversation],
    options: &TextOptions<'_>,
    store: &(impl Exchanges + Imports + ?Sized),
    out: &mut (dyn Write + Send),
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), Failure> {
    let mut report_progress = |done: usize| {
        let total = Some(conversations.len() as u64);
        progress(Progress { unit: ProgressUnit::Conversations, done: done as u64, total });
    };
    report_progress(0);
    if options.request.format == ExportFormat::Jsonl {
        out.write_all(ExportLine::header().to_line().as_bytes())?;
    }
    for (index, conversation) in conversations.iter().enumerate() {
        let text = match options.request.format {
            ExportFormat::Markdown => {
                let separator = if index == 0 { "" } else { "\n" };
                let report = conversations::read(conversation.clone(), store).await?;
                format!("{separator}{}", to_markdown(&report, options.zone))
            }
            ExportFormat::Jsonl => {
                to_lines(conversation, options.request.conversation.is_some(), store).await?
            }
        };
        out.write_all(text.as_bytes())?;
        report_progress(index + 1);
    }
    Ok(out.flush()?)
}

/// Converts a conversation to Markdown. Only prompts and answers are included; hidden messages are omitted.
pub fn to_markdown(report: &ConversationReport, zone: &TimeZone) -> String {
    let ConversationReport { conversation, exchanges, .. } = report;
    let mut text = format!(
        "# {}\n\nConversation {}, {}, in {}\n",
        conversation.title.trim(),
        conversation.id,
        conversation.created.format_minute(zone),
        if conversation.scope.is_empty() { "no project" } else { &conversation.scope },
    );
    for exchange in exchanges {
        let is_shown = |message: &&Message| message.visibility == Visibility::Shown;
        for message in exchange.messages.iter().filter(is_shown) {
            let name = match (&message.author, message.body.role()) {
                (Some(author), _) => printable(author),
                (None, Role::User) => "You".into(),
                (None, Role::Assistant) => exchange.exchange.model.as_str().into(),
                (None, Role::Tool) => "tool".into(),
            };
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n## {name}, {}\n\n{}\n",
                message.created.format_minute(zone),
                message.body.text().trim_end()
            );
        }
    }
    text
}

/// Converts a conversation with its exchanges to lines of JSON. The exchanges that a fork shares with its parent are
/// only included if the fork is exported `alone`, because otherwise they are exported with the parent.
async fn to_lines(
    conversation: &Conversation,
    alone: bool,
    store: &(impl Exchanges + Imports + ?Sized),
) -> Result<String, Failure> {
    let origin = store.import_origin(conversation.id).await?;
    let mut text = ExportLine::conversation(conversation, origin).to_line();
    for mut exchange in store.exchanges(conversation.id, u32::MAX).await? {
        if alone || exchange.conversation_id == conversation.id {
            exchange.conversation_id = conversation.id;
            let messages = store.exchange_messages(exchange.id).await?;
            text.push_str(&ExportLine::exchange(&exchange, &messages).to_line());
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_store::Conversations as _;

    use super::*;
    use crate::operations::test_support::{NOW, TestStore, store_with};

    const ALL: ExportRequest = ExportRequest { format: ExportFormat::Jsonl, conversation: None, scope: None };

    async fn lines(request: &ExportRequest, store: &TestStore) -> usize {
        let mut out = Vec::new();
        write(request, store, &TimeZone::UTC, &mut out, &mut |_| {}).await.unwrap();
        String::from_utf8(out).unwrap().lines().count()
    }

    #[tokio::test]
    async fn a_fork_includes_exchanges_of_its_parent_only_if_it_is_exported_alone() {
        let (store, committed) = store_with(&["The gate code is on the blue card."]).await;
        let fork = store.fork(committed[0].conversation_id, NOW).await.unwrap().unwrap();
        assert_eq!(lines(&ALL, &store).await, 4, "a header, the conversation, its exchange, the fork");
        let alone = ExportRequest { conversation: Some(fork), ..ALL };
        assert_eq!(lines(&alone, &store).await, 3, "a header, the fork, its exchange");
    }

    #[tokio::test]
    async fn progress_counts_conversations() {
        let (store, _) = store_with(&["One thing.", "Another."]).await;
        let mut steps = Vec::new();
        let mut observe = |progress: Progress| steps.push((progress.done, progress.total));
        let mut out = Vec::new();
        let markdown = ExportRequest { format: ExportFormat::Markdown, ..ALL };
        let report = write(&markdown, &store, &TimeZone::UTC, &mut out, &mut observe).await.unwrap();
        assert_eq!(report, ExportReport { conversations: 2, path: None });
        assert_eq!(steps, [(0, Some(2)), (1, Some(2)), (2, Some(2))]);
        assert!(String::from_utf8(out).unwrap().starts_with("# One thing.\n\nConversation 1, "));
    }

    #[tokio::test]
    async fn a_failed_export_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("all.jsonl");
        let (store, _) = store_with(&["One thing."]).await;
        let unknown = ExportRequest { conversation: Some(ConversationId::new(99)), ..ALL };
        let failure = write_file(&unknown, &path, &store, &TimeZone::UTC, &mut |_| {}).await.unwrap_err();
        assert_eq!(failure.message, "there is no conversation 99");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let report = write_file(&ALL, &path, &store, &TimeZone::UTC, &mut |_| {}).await.unwrap();
        assert_eq!(report, ExportReport { conversations: 1, path: Some(path.clone()) });
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
