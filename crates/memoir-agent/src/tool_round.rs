//! Running the tools that one reply asked for.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use memoir_core::{CallCost, ToolCall};
use memoir_models::ToolResult;
use memoir_tools::{Plan, ToolError, ToolOutput};

use crate::{
    Observer, ToolOutcome, TurnEvent, active_turn::ActiveTurn, approval::Refusal, subagent::Delegate,
};

/// The result of one tool call.
struct CallResult {
    /// What the model reads.
    output: String,
    outcome: ToolOutcome,
    /// What the user reads, if anything.
    notice: Option<String>,
}

/// The calls that run, and what each does.
struct Round<'a> {
    context: CallContext<'a>,
    calls: &'a [ToolCall],
    running: Vec<(usize, Plan)>,
    work: FuturesUnordered<BoxFuture<'a, (usize, CallResult)>>,
    results: Vec<Option<String>>,
}

/// The turn that makes the calls, and whose words may have led to them.
#[derive(Clone, Copy)]
pub(crate) struct CallContext<'a> {
    pub(crate) turn: ActiveTurn<'a>,
    /// Whether only the user can have asked for the calls. It is `false` if the context has quotations, results of tools or
    /// attached files, since these can contain instructions, too.
    pub(crate) by_the_user_alone: bool,
}

/// Runs the calls, side by side where they cannot conflict, and gives their results in the order of the calls. A call that fails,
/// is not allowed or panics gives its error to the model and harms no other.
pub(crate) async fn run(
    context: CallContext<'_>,
    calls: &[ToolCall],
    paid: &Arc<Mutex<Vec<CallCost>>>,
    observer: Observer<'_>,
) -> Vec<ToolResult> {
    let mut round = Round {
        context,
        calls,
        running: Vec::new(),
        work: FuturesUnordered::new(),
        results: vec![None; calls.len()],
    };
    for (index, call) in calls.iter().enumerate() {
        // What it would do is looked at again when those before it have done what they would: it may depend on them.
        let plan = loop {
            let plan = context.plan(call).await;
            let must_wait = match &plan {
                Ok(plan) => round.running.iter().any(|(_, other)| plan.conflicts_with(other)),
                Err(_) => !round.running.is_empty(),
            };
            if !must_wait || !round.finish_one(observer).await {
                break plan;
            }
        };
        let allowed = match plan {
            Ok(plan) => {
                let allowed = round.check_permission(call, &plan, observer).await;
                allowed.map(|()| plan).map_err(|refusal| (format!("error: {refusal}"), ToolOutcome::Refused))
            }
            Err(error) => Err((format!("error: {error}"), ToolOutcome::Failed)),
        };
        observer(TurnEvent::ToolStarted(call.clone()));
        match allowed {
            Ok(plan) => {
                round.running.push((index, plan));
                round.work.push(
                    run_call(context.turn, call, Arc::clone(paid)).map(move |result| (index, result)).boxed(),
                );
            }
            Err((output, outcome)) => {
                observer(TurnEvent::ToolFinished { call: call.clone(), outcome });
                round.results[index] = Some(output);
            }
        }
    }
    while round.finish_one(observer).await {}
    let result = |(call, text): (&ToolCall, Option<String>)| ToolResult {
        call_id: call.id.clone(),
        tool_name: call.name.clone(),
        text: text.unwrap_or_else(|| "error: it did not run".into()),
    };
    calls.iter().zip(round.results).map(result).collect()
}

impl Round<'_> {
    /// Checks whether a call may be made. While the user is asked, the calls that are running continue.
    async fn check_permission(
        &mut self,
        call: &ToolCall,
        plan: &Plan,
        observer: Observer<'_>,
    ) -> Result<(), Refusal> {
        let mut finished = Vec::new();
        let decided = {
            let deciding = self.context.check_permission(call, plan, observer);
            tokio::pin!(deciding);
            loop {
                tokio::select! {
                    biased;
                    decided = &mut deciding => break decided,
                    Some(done) = self.work.next(), if !self.work.is_empty() => finished.push(done),
                }
            }
        };
        finished.into_iter().for_each(|done| self.note(done, observer));
        decided
    }

    /// Waits for the next that is done; says whether there was any.
    async fn finish_one(&mut self, observer: Observer<'_>) -> bool {
        let Some(done) = self.work.next().await else { return false };
        self.note(done, observer);
        true
    }

    fn note(&mut self, (index, result): (usize, CallResult), observer: Observer<'_>) {
        let CallResult { output, outcome, notice } = result;
        self.running.retain(|(other, _)| *other != index);
        if let Some(notice) = notice {
            observer(TurnEvent::Notice(notice));
        }
        observer(TurnEvent::ToolFinished { call: self.calls[index].clone(), outcome });
        self.results[index] = Some(output);
    }
}

impl CallContext<'_> {
    /// What a call would do.
    async fn plan(self, call: &ToolCall) -> Result<Plan, ToolError> {
        let context = self.turn.agent.tool_context(self.turn.state);
        let planning = self.turn.state.tools.plan(&call.name, &call.arguments, &context);
        let crashed = |_| Err(ToolError::Failed("the tool crashed".into()));
        let plan = AssertUnwindSafe(planning).catch_unwind().await.unwrap_or_else(crashed)?;
        Ok(if self.by_the_user_alone { plan.as_the_user_asked() } else { plan })
    }

    /// Checks whether a call may be made, and asks the user if necessary.
    async fn check_permission(
        self,
        call: &ToolCall,
        plan: &Plan,
        observer: Observer<'_>,
    ) -> Result<(), Refusal> {
        let ActiveTurn { agent, state } = self.turn;
        let project = agent.workspace.project();
        let mut about_to_ask = || observer(TurnEvent::Asking);
        if let Some(rule) = state.approvals.decide(&call.name, plan, project, &mut about_to_ask).await? {
            let (effect, rule, scope) = (rule.effect.as_str(), rule.to_string(), project.to_string_lossy());
            let stored = agent.store.add_approval_rule(effect, &rule, &scope, agent.clock.now()).await;
            if let Err(error) = stored {
                tracing::warn!(%error, "could not store an approval rule; it holds until the session ends");
            }
        }
        // What was shown may have changed while the user was thinking.
        match self.plan(call).await {
            Ok(now) if now == *plan => Ok(()),
            _ => Err(Refusal::Changed),
        }
    }
}

/// Runs one call.
async fn run_call(turn: ActiveTurn<'_>, call: &ToolCall, paid: Arc<Mutex<Vec<CallCost>>>) -> CallResult {
    let failed = |output| CallResult { output, outcome: ToolOutcome::Failed, notice: None };
    // A sub-agent inherits the delegating agent's tools and permissions as they are right now.
    let context = turn.agent.tool_context(turn.state).delegating(Arc::new(Delegate::new(turn, &paid)));
    let running = turn.state.tools.run(&call.name, call.arguments.clone(), &context);
    match AssertUnwindSafe(running).catch_unwind().await {
        Ok(Ok(ToolOutput { text, notice })) => {
            CallResult { output: text, outcome: ToolOutcome::Succeeded, notice }
        }
        Ok(Err(error)) => failed(format!("error: {error}")),
        Err(_) => failed("error: the tool crashed".to_owned()),
    }
}
