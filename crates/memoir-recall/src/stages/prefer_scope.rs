//! Ranks messages of the current project higher without excluding others.

use std::collections::HashSet;

use async_trait::async_trait;
use memoir_core::ConversationId;

use crate::{Inquiry, Recall, RecallError, ScopeRule, Stage};

/// Weight of the current project, comparable to a slightly better match of one word.
const WEIGHT: f64 = 0.15;

/// Number of top-ranked messages to consider.
const MAX_MESSAGES: usize = 100;

pub(crate) struct PreferScopeStage;

#[async_trait]
impl Stage for PreferScopeStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let (ScopeRule::Prefer, Some(scope)) = (recall.settings.scope, inquiry.scope.clone()) else {
            return Ok(());
        };
        let best = inquiry.ranked.iter().take(MAX_MESSAGES);
        let ids: HashSet<ConversationId> = best.map(|message| message.outline.conversation_id).collect();
        let ids: Vec<ConversationId> = ids.into_iter().collect();
        let conversations = recall.store.conversations_by_id(&ids).await?;
        let in_scope = conversations.iter().filter(|conversation| conversation.scope == scope);
        let in_scope: HashSet<ConversationId> = in_scope.map(|conversation| conversation.id).collect();
        for message in inquiry.ranked.iter_mut().take(MAX_MESSAGES) {
            if in_scope.contains(&message.outline.conversation_id) {
                message.score += WEIGHT;
            }
        }
        inquiry.ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }
}
