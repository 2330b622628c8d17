//! Filing talk from elsewhere, once.

use memoir_core::{ConversationId, DraftMessage, Message, NewConversation, Timestamp};
use memoir_store::{Import, NewImport, Store, StoreError};
use sha2::{Digest as _, Sha256};

use crate::{Thread, exchanges::exchanges};

/// What became of a conversation from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imported {
    /// It is new: so many messages.
    New(usize),
    /// It has grown: so many are new.
    Grown(usize),
    /// It is all here already.
    Known,
    /// It is here, and says something else by now. It is left as it is.
    Different,
}

/// How often it is tried when someone else brings in the same.
const TRIES: usize = 5;

/// Files a conversation, as far as it is not here yet. With `dry`, only says what would be done.
pub async fn bring_in(
    store: &dyn Store,
    thread: &Thread,
    now: Timestamp,
    dry: bool,
) -> Result<Imported, StoreError> {
    if is_at_home(store, &thread.origin).await? {
        return Ok(Imported::Known);
    }
    let messages = thread.messages.as_slice();
    for _ in 0..TRIES {
        let (known, origin) = match find(store, thread).await? {
            Standing::Here(known) => (Some(known.clone()), known.origin),
            Standing::Different => return Ok(Imported::Different),
            Standing::New => (None, format!("{}{}", thread.origin, thread.name)),
        };
        let new = match &known {
            Some(known) => unsaid_here(store, known, messages).await?,
            None => messages,
        };
        let outcome = match (&known, new.len()) {
            (_, 0) => return Ok(Imported::Known),
            (None, count) => Imported::New(count),
            (Some(_), count) => Imported::Grown(count),
        };
        if dry {
            return Ok(outcome);
        }
        let import = NewImport {
            origin: &origin,
            conversation: &NewConversation { title: thread.title.clone(), scope: thread.scope.clone() },
            seen: known.as_ref().map(|known| (known.messages, known.checksum.as_str())),
            exchanges: &exchanges(&said_by(now, new), &thread.model),
            messages: messages.len() as u64,
            checksum: &checksum(messages),
        };
        if store.put_import(&import).await?.is_some() {
            return Ok(outcome);
        }
    }
    Err(StoreError::Other("someone else brings in the same at this moment".into()))
}

/// Messages none of which was said later than now, whatever their file tells: talk that is always the newest would come before
/// all other, and be gone on with in its place.
fn said_by(now: Timestamp, messages: &[DraftMessage]) -> Vec<DraftMessage> {
    let dated =
        |message: &DraftMessage| DraftMessage { created: message.created.min(now), ..message.clone() };
    messages.iter().map(dated).collect()
}

/// Whether it is one of this store's own conversations that comes back.
async fn is_at_home(store: &dyn Store, origin: &str) -> Result<bool, StoreError> {
    let Some((created, id)) = home(origin) else { return Ok(false) };
    let own = store.conversation(id).await?;
    Ok(own.is_some_and(|own| own.created == created))
}

/// When a conversation of a Memoir was begun, and its id there.
fn home(origin: &str) -> Option<(Timestamp, ConversationId)> {
    let (created, id) = origin.strip_prefix("memoir/")?.split_once('/')?;
    Some((Timestamp::from_millis(created.parse().ok()?), ConversationId::new(id.parse().ok()?)))
}

/// What of a conversation's messages is neither brought in nor said here: one that went on here after it was brought in
/// comes back with what was said here.
async fn unsaid_here<'a>(
    store: &dyn Store,
    known: &Import,
    messages: &'a [DraftMessage],
) -> Result<&'a [DraftMessage], StoreError> {
    let had = usize::try_from(known.messages).unwrap_or(usize::MAX);
    let new = messages.get(had..).unwrap_or_default();
    if new.is_empty() {
        return Ok(new);
    }
    let here = store.messages(known.conversation_id, u32::MAX).await?;
    let went_on = here.get(had..).unwrap_or_default();
    let same = |(said, here): &(&DraftMessage, &Message)| {
        (&said.author, said.created, said.body.role(), said.body.text())
            == (&here.author, here.created, here.body.role(), here.body.text())
    };
    let said_here = new.iter().zip(went_on).take_while(same).count();
    Ok(new.get(said_here..).unwrap_or_default())
}

/// How a conversation from elsewhere stands to what is here.
enum Standing {
    Here(Import),
    /// Something else under the same name.
    Different,
    New,
}

/// What begins as this one does is this one, whatever it was called then; a single message may begin several.
async fn find(store: &dyn Store, thread: &Thread) -> Result<Standing, StoreError> {
    let mut known = store.imports(&thread.origin).await?;
    let named = |known: &Import| known.origin.strip_prefix(&thread.origin) == Some(thread.name.as_str());
    if thread.name.is_empty() {
        // The origin tells all, and another one may only begin with it.
        known.retain(named);
    }
    let begins_so = |known: &&Import| {
        let had = usize::try_from(known.messages).unwrap_or(usize::MAX);
        thread.messages.get(..had).is_some_and(|before| checksum(before) == known.checksum)
    };
    let same = known.iter().filter(begins_so).max_by_key(|known| (named(known), known.messages));
    Ok(match same {
        Some(same) if named(same) || same.messages > 1 => Standing::Here(same.clone()),
        _ if known.iter().any(named) => Standing::Different,
        _ => Standing::New,
    })
}

