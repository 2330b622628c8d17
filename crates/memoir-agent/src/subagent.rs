//! Sub-agents: they work alone, with a context of their own, and return a report.
//!
//! The context is the system prompt, core memory, the sub-agent's own last runs and the task. There is no window of a
//! conversation, and nothing from memory unless the sub-agent searches it. Nobody is asked for permission: what the policy does
//! not allow is refused and listed in the report.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memoir_core::{
    CallCost, DraftMessage, ExchangeDraft, ExchangeStatus, InputPart, Message, Origin, Provenance, Purpose,
    TurnInput, Usd, lock,
};
use memoir_tools::{Delegating, Delegation, DelegationError};
use tokio_util::sync::CancellationToken;

use crate::{
    Agent, AgentState, Observer, ToolOutcome, TurnError, TurnEvent, active_turn::ActiveTurn,
    approval::Approvals, draft::Draft,
};

/// What is added to the system prompt of a sub-agent.
pub(crate) const ALONE: &str = "\
You work alone on the task below: nobody reads along, and nobody answers questions. Do what can be done with the tools that are \
allowed, and end with a report of what you found or did, and of what you could not do. What came of your earlier runs stands before it.";

/// The result of a sub-agent's work, whether it succeeded or not.
#[derive(Debug)]
pub struct SubagentReport {
    /// The report, followed by the calls that were refused.
    pub text: String,
    /// How it ended: complete, stopped by a limit, or with an error.
    pub ended: Result<ExchangeStatus, TurnError>,
    /// All messages, in order. The report is the last one, unless a limit or an error stopped the sub-agent.
    pub messages: Vec<DraftMessage>,
    /// The calls to models, which the caller has to record.
    pub calls: Vec<CallCost>,
    /// Cost of all calls, or `None` if a price is unknown.
    pub cost: Option<Usd>,
}

/// An agent that works alone on one task. Create it with [`Agent::subagent`].
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
    /// Returns the same sub-agent with other limits. `None` keeps a limit.
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
        let turn = ActiveTurn { agent: &self.agent, state: &self.state };
        let input = input.into();
        let prompt = input.to_text();
        let mut bill = Bill::begin(turn, &input);
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
            answered = turn.answer(&prompt, &mut bill.draft, &mut watching) => answered,
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

/// The messages and calls of a sub-agent so far. If its future is dropped before it is closed, the costs are recorded all the
/// same.
struct Bill<'a> {
    turn: ActiveTurn<'a>,
    draft: Draft,
    is_closed: bool,
}

impl<'a> Bill<'a> {
    fn begin(turn: ActiveTurn<'a>, input: &TurnInput) -> Self {
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
                if let Err(error) = store.record_calls(None, &calls).await {
                    // The caller is gone, so there is nobody to return the error to.
                    tracing::warn!(%error, "could not record the cost of an abandoned sub-agent");
                }
            });
        }
    }
}

/// Lets a tool hand a task to a sub-agent, which gets the agent and the state as they are at that moment.
pub(crate) struct Delegate {
    agent: Arc<Agent>,
    state: AgentState,
    /// What sub-agents called, to be filed with the exchange.
    calls: Arc<Mutex<Vec<CallCost>>>,
}

impl Delegate {
    pub(crate) fn new(turn: ActiveTurn<'_>, calls: &Arc<Mutex<Vec<CallCost>>>) -> Self {
        Self { agent: Arc::clone(turn.agent), state: turn.state.clone(), calls: Arc::clone(calls) }
    }
}

#[async_trait]
impl Delegating for Delegate {
    async fn delegate(&self, work: Delegation) -> Result<String, DelegationError> {
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
