//! Reads stored data through the program itself.
//!
//! Each method runs the binary with `--json` and parses the output. Tests therefore work with every storage
//! backend, and fail if the program cannot show its data. The structs have only the fields that tests use;
//! add others of the JSON as needed.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{TestHome, run::parse_json};

/// A conversation, from `memoir conversations list --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredConversation {
    /// Id of the conversation.
    pub id: i64,
    /// Title, initially the beginning of the first prompt.
    pub title: String,
    /// Project of the conversation.
    pub scope: String,
    /// Id of the conversation it was forked from.
    pub forked_from: Option<i64>,
    /// Summary, once it is written.
    pub summary: Option<String>,
}

/// A summary and its author.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredSummary {
    /// Text of the summary.
    pub text: String,
    /// Model that wrote it, or `extract` if it consists of quotations.
    pub by: String,
}

/// The digest of exchanges that no longer fit into a conversation's context window.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredDigest {
    /// Id of the last exchange it covers.
    pub through: i64,
}

/// A conversation with its exchanges, from `memoir conversations show ID --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ConversationTranscript {
    /// The conversation as it appears in lists.
    pub conversation: StoredConversation,
    /// Summary, once it is written.
    pub summary: Option<StoredSummary>,
    /// Digest of the oldest exchanges, if they no longer fit into the context window.
    pub digest: Option<StoredDigest>,
    /// Exchanges, oldest first. A fork also lists those of its parent.
    pub exchanges: Vec<StoredExchange>,
}

/// An exchange, from `memoir conversations show ID --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "ExchangeEntry")]
pub struct StoredExchange {
    /// Id of the exchange.
    pub id: i64,
    /// Id of the conversation.
    pub conversation_id: i64,
    /// `completed` or `stopped`.
    pub status: String,
    /// The prompt as one text, including attached files.
    pub user_message: String,
    /// The model's final answer, without intermediate ones.
    pub assistant_message: String,
    /// Cost in dollars, if the price of every call is known.
    pub cost: Option<f64>,
    /// Number of tool calls.
    pub tool_call_count: u64,
    /// Number of calls to a model.
    pub request_count: u64,
    /// Summary, once it is written.
    pub summary: Option<StoredSummary>,
    /// Messages in order, including tool calls and their results.
    pub messages: Vec<StoredMessage>,
}

/// A message of an exchange.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredMessage {
    /// Id of the message.
    pub id: i64,
    /// Id of the exchange.
    pub exchange_id: i64,
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// Text of the message.
    pub text: String,
    /// Tool calls that the model requested.
    #[serde(default)]
    pub tool_calls: Vec<StoredToolCall>,
    /// Id of the call that a tool message answers.
    pub call_id: Option<String>,
    /// Name of the tool that answered.
    pub tool_name: Option<String>,
    /// Whether it may contain text by neither the user nor the model.
    #[serde(default)]
    pub by_others: bool,
}

/// A tool call in a message.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredToolCall {
    /// Id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
}

/// Calls of one model for one purpose, from `memoir cost --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredCost {
    /// `chat`, `summary`, `embedding`, `query`, `post` or `task`.
    pub purpose: String,
    /// Name of the model.
    pub model: String,
    /// Number of calls, including those whose price is unknown.
    pub calls: u64,
    /// Cost in dollars of the calls whose price is known.
    pub cost_usd: f64,
    /// Number of tokens by kind.
    pub usage: BTreeMap<String, u64>,
}

/// A document, from `memoir docs list --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ListedDocument {
    /// Short name that identifies the document.
    pub slug: String,
    /// Title from the front matter or the file name.
    pub title: String,
    /// Number of chunks that the text was split into.
    pub chunks: u64,
}

/// A scheduled task, from `memoir schedule list --json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StoredTask {
    /// Name of the task.
    pub name: String,
}

/// A run of a scheduled task, from `memoir schedule history NAME --json`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredRun {
    /// Id of the run.
    pub id: i64,
    /// Due time in milliseconds since 1970, or `None` if the run was started manually.
    pub scheduled_for: Option<i64>,
    /// `running`, `done`, `failed`, `timed_out`, `cut_off` or `stopped`.
    pub state: String,
    /// Text of the report.
    pub report: String,
}

/// All stored data that the program shows, for comparing two points in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// All conversations with their exchanges and messages.
    pub transcripts: Vec<Value>,
    /// Documents, tasks, core memory and settings.
    pub others: Vec<Value>,
    /// Costs by purpose and model.
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
    /// Returns all conversations, oldest first.
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

    /// Returns all exchanges, oldest first. Runs the program once per conversation.
    pub fn exchanges(&self) -> Vec<StoredExchange> {
        let mut exchanges = Vec::new();
        for transcript in self.transcripts() {
            let id = transcript.conversation.id;
            let own = transcript.exchanges.into_iter().filter(|exchange| exchange.conversation_id == id);
            exchanges.extend(own);
        }
        exchanges.sort_by_key(|exchange| exchange.id);
        exchanges
    }

    /// Returns all messages, oldest first. Runs the program once per conversation.
    pub fn messages(&self) -> Vec<StoredMessage> {
        let mut messages: Vec<StoredMessage> =
            self.exchanges().into_iter().flat_map(|exchange| exchange.messages).collect();
        messages.sort_by_key(|message| message.id);
        messages
    }

    /// Returns the costs of all calls, by purpose and model.
    pub fn costs(&self) -> Vec<StoredCost> {
        let mut report: Value = self.memoir(["cost", "--json"]).json();
        parse_json(&report["all"]["lines"].take().to_string())
    }

    /// Returns the number of paid calls for `purpose`.
    pub fn count_calls(&self, purpose: &str) -> u64 {
        self.costs().iter().filter(|cost| cost.purpose == purpose).map(|cost| cost.calls).sum()
    }

    /// Returns all documents, as `memoir docs list` shows them.
    pub fn documents(&self) -> Vec<ListedDocument> {
        self.memoir(["docs", "list", "--json"]).json()
    }

    /// Returns all scheduled tasks.
    pub fn tasks(&self) -> Vec<StoredTask> {
        self.memoir(["schedule", "list", "--json"]).json()
    }

    /// Returns the runs of a task, oldest first.
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

    /// Returns the results of `memoir search`, best first.
    pub fn search(&self, query: &str) -> Vec<Value> {
        self.memoir(["search", query, "--json"]).json()
    }

    /// Returns the number of records of each kind, from `memoir doctor --json`. Some kinds are not listed by
    /// any other command: `embeddings`, `jobs`, `failed_jobs`, `recall_log`, `redactions` and
    /// `command_history`.
    ///
    /// # Panics
    ///
    /// Panics if the program reports that the database is damaged.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        // The exit code may be 1 because of a finding unrelated to the database.
        let output = self.memoir(["doctor", "--json"]).output();
        let findings: Vec<Value> = parse_json(&String::from_utf8(output.stdout).unwrap());
        let memory = findings.into_iter().find(|finding| finding["what"] == "memory").unwrap();
        assert_eq!(memory["state"], "good", "{memory}");
        parse_json(&memory["counts"].to_string())
    }

    /// Returns the number of records of a kind; see [`TestHome::counts`].
    pub fn count(&self, kind: &str) -> u64 {
        let counts = self.counts();
        *counts.get(kind).unwrap_or_else(|| panic!("no {kind} in {counts:?}"))
    }

    /// Returns all stored data that the program shows. Runs the program once per conversation.
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
