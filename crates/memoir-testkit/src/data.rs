//! What the program has stored, read through the program itself.
//!
//! Each method runs the binary with `--json` and parses the output, so that a test holds for every storage backend and fails
//! if the program cannot show what it stored. The structs have the fields that tests use; a test that needs another field of
//! the JSON adds it here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{TestHome, run::parse_json};

/// A conversation, from `memoir conversations list --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredConversation {
    /// Its id.
    pub id: i64,
    /// Its title.
    pub title: String,
    /// The project it belongs to.
    pub scope: String,
    /// The conversation it was forked from.
    pub forked_from: Option<i64>,
    /// Its summary.
    pub summary: Option<String>,
}

/// A summary and its author.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredSummary {
    /// The summary.
    pub text: String,
    /// The model that wrote it, or `extract` if it consists of quotations.
    pub by: String,
}

/// What replaces the exchanges that no longer fit into a conversation's window.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredDigest {
    /// The last exchange it covers.
    pub through: i64,
}

/// A conversation with its exchanges, from `memoir conversations show ID --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ConversationTranscript {
    /// The conversation.
    pub conversation: StoredConversation,
    /// Its summary.
    pub summary: Option<StoredSummary>,
    /// What replaces its oldest exchanges, if they no longer fit.
    pub digest: Option<StoredDigest>,
    /// Its exchanges, the oldest first. A fork also lists those of its parent.
    pub exchanges: Vec<StoredExchange>,
}

/// An exchange, from `memoir conversations show ID --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "ExchangeEntry")]
pub struct StoredExchange {
    /// Its id.
    pub id: i64,
    /// The conversation it belongs to.
    pub conversation_id: i64,
    /// `completed` or `stopped`.
    pub status: String,
    /// What the user asked.
    pub user_message: String,
    /// What the model answered.
    pub assistant_message: String,
    /// Its cost in dollars, if the price of every call is known.
    pub cost: Option<f64>,
    /// Number of tools that ran.
    pub tool_call_count: u64,
    /// Number of calls to a model.
    pub request_count: u64,
    /// Its summary.
    pub summary: Option<StoredSummary>,
    /// Its messages, in order.
    pub messages: Vec<StoredMessage>,
}

/// A message of an exchange.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredMessage {
    /// Its id.
    pub id: i64,
    /// The exchange it belongs to.
    pub exchange_id: i64,
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// Its text.
    pub text: String,
    /// The tools that the model asked for.
    #[serde(default)]
    pub tool_calls: Vec<StoredToolCall>,
    /// The call that a tool's message answers.
    pub call_id: Option<String>,
    /// The tool that answered.
    pub tool_name: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredToolCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
}

/// Calls of one model for one purpose, from `memoir cost --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredCost {
    /// `chat`, `summary`, `embedding`, `query`, `post` or `task`.
    pub purpose: String,
    /// The model.
    pub model: String,
    /// Number of calls.
    pub calls: u64,
    /// Dollars, for the calls whose price is known.
    pub cost_usd: f64,
    /// Tokens by kind.
    pub usage: BTreeMap<String, u64>,
}

/// A document, from `memoir docs list --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ListedDocument {
    /// Its short name.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// Number of chunks.
    pub chunks: u64,
}

/// A scheduled task, from `memoir schedule list --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredTask {
    /// Its name.
    pub name: String,
}

/// A run of a scheduled task, from `memoir schedule history NAME --json`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredRun {
    /// Its id.
    pub id: i64,
    /// When it was due, in milliseconds since 1970; nothing if it was started by hand.
    pub scheduled_for: Option<i64>,
    /// `running`, `done`, `failed`, `timed_out`, `cut_off` or `stopped`.
    pub state: String,
    /// Its report.
    pub report: String,
}

/// Everything the program shows of what it stored, for comparing two points in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Every conversation with its exchanges and messages.
    pub transcripts: Vec<Value>,
    /// Documents, tasks, core memory and settings.
    pub others: Vec<Value>,
    /// What was spent.
    pub costs: Value,
    /// Number of records by kind.
    pub counts: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct ExchangeEntry {
    exchange: ExchangeFields,
    summary: Option<StoredSummary>,
    messages: Vec<StoredMessage>,
}

#[derive(Deserialize)]
struct ExchangeFields {
    id: i64,
    conversation_id: i64,
    status: String,
    user_message: String,
    assistant_message: String,
    cost: Option<f64>,
    tool_call_count: u64,
    request_count: u64,
}

impl From<ExchangeEntry> for StoredExchange {
    fn from(entry: ExchangeEntry) -> Self {
        let ExchangeEntry { exchange, summary, messages } = entry;
        Self {
            id: exchange.id,
            conversation_id: exchange.conversation_id,
            status: exchange.status,
            user_message: exchange.user_message,
            assistant_message: exchange.assistant_message,
            cost: exchange.cost,
            tool_call_count: exchange.tool_call_count,
            request_count: exchange.request_count,
            summary,
            messages,
        }
    }
}

