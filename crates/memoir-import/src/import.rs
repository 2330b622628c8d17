//! Storing an imported conversation, once.

use memoir_core::{ConversationId, DraftMessage, ExchangeId, Message, NewConversation, Timestamp};
use memoir_store::{Conversations, Exchanges, Import, Imports, NewImport, StoreError};
use sha2::{Digest as _, Sha256};

use crate::{ImportedConversation, exchanges::exchanges};

/// The result of importing one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It is new and has this many messages.
    New(usize),
    /// It was imported before, and this many messages are new.
    Grown(usize),
    /// All of it was imported before.
    Known,
    /// It was imported before and its earlier messages differ now. The stored conversation is left unchanged.
    Different,
}

/// Number of attempts when another process imports the same conversation at the same time.
const TRIES: usize = 5;

/// Stores the messages of a conversation that were not imported before. With `dry`, only returns what would be done.
///
/// # Errors
///
/// Fails if the store does, or if another process keeps importing the same conversation at the same time.
pub async fn import_conversation(
    store: &(impl Conversations + Exchanges + Imports + ?Sized),
    conversation: &ImportedConversation,
    now: Timestamp,
    dry: bool,
) -> Result<ImportOutcome, StoreError> {
    if is_at_home(store, &conversation.origin).await? {
        return Ok(ImportOutcome::Known);
    }
    let messages = conversation.messages.as_slice();
    for attempt in 1..=TRIES {
        let (known, origin) = match find_earlier(store, conversation).await? {
            EarlierImport::Here(known) => (Some(known.clone()), known.origin),
            EarlierImport::Different => return Ok(ImportOutcome::Different),
            EarlierImport::New => (None, format!("{}{}", conversation.origin, conversation.name)),
        };
        let new = match &known {
            Some(known) => messages_to_add(store, known, messages).await?,
            None => NewMessages { messages, last_seen: None },
        };
        let outcome = match (&known, new.messages.len()) {
            (_, 0) => return Ok(ImportOutcome::Known),
            (None, count) => ImportOutcome::New(count),
            (Some(_), count) => ImportOutcome::Grown(count),
        };
        if dry {
            return Ok(outcome);
        }
        let import = NewImport {
            origin: &origin,
            conversation: &NewConversation {
                title: conversation.title.clone(),
                scope: conversation.scope.clone(),
            },
            seen: known.as_ref().map(|known| (known.messages, known.checksum.as_str())),
            last_seen: new.last_seen,
            exchanges: &exchanges(&date_until(now, new.messages), &conversation.model),
            messages: messages.len() as u64,
            checksum: &checksum(messages),
        };
        match store.put_import(&import).await {
            Ok(Some(_)) => return Ok(outcome),
            Ok(None) | Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
        // Another process stored some of it since it was looked up.
        tracing::debug!(origin = %conversation.origin, attempt, "retrying an import that another process changed");
    }
    Err(StoreError::Other("someone else brings in the same at this moment".into()))
}

/// Returns the messages with no date later than `now`, whatever their file says: a conversation that always is the newest would
/// be listed first, and resumed by default.
fn date_until(now: Timestamp, messages: &[DraftMessage]) -> Vec<DraftMessage> {
    let dated =
        |message: &DraftMessage| DraftMessage { created: message.created.min(now), ..message.clone() };
    messages.iter().map(dated).collect()
}

/// Returns whether the conversation was exported from this very store.
async fn is_at_home(store: &(impl Conversations + ?Sized), origin: &str) -> Result<bool, StoreError> {
    let Some((created, id)) = parse_home_origin(origin) else { return Ok(false) };
    let own = store.conversation(id).await?;
    Ok(own.is_some_and(|own| own.created == created))
}

/// Parses the origin of a conversation that Memoir exported: when it was created, and its id there.
fn parse_home_origin(origin: &str) -> Option<(Timestamp, ConversationId)> {
    let (created, id) = origin.strip_prefix("memoir/")?.split_once('/')?;
    Some((Timestamp::from_millis(created.parse().ok()?), ConversationId::new(id.parse().ok()?)))
}

/// The messages of an imported conversation that are not stored yet.
struct NewMessages<'a> {
    messages: &'a [DraftMessage],
    /// The last exchange of the conversation in the store.
    last_seen: Option<ExchangeId>,
}

