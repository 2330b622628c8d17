//! Stores the exchanges of a conversation that another program is still writing.
//!
//! A followed conversation differs from an imported file in three ways. Its last exchange may be incomplete; the program
//! may shorten or rewrite its file, for example when it compacts the conversation; and nobody asked for this import, so
//! what the user has forgotten must not come back.

use memoir_core::{DraftMessage, ExchangeId, ExchangeSource, Role, Timestamp};
use memoir_store::{Conversations, Exchanges, Import, Imports, StoreError};

use crate::{
    ImportOutcome, ImportedConversation,
    exchanges::into_exchanges,
    import::{NewMessages, import_conversation, put_messages},
};

/// Whether the last exchange of a followed conversation may be incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastExchange {
    /// The program may still be writing it.
    MayBeOpen,
    /// The program has ended its turn, so an exchange that has an answer is complete.
    Ended,
    /// The program has not written for so long that nothing more will come.
    Abandoned,
}

/// The result of following a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowOutcome {
    /// What was stored.
    pub outcome: ImportOutcome,
    /// Whether an incomplete exchange was left for later.
    pub holds_back: bool,
}

/// Stores the complete exchanges of a conversation that are not in the store yet.
///
/// # Errors
///
/// Fails if the store fails, or if another process keeps importing the same conversation at the same time.
pub async fn follow_conversation(
    store: &(impl Conversations + Exchanges + Imports + ?Sized),
    conversation: &ImportedConversation,
    last_exchange: LastExchange,
    now: Timestamp,
) -> Result<FollowOutcome, StoreError> {
    let complete = count_complete(conversation, last_exchange);
    let holds_back = complete < conversation.messages.len();
    let mut messages = conversation.messages[..complete].to_vec();
    if let Some(forgotten) = store.forgotten_at(&conversation.origin).await? {
        messages.retain(|message| message.created > forgotten && message.created <= now);
    }
    let mut conversation = ImportedConversation { messages, ..conversation.clone() };
    let copied = count_copied(store, &conversation).await?;
    conversation.messages.drain(..copied);
    if conversation.messages.is_empty() {
        return Ok(FollowOutcome { outcome: ImportOutcome::Unchanged, holds_back });
    }
    let outcome = match import_conversation(store, &conversation, now, false).await? {
        ImportOutcome::Different => add_newer(store, &conversation, now).await?,
        outcome => outcome,
    };
    Ok(FollowOutcome { outcome, holds_back })
}

/// Returns the number of messages in complete exchanges.
fn count_complete(conversation: &ImportedConversation, last_exchange: LastExchange) -> usize {
    let messages = &conversation.messages;
    let is_complete = match last_exchange {
        LastExchange::Abandoned => true,
        LastExchange::Ended => ends_with_answer(messages),
        LastExchange::MayBeOpen => !conversation.is_open && ends_with_answer(messages),
    };
    if is_complete {
        return messages.len();
    }
    let is_prompt = |message: &DraftMessage| message.body.role() == Role::User;
    let last_answer = messages.iter().rposition(|message| !is_prompt(message));
    match last_answer {
        // The answer may go on, so the exchange starts with the prompts before it.
        Some(answer) if ends_with_answer(messages) => {
            let prompt = messages[..answer].iter().rposition(is_prompt).unwrap_or(0);
            messages[..prompt].iter().rposition(|message| !is_prompt(message)).map_or(0, |end| end + 1)
        }
        Some(answer) => answer + 1,
        None => 0,
    }
}

fn ends_with_answer(messages: &[DraftMessage]) -> bool {
    messages.last().is_some_and(|message| message.body.role() == Role::Assistant)
}

/// Returns the number of messages at the beginning of a new session that are stored with another one. When a session is
/// resumed or forked, some programs copy it.
async fn count_copied(
    store: &(impl Imports + ?Sized),
    conversation: &ImportedConversation,
) -> Result<usize, StoreError> {
    if !conversation.has_times || !store.imports(&conversation.origin).await?.is_empty() {
        return Ok(0);
    }
    let source = ExchangeSource::from_origin(&conversation.origin);
    let exchanges = into_exchanges(&conversation.messages, &conversation.model, source.as_ref());
    let are_stored = store.are_stored(&exchanges).await?;
    let copied = are_stored.iter().rposition(|is_stored| *is_stored).map_or(0, |last| last + 1);
    // What is missing in between was forgotten.
    Ok(exchanges[..copied].iter().map(|exchange| exchange.messages.len()).sum())
}

