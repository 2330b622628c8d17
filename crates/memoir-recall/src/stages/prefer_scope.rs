//! The present project comes first, and others are not shut out.

use std::collections::HashSet;

use async_trait::async_trait;
use memoir_core::ConversationId;

use crate::{Inquiry, Recall, RecallError, ScopeRule, Stage};

/// What the present project counts: as much as a word that matches a little better.
const WEIGHT: f64 = 0.15;

/// How many messages are looked at for it.
const MOST: usize = 100;

pub(crate) struct PreferScopeStage;

#[async_trait]
impl Stage for PreferScopeStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let (ScopeRule::Prefer, Some(scope)) = (recall.settings.scope, inquiry.scope.clone()) else {
            return Ok(());
        };
        let best = inquiry.ranked.iter().take(MOST);
        let conversations: HashSet<ConversationId> =
            best.map(|found| found.outline.conversation_id).collect();
        let conversations: Vec<ConversationId> = conversations.into_iter().collect();
        let known = recall.store.conversations_by_id(&conversations).await?;
        let here: HashSet<ConversationId> =
            known.iter().filter(|conversation| conversation.scope == scope).map(|found| found.id).collect();
        for found in inquiry.ranked.iter_mut().take(MOST) {
            if here.contains(&found.outline.conversation_id) {
                found.score += WEIGHT;
            }
        }
        inquiry.ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }
}
