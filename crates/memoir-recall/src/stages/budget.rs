//! Turns messages into passages, within the token budget.

use std::collections::HashMap;

use async_trait::async_trait;
use memoir_core::{Conversation, ConversationId, Passage, RelatedConversation, Role};
use memoir_store::ExchangeText;

use crate::{
    Inquiry, QueryKind, Recall, RecallError, Stage,
    excerpt::{excerpt, excerpt_part},
    format, is_lookup,
};

/// Maximum length of an excerpt, in characters. The model can get the rest with `fetch_conversation_details`.
const EXCERPT_CHARS: usize = 200;

/// Maximum length of a conversation's summary, in characters.
const SUMMARY_CHARS: usize = 300;

pub(crate) struct BudgetStage;

#[async_trait]
impl Stage for BudgetStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let messages: Vec<_> = inquiry.ranked.iter().map(|message| message.outline.id).collect();
        let mut texts: HashMap<_, _> = recall.store.texts(&messages).await?.into_iter().collect();
        let exchanges: Vec<_> = inquiry.ranked.iter().map(|message| message.outline.exchange_id).collect();
        let exchanges: HashMap<_, ExchangeText> =
            recall.store.exchange_texts(&exchanges).await?.into_iter().map(|text| (text.id, text)).collect();
        let conversations: Vec<_> =
            inquiry.ranked.iter().map(|message| message.outline.conversation_id).collect();
        let conversations = recall.store.conversations_by_id(&conversations).await?;
        let conversations: HashMap<ConversationId, Conversation> =
            conversations.into_iter().map(|conversation| (conversation.id, conversation)).collect();
        let document_tokens: u64 = inquiry.documents.iter().map(|passage| passage.tokens).sum();
        let mut remaining = recall.settings.token_budget.saturating_sub(document_tokens);
        for message in std::mem::take(&mut inquiry.ranked) {
            let outline = message.outline;
            // The message may have been deleted since the search.
            let (Some(text), Some(exchange), Some(conversation)) = (
                texts.remove(&outline.id),
                exchanges.get(&outline.exchange_id),
                conversations.get(&outline.conversation_id),
            ) else {
                continue;
            };
            // For a prompt, an earlier question without an answer is useless. A search returns it.
            let is_question = inquiry.kind == QueryKind::Prompt
                && ((outline.is_question && is_lookup(&text)) || text.trim() == inquiry.text.trim());
            if is_question && exchange.assistant.is_empty() {
                continue;
            }
            let excerpt_of = |text: &str, role: Role| {
                let part = inquiry.parts.get(&outline.id).filter(|_| outline.role == role);
                excerpt_part(text, part, &inquiry.question.words, EXCERPT_CHARS)
            };
            let mut passage = Passage {
                message_id: outline.id,
                exchange_id: outline.exchange_id,
                conversation_id: conversation.id,
                title: conversation.title.clone(),
                role: outline.role,
                author: outline.author.clone(),
                created: outline.created,
                text,
                part: inquiry.parts.get(&outline.id).cloned(),
                score: message.score,
                similarity: message.similarity,
                coverage: message.coverage,
                superseded: message.superseded,
                user_excerpt: excerpt_of(&exchange.user, Role::User),
                assistant_excerpt: excerpt_of(&exchange.assistant, Role::Assistant),
                tokens: 0,
            };
            passage.tokens = format::count_passage_tokens(&passage, &recall.zone);
            if passage.tokens <= remaining {
                remaining -= passage.tokens;
                inquiry.passages.push(passage);
            }
        }
        inquiry.related =
            describe_conversations(&inquiry.passages, &conversations, recall.settings.conversation_limit);
        Ok(())
    }
}

/// Returns the conversations of the passages, ordered by their best passage, each with its highest similarity.
fn describe_conversations(
    passages: &[Passage],
    conversations: &HashMap<ConversationId, Conversation>,
    limit: usize,
) -> Vec<RelatedConversation> {
    let mut related: Vec<RelatedConversation> = Vec::new();
    for passage in passages {
        if let Some(entry) = related.iter_mut().find(|entry| entry.id == passage.conversation_id) {
            entry.similarity = entry.similarity.max(passage.similarity);
        } else if let Some(conversation) = conversations.get(&passage.conversation_id) {
            related.push(RelatedConversation {
                id: conversation.id,
                title: conversation.title.clone(),
                scope: conversation.scope.clone(),
                created: conversation.created,
                similarity: passage.similarity,
                exchange_count: conversation.exchange_count,
                summary: conversation.summary.as_ref().map(|summary| excerpt(summary, &[], SUMMARY_CHARS)),
            });
        }
    }
    related.truncate(limit);
    related
}
