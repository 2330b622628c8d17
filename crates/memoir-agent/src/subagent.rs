//! A sub-agent: it works alone, with a context of its own, and gives back a report.
//!
//! Its context is the system prompt, core memory, its own last runs and the request: no window of a conversation, nothing from
//! memory unless it looks itself. Nobody is asked anything: what its policy does not allow is refused, and said in its report.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memoir_core::{CallCost, DraftMessage, ExchangeDraft, ExchangeStatus, Message, Provenance, Purpose, Usd};
use memoir_tools::{Delegating, Delegation, DelegationError};
use tokio_util::sync::CancellationToken;

use crate::{
    Agent, CurrentConversation, Observer, ToolOutcome, TurnError, TurnEvent, approval::Approvals,
    draft::Draft,
};

/// What a sub-agent is told beside what every agent is told.
pub(crate) const ALONE: &str = "\
You work alone on the task below: nobody reads along, and nobody answers questions. Do what can be done with the tools that are \
allowed, and end with a report of what you found or did, and of what you could not do. What came of your earlier runs stands before it.";

/// What came of a sub-agent's work, however it ended.
#[derive(Debug)]
pub struct SubagentReport {
    /// What it reports, with what was refused.
    pub text: String,
    /// Whether it came to its end: it may have been stopped by its limits, or have failed.
    pub ended: Result<ExchangeStatus, TurnError>,
    /// Everything that was said, in order; the report last, if it came to its end by itself.
    pub messages: Vec<DraftMessage>,
    /// What was called, to be put on the bill by whoever had it work.
    pub calls: Vec<CallCost>,
    /// What it cost, where all prices are known.
    pub cost: Option<Usd>,
}

/// An agent that works alone.
pub struct Subagent {
    agent: Agent,
}

impl Agent {
    /// A sub-agent with this agent's model, tools and workspace, which remembers `runs` and may do what `approvals` say.
    pub fn subagent(&self, runs: Vec<Vec<Message>>, approvals: Approvals) -> Subagent {
        let mut agent = self.clone();
        agent.approvals = approvals;
        agent.approvals.asker = None;
        // One level: a sub-agent has none of its own. And what is always in context is changed where the user sees it.
        agent.tools = Arc::new(self.tools.without("run_subagent").without("core_memory"));
        // The one model that answers with memory has nothing else.
        if self.model.provenance() != Provenance::Derived {
            agent.recall = None;
        }
        agent.context.spelling = false;
        agent.asks_for_digests = false;
        agent.said = Arc::default();
        agent.runs = Some(Arc::new(runs));
        Subagent { agent }
    }
}

impl Subagent {
    /// Bounds what it may do and spend.
    pub fn limited(mut self, max_turns: Option<u32>, budget: Option<Usd>) -> Self {
        if let Some(max_turns) = max_turns {
            self.agent.limits.max_turns = max_turns;
        }
        self.agent.limits.budget = budget.or(self.agent.limits.budget);
        self
    }

    /// Works on `prompt`.
    pub async fn run(
        &self,
        prompt: &str,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> SubagentReport {
        let agent = &self.agent;
        let mut bill = Bill::begin(agent, prompt);
        let conversation = CurrentConversation::begin(agent.scope().unwrap_or_default());
        let mut refused = Vec::new();
        let mut watching = |event: TurnEvent| {
            if let TurnEvent::ToolFinished { call, outcome: ToolOutcome::Refused } = &event {
                refused.push(call.name.clone());
            }
            observer(event);
        };
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(TurnError::Cancelled),
            answered = agent.answer(&conversation, prompt, &mut bill.draft, &mut watching) => answered,
        };
        let (mut exchange, calls) = bill.close();
        let ended = answered.map(|()| exchange.status);
        let mut text = exchange.assistant_message.clone();
        if !refused.is_empty() {
            text = format!("{text}\n\nNot allowed, and not done: {}.", counted(&refused))
                .trim_start()
                .to_owned();
        }
        if matches!(ended, Ok(ExchangeStatus::Stopped)) {
            // Why it was stopped is not something that it said.
            exchange.messages.pop();
        }
        SubagentReport { text, ended, cost: exchange.cost(), messages: exchange.messages, calls }
    }
}

/// What a sub-agent has said and called so far. If nobody closes it, because whoever waited for it has gone, what it cost is
/// noted all the same.
struct Bill<'a> {
    agent: &'a Agent,
    draft: Draft,
    is_closed: bool,
}

impl<'a> Bill<'a> {
    fn begin(agent: &'a Agent, prompt: &str) -> Self {
        let draft = Draft::begin(prompt, agent.model.name(), agent.clock.now());
        Self { agent, draft, is_closed: false }
    }

    /// The exchange, and the calls that are to be paid.
    fn close(&mut self) -> (ExchangeDraft, Vec<CallCost>) {
        self.is_closed = true;
        // A call that was cut off in its middle is paid for as well.
        self.draft.end_call(self.agent.model.as_ref(), self.agent.clock.now());
        let empty = Draft::begin("", "", self.agent.clock.now());
        let (exchange, _) = std::mem::replace(&mut self.draft, empty).finished();
        let of_task = |call: &CallCost| CallCost { purpose: Purpose::Task, ..call.clone() };
        let calls = exchange.calls.iter().map(of_task).collect();
        (exchange, calls)
    }
}

impl Drop for Bill<'_> {
    fn drop(&mut self) {
        if self.is_closed {
            return;
        }
        let (_, calls) = self.close();
        let store = Arc::clone(&self.agent.store);
        if let (false, Ok(runtime)) = (calls.is_empty(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                // Nobody is left to be told that it failed.
                let _ = store.record_calls(None, &calls).await;
            });
        }
    }
}

/// In a conversation a piece of work may be handed to a sub-agent, with what the agent has itself at that moment.
pub(crate) struct Delegate {
    agent: Agent,
    /// What sub-agents called, to be filed with the exchange.
    calls: Arc<Mutex<Vec<CallCost>>>,
}

impl Delegate {
    pub(crate) fn new(agent: &Agent, calls: &Arc<Mutex<Vec<CallCost>>>) -> Self {
        Self { agent: agent.clone(), calls: Arc::clone(calls) }
    }
}

#[async_trait]
impl Delegating for Delegate {
    async fn delegate(&self, work: Delegation) -> Result<String, DelegationError> {
        let mut agent = self.agent.clone();
        if let Some(names) = &work.tools {
            agent.tools = Arc::new(agent.tools.only(names)?);
        }
        let limits = agent.limits;
        let budget = work.budget_usd.map(Usd::from_dollars).or(limits.budget);
        let approvals = Approvals::new(agent.approvals.policy());
        let subagent = agent
            .subagent(Vec::new(), approvals)
            .limited(work.max_turns.map(|most| most.min(limits.max_turns)), budget);
        let report = subagent.run(&work.task, &mut |_| {}, &CancellationToken::new()).await;
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).extend(report.calls);
        match report.ended {
            Ok(_) => Ok(report.text),
            Err(error) => Err(DelegationError::Agent(Box::new(error))),
        }
    }
}

/// Names with how often they occur: `file_write (2), execute_bash`.
fn counted(names: &[String]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let word = |(name, count): &(&str, usize)| {
        if *count == 1 { (*name).to_owned() } else { format!("{name} ({count})") }
    };
    counts.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn what_was_refused_is_counted() {
        let names = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(counted(&names), "a (2), b");
    }
}
