//! Sub-agents work on a task without the user, with a context of their own, and return a report.
//!
//! The context consists of the system prompt, core memory, the sub-agent's previous runs and the task. It contains no
//! conversation, and nothing from memory unless the sub-agent searches it. The user is never asked for permission:
//! calls that the policy does not allow are refused and listed in the report.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memoir_core::{
    CallCost, DraftMessage, ExchangeDraft, ExchangeStatus, InputPart, Message, Origin, Provenance, Purpose,
    TurnInput, Usd, lock,
};
use memoir_tools::{Delegation, DelegationError, SubagentRunner};
use tokio_util::sync::CancellationToken;

use crate::{
    Agent, AgentState, Observer, ToolOutcome, TurnError, TurnEvent, active_turn::ActiveTurn,
    approval::Approvals, context::Prompt, draft::Draft,
};

pub(crate) const SUBAGENT_PROMPT: &str = "\
You work alone on the task below: no one follows your work or answers questions. Do what you can with the tools that are \
allowed, and end with a report of what you found or did, and of what you could not do. Your earlier runs come before the task.";

/// Result of a sub-agent's run, successful or not.
#[derive(Debug)]
pub struct SubagentReport {
    /// The report, followed by a list of refused calls.
    pub text: String,
    /// Whether the run completed, was stopped by a limit, or failed.
    pub outcome: Result<ExchangeStatus, TurnError>,
    /// All messages, in order. The last one is the report, unless a limit or an error stopped the sub-agent.
    pub messages: Vec<DraftMessage>,
    /// Model calls, which the caller must record.
    pub calls: Vec<CallCost>,
    /// Cost of all calls, or `None` if a price is unknown.
    pub cost: Option<Usd>,
}

/// An agent that works on one task without the user. Create it with [`Agent::subagent`].
pub struct Subagent {
    agent: Arc<Agent>,
    state: AgentState,
}

impl Agent {
    /// Creates a sub-agent with the model and tools of `session`. Its requests contain `previous_runs`, and
    /// `approvals` decides which calls may run.
    pub fn subagent(
        self: &Arc<Self>,
        session: &AgentState,
        previous_runs: Vec<Vec<Message>>,
        approvals: Approvals,
    ) -> Subagent {
        let mut state = session.for_subagent(previous_runs);
        state.approvals = approvals;
        state.approvals.prompter = None;
        // A sub-agent cannot delegate. Nor can it change core memory, which is part of every context, because the
        // user would not see the change.
        state.tools = Arc::new(session.tools.without("run_subagent").without("core_memory"));
        // The model that answers from memory alone needs recall.
        if session.model.provenance() != Provenance::Derived {
            state.recall.settings.enabled = false;
        }
        state.context.spelling = false;
        state.requests_digests = false;
        Subagent { agent: Arc::clone(self), state }
    }
}

impl Subagent {
    /// Sets the limits of the sub-agent. `None` keeps the current limit.
    pub fn with_limits(mut self, max_turns: Option<u32>, budget: Option<Usd>) -> Self {
        let agent = Arc::make_mut(&mut self.agent);
        if let Some(max_turns) = max_turns {
            agent.limits.max_turns = max_turns;
        }
        agent.limits.budget = budget.or(agent.limits.budget);
        self
    }

