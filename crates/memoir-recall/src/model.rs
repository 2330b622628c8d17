//! `memoir/recall`: answers made of what memory holds, quoted, or an honest "nothing".

use std::{collections::HashSet, fmt::Write as _, sync::Arc};

use async_trait::async_trait;
use futures::StreamExt as _;
use memoir_core::{Provenance, Role, TimeZone, Usage, Usd};
use memoir_models::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, ChatStream, Finish, ModelError, ModelName, StopReason,
};
use memoir_store::{Store, TextHit, TextSearchRequest};

/// How many passages an answer quotes.
const MOST_PASSAGES: usize = 5;

/// How much is searched for them: several hits may fall into one exchange, or repeat the question.
const MOST_HITS: u32 = 40;

/// How much of a passage is quoted.
const LONGEST_QUOTE: usize = 400;

/// The model that answers from memory alone.
pub struct RecallModel {
    name: String,
    store: Arc<dyn Store>,
    zone: TimeZone,
    how_to_connect: String,
}

impl RecallModel {
    /// A model over `store` that gives dates in `zone`. Every answer ends with `how_to_connect`, one line on how
    /// to get a real model.
    pub fn new(store: Arc<dyn Store>, zone: TimeZone, how_to_connect: impl Into<String>) -> Self {
        Self { name: ModelName::recall().to_string(), store, zone, how_to_connect: how_to_connect.into() }
    }

    async fn answer(&self, question: &str) -> Result<String, ModelError> {
        let request = TextSearchRequest { text: question.to_owned(), limit: MOST_HITS };
        let hits =
            self.store.search_text(&request).await.map_err(|error| ModelError::Memory(error.to_string()))?;
        let passages = best_passages(hits, question);
        let mut answer = String::new();
        if passages.is_empty() {
            answer.push_str("Nothing in memory about this.\n");
        } else {
            answer.push_str("From memory:\n");
            for hit in &passages {
                quote(&mut answer, hit, &self.zone);
            }
        }
        answer.push('\n');
        answer.push_str(&self.how_to_connect);
        Ok(answer)
    }
}

#[async_trait]
impl ChatModel for RecallModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let question = request.messages.iter().rev().find_map(|message| match message {
            ChatMessage::User(text) => Some(text.as_str()),
            _ => None,
        });
        let answer = self.answer(question.unwrap_or_default()).await?;
        let events = [
            ChatEvent::Text(answer),
            ChatEvent::Usage(Usage::default()),
            ChatEvent::End(Finish { reason: StopReason::Done, replay: None }),
        ];
        Ok(futures::stream::iter(events.map(Ok)).boxed())
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }

    fn is_free(&self) -> bool {
        true
    }

    fn provenance(&self) -> Provenance {
        Provenance::Derived
    }
}

/// The best hit of each exchange, without those that only repeat the question.
fn best_passages(hits: Vec<TextHit>, question: &str) -> Vec<TextHit> {
    let mut exchanges = HashSet::new();
    hits.into_iter()
        .filter(|hit| hit.text.trim() != question.trim())
        .filter(|hit| exchanges.insert(hit.exchange_id))
        .take(MOST_PASSAGES)
        .collect()
}

/// One passage with date, ids and score.
fn quote(answer: &mut String, hit: &TextHit, zone: &TimeZone) {
    let who = match hit.role {
        Role::User => "you",
        Role::Assistant | Role::Tool => "assistant",
    };
    // Writing to a string cannot fail.
    let _ = write!(
        answer,
        "\n{}, {who} (conversation {}, exchange {}, score {:.1}):\n",
        hit.created.minute_in(zone),
        hit.conversation_id,
        hit.exchange_id,
        hit.score
    );
    let text = hit.text.trim();
    let (shown, cut) = match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    for line in shown.lines() {
        let _ = writeln!(answer, "> {line}");
    }
    if !cut.is_empty() {
        answer.insert_str(answer.len() - 1, cut);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_store::{Exchanges as _, contract, sqlite::SqliteStore};

    use super::*;

    async fn ask(store: &SqliteStore, question: &str) -> String {
        RecallModel::new(Arc::new(store.clone()), TimeZone::UTC, "Connect a model.")
            .answer(question)
            .await
            .unwrap()
    }

    async fn store(directory: &tempfile::TempDir) -> SqliteStore {
        SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap()
    }

    #[tokio::test]
    async fn quotes_what_was_said_with_its_source() {
        let directory = tempfile::TempDir::new().unwrap();
        let store = store(&directory).await;
        let draft =
            contract::exchange("The wifi password is on the fridge", "Good to know", 1_700_000_000_000);
        store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
        let answer = ask(&store, "Where is the wifi password?").await;
        assert!(answer.contains("> The wifi password is on the fridge\n"), "{answer}");
        assert!(answer.contains("you (conversation 1, exchange 1, score "), "{answer}");
        assert!(answer.contains("2023-11-1"), "{answer}");
        assert!(answer.ends_with("\n\nConnect a model."), "{answer}");
    }

    #[tokio::test]
    async fn says_so_when_there_is_nothing() {
        let directory = tempfile::TempDir::new().unwrap();
        let store = store(&directory).await;
        let draft = contract::exchange("Where is the key?", "…", 1000);
        store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
        assert_eq!(ask(&store, "hello").await, "Nothing in memory about this.\n\nConnect a model.");
        let same_question = ask(&store, "Where is the key?").await;
        assert!(same_question.starts_with("Nothing in memory"), "{same_question}");
    }

    #[tokio::test]
    async fn cuts_long_passages_between_characters() {
        let directory = tempfile::TempDir::new().unwrap();
        let store = store(&directory).await;
        let long = format!("tea {}", "é".repeat(2 * LONGEST_QUOTE));
        let draft = contract::exchange(&long, "ok", 1000);
        store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
        let answer = ask(&store, "tea").await;
        assert!(answer.contains("é…\n"), "{answer}");
        assert!(answer.chars().count() < LONGEST_QUOTE + 200);
    }
}
