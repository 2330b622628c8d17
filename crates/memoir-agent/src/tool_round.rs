//! Running the tools that one reply asked for.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use memoir_core::{CallCost, ToolCall};
use memoir_models::ToolResult;
use memoir_tools::{Plan, ToolError, ToolOutput};

use crate::{Observer, ToolOutcome, TurnEvent, subagent::Delegate, turn::Turn};

/// What came of a call: what the model is told, how it ended, and what the user is told.
type Came = (String, ToolOutcome, Option<String>);

/// The calls that run, and what each does.
struct Round<'a> {
    asking: Asking<'a>,
    calls: &'a [ToolCall],
    running: Vec<(usize, Plan)>,
    work: FuturesUnordered<BoxFuture<'a, (usize, Came)>>,
    results: Vec<Option<String>>,
}

/// Who asks for calls, and whether only the user can have prompted them: what is quoted, what tools gave and files that went along may
/// have, too.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) turn: Turn<'a>,
    pub(crate) by_the_user_alone: bool,
}

/// Runs the calls, side by side where they cannot conflict, and gives their results in the order of the calls. A call that fails,
/// is not allowed or panics gives its error to the model and harms no other.
pub(crate) async fn run(
    asking: Asking<'_>,
    calls: &[ToolCall],
    paid: &Arc<Mutex<Vec<CallCost>>>,
    observer: Observer<'_>,
) -> Vec<ToolResult> {
    let mut round = Round {
        asking,
        calls,
        running: Vec::new(),
        work: FuturesUnordered::new(),
        results: vec![None; calls.len()],
    };
    for (index, call) in calls.iter().enumerate() {
        // What it would do is looked at again when those before it have done what they would: it may depend on them.
        let plan = loop {
            let plan = asking.plan(call).await;
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
                let allowed = round.allowed_meanwhile(call, &plan, observer).await;
                allowed.map(|()| plan).map_err(|refusal| (refusal, ToolOutcome::Refused))
            }
            Err(error) => Err((format!("error: {error}"), ToolOutcome::Failed)),
        };
        observer(TurnEvent::ToolStarted(call.clone()));
        match allowed {
            Ok(plan) => {
                round.running.push((index, plan));
                round
                    .work
                    .push(one(asking.turn, call, Arc::clone(paid)).map(move |came| (index, came)).boxed());
            }
            Err((said, outcome)) => {
                observer(TurnEvent::ToolFinished { call: call.clone(), outcome });
                round.results[index] = Some(said);
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
    /// Whether a call may be made. While the user is asked, those that run go on.
    async fn allowed_meanwhile(
        &mut self,
        call: &ToolCall,
        plan: &Plan,
        observer: Observer<'_>,
    ) -> Result<(), String> {
        let mut finished = Vec::new();
        let decided = {
            let deciding = self.asking.allowed(call, plan, observer);
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

    fn note(&mut self, (index, (text, outcome, notice)): (usize, Came), observer: Observer<'_>) {
        self.running.retain(|(other, _)| *other != index);
        if let Some(notice) = notice {
            observer(TurnEvent::Notice(notice));
        }
        observer(TurnEvent::ToolFinished { call: self.calls[index].clone(), outcome });
        self.results[index] = Some(text);
    }
}

impl Asking<'_> {
    /// What a call would do.
    async fn plan(self, call: &ToolCall) -> Result<Plan, ToolError> {
        let context = self.turn.agent.tool_context(self.turn.state);
        let planning = self.turn.state.tools.plan(&call.name, &call.arguments, &context);
        let crashed = |_| Err(ToolError::Failed("the tool crashed".into()));
        let plan = AssertUnwindSafe(planning).catch_unwind().await.unwrap_or_else(crashed)?;
        Ok(if self.by_the_user_alone { plan.as_the_user_asked() } else { plan })
    }

    /// Whether a call may be made; otherwise what the model is told.
    async fn allowed(self, call: &ToolCall, plan: &Plan, observer: Observer<'_>) -> Result<(), String> {
        let Turn { agent, state } = self.turn;
        let project = agent.workspace.project();
        let mut about_to_ask = || observer(TurnEvent::Asking);
        let decided = state.approvals.decide(&call.name, plan, project, &mut about_to_ask).await;
        let always = decided.map_err(|why| format!("error: not allowed: {why}"))?;
        if let Some(rule) = always {
            let (effect, rule, scope) = (rule.effect.as_str(), rule.to_string(), project.to_string_lossy());
            // If it cannot be kept, it holds until the program ends.
            let _ = agent.store.add_approval_rule(effect, &rule, &scope, agent.clock.now()).await;
        }
        // What was shown may have changed while the user was thinking.
        match self.plan(call).await {
            Ok(now) if now == *plan => Ok(()),
            _ => Err("error: what it would do has changed since it was allowed; ask again".into()),
        }
    }
}

/// Runs one call.
async fn one(turn: Turn<'_>, call: &ToolCall, paid: Arc<Mutex<Vec<CallCost>>>) -> Came {
    // Who delegates gives away what he has himself at this moment.
    let context = turn.agent.tool_context(turn.state).delegating(Arc::new(Delegate::new(turn, &paid)));
    let running = turn.state.tools.run(&call.name, call.arguments.clone(), &context);
    match AssertUnwindSafe(running).catch_unwind().await {
        Ok(Ok(ToolOutput { text, notice })) => (text, ToolOutcome::Succeeded, notice),
        Ok(Err(error)) => (format!("error: {error}"), ToolOutcome::Failed, None),
        Err(_) => ("error: the tool crashed".to_owned(), ToolOutcome::Failed, None),
    }
}
