//! Exchanges: the unit of atomicity, of cost and of recall.

use std::fmt;

use serde::Serialize;

use crate::{ConversationId, DraftMessage, ExchangeId, Recalled, Timestamp, Usage, Usd};

/// How an exchange ended. There is no word for one that is under way: it is drafted in memory and
/// stored only when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExchangeStatus {
    /// With the model's final answer.
    Completed,
    /// By the limit on tool rounds, before a final answer.
    Stopped,
}

impl ExchangeStatus {
    /// The word the store keeps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Stopped => "stopped",
        }
    }
}

/// What a paid call was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Answering the user.
    Chat,
    /// Summarising what was said.
    Summary,
    /// Giving texts their vectors, in the background.
    Embedding,
    /// Giving a question its vector.
    Query,
    /// Writing a post.
    Post,
    /// A sub-agent's work.
    Task,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 6] =
        [Self::Chat, Self::Summary, Self::Embedding, Self::Query, Self::Post, Self::Task];

    /// The word the store keeps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Summary => "summary",
            Self::Embedding => "embedding",
            Self::Query => "query",
            Self::Post => "post",
            Self::Task => "task",
        }
    }

    /// Returns the purpose that the store writes as `word`, or `None` if there is no such purpose.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.as_str() == word)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// One call to a model, and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallCost {
    /// What it was for.
    pub purpose: Purpose,
    /// Who was called.
    pub model: String,
    /// What it used.
    pub usage: Usage,
    /// What it cost; nothing when the price is not known.
    pub cost: Option<Usd>,
    /// When it ended.
    pub created: Timestamp,
}

/// An exchange that is over and waits to be committed, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangeDraft {
    /// How it ended.
    pub status: ExchangeStatus,
    /// When the user asked.
    pub started: Timestamp,
    /// When the answer was complete.
    pub completed: Timestamp,
    /// What the user asked.
    pub user_message: String,
    /// What the model finally answered.
    pub assistant_message: String,
    /// Who answered.
    pub model: String,
    /// Everything said in between, in order, both ends included.
    pub messages: Vec<DraftMessage>,
    /// One entry per call to a model.
    pub calls: Vec<CallCost>,
    /// What memory put into it.
    pub recalled: Recalled,
    /// How many tools ran.
    pub tool_call_count: u64,
    /// Why it was stopped, if it was.
    pub error: Option<String>,
}

impl ExchangeDraft {
    /// Tokens of all calls together.
    pub fn usage(&self) -> Usage {
        self.calls.iter().fold(Usage::default(), |sum, call| sum + call.usage)
    }

    /// Cost of all calls together; unknown as soon as one of them is.
    pub fn cost(&self) -> Option<Usd> {
        self.calls.iter().map(|call| call.cost).sum()
    }
}

/// A stored exchange.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exchange {
    /// Its id.
    pub id: ExchangeId,
    /// The conversation it belongs to.
    pub conversation_id: ConversationId,
    /// How it ended.
    pub status: ExchangeStatus,
    /// When the user asked.
    pub started: Timestamp,
    /// When the answer was complete.
    pub completed: Timestamp,
    /// What the user asked.
    pub user_message: String,
    /// What the model finally answered.
    pub assistant_message: String,
    /// Who answered.
    pub model: String,
    /// Tokens of all its calls.
    pub usage: Usage,
    /// Cost of all its calls, where every price is known.
    pub cost: Option<Usd>,
    /// How many tools ran.
    pub tool_call_count: u64,
    /// How many calls to a model it took.
    pub request_count: u64,
    /// Why it was stopped, if it was.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(cost: Option<Usd>) -> CallCost {
        CallCost {
            purpose: Purpose::Chat,
            model: "m".into(),
            usage: Usage { input_tokens: 3, output_tokens: 1, ..Usage::default() },
            cost,
            created: Timestamp::from_millis(0),
        }
    }

    fn draft(calls: Vec<CallCost>) -> ExchangeDraft {
        ExchangeDraft {
            status: ExchangeStatus::Completed,
            started: Timestamp::from_millis(0),
            completed: Timestamp::from_millis(1),
            user_message: String::new(),
            assistant_message: String::new(),
            model: "m".into(),
            messages: Vec::new(),
            calls,
            recalled: Recalled::default(),
            tool_call_count: 0,
            error: None,
        }
    }

    #[test]
    fn usage_and_cost_add_up_over_calls() {
        let two = draft(vec![call(Some(Usd::from_nanos(2))), call(Some(Usd::from_nanos(5)))]);
        assert_eq!(two.usage().input_tokens, 6);
        assert_eq!(two.cost(), Some(Usd::from_nanos(7)));
    }

    #[test]
    fn one_unknown_price_makes_the_sum_unknown() {
        assert_eq!(draft(vec![call(Some(Usd::from_nanos(2))), call(None)]).cost(), None);
        assert_eq!(draft(Vec::new()).cost(), Some(Usd::ZERO));
    }
}
