//! Readers of conversations from other programs. Every input goes to every reader.

use std::io::Cursor;

use memoir_core::{Clock as _, DraftMessage, MessageBody, SystemClock, TimeZone, Timestamp};
use memoir_import::{
    DateOrder, HistoryFormat, ImportError, ImportOutcome, ImportedHistory, detect_format,
    import_conversation, read_aichat, read_archive, read_chatgpt, read_claude, read_claude_code, read_codex,
    read_copilot, read_gemini, read_gemini_cli, read_memoir, read_open_webui, read_opencode, read_whatsapp,
    whatsapp_chat_name,
};
use memoir_store_sqlite::SqliteStore;

use crate::input::{Choices, text, wait};

type Read = fn(&str) -> Result<ImportedHistory, ImportError>;

const READERS: [(HistoryFormat, Read); 12] = [
    (HistoryFormat::AiChat, |text| read_aichat(text, "chat", Timestamp::from_millis(0), &TimeZone::UTC)),
    (HistoryFormat::ChatGpt, read_chatgpt),
    (HistoryFormat::Claude, read_claude),
    (HistoryFormat::ClaudeCode, read_claude_code),
    (HistoryFormat::Codex, read_codex),
    (HistoryFormat::Copilot, |text| read_copilot(text, Some(text))),
    (HistoryFormat::Gemini, read_gemini),
    (HistoryFormat::GeminiCli, |text| read_gemini_cli(text, Some(text))),
    (HistoryFormat::Memoir, read_memoir),
    (HistoryFormat::OpenCode, read_opencode),
    (HistoryFormat::OpenWebUi, read_open_webui),
    (HistoryFormat::WhatsApp, |text| read_whatsapp(text, "chat", &TimeZone::UTC, None)),
];

/// Only one in this many inputs is stored, because storing is slow.
const STORE_INTERVAL: usize = 8;

/// Checks that histories are consistent and without empty messages, and that importing a conversation twice
/// adds nothing.
pub fn importers(data: &[u8]) {
    let text = text(data);
    let detected = detect_format(&text);
    for order in [DateOrder::DayFirst, DateOrder::MonthFirst, DateOrder::YearFirst] {
        // An error is fine here, a panic is not.
        let _ =
            read_whatsapp(&text, "chat", &TimeZone::UTC, Some(order)).map(|history| check_history(&history));
    }
    assert!(!whatsapp_chat_name(&text).is_empty());
    let mut read_entry = |_: &str, text: &str| read_chatgpt(text);
    // The input is rarely an archive; an error is fine here too.
    let _ = read_archive(Cursor::new(data), HistoryFormat::ChatGpt, &mut read_entry)
        .map(|history| check_history(&history));
    for (format, read) in READERS {
        let Ok(history) = read(&text) else { continue };
        check_history(&history);
        if detected == Some(format) && Choices::from(data).draw_below(STORE_INTERVAL) == 0 {
            wait(check_import(&history));
        }
    }
}

fn check_history(history: &ImportedHistory) {
    assert!(history.skipped.iter().all(|(_, count)| *count > 0));
    for conversation in &history.conversations {
        assert!(!conversation.messages.is_empty());
        assert!(
            !conversation.origin.is_empty()
                && !conversation.scope.is_empty()
                && !conversation.model.is_empty()
        );
        assert!(conversation.messages.iter().all(has_content), "{conversation:?}");
    }
}

/// Returns whether a message has text. Tool calls need none, and tool results may be empty.
fn has_content(message: &DraftMessage) -> bool {
    match &message.body {
        MessageBody::User { text } => !text.trim().is_empty(),
        MessageBody::Assistant { text, tool_calls } => !text.trim().is_empty() || !tool_calls.is_empty(),
        MessageBody::Tool { .. } => true,
    }
}

#[expect(clippy::expect_used, reason = "every history can be stored")]
async fn check_import(history: &ImportedHistory) {
    let store = SqliteStore::in_memory().await.expect("open a store");
    for conversation in &history.conversations {
        let first =
            import_conversation(&store, conversation, SystemClock.now(), false).await.expect("first import");
        if matches!(first, ImportOutcome::New(_) | ImportOutcome::Extended(_)) {
            let second = import_conversation(&store, conversation, SystemClock.now(), false)
                .await
                .expect("second import");
            assert_eq!(second, ImportOutcome::Unchanged, "{conversation:?}");
        }
    }
    store.close().await;
}
