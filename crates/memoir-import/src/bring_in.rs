//! Filing talk from elsewhere, once.

use memoir_core::{
    DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, NewConversation, Provenance, Recalled,
    Visibility, count_tokens,
};
use memoir_store::{Import, NewImport, Store, StoreError};
use sha2::{Digest as _, Sha256};

use crate::{Spoken, Thread};

/// After so long a silence something else begins, in milliseconds.
const SILENCE: i64 = 30 * 60 * 1000;

/// So many messages are one exchange at most.
const MOST: usize = 10;

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
    scope: &str,
    dry: bool,
) -> Result<Imported, StoreError> {
    let messages = thread.messages.as_slice();
    for _ in 0..TRIES {
        let (known, origin) = match find(store, thread).await? {
            Found::Here(known) => (Some(known.clone()), known.origin),
            Found::Different => return Ok(Imported::Different),
            Found::New => (None, format!("{}{}", thread.origin, thread.name)),
        };
        let had = known.as_ref().map_or(0, |known| usize::try_from(known.messages).unwrap_or(usize::MAX));
        let new = messages.get(had..).unwrap_or_default();
        let outcome = match (&known, new.len()) {
            (_, 0) => return Ok(Imported::Known),
            (None, count) => Imported::New(count),
            (Some(_), count) => Imported::Grown(count),
        };
        if dry {
            return Ok(outcome);
        }
        let drafts: Vec<ExchangeDraft> = exchanges(new).into_iter().map(draft).collect();
        let import = NewImport {
            origin: &origin,
            conversation: &NewConversation { title: thread.title.clone(), scope: scope.to_owned() },
            seen: known.as_ref().map(|known| (known.messages, known.checksum.as_str())),
            exchanges: &drafts,
            messages: messages.len() as u64,
            checksum: &checksum(messages),
        };
        if store.put_import(&import).await?.is_some() {
            return Ok(outcome);
        }
    }
    Err(StoreError::Other("someone else brings in the same at this moment".into()))
}

/// What is here of a conversation from elsewhere.
enum Found {
    Here(Import),
    /// Something else under the same name.
    Different,
    New,
}

/// What begins as this one does is this one, whatever it was called then; a single message may begin several.
async fn find(store: &dyn Store, thread: &Thread) -> Result<Found, StoreError> {
    let known = store.imports(&thread.origin).await?;
    let begins_so = |known: &&Import| {
        let had = usize::try_from(known.messages).unwrap_or(usize::MAX);
        thread.messages.get(..had).is_some_and(|before| checksum(before) == known.checksum)
    };
    let named = |known: &Import| known.origin.strip_prefix(&thread.origin) == Some(thread.name.as_str());
    let same = known.iter().filter(begins_so).max_by_key(|known| (named(known), known.messages));
    Ok(match same {
        Some(same) if named(same) || same.messages > 1 => Found::Here(same.clone()),
        _ if known.iter().any(named) => Found::Different,
        _ => Found::New,
    })
}

fn checksum(messages: &[Spoken]) -> String {
    let mut sum = Sha256::new();
    for message in messages {
        sum.update(format!("{}\0{}\0{}\0", message.author, message.created.as_millis(), message.text));
    }
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Stretches of talk that belong together.
fn exchanges(messages: &[Spoken]) -> Vec<&[Spoken]> {
    let mut stretches = Vec::new();
    let mut start = 0;
    for end in 1..=messages.len() {
        let goes_on = messages.get(end).is_some_and(|next| {
            next.created.as_millis() - messages[end - 1].created.as_millis() < SILENCE && end - start < MOST
        });
        if !goes_on {
            stretches.push(&messages[start..end]);
            start = end;
        }
    }
    stretches
}

fn draft(messages: &[Spoken]) -> ExchangeDraft {
    let all: Vec<String> =
        messages.iter().map(|message| format!("{}: {}", message.author, message.text)).collect();
    let draft = |message: &Spoken| DraftMessage {
        author: Some(message.author.clone()),
        tokens: count_tokens(&message.text) as u64,
        body: MessageBody::User { text: message.text.clone() },
        visibility: Visibility::Shown,
        provenance: Provenance::Said,
        created: message.created,
    };
    let (first, last) = (&messages[0], &messages[messages.len() - 1]);
    ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: first.created,
        completed: last.created,
        user_message: all.join("\n"),
        assistant_message: String::new(),
        model: "imported".into(),
        messages: messages.iter().map(draft).collect(),
        calls: Vec::new(),
        recalled: Recalled::default(),
        tool_call_count: 0,
        error: None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::Timestamp;
    use memoir_store::{Exchanges as _, Span, sqlite::SqliteStore};

    use super::*;

    fn thread(texts: &[(&str, i64)]) -> Thread {
        let spoken = |(text, minute): &(&str, i64)| Spoken {
            author: "Anna".into(),
            created: Timestamp::from_millis(minute * 60_000),
            text: (*text).into(),
        };
        Thread {
            title: "Anna, day".into(),
            origin: "x/1/".into(),
            name: "Anna".into(),
            messages: texts.iter().map(spoken).collect(),
        }
    }

    #[tokio::test]
    async fn nothing_is_brought_in_twice() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("m.db")).await.unwrap();
        let talk = [("one", 0), ("two", 1), ("after a long silence", 100), ("four", 101)];
        let import = async |texts: &[(&str, i64)], dry| {
            bring_in(&store, &thread(texts), "whatsapp", dry).await.unwrap()
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
            bring_in(&store, &renamed, "whatsapp", false).await.unwrap(),
            Imported::Known,
            "the same talk"
        );
        let said = store.said(&Span::default(), 100).await.unwrap();
        let texts: Vec<&str> = said.iter().map(|said| said.text.as_str()).collect();
        assert_eq!(texts, ["one", "two", "after a long silence", "four"]);
        assert!(said.iter().all(|said| said.author.as_deref() == Some("Anna")));
    }

    #[test]
    fn a_long_silence_or_much_talk_begins_another_exchange() {
        let talk: Vec<(&str, i64)> =
            (0..25).map(|minute| ("talk", minute)).chain([("later", 90), ("still", 91)]).collect();
        let thread = thread(&talk);
        let lengths: Vec<usize> = exchanges(&thread.messages).iter().map(|stretch| stretch.len()).collect();
        assert_eq!(lengths, [10, 10, 5, 2]);
    }
}