/// Returns the messages that are not stored yet. A conversation that was imported, continued here and exported contains messages
/// that were written here.
async fn messages_to_add<'a>(
    store: &(impl Exchanges + ?Sized),
    known: &Import,
    messages: &'a [DraftMessage],
) -> Result<NewMessages<'a>, StoreError> {
    let had = usize::try_from(known.messages).unwrap_or(usize::MAX);
    let new = messages.get(had..).unwrap_or_default();
    if new.is_empty() {
        return Ok(NewMessages { messages: new, last_seen: None });
    }
    let here = store.messages(known.conversation_id, u32::MAX).await?;
    let went_on = here.get(had..).unwrap_or_default();
    let same = |(said, here): &(&DraftMessage, &Message)| {
        (&said.author, said.created, said.body.role(), said.body.text())
            == (&here.author, here.created, here.body.role(), here.body.text())
    };
    let said_here = new.iter().zip(went_on).take_while(same).count();
    let last_seen = here.last().map(|message| message.exchange_id);
    Ok(NewMessages { messages: new.get(said_here..).unwrap_or_default(), last_seen })
}

/// How a conversation relates to earlier imports.
enum EarlierImport {
    Here(Import),
    /// Something else under the same name.
    Different,
    New,
}

/// Finds the earlier import of a conversation. One that begins with the same messages is the same conversation, whatever its name
/// was, unless it has only one message: several conversations may begin with that.
async fn find_earlier(
    store: &(impl Imports + ?Sized),
    conversation: &ImportedConversation,
) -> Result<EarlierImport, StoreError> {
    let mut known = store.imports(&conversation.origin).await?;
    let named =
        |known: &Import| known.origin.strip_prefix(&conversation.origin) == Some(conversation.name.as_str());
    if conversation.name.is_empty() {
        // The origin tells all, and another one may only begin with it.
        known.retain(named);
    }
    let begins_so = |known: &&Import| {
        let had = usize::try_from(known.messages).unwrap_or(usize::MAX);
        conversation.messages.get(..had).is_some_and(|before| checksum(before) == known.checksum)
    };
    let same = known.iter().filter(begins_so).max_by_key(|known| (named(known), known.messages));
    Ok(match same {
        Some(same) if named(same) || same.messages > 1 => EarlierImport::Here(same.clone()),
        _ if known.iter().any(named) => EarlierImport::Different,
        _ => EarlierImport::New,
    })
}

