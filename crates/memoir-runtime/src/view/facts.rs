//! Facts that changed: statements that later ones corrected.

use memoir_core::{Exchange, ExchangeId, Passage, Timestamp};
use memoir_recall::{QueryKind, is_lookup};
use memoir_store::{Filter, ListPosition};

use super::MemoryView;
use crate::failure::Failure;

/// Number of conversations that are read at once.
const CONVERSATIONS_PER_STEP: u32 = 20;

/// Maximum number of exchanges of a conversation that are compared with memory.
const EXCHANGES_PER_CONVERSATION: u32 = 20;

/// Number of facts that fill a page.
const FACTS_PER_PAGE: usize = 12;

/// Maximum number of statements that are compared with memory for one page. Each comparison is a search.
const MAX_COMPARISONS: usize = 80;

/// Maximum number of characters of a prompt that states a fact. Longer ones are tasks with material.
const MAX_STATEMENT_CHARS: usize = 600;

/// Something that the user stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedFact {
    /// Exchange in which it was stated.
    pub exchange: ExchangeId,
    /// The user's words.
    pub text: String,
    /// Title of the conversation.
    pub title: String,
    /// When it was stated.
    pub created: Timestamp,
}

/// A fact that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFact {
    /// The newest statement.
    pub newest: StatedFact,
    /// The statements that it corrects, newest first.
    pub earlier: Vec<StatedFact>,
}

/// A part of the facts that changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactPage {
    /// Facts, most recently changed conversations first.
    pub facts: Vec<ChangedFact>,
    /// Where to look further back. `None` if everything has been read.
    pub next: Option<ListPosition>,
}

impl MemoryView {
    /// Returns facts that changed, beginning with the conversations that come after a position in the list.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn changed_facts(&self, after: Option<ListPosition>) -> Result<FactPage, Failure> {
        let mut page = FactPage { facts: Vec::new(), next: after };
        let mut comparisons = 0;
        loop {
            let conversations = self.conversations(None, false, page.next, CONVERSATIONS_PER_STEP).await?;
            let is_last = conversations.len() < CONVERSATIONS_PER_STEP as usize;
            for conversation in &conversations {
                let exchanges = self.latest_exchanges(conversation, None, EXCHANGES_PER_CONVERSATION).await?;
                for exchange in exchanges.iter().rev().filter(|exchange| may_state(exchange)) {
                    comparisons += 1;
                    page.facts.extend(self.find_corrected(exchange, &conversation.title).await);
                }
                page.next = Some(ListPosition { updated: conversation.updated, id: conversation.id });
                if page.facts.len() >= FACTS_PER_PAGE || comparisons >= MAX_COMPARISONS {
                    return Ok(page);
                }
            }
            if is_last {
                page.next = None;
                return Ok(page);
            }
        }
    }

    /// Returns what an exchange corrects.
    async fn find_corrected(&self, exchange: &Exchange, title: &str) -> Option<ChangedFact> {
        let recollection =
            self.recall.ask(&exchange.user_message, QueryKind::Search, Filter::default()).await;
        let corrects = |passage: &Passage| {
            passage.superseded.is_some_and(|correction| correction.exchange_id == Some(exchange.id))
        };
        let corrected = recollection.passages.into_iter().filter(corrects);
        let mut earlier: Vec<StatedFact> = corrected
            .map(|passage| StatedFact {
                exchange: passage.exchange_id,
                text: passage
                    .part
                    .and_then(|part| passage.text.get(part))
                    .unwrap_or(&passage.text)
                    .to_owned(),
                title: passage.title,
                created: passage.created,
            })
            .collect();
        earlier.sort_by_key(|fact| std::cmp::Reverse(fact.created));
        let newest = StatedFact {
            exchange: exchange.id,
            text: exchange.user_message.clone(),
            title: title.to_owned(),
            created: exchange.started,
        };
        (!earlier.is_empty()).then_some(ChangedFact { newest, earlier })
    }
}

fn may_state(exchange: &Exchange) -> bool {
    let text = &exchange.user_message;
    text.chars().nth(MAX_STATEMENT_CHARS).is_none() && !is_lookup(text)
}
