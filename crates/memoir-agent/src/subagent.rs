//! A sub-agent: it works alone, with a context of its own, and gives back a report.
//!
//! Its context is the system prompt, core memory, its own last runs and the request: no window of a conversation, nothing from
//! memory unless it looks itself. Nobody is asked anything: what its policy does not allow is refused, and said in its report.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memoir_core::{
    CallCost, DraftMessage, ExchangeDraft, ExchangeStatus, InputPart, Message, Origin, Provenance, Purpose,
    TurnInput, Usd, lock,
};
use memoir_tools::{Delegating, Delegation};
use tokio_util::sync::CancellationToken;

use crate::{
    Agent, AgentState, Observer, ToolOutcome, TurnError, TurnEvent, approval::Approvals, draft::Draft,
    turn::Turn,
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
    agent: Arc<Agent>,
    state: AgentState,
}

impl Agent {
    /// Returns a sub-agent with the model and tools of `session`. It remembers `runs` and may do what `approvals` allow.
    pub fn subagent(
        self: &Arc<Self>,
        session: &AgentState,
        runs: Vec<Vec<Message>>,
        approvals: Approvals,
    ) -> Subagent {
        let mut state = session.for_subagent(runs);
        state.approvals = approvals;
        state.approvals.asker = None;
        // Only one level: a sub-agent cannot delegate. Core memory is in every context, so it only changes where the user
        // sees it.
        state.tools = Arc::new(session.tools.without("run_subagent").without("core_memory"));
        // The one model that answers from memory has nothing else to answer from.
        if session.model.provenance() != Provenance::Derived {
            state.recall.settings.enabled = false;
        }
        state.context.spelling = false;
        state.asks_for_digests = false;
        Subagent { agent: Arc::clone(self), state }
    }
}

impl Subagent {
    /// Bounds what it may do and spend.
    pub fn limited(mut self, max_turns: Option<u32>, budget: Option<Usd>) -> Self {
        let agent = Arc::make_mut(&mut self.agent);
        if let Some(max_turns) = max_turns {
            agent.limits.max_turns = max_turns;
        }
        agent.limits.budget = budget.or(agent.limits.budget);
        self
    }

    /// Works on the task that `input` describes.
    pub async fn run(
        &self,
        input: impl Into<TurnInput> + Send,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> SubagentReport {
        let turn = Turn { agent: &self.agent, state: &self.state };
        let input = input.into();
        let mut bill = Bill::begin(turn, &input);
        let mut refused = Vec::new();
        let mut watching = |event: TurnEvent| {
            if let TurnEvent::ToolFinished { call, outcome: ToolOutcome::Refused } = &event {
                refused.push(call.name.clone());
            }
            observer(event);
        };
        let text = input.to_text();
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(TurnError::Cancelled),
            answered = turn.answer(&text, &mut bill.draft, &mut watching) => answered,
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
    turn: Turn<'a>,
    draft: Draft,
    is_closed: bool,
}

impl<'a> Bill<'a> {
    fn begin(turn: Turn<'a>, input: &TurnInput) -> Self {
        let draft = Draft::begin(input, turn.state.model.name(), turn.agent.clock.now());
        Self { turn, draft, is_closed: false }
    }

    /// The exchange, and the calls that are to be paid.
    fn close(&mut self) -> (ExchangeDraft, Vec<CallCost>) {
        self.is_closed = true;
        // A call that was cut off in its middle is paid for as well.
        let now = self.turn.agent.clock.now();
        self.draft.end_call(self.turn.state.model.as_ref(), now);
        let empty = Draft::begin(&TurnInput::default(), "", now);
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
        let store = Arc::clone(&self.turn.agent.store);
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
    agent: Arc<Agent>,
    state: AgentState,
    /// What sub-agents called, to be filed with the exchange.
    calls: Arc<Mutex<Vec<CallCost>>>,
}

impl Delegate {
    pub(crate) fn new(turn: Turn<'_>, calls: &Arc<Mutex<Vec<CallCost>>>) -> Self {
        Self { agent: Arc::clone(turn.agent), state: turn.state.clone(), calls: Arc::clone(calls) }
    }
}

#[async_trait]
impl Delegating for Delegate {
    async fn delegate(&self, work: Delegation) -> Result<String, String> {
        let mut state = self.state.clone();
        if let Some(names) = &work.tools {
            state.tools = Arc::new(state.tools.only(names)?);
        }
        let limits = self.agent.limits;
        let budget = work.budget_usd.map(Usd::from_dollars).or(limits.budget);
        let approvals = Approvals::new(state.approvals.policy());
        let subagent = self
            .agent
            .subagent(&state, Vec::new(), approvals)
            .limited(work.max_turns.map(|most| most.min(limits.max_turns)), budget);
        let task = InputPart::text(&work.task).with_origin(Origin::Program);
        let report = subagent.run(task, &mut |_| {}, &CancellationToken::new()).await;
        lock(&self.calls).extend(report.calls);
        match report.ended {
            Ok(_) => Ok(report.text),
            Err(error) => Err(error.to_string()),
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