/// Returns a checksum over author, time and text of the messages. A message without an author is identified by its role.
fn checksum(messages: &[DraftMessage]) -> String {
    let mut sum = Sha256::new();
    for message in messages {
        let who = message.author.as_deref().unwrap_or(message.body.role().as_str());
        sum.update(format!("{who}\0{}\0{}\0", message.created.as_millis(), message.body.text()));
    }
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
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
    async fn nothing_is_dated_later_than_now() {
        let store = SqliteStore::in_memory().await.unwrap();
        let talk = conversation(&[("one", 0), ("two", 1), ("three", i64::MAX / 60_000)]);
        let now = Timestamp::from_millis(60_000);
        assert_eq!(import_conversation(&store, &talk, now, false).await.unwrap(), ImportOutcome::New(3));
        let listed =
            store.conversations(&ConversationList { limit: 1, ..ConversationList::default() }).await.unwrap();
        assert_eq!(listed[0].updated, now);
        let later = Timestamp::from_millis(120_000);
        assert_eq!(import_conversation(&store, &talk, later, false).await.unwrap(), ImportOutcome::Known);
    }

    fn conversation(texts: &[(&str, i64)]) -> ImportedConversation {
        let spoken = |(text, minute): &(&str, i64)| {
            drafts::person("Anna", Timestamp::from_millis(minute * 60_000), *text)
        };
        ImportedConversation {
            title: "Anna, day".into(),
            origin: "x/1/".into(),
            name: "Anna".into(),
            scope: "whatsapp".into(),
            model: "imported".into(),
            messages: texts.iter().map(spoken).collect(),
        }
    }

    async fn store() -> (tempfile::TempDir, SqliteStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("m.db")).await.unwrap();
        (folder, store)
    }

    #[tokio::test]
    async fn nothing_is_brought_in_twice() {
        let (_folder, store) = store().await;
        let talk = [("one", 0), ("two", 1), ("after a long silence", 100), ("four", 101)];
        let import = async |texts: &[(&str, i64)], dry| {
            import_conversation(&store, &conversation(texts), SystemClock.now(), dry).await.unwrap()
        };
        assert_eq!(import(&talk[..3], true).await, ImportOutcome::New(3));
        assert_eq!(import(&talk[..3], false).await, ImportOutcome::New(3));
        assert_eq!(import(&talk[..3], false).await, ImportOutcome::Known);
        assert_eq!(import(&talk, false).await, ImportOutcome::Grown(1));
        assert_eq!(import(&talk, false).await, ImportOutcome::Known);
        assert_eq!(
            import(&[("another", 0), ("two", 1), ("x", 2), ("y", 3)], false).await,
            ImportOutcome::Different
        );
        let renamed = ImportedConversation { name: "Anna (2)".into(), ..conversation(&talk) };
        assert_eq!(
            import_conversation(&store, &renamed, SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Known,
            "the same talk"
        );
        let said = store.transcript(&Span::default(), 100).await.unwrap();
        let texts: Vec<&str> = said.iter().map(|said| said.text.as_str()).collect();
        assert_eq!(texts, ["one", "two", "after a long silence", "four"]);
        assert!(said.iter().all(|said| said.author.as_deref() == Some("Anna")));
    }

    #[tokio::test]
    async fn what_is_said_again_within_a_minute_is_new() {
        let (_folder, store) = store().await;
        let talk = [("ok", 0), ("ok", 0), ("ok", 0)];
        assert_eq!(
            import_conversation(&store, &conversation(&talk[..2]), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(2)
        );
        assert_eq!(
            import_conversation(&store, &conversation(&talk), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Grown(1)
        );
        assert_eq!(
            import_conversation(&store, &conversation(&talk), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Known
        );
    }

    #[tokio::test]
    async fn what_was_brought_in_before_models_could_talk_is_known_still() {
        let (_folder, store) = store().await;
        import_conversation(&store, &conversation(&[("one", 0), ("two", 1)]), SystemClock.now(), false)
            .await
            .unwrap();
        let sum = Sha256::digest("Anna\u{0}0\u{0}one\u{0}Anna\u{0}60000\u{0}two\u{0}");
        let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(store.imports("x/1/").await.unwrap()[0].checksum, sum);
    }

    #[tokio::test]
    async fn an_origin_that_tells_all_is_not_the_beginning_of_another() {
        let (_folder, store) = store().await;
        let talk = |origin: &str| ImportedConversation {
            origin: origin.into(),
            name: String::new(),
            ..conversation(&[("one", 0), ("two", 1)])
        };
        assert_eq!(
            import_conversation(&store, &talk("codex/ab"), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(2)
        );
        assert_eq!(
            import_conversation(&store, &talk("codex/a"), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(2)
        );
        assert_eq!(
            import_conversation(&store, &talk("codex/a"), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Known
        );
    }

    #[tokio::test]
    async fn what_was_brought_in_and_went_on_here_may_come_back() {
        let (_folder, store) = store().await;
        let at = Timestamp::from_millis;
        let talk = |messages: &[DraftMessage]| ImportedConversation {
            origin: "chatgpt/1".into(),
            name: String::new(),
            messages: messages.to_vec(),
            ..conversation(&[])
        };
        let all = [
            drafts::user(at(0), "hi"),
            drafts::assistant(at(1), "hello"),
            drafts::user(at(2), "still there?"),
            drafts::assistant(at(3), "yes"),
            drafts::user(at(4), "good"),
        ];
        assert_eq!(
            import_conversation(&store, &talk(&all[..2]), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(2)
        );
        let id = store.imports("chatgpt/1").await.unwrap()[0].conversation_id;
        let draft = exchanges(&all[2..4], "m").remove(0);
        let last_seen = store.exchanges(id, 1).await.unwrap().pop().map(|last| last.id);
        let target = ConversationTarget::Existing { conversation: id, last_seen };
        store.commit_exchange(&target, &draft).await.unwrap();
        assert_eq!(
            import_conversation(&store, &talk(&all[..4]), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Known
        );
        assert_eq!(
            import_conversation(&store, &talk(&all), SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Grown(1)
        );
        assert_eq!(store.transcript(&Span::default(), 100).await.unwrap().len(), 5);
    }

    #[tokio::test]
    async fn a_conversation_that_is_at_home_here_is_known() {
        let (_folder, store) = store().await;
        let draft: ExchangeDraft = exchanges(&[drafts::user(Timestamp::from_millis(5), "hi")], "m").remove(0);
        let target = ConversationTarget::New(NewConversation { title: "hi".into(), scope: "/x".into() });
        let id = store.commit_exchange(&target, &draft).await.unwrap().conversation_id;
        let own = store.conversation(id).await.unwrap().unwrap();
        let back = |created: i64| ImportedConversation {
            origin: format!("memoir/{created}/{id}"),
            name: String::new(),
            ..conversation(&[("one", 0)])
        };
        assert_eq!(
            import_conversation(&store, &back(own.created.as_millis()), SystemClock.now(), false)
                .await
                .unwrap(),
            ImportOutcome::Known
        );
        assert_eq!(
            import_conversation(&store, &back(own.created.as_millis() + 1), SystemClock.now(), false)
                .await
                .unwrap(),
            ImportOutcome::New(1),
            "another Memoir's conversation with the same id"
        );
    }
}
