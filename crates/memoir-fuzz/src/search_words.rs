//! Search words extracted from a prompt, run against a real store.

use memoir_core::{
    ConversationTarget, DocumentKind, DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody,
    NewConversation, Provenance, RecalledPassages, Timestamp, Visibility, content_words, count_tokens,
};
use memoir_recall::{ChunkSize, split_into_chunks};
use memoir_store::{
    DocumentFilter, Documents as _, Exchanges as _, Filter, Memory as _, NewDocument, WordSearch,
};
use memoir_store_sqlite::SqliteStore;
use tokio::sync::OnceCell;

use crate::input::{text, wait};

/// The only text in the store.
const STORED_TEXT: &str =
    "The lighthouse at the harbour has a red door, and \"quotes\" AND brackets (NEAR it). A lighthouse!";

/// A word that the text contains twice.
const STORED_WORD: &str = "lighthouse";

/// Maximum number of words per search, similar to the limit for prompts.
const MAX_WORDS: usize = 32;

static STORE: OnceCell<SqliteStore> = OnceCell::const_new();

/// Checks that a search never fails, and that other words do not prevent a match of the stored word.
pub fn search_words(data: &[u8]) {
    let text = text(data);
    wait(async {
        #[expect(clippy::expect_used, reason = "the target needs a store")]
        let store = STORE.get_or_try_init(create_store).await.expect("create a store");
        // Search for the words of the prompt, and also for whole lines, which a prompt never yields.
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for mut words in [content_words(&text), lines] {
            words.truncate(MAX_WORDS);
            words.insert(0, STORED_WORD.to_owned());
            check_search(store, &words).await;
        }
    });
}

async fn check_search(store: &SqliteStore, words: &[String]) {
    let filter = Filter::default();
    let messages = store
        .search_words(&WordSearch { words, filter: &filter, conversations: 8, extra_conversations: &[] })
        .await;
    let messages = messages.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert_eq!(messages.words.len(), words.len(), "each word has a list of messages");
    assert_eq!(messages.words[0].len(), 1, "{words:?}");
    assert!(messages.words.iter().flatten().all(|message| message.score.is_finite()));
    let chunks = store.chunks_with_words(words, &DocumentFilter::default()).await;
    let (chunks, _) = chunks.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert_eq!(chunks.len(), words.len(), "each word has a list of chunks");
    assert_eq!(chunks[0].as_ref().map(Vec::len), Some(1), "{words:?}");
    let familiar = store.familiar_words(words).await;
    let familiar = familiar.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert_eq!(familiar.len(), words.len());
    assert!(familiar[0], "{words:?}");
}

async fn create_store() -> memoir_store::Result<SqliteStore> {
    let store = SqliteStore::in_memory().await?;
    let now = Timestamp::from_millis(1_794_700_800_000);
    let message = DraftMessage {
        author: None,
        body: MessageBody::User { text: STORED_TEXT.into() },
        visibility: Visibility::Shown,
        provenance: Provenance::Original,
        by_others: false,
        tokens: count_tokens(STORED_TEXT) as u64,
        created: now,
    };
    let draft = ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: now,
        completed: now,
        user_message: STORED_TEXT.into(),
        assistant_message: String::new(),
        model: "test/model".into(),
        messages: vec![message],
        calls: Vec::new(),
        recalled: RecalledPassages::default(),
        tool_call_count: 0,
        error: None,
        source: None,
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
        text: STORED_TEXT.into(),
        written_from: Vec::new(),
    };
    let size = ChunkSize { tokens: 100, overlap: 0 };
    store.put_document(&document, &move |text: &str| split_into_chunks(text, size), now).await?;
    Ok(store)
}
