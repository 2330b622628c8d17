//! The conversations of a period, by day.

use std::collections::{HashMap, HashSet};

use memoir_core::{Answer, Conversation, ConversationId, Overview, OverviewDay, Recollection};
use memoir_store::MessageOutline;

use crate::{DateRange, Recall, RecallError, ScopeRule};

/// Maximum number of conversations in an overview.
const MAX_LISTED: usize = 100;

impl Recall {
    /// Lists the conversations of a period.
    pub(super) async fn answer_with_overview(&self, period: DateRange) -> Recollection {
        match self.list_days(period).await {
            Ok((overview, outlines)) => Recollection {
                answer: Some(Answer::Overview(overview)),
                // A title quotes the conversation, so the answer has to be deleted with it.
                passages: self.passages_of(outlines, HashMap::new()).await,
                ..Recollection::default()
            },
            Err(error) => Recollection {
                notices: vec![format!("The conversations of that period could not be read: {error}.")],
                ..Recollection::default()
            },
        }
    }

    /// Returns the conversations by day, and the first message of each on each day.
    async fn list_days(&self, period: DateRange) -> Result<(Overview, Vec<MessageOutline>), RecallError> {
        let mut outlines = self.store.outlines_between(period.start, period.end).await?;
        let ids: HashSet<ConversationId> = outlines.iter().map(|outline| outline.conversation_id).collect();
        let conversations = self.store.conversations_by_id(&Vec::from_iter(ids)).await?;
        let is_visible = |conversation: &Conversation| {
            let is_in_scope = self.settings.scope != ScopeRule::Only
                || self.scope.as_ref().is_none_or(|scope| conversation.scope == *scope);
            is_in_scope && self.visible_to.as_ref().is_none_or(|project| conversation.is_visible_to(project))
        };
        let titles: HashMap<ConversationId, String> = conversations
            .into_iter()
            .filter(is_visible)
            .map(|conversation| (conversation.id, conversation.title))
            .collect();
        let day_of = |outline: &MessageOutline| outline.created.start_of_day(&self.zone);
        let mut seen = HashSet::new();
        outlines.retain(|outline| {
            titles.contains_key(&outline.conversation_id)
                && seen.insert((day_of(outline), outline.conversation_id))
        });
        let omitted = outlines.len().saturating_sub(MAX_LISTED);
        outlines.truncate(MAX_LISTED);
        let mut days: Vec<OverviewDay> = Vec::new();
        for outline in &outlines {
            let conversation = (outline.conversation_id, titles[&outline.conversation_id].clone());
            match days.last_mut().filter(|last| last.day == day_of(outline)) {
                Some(last) => last.conversations.push(conversation),
                None => days.push(OverviewDay { day: day_of(outline), conversations: vec![conversation] }),
            }
        }
        Ok((Overview { start: period.start, end: period.end, days, omitted }, outlines))
    }
}
