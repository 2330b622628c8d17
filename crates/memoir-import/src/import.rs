//! Stores imported conversations without duplicating earlier imports.

use memoir_core::{
    ConversationId, DraftMessage, ExchangeId, ExchangeSource, Message, NewConversation, Timestamp,
};
use memoir_store::{Conversations, Exchanges, Import, Imports, NewImport, StoreError};
use sha2::{Digest as _, Sha256};

use crate::{ImportedConversation, exchanges::into_exchanges};

/// The result of importing one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOutcome {
    /// The conversation is new. Contains its number of messages.
    New(usize),
    /// The conversation was imported before. Contains the number of new messages.
    Extended(usize),
    /// All messages are already in the store.
    Unchanged,
    /// The stored messages differ from those in the file. The store is left unchanged.
    Different,
}

/// Number of attempts when another process imports the same conversation at the same time.
const MAX_ATTEMPTS: usize = 5;

/// Stores the messages of a conversation that are not in the store yet. With `dry`, returns the outcome
/// without storing anything.
///
/// # Errors
///
/// Fails if the store fails, or if another process keeps importing the same conversation at the same time.
pub async fn import_conversation(
    store: &(impl Conversations + Exchanges + Imports + ?Sized),
    conversation: &ImportedConversation,
    now: Timestamp,
    dry: bool,
) -> Result<ImportOutcome, StoreError> {
    if is_own_conversation(store, &conversation.origin).await? {
        return Ok(ImportOutcome::Unchanged);
    }
    let messages = conversation.messages.as_slice();
    for attempt in 1..=MAX_ATTEMPTS {
        let earlier = match find_earlier(store, conversation).await? {
            EarlierImport::Same(import) => Some(import),
            EarlierImport::Different(import) => {
                return Ok(match is_older_copy(store, &import, conversation).await? {
                    true => ImportOutcome::Unchanged,
                    false => ImportOutcome::Different,
                });
            }
            EarlierImport::New => None,
        };
        let new = match &earlier {
            Some(earlier) => messages_to_add(store, earlier, messages).await?,
            None => NewMessages { messages, last_seen: None },
        };
        let outcome = match (&earlier, new.messages.len()) {
            (_, 0) => return Ok(ImportOutcome::Unchanged),
            (None, count) => ImportOutcome::New(count),
            (Some(_), count) => ImportOutcome::Extended(count),
        };
        if dry {
            return Ok(outcome);
        }
        match put_messages(store, conversation, earlier.as_ref(), new, now).await {
            Ok(Some(_)) => return Ok(outcome),
            Ok(None) | Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
        // Another process has stored part of the conversation since the lookup.
        tracing::debug!(origin = %conversation.origin, attempt, "retrying an import that another process changed");
    }
    Err(StoreError::Other("another process is importing the same conversation".into()))
}

/// Adds messages to the import of a conversation. Returns `None` if another process has added some since `earlier`.
pub(crate) async fn put_messages(
    store: &(impl Imports + ?Sized),
    conversation: &ImportedConversation,
    earlier: Option<&Import>,
    new: NewMessages<'_>,
    now: Timestamp,
) -> Result<Option<ConversationId>, StoreError> {
    let origin = match earlier {
        Some(earlier) => earlier.origin.clone(),
        None => format!("{}{}", conversation.origin, conversation.name),
    };
    let messages = conversation.messages.as_slice();
    let import = NewImport {
        origin: &origin,
        conversation: &NewConversation {
            title: conversation.title.clone(),
            scope: conversation.scope.clone(),
        },
        previous: earlier.map(|earlier| (earlier.messages, earlier.checksum.as_str())),
        last_seen: new.last_seen,
        exchanges: &into_exchanges(
            &clamp_dates(now, new.messages),
            &conversation.model,
            ExchangeSource::from_origin(&origin).as_ref(),
        ),
        messages: messages.len() as u64,
        checksum: &checksum(messages, conversation.has_times),
        through: messages.iter().map(|message| message.created.min(now)).max(),
    };
    store.put_import(&import).await
}

/// Replaces dates later than `now` by `now`: a conversation dated in the future would always be listed first
/// and be resumed by default.
fn clamp_dates(now: Timestamp, messages: &[DraftMessage]) -> Vec<DraftMessage> {
    let clamp =
        |message: &DraftMessage| DraftMessage { created: message.created.min(now), ..message.clone() };
    messages.iter().map(clamp).collect()
}

/// Returns whether the conversation was exported from this store.
async fn is_own_conversation(
    store: &(impl Conversations + ?Sized),
    origin: &str,
) -> Result<bool, StoreError> {
    let Some((created, id)) = parse_memoir_origin(origin) else { return Ok(false) };
    let stored = store.conversation(id).await?;
    Ok(stored.is_some_and(|conversation| conversation.created == created))
}

/// Parses the origin of a conversation that Memoir exported into its creation time and its id in the exporting store.
fn parse_memoir_origin(origin: &str) -> Option<(Timestamp, ConversationId)> {
    let (created, id) = origin.strip_prefix("memoir/")?.split_once('/')?;
    Some((Timestamp::from_millis(created.parse().ok()?), ConversationId::new(id.parse().ok()?)))
}

/// The messages of an imported conversation that are not stored yet.
pub(crate) struct NewMessages<'a> {
    pub(crate) messages: &'a [DraftMessage],
    /// Last exchange of the conversation in the store.
    pub(crate) last_seen: Option<ExchangeId>,
}