/// Adds the messages that are newer than everything imported before, because the file was rewritten.
async fn add_newer(
    store: &(impl Conversations + Exchanges + Imports + ?Sized),
    conversation: &ImportedConversation,
    now: Timestamp,
) -> Result<ImportOutcome, StoreError> {
    let has_name = |import: &Import| {
        import.origin.strip_prefix(&conversation.origin) == Some(conversation.name.as_str())
    };
    let Some(earlier) = store.imports(&conversation.origin).await?.into_iter().find(has_name) else {
        return Ok(ImportOutcome::Different);
    };
    let stored = store.messages(earlier.conversation_id, u32::MAX).await?;
    let last_stored = stored.iter().map(|message| message.created).max();
    // Deleted messages are newer than the last stored one, but not than the last imported one.
    let Some(through) = earlier.through.max(last_stored) else { return Ok(ImportOutcome::Different) };
    // A message with a date in the future was stored with that of its import, so it may look new.
    let is_stored = |message: &DraftMessage| {
        stored.iter().any(|other| {
            other.created >= through
                && other.body.role() == message.body.role()
                && other.body.text() == message.body.text()
        })
    };
    let is_new = |message: &DraftMessage| message.created > through && !is_stored(message);
    let first_new = conversation.messages.iter().position(is_new);
    let Some(first_new) = first_new.filter(|_| conversation.has_times) else {
        return Ok(ImportOutcome::Unchanged);
    };
    let last_seen: Option<ExchangeId> = stored.last().map(|message| message.exchange_id);
    let new = NewMessages { messages: &conversation.messages[first_new..], last_seen };
    let count = new.messages.len();
    match put_messages(store, conversation, Some(&earlier), new, now).await {
        Ok(Some(_)) => Ok(ImportOutcome::Extended(count)),
        // Another process stores the same messages.
        Ok(None) | Err(StoreError::Conflict { .. }) => Ok(ImportOutcome::Unchanged),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::ConversationId;
    use memoir_store::{Forget, Forgetting as _, Span};
    use memoir_store_sqlite::SqliteStore;

    use super::*;
    use crate::drafts;

    /// Builds a conversation of prompts ("p...") and answers ("a..."), a minute apart.
    fn conversation(texts: &[&str], is_open: bool) -> ImportedConversation {
        let message = |text: &&str| {
            let minute: i64 = text[1..].parse().unwrap();
            let created = Timestamp::from_millis(minute * 60_000);
            match text.starts_with('p') {
                true => drafts::user(created, *text),
                false => drafts::assistant(created, *text),
            }
        };
        ImportedConversation {
            title: "work".into(),
            origin: "claude-code/1".into(),
            name: String::new(),
            scope: "/x".into(),
            model: "imported".into(),
            has_times: true,
            is_open,
            messages: texts.iter().map(message).collect(),
        }
    }

    async fn follow(store: &SqliteStore, texts: &[&str], last_exchange: LastExchange) -> FollowOutcome {
        let now = Timestamp::from_millis(i64::MAX / 2);
        follow_conversation(store, &conversation(texts, false), last_exchange, now).await.unwrap()
    }

    async fn stored(store: &SqliteStore) -> Vec<String> {
        store
            .transcript(&Span::default(), 100)
            .await
            .unwrap()
            .into_iter()
            .map(|message| message.text)
            .collect()
    }

    #[tokio::test]
    async fn incomplete_exchanges_are_left_for_later() {
        let store = SqliteStore::in_memory().await.unwrap();
        let outcome = follow(&store, &["p1", "a2", "p3"], LastExchange::Ended).await;
        assert_eq!(outcome, FollowOutcome { outcome: ImportOutcome::New(2), holds_back: true });
        let outcome = follow(&store, &["p1", "a2", "p3", "a4"], LastExchange::MayBeOpen).await;
        assert_eq!(outcome, FollowOutcome { outcome: ImportOutcome::Extended(2), holds_back: false });
        let open = conversation(&["p1", "a2", "p3", "a4", "p5", "p6", "a7"], true);
        for (last_exchange, count) in
            [(LastExchange::MayBeOpen, 4), (LastExchange::Ended, 7), (LastExchange::Abandoned, 7)]
        {
            assert_eq!(count_complete(&open, last_exchange), count, "{last_exchange:?}");
        }
        let outcome = follow(&store, &["p1", "a2", "p3", "a4", "p5"], LastExchange::Abandoned).await;
        assert_eq!(outcome, FollowOutcome { outcome: ImportOutcome::Extended(1), holds_back: false });
        assert_eq!(stored(&store).await, ["p1", "a2", "p3", "a4", "p5"]);
    }

    #[tokio::test]
    async fn a_file_that_was_shortened_or_rewritten_is_followed() {
        let store = SqliteStore::in_memory().await.unwrap();
        follow(&store, &["p1", "a2", "p3", "a4"], LastExchange::Ended).await;
        assert_eq!(follow(&store, &[], LastExchange::Ended).await.outcome, ImportOutcome::Unchanged);
        // The beginning was removed, then an exchange was added.
        assert_eq!(
            follow(&store, &["p3", "a4"], LastExchange::Ended).await.outcome,
            ImportOutcome::Unchanged
        );
        let outcome = follow(&store, &["p3", "a4", "p5", "a6"], LastExchange::Ended).await.outcome;
        assert_eq!(outcome, ImportOutcome::Extended(2));
        let outcome =
            follow(&store, &["p3", "a4", "p5", "a6", "p7", "a8"], LastExchange::Ended).await.outcome;
        assert_eq!(outcome, ImportOutcome::Extended(2));
        // The complete file again.
        let all = ["p1", "a2", "p3", "a4", "p5", "a6", "p7", "a8"];
        assert_eq!(follow(&store, &all, LastExchange::Ended).await.outcome, ImportOutcome::Unchanged);
        assert_eq!(stored(&store).await, all);
    }

    #[tokio::test]
    async fn what_was_forgotten_does_not_come_back() {
        let store = SqliteStore::in_memory().await.unwrap();
        follow(&store, &["p1", "a2", "p3", "a4"], LastExchange::Ended).await;
        let exchange = store.exchanges(ConversationId::new(1), 10).await.unwrap()[1].id;
        store.forget(Forget::Exchange(exchange)).await.unwrap();
        // Not even if the file was rewritten.
        follow(&store, &["p3", "a4"], LastExchange::Ended).await;
        assert_eq!(stored(&store).await, ["p1", "a2"]);
        store.forget(Forget::Conversation(ConversationId::new(1))).await.unwrap();
        let outcome = follow(&store, &["p1", "a2", "p3", "a4"], LastExchange::Ended).await.outcome;
        assert_eq!((outcome, stored(&store).await), (ImportOutcome::Unchanged, vec![]));
        let now = i64::MAX / 2 / 60_000;
        let texts = ["p1".into(), "a2".into(), format!("p{}", now - 2), format!("a{}", now - 1)];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(follow(&store, &texts, LastExchange::Ended).await.outcome, ImportOutcome::New(2));
        assert_eq!(stored(&store).await, texts[2..]);
    }

    #[tokio::test]
    async fn a_copied_session_adds_only_what_is_new() {
        let store = SqliteStore::in_memory().await.unwrap();
        follow(&store, &["p1", "a2", "p3", "a4", "p5", "a6"], LastExchange::Ended).await;
        let forgotten = store.exchanges(ConversationId::new(1), 10).await.unwrap()[1].id;
        store.forget(Forget::Exchange(forgotten)).await.unwrap();
        let now = Timestamp::from_millis(i64::MAX / 2);
        let follow_copy = async |texts: &[&str], origin: &str| {
            let copy = ImportedConversation { origin: origin.into(), ..conversation(texts, false) };
            follow_conversation(&store, &copy, LastExchange::Ended, now).await.unwrap().outcome
        };
        let copied = ["p1", "a2", "p3", "a4", "p5", "a6"];
        assert_eq!(follow_copy(&copied, "claude-code/2").await, ImportOutcome::Unchanged);
        let longer = [&copied[..], &["p7", "a8"]].concat();
        assert_eq!(follow_copy(&longer, "claude-code/2").await, ImportOutcome::New(2));
        let longer = [&longer[..], &["p9", "a10"]].concat();
        assert_eq!(follow_copy(&longer, "claude-code/2").await, ImportOutcome::Extended(2));
        assert_eq!(follow_copy(&longer, "claude-code/2").await, ImportOutcome::Unchanged);
        assert_eq!(stored(&store).await, ["p1", "a2", "p5", "a6", "p7", "a8", "p9", "a10"]);
        // Another program may do something at the same time.
        assert_eq!(follow_copy(&["p1", "a2"], "codex/1").await, ImportOutcome::New(2));
    }
}
