//! Talk from other programs, read by all who read any.

use memoir_core::{Clock as _, DraftMessage, MessageBody, SystemClock, TimeZone};
use memoir_import::{
    DateOrder, Format, ImportError, Imported, Talk, bring_in, chatgpt, claude, claude_code, codex, detect,
    memoir, whatsapp,
};
use memoir_store::sqlite::SqliteStore;

use crate::input::{Choices, text, wait};

type Read = fn(&str) -> Result<Talk, ImportError>;

const READERS: [(Format, Read); 6] = [
    (Format::ChatGpt, chatgpt),
    (Format::Claude, claude),
    (Format::ClaudeCode, claude_code),
    (Format::Codex, codex),
    (Format::Memoir, memoir),
    (Format::WhatsApp, |text| whatsapp(text, "chat", &TimeZone::UTC, None)),
];

/// Filing takes time: of one input in so many, what was read is filed.
const FILED: usize = 8;

/// What is read holds together; nobody said nothing; and what is brought in twice is known the second time.
pub fn importers(data: &[u8]) {
    let text = text(data);
    let detected = detect(&text);
    for order in [DateOrder::DayFirst, DateOrder::MonthFirst, DateOrder::YearFirst] {
        let _ = whatsapp(&text, "chat", &TimeZone::UTC, Some(order)).map(|talk| holds_together(&talk));
    }
    for (format, read) in READERS {
        let Ok(talk) = read(&text) else { continue };
        holds_together(&talk);
        if detected == Some(format) && Choices::from(data).draw_below(FILED) == 0 {
            wait(file(&talk));
        }
    }
}

fn holds_together(talk: &Talk) {
    assert!(talk.skipped.iter().all(|(_, count)| *count > 0));
    for thread in &talk.threads {
        assert!(!thread.messages.is_empty());
        assert!(!thread.origin.is_empty() && !thread.scope.is_empty() && !thread.model.is_empty());
        assert!(thread.messages.iter().all(says_something), "{thread:?}");
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
async fn file(talk: &Talk) {
    let store = SqliteStore::in_memory().await.expect("a store");
    for thread in &talk.threads {
        let first = bring_in(&store, thread, SystemClock.now(), false).await.expect("filed");
        if matches!(first, Imported::New(_) | Imported::Grown(_)) {
            let again = bring_in(&store, thread, SystemClock.now(), false).await.expect("looked up");
            assert_eq!(again, Imported::Known, "{thread:?}");
        }
    }
    store.close().await;
}
