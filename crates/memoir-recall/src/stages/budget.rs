//! From messages to passages, within the room there is.

use std::collections::HashMap;

use async_trait::async_trait;
use memoir_core::{Conversation, ConversationId, Passage, RelatedConversation};
use memoir_store::ExchangeText;

use crate::{Inquiry, QueryKind, Recall, RecallError, Stage, excerpt::excerpt, format};

/// How much of a text is quoted; `fetch_conversation_details` gives the rest.
const LONGEST: usize = 200;

/// How much of a conversation's summary.
const LONGEST_SUMMARY: usize = 300;

pub(crate) struct BudgetStage;

#[async_trait]
impl Stage for BudgetStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let messages: Vec<_> = inquiry.ranked.iter().map(|found| found.outline.id).collect();
        let mut texts: HashMap<_, _> = recall.store.texts(&messages).await?.into_iter().collect();
        let exchanges: Vec<_> = inquiry.ranked.iter().map(|found| found.outline.exchange_id).collect();
        let exchanges: HashMap<_, ExchangeText> =
            recall.store.exchange_texts(&exchanges).await?.into_iter().map(|text| (text.id, text)).collect();
        let conversations: Vec<_> =
            inquiry.ranked.iter().map(|found| found.outline.conversation_id).collect();
        let conversations = recall.store.conversations_by_id(&conversations).await?;
        let conversations: HashMap<ConversationId, Conversation> =
            conversations.into_iter().map(|conversation| (conversation.id, conversation)).collect();
        let for_documents: u64 = inquiry.documents.iter().map(|passage| passage.tokens).sum();
        let mut room = recall.settings.token_budget.saturating_sub(for_documents);
        for found in std::mem::take(&mut inquiry.ranked) {
            let outline = found.outline;
            // What was deleted meanwhile is not there any more.
            let (Some(text), Some(exchange), Some(conversation)) = (
                texts.remove(&outline.id),
                exchanges.get(&outline.exchange_id),
                conversations.get(&outline.conversation_id),
            ) else {
                continue;
            };
            // A question that was asked before tells nothing; what was answered may. Who searches wants to know that it was asked.
            let only_asks =
                inquiry.kind == QueryKind::Prompt && (outline.asks || text.trim() == inquiry.text.trim());
            if only_asks && exchange.assistant.is_empty() {
                continue;
            }
            let words = &inquiry.question.words;
            let mut passage = Passage {
                message_id: outline.id,
                exchange_id: outline.exchange_id,
                conversation_id: conversation.id,
                title: conversation.title.clone(),
                role: outline.role,
                author: outline.author,
                created: outline.created,
                text,
                score: found.score,
                similarity: found.similarity,
                coverage: found.coverage,
                superseded: found.superseded,
                user_excerpt: excerpt(&exchange.user, words, LONGEST),
                assistant_excerpt: excerpt(&exchange.assistant, words, LONGEST),
                tokens: 0,
            };
            passage.tokens = format::room(&passage, &recall.zone);
            if passage.tokens <= room {
                room -= passage.tokens;
                inquiry.passages.push(passage);
            }
        }
        inquiry.related = related(&inquiry.passages, &conversations, recall.settings.conversation_limit);
        Ok(())
    }
}

/// The conversations of the passages, in the order of their best, each with the nearest of them.
fn related(
    passages: &[Passage],
    conversations: &HashMap<ConversationId, Conversation>,
    most: usize,
) -> Vec<RelatedConversation> {
    let mut related: Vec<RelatedConversation> = Vec::new();
    for passage in passages {
        if let Some(known) = related.iter_mut().find(|known| known.id == passage.conversation_id) {
            known.similarity = known.similarity.max(passage.similarity);
        } else if let Some(conversation) = conversations.get(&passage.conversation_id) {
            related.push(RelatedConversation {
                id: conversation.id,
                title: conversation.title.clone(),
                scope: conversation.scope.clone(),
                created: conversation.created,
                similarity: passage.similarity,
                exchange_count: conversation.exchange_count,
                summary: conversation.summary.as_ref().map(|summary| excerpt(summary, &[], LONGEST_SUMMARY)),
            });
        }
    }
    related.truncate(most);
    related
}
