//! Words of a search, as they come from a prompt, against a store that is real.

use memoir_core::{
    ConversationTarget, DocumentKind, DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody,
    NewConversation, Provenance, Recalled, Timestamp, Visibility, count_tokens, telling_words,
};
use memoir_recall::{ChunkSize, chunk};
use memoir_store::{
    DocumentFilter, Documents as _, Exchanges as _, Filter, Memory as _, NewDocument, WordSearch,
};
use memoir_store_sqlite::SqliteStore;
use tokio::sync::OnceCell;

use crate::input::{text, wait};

/// What is there to be found.
const SAID: &str =
    "The lighthouse at the harbour has a red door, and \"quotes\" AND brackets (NEAR it). A lighthouse!";

/// A word of it, which stands there twice.
const KNOWN: &str = "lighthouse";

/// So many words are looked up; a prompt is cut to about as many.
const MOST: usize = 32;

static STORE: OnceCell<SqliteStore> = OnceCell::const_new();

/// Any text gives an answer, and no word keeps another from being found.
pub fn search_words(data: &[u8]) {
    let text = text(data);
    wait(async {
        #[expect(clippy::expect_used, reason = "without a store nothing can be looked for")]
        let store = STORE.get_or_try_init(filled).await.expect("a store");
        // As a question is read, and as no question is: whole lines in the place of words.
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for mut words in [telling_words(&text), lines] {
            words.truncate(MOST);
            words.insert(0, KNOWN.to_owned());
            search(store, &words).await;
        }
    });
}

async fn search(store: &SqliteStore, words: &[String]) {
    let filter = Filter::default();
    let found = store.search_words(&WordSearch { words, filter: &filter, conversations: 8, also: &[] }).await;
    let found = found.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert_eq!(found.words.len(), words.len(), "each word has its messages");
    assert_eq!(found.words[0].len(), 1, "{words:?}");
    assert!(found.words.iter().flatten().all(|found| found.score.is_finite()));
    let found = store.chunks_with_words(words, &DocumentFilter::default()).await;
    let (found, _) = found.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert_eq!(found.len(), words.len(), "each word has its chunks");
    assert_eq!(found[0].as_ref().map(Vec::len), Some(1), "{words:?}");
    let familiar = store.familiar_words(words).await;
    let familiar = familiar.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert_eq!(familiar.len(), words.len());
    assert!(familiar[0], "{words:?}");
}

async fn filled() -> memoir_store::Result<SqliteStore> {
    let store = SqliteStore::in_memory().await?;
    let moment = Timestamp::from_millis(1_794_700_800_000);
    let message = DraftMessage {
        author: None,
        body: MessageBody::User { text: SAID.into() },
        visibility: Visibility::Shown,
        provenance: Provenance::Said,
        by_others: false,
        tokens: count_tokens(SAID) as u64,
        created: moment,
    };
    let draft = ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: moment,
        completed: moment,
        user_message: SAID.into(),
        assistant_message: String::new(),
        model: "test/model".into(),
        messages: vec![message],
        calls: Vec::new(),
        recalled: Recalled::default(),
        tool_call_count: 0,
        error: None,
    };
    let conversation = NewConversation { title: "The harbour".into(), scope: "/project".into() };
    store.commit_exchange(&ConversationTarget::New(conversation), &draft).await?;
    let document = NewDocument {
        slug: "harbour".into(),
        title: "The harbour".into(),
        date: "2026-11-15".into(),
        tags: Vec::new(),
        kind: DocumentKind::File,
        source: "/harbour.md".into(),
        hash: "1".into(),
        text: SAID.into(),
        written_from: Vec::new(),
    };
    let size = ChunkSize { tokens: 100, overlap: 0 };
    store.put_document(&document, &move |text: &str| chunk(text, size), moment).await?;
    Ok(store)
}
