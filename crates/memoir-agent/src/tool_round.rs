//! Runs the tool calls of one reply.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use memoir_core::{CallCost, ToolCall};
use memoir_models::ToolResult;
use memoir_tools::{CallReport, Plan, Reporter, ToolContext, ToolError, ToolOutput};
use tokio::sync::mpsc;

use crate::{
    CallSummary, Observer, ToolOutcome, TurnEvent, active_turn::ActiveTurn, approval::Refusal,
    subagent::Delegate,
};

/// Maximum number of progress reports that wait to be shown.
const MAX_REPORTS: usize = 8;

struct CallResult {
    output: ToolOutput,
    outcome: ToolOutcome,
}

/// Index of a call, its result and the time it took.
type CompletedCall = (usize, CallResult, Duration);

struct Round<'a> {
    context: CallContext<'a>,
    calls: &'a [ToolCall],
    /// Index and plan of each running call.
    running: Vec<(usize, Plan)>,
    work: FuturesUnordered<BoxFuture<'a, CompletedCall>>,
    results: Vec<Option<ToolOutput>>,
    /// Index of a running call, and what it reports.
    reports: mpsc::Receiver<(usize, CallReport)>,
}

/// A call that was planned, with the resources that it was planned for. It must run with these, because the paths in
/// them keep their meaning.
struct PreparedCall {
    plan: Plan,
    context: ToolContext,
}

#[derive(Clone, Copy)]
pub(crate) struct CallContext<'a> {
    pub(crate) turn: ActiveTurn<'a>,
    /// Whether the context contains only text that the user wrote. Quotations, tool results and attached files can
    /// contain instructions too.
    pub(crate) is_user_only: bool,
}

/// Runs the calls and returns their results in the same order. Calls that do not conflict run concurrently. If a call
/// fails, panics or is not allowed, the model gets the error, and the other calls still run.
pub(crate) async fn run(
    context: CallContext<'_>,
    calls: &[ToolCall],
    subagent_calls: &Arc<Mutex<Vec<CallCost>>>,
    observer: Observer<'_>,
) -> Vec<ToolResult> {
    let (reporter, reports) = mpsc::channel(MAX_REPORTS);
    let mut round = Round {
        context,
        calls,
        running: Vec::new(),
        work: FuturesUnordered::new(),
        results: vec![None; calls.len()],
        reports,
    };
    for (index, call) in calls.iter().enumerate() {
        // Plan again whenever an earlier call has finished, because the plan may depend on its effects.
        let plan = loop {
            let plan = context.plan(call).await;
            let must_wait = match &plan {
                Ok(prepared) => round.running.iter().any(|(_, other)| prepared.plan.conflicts_with(other)),
                Err(_) => !round.running.is_empty(),
            };
            if !must_wait || !round.finish_next(observer).await {
                break plan;
            }
        };
        let permitted_call = match plan {
            Ok(prepared) => {
                let permission = round.check_permission(call, prepared, observer).await;
                permission.map_err(|refusal| (format!("error: {refusal}"), ToolOutcome::Refused))
            }
            Err(error) => Err((format!("error: {error}"), ToolOutcome::Failed)),
        };
        observer(TurnEvent::ToolStarted(call.clone()));
        match permitted_call {
            Ok(prepared) => {
                round.running.push((index, prepared.plan));
                let reporter = reporter.clone();
                let report: Reporter = Arc::new(move |report| {
                    // If the user does not keep up, the next report is enough.
                    let _ = reporter.try_send((index, report));
                });
                let tool_context = ToolContext { reporter: Some(report), ..prepared.context };
                let work = run_call(context.turn, call, tool_context, Arc::clone(subagent_calls));
                let started = Instant::now();
                round.work.push(work.map(move |result| (index, result, started.elapsed())).boxed());
            }
            Err((output, outcome)) => {
                let result = CallSummary { text: output.clone(), ..CallSummary::default() };
                observer(TurnEvent::ToolFinished { call: call.clone(), outcome, result });
                round.results[index] = Some(output.into());
            }
        }
    }
    while round.finish_next(observer).await {}
    let result = |(call, output): (&ToolCall, Option<ToolOutput>)| {
        let ToolOutput { text, images, .. } =
            output.unwrap_or_else(|| "error: the tool did not run".to_owned().into());
        ToolResult { call_id: call.id.clone(), tool_name: call.name.clone(), text, images }
    };
    calls.iter().zip(round.results).map(result).collect()
}