    /// Runs the sub-agent on the task in `input`.
    pub async fn run(
        &self,
        input: impl Into<TurnInput> + Send,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> SubagentReport {
        let turn = ActiveTurn { agent: &self.agent, state: &self.state };
        let input = input.into();
        let prompt = input.to_text();
        let mut run = RunGuard::new(turn, &input);
        let mut refused_tools = Vec::new();
        let mut watch = |event: TurnEvent| {
            if let TurnEvent::ToolFinished { call, outcome: ToolOutcome::Refused, .. } = &event {
                refused_tools.push(call.name.clone());
            }
            observer(event);
        };
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(TurnError::Cancelled),
            result = turn.answer(Prompt::new(&prompt, &input), &mut run.draft, &mut watch) => result,
        };
        let (mut exchange, calls) = run.close();
        let outcome = result.map(|()| exchange.status);
        let mut text = exchange.assistant_message.clone();
        if !refused_tools.is_empty() {
            let calls = count_names(&refused_tools);
            text = format!("{text}\n\nCalls that were not allowed: {calls}.").trim_start().to_owned();
        }
        if matches!(outcome, Ok(ExchangeStatus::Stopped)) {
            // The last message is the reason for the stop, which the sub-agent did not write.
            exchange.messages.pop();
        }
        SubagentReport { text, outcome, cost: exchange.cost(), messages: exchange.messages, calls }
    }
}

/// A run of a sub-agent. If it is dropped before it is closed, because its future was cancelled, it still records the
/// costs.
struct RunGuard<'a> {
    turn: ActiveTurn<'a>,
    draft: Draft,
    is_closed: bool,
}

impl<'a> RunGuard<'a> {
    fn new(turn: ActiveTurn<'a>, input: &TurnInput) -> Self {
        let draft = Draft::new(input, turn.state.model.name(), turn.agent.clock.now());
        Self { turn, draft, is_closed: false }
    }

    /// Ends the run. Returns the exchange, and its model calls as calls of a task.
    fn close(&mut self) -> (ExchangeDraft, Vec<CallCost>) {
        self.is_closed = true;
        let now = self.turn.agent.clock.now();
        self.draft.end_call(self.turn.state.model.as_ref(), now);
        let empty = Draft::new(&TurnInput::default(), "", now);
        let (exchange, _) = std::mem::replace(&mut self.draft, empty).finish();
        let to_task_call = |call: &CallCost| CallCost { purpose: Purpose::Task, ..call.clone() };
        let calls = exchange.calls.iter().map(to_task_call).collect();
        (exchange, calls)
    }
}

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        if self.is_closed {
            return;
        }
        let (_, calls) = self.close();
        let store = Arc::clone(&self.turn.agent.store);
        if let (false, Ok(runtime)) = (calls.is_empty(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                if let Err(error) = store.record_calls(None, &calls).await {
                    // The caller no longer exists, so the error cannot be returned.
                    tracing::warn!(%error, "could not record the cost of a cancelled sub-agent");
                }
            });
        }
    }
}

/// Lets a tool delegate a task to a sub-agent, which gets the current agent and state.
pub(crate) struct Delegate {
    agent: Arc<Agent>,
    state: AgentState,
    /// Model calls of sub-agents, which become part of the exchange.
    calls: Arc<Mutex<Vec<CallCost>>>,
}

impl Delegate {
    pub(crate) fn new(turn: ActiveTurn<'_>, calls: &Arc<Mutex<Vec<CallCost>>>) -> Self {
        Self { agent: Arc::clone(turn.agent), state: turn.state.clone(), calls: Arc::clone(calls) }
    }
}

#[async_trait]
impl SubagentRunner for Delegate {
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
            .with_limits(work.max_turns.map(|max_turns| max_turns.min(limits.max_turns)), budget);
        let task = InputPart::text(&work.task).with_origin(Origin::Program);
        let report = subagent.run(task, &mut |_| {}, &CancellationToken::new()).await;
        lock(&self.calls).extend(report.calls);
        match report.outcome {
            Ok(_) => Ok(report.text),
            Err(error) => Err(DelegationError::Agent(Box::new(error))),
        }
    }
}

/// Lists distinct names with their counts: `file_write (2), execute_bash`.
fn count_names(names: &[String]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(other, _)| other == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let format_count = |(name, count): &(&str, usize)| {
        if *count == 1 { (*name).to_owned() } else { format!("{name} ({count})") }
    };
    counts.iter().map(format_count).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::count_names;

    #[test]
    fn repeated_names_are_counted() {
        let names = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(count_names(&names), "a (2), b");
    }
}