/// Returns the messages that are not stored yet. If the conversation was imported, resumed here and then
/// exported, the file also contains messages that were written here.
async fn messages_to_add<'a>(
    store: &(impl Exchanges + ?Sized),
    earlier: &Import,
    messages: &'a [DraftMessage],
) -> Result<NewMessages<'a>, StoreError> {
    let imported = usize::try_from(earlier.messages).unwrap_or(usize::MAX);
    let new = messages.get(imported..).unwrap_or_default();
    if new.is_empty() {
        return Ok(NewMessages { messages: new, last_seen: None });
    }
    let stored = store.messages(earlier.conversation_id, u32::MAX).await?;
    let written_here = stored.get(imported..).unwrap_or_default();
    let is_same = |(new, stored): &(&DraftMessage, &Message)| {
        (&new.author, new.created, new.body.role(), new.body.text())
            == (&stored.author, stored.created, stored.body.role(), stored.body.text())
    };
    let stored_count = new.iter().zip(written_here).take_while(is_same).count();
    let last_seen = stored.last().map(|message| message.exchange_id);
    Ok(NewMessages { messages: new.get(stored_count..).unwrap_or_default(), last_seen })
}

/// How a conversation relates to earlier imports.
enum EarlierImport {
    Same(Import),
    /// Another conversation has the same name, or an older copy of the conversation was given.
    Different(Import),
    New,
}

/// Finds the earlier import of a conversation. An import whose messages are the beginning of the conversation
/// is the same one, even under another name, unless it has only one message: several conversations may begin
/// with that message.
async fn find_earlier(
    store: &(impl Imports + ?Sized),
    conversation: &ImportedConversation,
) -> Result<EarlierImport, StoreError> {
    let mut imports = store.imports(&conversation.origin).await?;
    let has_same_name = |import: &Import| {
        import.origin.strip_prefix(&conversation.origin) == Some(conversation.name.as_str())
    };
    if conversation.name.is_empty() {
        // The origin alone identifies the conversation, so longer origins with this prefix are other conversations.
        imports.retain(has_same_name);
    }
    let is_beginning = |import: &&Import| {
        let count = usize::try_from(import.messages).unwrap_or(usize::MAX);
        conversation
            .messages
            .get(..count)
            .is_some_and(|messages| checksum(messages, conversation.has_times) == import.checksum)
    };
    let longest =
        imports.iter().filter(is_beginning).max_by_key(|import| (has_same_name(import), import.messages));
    Ok(match (longest, imports.iter().find(|import| has_same_name(import))) {
        (Some(import), _) if has_same_name(import) || import.messages > 1 => {
            EarlierImport::Same(import.clone())
        }
        (_, Some(import)) => EarlierImport::Different(import.clone()),
        _ => EarlierImport::New,
    })
}

/// Returns whether all messages of the conversation are already stored, because a longer copy was imported before.
async fn is_older_copy(
    store: &(impl Exchanges + ?Sized),
    earlier: &Import,
    conversation: &ImportedConversation,
) -> Result<bool, StoreError> {
    if (conversation.messages.len() as u64) >= earlier.messages {
        return Ok(false);
    }
    let stored = store.messages(earlier.conversation_id, u32::MAX).await?;
    let is_same = |(new, stored): (&DraftMessage, &Message)| {
        let is_same_time = !conversation.has_times || new.created == stored.created;
        is_same_time
            && (&new.author, new.body.role(), new.body.text())
                == (&stored.author, stored.body.role(), stored.body.text())
    };
    Ok(stored.len() >= conversation.messages.len() && conversation.messages.iter().zip(&stored).all(is_same))
}