impl Round<'_> {
    /// Checks whether a call may run. Calls that are already running continue while the user is asked.
    async fn check_permission(
        &mut self,
        call: &ToolCall,
        prepared: PreparedCall,
        observer: Observer<'_>,
    ) -> Result<PreparedCall, Refusal> {
        let mut completed_calls = Vec::new();
        let permission = {
            let decision = self.context.check_permission(call, prepared, observer);
            tokio::pin!(decision);
            loop {
                tokio::select! {
                    biased;
                    permission = &mut decision => break permission,
                    Some(call) = self.work.next(), if !self.work.is_empty() => completed_calls.push(call),
                }
            }
        };
        completed_calls.into_iter().for_each(|call| self.record(call, observer));
        permission
    }

    /// Waits until a running call completes. Returns `false` if none is running.
    async fn finish_next(&mut self, observer: Observer<'_>) -> bool {
        loop {
            tokio::select! {
                biased;
                Some((index, report)) = self.reports.recv() => {
                    let call = self.calls[index].clone();
                    observer(match report {
                        CallReport::Progress(text) => TurnEvent::ToolProgress { call, text },
                        CallReport::Output(text) => TurnEvent::ToolPrinted { call, text },
                    });
                }
                call = self.work.next() => {
                    let Some(call) = call else { return false };
                    self.record(call, observer);
                    return true;
                }
            }
        }
    }

    fn record(&mut self, (index, result, duration): CompletedCall, observer: Observer<'_>) {
        let CallResult { mut output, outcome } = result;
        let running = self.running.iter().position(|(other, _)| *other == index);
        let plan = running.map(|running| self.running.swap_remove(running).1);
        let diff =
            plan.filter(|plan| outcome == ToolOutcome::Succeeded && plan.is_diff()).map(|plan| plan.preview);
        if let Some(notice) = output.notice.take() {
            observer(TurnEvent::Notice(notice));
        }
        let result = CallSummary { text: output.text.clone(), diff, duration };
        observer(TurnEvent::ToolFinished { call: self.calls[index].clone(), outcome, result });
        self.results[index] = Some(output);
    }
}

impl CallContext<'_> {
    /// Determines the effects that a call would have.
    async fn plan(self, call: &ToolCall) -> Result<PreparedCall, ToolError> {
        let context = self.turn.agent.tool_context(self.turn.state, &call.name);
        let planning = self.turn.state.tools.plan(&call.name, &call.arguments, &context);
        let crashed = |_| Err(ToolError::Failed("the tool crashed".into()));
        let plan = AssertUnwindSafe(planning).catch_unwind().await.unwrap_or_else(crashed)?;
        Ok(PreparedCall { plan: if self.is_user_only { plan.requested_by_user() } else { plan }, context })
    }

    /// Checks whether a call may run, and asks the user if necessary. Returns the call as it must run.
    async fn check_permission(
        self,
        call: &ToolCall,
        prepared: PreparedCall,
        observer: Observer<'_>,
    ) -> Result<PreparedCall, Refusal> {
        let ActiveTurn { agent, state } = self.turn;
        let project = agent.workspace.project();
        let mut about_to_ask = || observer(TurnEvent::ApprovalRequested);
        let plan = &prepared.plan;
        let permission = state.approvals.decide(&call.name, plan, project, &mut about_to_ask).await?;
        if let Some(rule) = permission.new_rule {
            let (effect, rule, scope) = (rule.effect.as_str(), rule.to_string(), project.to_string_lossy());
            let result = agent.store.add_approval_rule(effect, &rule, &scope, agent.clock.now()).await;
            if let Err(error) = result {
                tracing::warn!(%error, "could not store an approval rule; it applies until the session ends");
            }
        }
        // The effects may have changed while the user was asked.
        match self.plan(call).await {
            Ok(mut current) if current.plan == *plan => {
                current.context.sandbox.is_approved = permission.is_from_user;
                current.context.sandbox.own_directories = state.approvals.policy().protected;
                Ok(current)
            }
            _ => Err(Refusal::Changed),
        }
    }
}

async fn run_call(
    turn: ActiveTurn<'_>,
    call: &ToolCall,
    context: ToolContext,
    subagent_calls: Arc<Mutex<Vec<CallCost>>>,
) -> CallResult {
    let failed = |output: String| CallResult { output: output.into(), outcome: ToolOutcome::Failed };
    // A sub-agent inherits the delegating agent's tools and permissions as they are right now.
    let delegate = Arc::new(Delegate::new(turn, &subagent_calls));
    let context = context.with_subagents(delegate);
    let work = turn.state.tools.run(&call.name, call.arguments.clone(), &context);
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(Ok(output)) => CallResult { output, outcome: ToolOutcome::Succeeded },
        Ok(Err(error)) => failed(format!("error: {error}")),
        Err(_) => failed("error: the tool crashed".to_owned()),
    }
}
