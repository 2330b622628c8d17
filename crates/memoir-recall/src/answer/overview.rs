//! The conversations of a period, by day.

use std::collections::HashMap;

use memoir_core::{Answer, ConversationId, Overview, OverviewDay, Recollection};
use memoir_store::MessageOutline;

use crate::{DateRange, Recall, RecallError};

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

    /// Returns the days, and the first message of each conversation.
    async fn list_days(
        &self,
        period: DateRange,
    ) -> Result<(Vec<OverviewDay>, Vec<MessageOutline>), RecallError> {
        let outlines = self.store.outlines_between(period.start, period.end).await?;
        let mut days: Vec<OverviewDay> = Vec::new();
        let mut listed: Vec<(ConversationId, usize)> = Vec::new();
        let mut first = Vec::new();
        for outline in outlines {
            let day = outline.created.start_of_day(&self.zone);
            if days.last().is_none_or(|last| last.day != day) {
                days.push(OverviewDay { day, conversations: Vec::new() });
            }
            if !listed.contains(&(outline.conversation_id, days.len())) {
                listed.push((outline.conversation_id, days.len()));
                first.push(outline);
            }
        }
        let ids: Vec<ConversationId> = listed.iter().map(|(id, _)| *id).collect();
        let titles: HashMap<ConversationId, String> = self
            .store
            .conversations_by_id(&ids)
            .await?
            .into_iter()
            .map(|conversation| (conversation.id, conversation.title))
            .collect();
        for (id, day) in listed {
            if let Some(title) = titles.get(&id) {
                days[day - 1].conversations.push((id, title.clone()));
            }
        }
        days.retain(|day| !day.conversations.is_empty());
        Ok((days, first))
    }
}