/// Returns a checksum over the author, time and text of the messages. The role substitutes for a missing author. Times
/// that are not in the file are left out, because they may change.
fn checksum(messages: &[DraftMessage], has_times: bool) -> String {
    let mut hasher = Sha256::new();
    for message in messages {
        let author = message.author.as_deref().unwrap_or(message.body.role().as_str());
        let created = if has_times { message.created.as_millis() } else { 0 };
        hasher.update(format!("{author}\0{created}\0{}\0", message.body.text()));
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::{Clock as _, ConversationTarget, ExchangeDraft, SystemClock};
    use memoir_store::{ConversationList, Conversations as _, Exchanges as _, Imports as _, Span};
    use memoir_store_sqlite::SqliteStore;

    use super::*;
    use crate::drafts;

    #[tokio::test]
    async fn future_dates_are_clamped_to_now() {
        let store = SqliteStore::in_memory().await.unwrap();
        let imported = conversation(&[("one", 0), ("two", 1), ("three", i64::MAX / 60_000)]);
        let now = Timestamp::from_millis(60_000);
        assert_eq!(import_conversation(&store, &imported, now, false).await.unwrap(), ImportOutcome::New(3));
        let conversations =
            store.conversations(&ConversationList { limit: 1, ..ConversationList::default() }).await.unwrap();
        assert_eq!(conversations[0].updated, now);
        let later = Timestamp::from_millis(120_000);
        assert_eq!(
            import_conversation(&store, &imported, later, false).await.unwrap(),
            ImportOutcome::Unchanged
        );
    }

    fn conversation(texts: &[(&str, i64)]) -> ImportedConversation {
        let message = |(text, minute): &(&str, i64)| {
            drafts::person("Anna", Timestamp::from_millis(minute * 60_000), *text)
        };
        ImportedConversation {
            title: "Anna, day".into(),
            origin: "x/1/".into(),
            name: "Anna".into(),
            scope: "whatsapp".into(),
            model: "imported".into(),
            has_times: true,
            is_open: false,
            messages: texts.iter().map(message).collect(),
        }
    }

    async fn store() -> (tempfile::TempDir, SqliteStore) {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("m.db")).await.unwrap();
        (directory, store)
    }

    #[tokio::test]
    async fn nothing_is_imported_twice() {
        let (_directory, store) = store().await;
        let texts = [("one", 0), ("two", 1), ("after a long pause", 100), ("four", 101)];
        let import = async |texts: &[(&str, i64)], dry| {
            import_conversation(&store, &conversation(texts), SystemClock.now(), dry).await.unwrap()
        };
        assert_eq!(import(&texts[..3], true).await, ImportOutcome::New(3));
        assert_eq!(import(&texts[..3], false).await, ImportOutcome::New(3));
        assert_eq!(import(&texts[..3], false).await, ImportOutcome::Unchanged);
        assert_eq!(import(&texts, false).await, ImportOutcome::Extended(1));
        assert_eq!(import(&texts, false).await, ImportOutcome::Unchanged);
        assert_eq!(import(&texts[..2], false).await, ImportOutcome::Unchanged, "an older copy");
        assert_eq!(
            import(&[("another", 0), ("two", 1), ("x", 2), ("y", 3)], false).await,
            ImportOutcome::Different
        );
        let renamed = ImportedConversation { name: "Anna (2)".into(), ..conversation(&texts) };
        assert_eq!(
            import_conversation(&store, &renamed, SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Unchanged,
            "the messages are the same"
        );
        let messages = store.transcript(&Span::default(), 100).await.unwrap();
        let stored_texts: Vec<&str> = messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(stored_texts, ["one", "two", "after a long pause", "four"]);
        assert!(messages.iter().all(|message| message.author.as_deref() == Some("Anna")));
    }

    #[tokio::test]
    async fn times_that_are_not_in_the_file_may_change() {
        let (_directory, store) = store().await;
        let import = async |texts: &[(&str, i64)]| {
            let conversation = ImportedConversation { has_times: false, ..conversation(texts) };
            import_conversation(&store, &conversation, SystemClock.now(), false).await.unwrap()
        };
        assert_eq!(import(&[("one", 1), ("two", 1)]).await, ImportOutcome::New(2));
        assert_eq!(import(&[("one", 5), ("two", 5)]).await, ImportOutcome::Unchanged);
        assert_eq!(import(&[("one", 9), ("two", 9), ("three", 9)]).await, ImportOutcome::Extended(1));
        assert_eq!(import(&[("one", 5), ("two", 5)]).await, ImportOutcome::Unchanged);
    }

    #[tokio::test]
    async fn an_identical_message_within_a_minute_is_new() {
        let (_directory, store) = store().await;
        let texts = [("ok", 0), ("ok", 0), ("ok", 0)];
        assert_eq!(
            import_conversation(&store, &conversation(&texts[..2]), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(2)
        );
        assert_eq!(
            import_conversation(&store, &conversation(&texts), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Extended(1)
        );
        assert_eq!(
            import_conversation(&store, &conversation(&texts), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Unchanged
        );
    }

    #[tokio::test]
    async fn checksums_of_chats_between_people_stay_stable() {
        let (_directory, store) = store().await;
        import_conversation(&store, &conversation(&[("one", 0), ("two", 1)]), SystemClock.now(), false)
            .await
            .unwrap();
        let sum = Sha256::digest("Anna\u{0}0\u{0}one\u{0}Anna\u{0}60000\u{0}two\u{0}");
        let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(store.imports("x/1/").await.unwrap()[0].checksum, sum);
    }

    #[tokio::test]
    async fn an_origin_without_a_name_does_not_match_as_a_prefix() {
        let (_directory, store) = store().await;
        let with_origin = |origin: &str| ImportedConversation {
            origin: origin.into(),
            name: String::new(),
            ..conversation(&[("one", 0), ("two", 1)])
        };
        assert_eq!(
            import_conversation(&store, &with_origin("codex/ab"), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(2)
        );
        assert_eq!(
            import_conversation(&store, &with_origin("codex/a"), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(2)
        );
        assert_eq!(
            import_conversation(&store, &with_origin("codex/a"), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Unchanged
        );
    }

    #[tokio::test]
    async fn an_imported_conversation_resumed_here_can_be_imported_again() {
        let (_directory, store) = store().await;
        let millis = Timestamp::from_millis;
        let with_messages = |messages: &[DraftMessage]| ImportedConversation {
            origin: "chatgpt/1".into(),
            name: String::new(),
            messages: messages.to_vec(),
            ..conversation(&[])
        };
        let all = [
            drafts::user(millis(0), "hi"),
            drafts::assistant(millis(1), "hello"),
            drafts::user(millis(2), "still there?"),
            drafts::assistant(millis(3), "yes"),
            drafts::user(millis(4), "good"),
        ];
        assert_eq!(
            import_conversation(&store, &with_messages(&all[..2]), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(2)
        );
        let id = store.imports("chatgpt/1").await.unwrap()[0].conversation_id;
        let draft = into_exchanges(&all[2..4], "m", None).remove(0);
        let last_seen = store.exchanges(id, 1).await.unwrap().pop().map(|last| last.id);
        let target = ConversationTarget::Existing { conversation: id, last_seen };
        store.commit_exchange(&target, &draft).await.unwrap();
        assert_eq!(
            import_conversation(&store, &with_messages(&all[..4]), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Unchanged
        );
        assert_eq!(
            import_conversation(&store, &with_messages(&all), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Extended(1)
        );
        assert_eq!(store.transcript(&Span::default(), 100).await.unwrap().len(), 5);
    }

    #[tokio::test]
    async fn a_conversation_exported_from_this_store_is_known() {
        let (_directory, store) = store().await;
        let draft: ExchangeDraft =
            into_exchanges(&[drafts::user(Timestamp::from_millis(5), "hi")], "m", None).remove(0);
        let target = ConversationTarget::New(NewConversation { title: "hi".into(), scope: "/x".into() });
        let id = store.commit_exchange(&target, &draft).await.unwrap().conversation_id;
        let own = store.conversation(id).await.unwrap().unwrap();
        let exported = |created: i64| ImportedConversation {
            origin: format!("memoir/{created}/{id}"),
            name: String::new(),
            ..conversation(&[("one", 0)])
        };
        assert_eq!(
            import_conversation(&store, &exported(own.created.as_millis()), SystemClock.now(), false)
                .await
                .unwrap(),
            ImportOutcome::Unchanged
        );
        assert_eq!(
            import_conversation(&store, &exported(own.created.as_millis() + 1), SystemClock.now(), false)
                .await
                .unwrap(),
            ImportOutcome::New(1),
            "it has the same id in another store"
        );
    }
}
