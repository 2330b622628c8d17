//! Exchanges: a prompt and its answer, stored, billed and recalled as one unit.

use std::fmt;

use serde::Serialize;

use crate::{ConversationId, DraftMessage, ExchangeId, RecalledPassages, Timestamp, Usage, Usd};

/// How an exchange ended. A running exchange is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExchangeStatus {
    /// The model gave a final answer.
    Completed,
    /// The limit on tool rounds or cost was reached before a final answer.
    Stopped,
}

impl ExchangeStatus {
    /// Returns the stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Stopped => "stopped",
        }
    }
}

/// The purpose of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Answering a prompt, in one call or, with tools, several.
    Chat,
    /// Summarizing exchanges or conversations.
    Summary,
    /// Embedding messages, summaries and documents in the background.
    Embedding,
    /// Embedding a question to search memory with it.
    Query,
    /// Writing a post from messages.
    Post,
    /// Running a scheduled task.
    Task,
}

impl Purpose {
    /// All purposes, in display order.
    pub const ALL: [Self; 6] =
        [Self::Chat, Self::Summary, Self::Embedding, Self::Query, Self::Post, Self::Task];

    /// Returns the stored name.
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

    /// Returns the purpose with this stored name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.as_str() == name)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// One model call and its cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallCost {
    /// Why the model was called.
    pub purpose: Purpose,
    /// Model that was called.
    pub model: String,
    /// Tokens used, all zero if the provider did not report them.
    pub usage: Usage,
    /// Cost, or `None` if the price is unknown.
    pub cost: Option<Usd>,
    /// When the call ended.
    pub created: Timestamp,
}

/// The name under which Memoir itself appears among programs.
pub const OWN_PROGRAM: &str = "memoir";

/// Where an exchange took place, if not in Memoir.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExchangeSource {
    /// Name of the program, such as `claude-code`.
    pub program: String,
    /// Id of the session or conversation in that program.
    pub session: String,
}

impl ExchangeSource {
    /// Splits the origin of an import, such as `codex/<session>`.
    pub fn from_origin(origin: &str) -> Option<Self> {
        let (program, session) = origin.split_once('/').filter(|(program, _)| !program.is_empty())?;
        Some(Self { program: program.to_owned(), session: session.to_owned() })
    }
}

/// A finished exchange that has not been committed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangeDraft {
    /// How the exchange ended.
    pub status: ExchangeStatus,
    /// When the user sent the prompt.
    pub started: Timestamp,
    /// When the answer was complete.
    pub completed: Timestamp,
    /// The prompt as one text, including attached files and piped text.
    pub user_message: String,
    /// The model's final answer.
    pub assistant_message: String,
    /// Model that answered, as in `openai/gpt-5-mini`. An import keeps the name it finds.
    pub model: String,
    /// All messages in order, including the prompt and the answer.
    pub messages: Vec<DraftMessage>,
    /// One entry per model call.
    pub calls: Vec<CallCost>,
    /// Passages recalled from memory for this exchange.
    pub recalled: RecalledPassages,
    /// Number of tool calls.
    pub tool_call_count: u64,
    /// Reason the exchange was stopped, if it was.
    pub error: Option<String>,
    /// Where the exchange took place, if not in Memoir.
    pub source: Option<ExchangeSource>,
}

impl ExchangeDraft {
    /// Returns the tokens used by all calls.
    pub fn usage(&self) -> Usage {
        self.calls.iter().fold(Usage::default(), |sum, call| sum + call.usage)
    }

    /// Returns the cost of all calls, or `None` if any of them is unknown.
    pub fn cost(&self) -> Option<Usd> {
        self.calls.iter().map(|call| call.cost).sum()
    }
}

/// A committed exchange with its totals, but without its messages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exchange {
    /// Id, unique within the store. Ids carry no order.
    pub id: ExchangeId,
    /// Conversation it belongs to.
    pub conversation_id: ConversationId,
    /// How the exchange ended.
    pub status: ExchangeStatus,
    /// When the user sent the prompt.
    pub started: Timestamp,
    /// When the answer was complete.
    pub completed: Timestamp,
    /// The prompt as one text, including attached files and piped text.
    pub user_message: String,
    /// The model's final answer.
    pub assistant_message: String,
    /// Model that answered, as in `openai/gpt-5-mini`. An import keeps the name it finds.
    pub model: String,
    /// Tokens used by all model calls.
    pub usage: Usage,
    /// Cost of all model calls, or `None` if any price is unknown.
    pub cost: Option<Usd>,
    /// Number of tool calls.
    pub tool_call_count: u64,
    /// Number of model calls.
    pub request_count: u64,
    /// Reason the exchange was stopped, if it was.
    pub error: Option<String>,
    /// Where the exchange took place, if not in Memoir.
    pub source: Option<ExchangeSource>,
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
            recalled: RecalledPassages::default(),
            tool_call_count: 0,
            error: None,
            source: None,
        }
    }

    #[test]
    fn usage_and_cost_add_up_over_calls() {
        let draft = draft(vec![call(Some(Usd::from_nanos(2))), call(Some(Usd::from_nanos(5)))]);
        assert_eq!(draft.usage().input_tokens, 6);
        assert_eq!(draft.cost(), Some(Usd::from_nanos(7)));
    }

    #[test]
    fn one_unknown_price_makes_the_sum_unknown() {
        assert_eq!(draft(vec![call(Some(Usd::from_nanos(2))), call(None)]).cost(), None);
        assert_eq!(draft(Vec::new()).cost(), Some(Usd::ZERO));
    }
}