/// A sum over who said what, and when. What has no author was said by the user, a model or a tool.
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
    use crate::said;

    #[tokio::test]
    async fn nothing_is_dated_later_than_now() {
        let store = SqliteStore::in_memory().await.unwrap();
        let talk = thread(&[("one", 0), ("two", 1), ("three", i64::MAX / 60_000)]);
        let now = Timestamp::from_millis(60_000);
        assert_eq!(bring_in(&store, &talk, now, false).await.unwrap(), Imported::New(3));
        let listed =
            store.conversations(&ConversationList { limit: 1, ..ConversationList::default() }).await.unwrap();
        assert_eq!(listed[0].updated, now);
        let later = Timestamp::from_millis(120_000);
        assert_eq!(bring_in(&store, &talk, later, false).await.unwrap(), Imported::Known);
    }

    fn thread(texts: &[(&str, i64)]) -> Thread {
        let spoken = |(text, minute): &(&str, i64)| {
            said::person("Anna", Timestamp::from_millis(minute * 60_000), *text)
        };
        Thread {
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
            bring_in(&store, &thread(texts), SystemClock.now(), dry).await.unwrap()
        };
        assert_eq!(import(&talk[..3], true).await, Imported::New(3));
        assert_eq!(import(&talk[..3], false).await, Imported::New(3));
        assert_eq!(import(&talk[..3], false).await, Imported::Known);
        assert_eq!(import(&talk, false).await, Imported::Grown(1));
        assert_eq!(import(&talk, false).await, Imported::Known);
        assert_eq!(
            import(&[("another", 0), ("two", 1), ("x", 2), ("y", 3)], false).await,
            Imported::Different
        );
        let renamed = Thread { name: "Anna (2)".into(), ..thread(&talk) };
        assert_eq!(
            bring_in(&store, &renamed, SystemClock.now(), false).await.unwrap(),
            Imported::Known,
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
            bring_in(&store, &thread(&talk[..2]), SystemClock.now(), false).await.unwrap(),
            Imported::New(2)
        );
        assert_eq!(
            bring_in(&store, &thread(&talk), SystemClock.now(), false).await.unwrap(),
            Imported::Grown(1)
        );
        assert_eq!(
            bring_in(&store, &thread(&talk), SystemClock.now(), false).await.unwrap(),
            Imported::Known
        );
    }

    #[tokio::test]
    async fn what_was_brought_in_before_models_could_talk_is_known_still() {
        let (_folder, store) = store().await;
        bring_in(&store, &thread(&[("one", 0), ("two", 1)]), SystemClock.now(), false).await.unwrap();
        let sum = Sha256::digest("Anna\u{0}0\u{0}one\u{0}Anna\u{0}60000\u{0}two\u{0}");
        let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(store.imports("x/1/").await.unwrap()[0].checksum, sum);
    }

    #[tokio::test]
    async fn an_origin_that_tells_all_is_not_the_beginning_of_another() {
        let (_folder, store) = store().await;
        let talk = |origin: &str| Thread {
            origin: origin.into(),
            name: String::new(),
            ..thread(&[("one", 0), ("two", 1)])
        };
        assert_eq!(
            bring_in(&store, &talk("codex/ab"), SystemClock.now(), false).await.unwrap(),
            Imported::New(2)
        );
        assert_eq!(
            bring_in(&store, &talk("codex/a"), SystemClock.now(), false).await.unwrap(),
            Imported::New(2)
        );
        assert_eq!(
            bring_in(&store, &talk("codex/a"), SystemClock.now(), false).await.unwrap(),
            Imported::Known
        );
    }

    #[tokio::test]
    async fn what_was_brought_in_and_went_on_here_may_come_back() {
        let (_folder, store) = store().await;
        let at = Timestamp::from_millis;
        let talk = |messages: &[DraftMessage]| Thread {
            origin: "chatgpt/1".into(),
            name: String::new(),
            messages: messages.to_vec(),
            ..thread(&[])
        };
        let all = [
            said::user(at(0), "hi"),
            said::assistant(at(1), "hello"),
            said::user(at(2), "still there?"),
            said::assistant(at(3), "yes"),
            said::user(at(4), "good"),
        ];
        assert_eq!(
            bring_in(&store, &talk(&all[..2]), SystemClock.now(), false).await.unwrap(),
            Imported::New(2)
        );
        let id = store.imports("chatgpt/1").await.unwrap()[0].conversation_id;
        let draft = exchanges(&all[2..4], "m").remove(0);
        store.commit_exchange(&ConversationTarget::Existing(id), &draft).await.unwrap();
        assert_eq!(
            bring_in(&store, &talk(&all[..4]), SystemClock.now(), false).await.unwrap(),
            Imported::Known
        );
        assert_eq!(
            bring_in(&store, &talk(&all), SystemClock.now(), false).await.unwrap(),
            Imported::Grown(1)
        );
        assert_eq!(store.transcript(&Span::default(), 100).await.unwrap().len(), 5);
    }

    #[tokio::test]
    async fn a_conversation_that_is_at_home_here_is_known() {
        let (_folder, store) = store().await;
        let draft: ExchangeDraft = exchanges(&[said::user(Timestamp::from_millis(5), "hi")], "m").remove(0);
        let target = ConversationTarget::New(NewConversation { title: "hi".into(), scope: "/x".into() });
        let id = store.commit_exchange(&target, &draft).await.unwrap().conversation_id;
        let own = store.conversation(id).await.unwrap().unwrap();
        let back = |created: i64| Thread {
            origin: format!("memoir/{created}/{id}"),
            name: String::new(),
            ..thread(&[("one", 0)])
        };
        assert_eq!(
            bring_in(&store, &back(own.created.as_millis()), SystemClock.now(), false).await.unwrap(),
            Imported::Known
        );
        assert_eq!(
            bring_in(&store, &back(own.created.as_millis() + 1), SystemClock.now(), false).await.unwrap(),
            Imported::New(1),
            "another Memoir's conversation with the same id"
        );
    }
}
