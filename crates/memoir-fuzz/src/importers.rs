//! Talk from other programs, read by all who read any.

use memoir_core::{Clock as _, DraftMessage, MessageBody, SystemClock, TimeZone};
use memoir_import::{
    DateOrder, HistoryFormat, ImportError, ImportOutcome, ImportedHistory, detect_format,
    import_conversation, read_chatgpt, read_claude, read_claude_code, read_codex, read_memoir, read_whatsapp,
};
use memoir_store_sqlite::SqliteStore;

use crate::input::{Choices, text, wait};

type Read = fn(&str) -> Result<ImportedHistory, ImportError>;

const READERS: [(HistoryFormat, Read); 6] = [
    (HistoryFormat::ChatGpt, read_chatgpt),
    (HistoryFormat::Claude, read_claude),
    (HistoryFormat::ClaudeCode, read_claude_code),
    (HistoryFormat::Codex, read_codex),
    (HistoryFormat::Memoir, read_memoir),
    (HistoryFormat::WhatsApp, |text| read_whatsapp(text, "chat", &TimeZone::UTC, None)),
];

/// Filing takes time: of one input in so many, what was read is filed.
const FILED: usize = 8;

/// What is read holds together; nobody said nothing; and what is brought in twice is known the second time.
pub fn importers(data: &[u8]) {
    let text = text(data);
    let detected = detect_format(&text);
    for order in [DateOrder::DayFirst, DateOrder::MonthFirst, DateOrder::YearFirst] {
        // Hostile input may be refused; it must only not panic.
        let _ =
            read_whatsapp(&text, "chat", &TimeZone::UTC, Some(order)).map(|history| holds_together(&history));
    }
    for (format, read) in READERS {
        let Ok(history) = read(&text) else { continue };
        holds_together(&history);
        if detected == Some(format) && Choices::from(data).draw_below(FILED) == 0 {
            wait(file(&history));
        }
    }
}

fn holds_together(history: &ImportedHistory) {
    assert!(history.skipped.iter().all(|(_, count)| *count > 0));
    for conversation in &history.conversations {
        assert!(!conversation.messages.is_empty());
        assert!(
            !conversation.origin.is_empty()
                && !conversation.scope.is_empty()
                && !conversation.model.is_empty()
        );
        assert!(conversation.messages.iter().all(says_something), "{conversation:?}");
    }
}

/// A call of tools needs no words, and a tool may give nothing.
fn says_something(message: &DraftMessage) -> bool {
    match &message.body {
        MessageBody::User { text } => !text.trim().is_empty(),
        MessageBody::Assistant { text, tool_calls } => !text.trim().is_empty() || !tool_calls.is_empty(),
        MessageBody::Tool { .. } => true,
    }
}

#[expect(clippy::expect_used, reason = "what was read can be filed")]
async fn file(history: &ImportedHistory) {
    let store = SqliteStore::in_memory().await.expect("a store");
    for conversation in &history.conversations {
        let first = import_conversation(&store, conversation, SystemClock.now(), false).await.expect("filed");
        if matches!(first, ImportOutcome::New(_) | ImportOutcome::Grown(_)) {
            let again =
                import_conversation(&store, conversation, SystemClock.now(), false).await.expect("looked up");
            assert_eq!(again, ImportOutcome::Known, "{conversation:?}");
        }
    }
    store.close().await;
}