impl TestHome {
    /// Returns all conversations, the oldest first.
    pub fn conversations(&self) -> Vec<StoredConversation> {
        let list = ["conversations", "list", "--limit", "1000000", "--json"];
        let mut conversations: Vec<StoredConversation> = self.memoir(list).json();
        conversations.sort_by_key(|conversation| conversation.id);
        conversations
    }

    /// Returns a conversation with its exchanges.
    pub fn transcript(&self, conversation: i64) -> ConversationTranscript {
        self.memoir(["conversations", "show", &conversation.to_string(), "--json"]).json()
    }

    /// Returns all conversations with their exchanges, the oldest conversation first.
    pub fn transcripts(&self) -> Vec<ConversationTranscript> {
        self.conversations().iter().map(|conversation| self.transcript(conversation.id)).collect()
    }

    /// Returns all exchanges, the oldest first. Runs the program once per conversation.
    pub fn exchanges(&self) -> Vec<StoredExchange> {
        let mut exchanges = Vec::new();
        for transcript in self.transcripts() {
            let id = transcript.conversation.id;
            exchanges.extend(transcript.exchanges.into_iter().filter(|each| each.conversation_id == id));
        }
        exchanges.sort_by_key(|exchange| exchange.id);
        exchanges
    }

    /// Returns all messages, the oldest first. Runs the program once per conversation.
    pub fn messages(&self) -> Vec<StoredMessage> {
        let mut messages: Vec<StoredMessage> =
            self.exchanges().into_iter().flat_map(|exchange| exchange.messages).collect();
        messages.sort_by_key(|message| message.id);
        messages
    }

    /// Returns everything that was spent, by purpose and model.
    pub fn costs(&self) -> Vec<StoredCost> {
        let mut report: Value = self.memoir(["cost", "--json"]).json();
        parse_json(&report["all"]["lines"].take().to_string())
    }

    /// Returns the number of paid calls for `purpose`.
    pub fn count_calls(&self, purpose: &str) -> u64 {
        self.costs().iter().filter(|cost| cost.purpose == purpose).map(|cost| cost.calls).sum()
    }

    /// Returns all documents.
    pub fn documents(&self) -> Vec<ListedDocument> {
        self.memoir(["docs", "list", "--json"]).json()
    }

    /// Returns all scheduled tasks.
    pub fn tasks(&self) -> Vec<StoredTask> {
        self.memoir(["schedule", "list", "--json"]).json()
    }

    /// Returns the runs of a task, the oldest first.
    pub fn runs(&self, task: &str) -> Vec<StoredRun> {
        let history = ["schedule", "history", task, "--limit", "1000000", "--json"];
        let mut runs: Vec<StoredRun> = self.memoir(history).json();
        runs.sort_by_key(|run| run.id);
        runs
    }

    /// Returns the value of a setting.
    pub fn setting(&self, key: &str) -> String {
        self.memoir(["config", "get", key]).succeed().trim_end().to_owned()
    }

    /// Returns the results of `memoir search`, the best first.
    pub fn search(&self, query: &str) -> Vec<Value> {
        self.memoir(["search", query, "--json"]).json()
    }

    /// Returns the number of records of each kind, from `memoir doctor --json`. The kinds include what no other command lists:
    /// `embeddings`, `jobs`, `failed_jobs`, `recall_log`, `redactions` and `command_history`.
    ///
    /// # Panics
    ///
    /// Panics if the program finds the database damaged.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        // A finding that has nothing to do with the database can make the exit code 1.
        let output = self.memoir(["doctor", "--json"]).output();
        let findings: Vec<Value> = parse_json(&String::from_utf8(output.stdout).unwrap());
        let memory = findings.into_iter().find(|finding| finding["what"] == "memory").unwrap();
        assert_eq!(memory["state"], "good", "{memory}");
        parse_json(&memory["counts"].to_string())
    }

    /// Returns the number of records of one kind; see [`TestHome::counts`].
    pub fn count(&self, kind: &str) -> u64 {
        let counts = self.counts();
        *counts.get(kind).unwrap_or_else(|| panic!("no {kind} in {counts:?}"))
    }

    /// Returns everything that the program shows of what it stored. Runs the program once per conversation.
    pub fn snapshot(&self) -> Snapshot {
        let show = |id: i64| self.memoir(["conversations", "show", &id.to_string(), "--json"]).json();
        let others: [&[&str]; 4] = [
            &["docs", "list", "--json"],
            &["schedule", "list", "--json"],
            &["memory", "list", "--json"],
            &["config", "list", "--json"],
        ];
        Snapshot {
            transcripts: self.conversations().iter().map(|conversation| show(conversation.id)).collect(),
            others: others.iter().map(|arguments| self.memoir(*arguments).json()).collect(),
            costs: self.memoir(["cost", "--json"]).json(),
            counts: self.counts(),
        }
    }
}
