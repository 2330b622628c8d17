//! The conversations of a period, by day.

use std::collections::{HashMap, HashSet};

use memoir_core::{Answer, Conversation, ConversationId, Overview, OverviewDay, Recollection};
use memoir_store::MessageOutline;

use crate::{DateRange, Recall, RecallError, ScopeRule};

impl Recall {
    /// Lists the conversations of a period.
    pub(super) async fn answer_with_overview(&self, period: DateRange) -> Recollection {
        match self.list_days(period).await {
            Ok((days, outlines)) => Recollection {
                answer: Some(Answer::Overview(Overview { start: period.start, end: period.end, days })),
                // A title quotes the conversation, so the answer has to be deleted with it.
                passages: self.passages_of(outlines).await,
                ..Recollection::default()
            },
            Err(error) => Recollection {
                notices: vec![format!("The conversations of that period could not be read: {error}.")],
                ..Recollection::default()
            },
        }
    }

    /// Returns the days, and the first message of each conversation on each day.
    async fn list_days(
        &self,
        period: DateRange,
    ) -> Result<(Vec<OverviewDay>, Vec<MessageOutline>), RecallError> {
        let mut outlines = self.store.outlines_between(period.start, period.end).await?;
        let ids: HashSet<ConversationId> = outlines.iter().map(|outline| outline.conversation_id).collect();
        let conversations = self.store.conversations_by_id(&Vec::from_iter(ids)).await?;
        let is_visible = |conversation: &Conversation| {
            self.settings.scope != ScopeRule::Only
                || self.scope.as_ref().is_none_or(|scope| conversation.scope == *scope)
        };
        let titles: HashMap<ConversationId, String> = conversations
            .into_iter()
            .filter(is_visible)
            .map(|conversation| (conversation.id, conversation.title))
            .collect();
        let mut days: Vec<OverviewDay> = Vec::new();
        let is_new = |outline: &MessageOutline| {
            let Some(title) = titles.get(&outline.conversation_id) else { return false };
            let day = outline.created.start_of_day(&self.zone);
            if days.last().is_none_or(|last| last.day != day) {
                days.push(OverviewDay { day, conversations: Vec::new() });
            }
            let Some(last) = days.last_mut() else { return false };
            let is_new = last.conversations.iter().all(|(id, _)| *id != outline.conversation_id);
            if is_new {
                last.conversations.push((outline.conversation_id, title.clone()));
            }
            is_new
        };
        outlines.retain(is_new);
        Ok((days, outlines))
    }
}
