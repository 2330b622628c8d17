//! Running a task: a sub-agent with the task's model, policy, time and memory.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use memoir_agent::{Agent, Approvals, Rule, RuleEffect, SubagentReport};
use memoir_core::{Clock as _, ExchangeStatus, RunId, RunOutcome, RunState, SystemClock, Task, TimeZone};
use memoir_schedule::{Engine, History, Loaded, Scheduler};
use memoir_store::Store;
use memoir_tools::ToolSet;
use memoir_workers::{is_alive, name_this_process};
use tokio_util::sync::CancellationToken;

use crate::{
    failure::{Failure, Kind},
    home::Home,
    models::Models,
    permissions, recall, tooling,
};

/// Runs tasks as this program is set up.
pub(crate) struct TaskEngine {
    pub(crate) models: Arc<Models>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) home: Home,
    pub(crate) zone: TimeZone,
    /// Who this process is.
    owner: String,
}

impl TaskEngine {
    pub(crate) fn new(models: Arc<Models>, store: Arc<dyn Store>, home: Home, zone: TimeZone) -> Arc<Self> {
        Arc::new(Self { models, store, home, zone, owner: name_this_process(SystemClock.now()) })
    }

    /// Who looks after tasks in this process.
    pub(crate) fn scheduler(&self) -> Scheduler {
        Scheduler::new(Arc::clone(&self.store), Arc::new(SystemClock), self.owner.clone(), is_alive)
    }

    /// Where tasks' histories are kept.
    pub(crate) fn history(&self) -> History {
        History::below(&self.home.data())
    }

    /// An agent in the task's project, with its model.
    async fn agent(&self, task: &Task) -> Result<Agent, Failure> {
        let project = PathBuf::from(&task.what.scope);
        let mut choice = self.models.choose(task.what.model.as_deref(), self.store.as_ref()).await?;
        let model = self.models.connect(&mut choice).await?;
        let recall =
            recall::recall(Arc::clone(&self.store), &self.models, &self.zone, Some(&project)).await?;
        let mut agent = tooling::agent(model, recall, (&project, &[]), &self.models.config).await?;
        agent.tools = Arc::new(
            ToolSet::all().for_store(self.store.as_ref()).with_skills(&tooling::skills(&project, &self.home)),
        );
        Ok(agent)
    }

    /// What the task may do: its mode, its own rules, and what holds in its project.
    async fn approvals(&self, task: &Task) -> Result<Approvals, Failure> {
        let (mode, config) = (Some(task.what.approval.as_str()), &self.models.config.approval);
        let mut policy =
            permissions::policy(mode, config, self.store.as_ref(), &task.what.scope, &self.home).await?;
        for rule in &task.what.allow {
            policy.rules.extend(Rule::parse(RuleEffect::Allow, rule));
        }
        Ok(Approvals::new(policy))
    }

    /// Does the work and keeps what was said; with what did not go well beside it.
    async fn work(
        &self,
        task: &Task,
        run: RunId,
        cancel: &CancellationToken,
    ) -> Result<(SubagentReport, Vec<String>), Failure> {
        let (history, name) = (self.history(), task.what.name.clone());
        let most = usize::try_from(task.what.history).unwrap_or(usize::MAX);
        let loading = tokio::task::spawn_blocking(move || history.load(&name, most));
        let Loaded { runs, warnings } =
            loading.await.map_err(|error| Failure::new(Kind::Failed, error.to_string()))??;
        let agent = self.agent(task).await?;
        let subagent = agent.subagent(runs, self.approvals(task).await?).limited(None, task.what.budget);
        let report = subagent.run(&task.what.prompt, &mut |_| {}, cancel).await;
        // It was paid for: that its cost could not be noted does not take its report away.
        let _ = self.store.record_calls(None, &report.calls).await;
        let mut notes: Vec<String> = warnings.iter().map(|warning| format!("{warning}.")).collect();
        // Of a task that was removed meanwhile nothing is kept.
        if self.store.task(&task.what.name).await?.is_some_and(|known| known.id == task.id) {
            let kept =
                self.history().append(&task.what.name, run, &report.messages, &self.zone, SystemClock.now());
            notes.extend(kept.err().map(|error| format!("{NOT_KEPT}: {error}.")));
        }
        Ok((report, notes))
    }
}

/// That what was said is not in the history.
const NOT_KEPT: &str = "What was said could not be kept for the next run";

#[async_trait]
impl Engine for TaskEngine {
    async fn run(&self, task: &Task, run: RunId, cancel: &CancellationToken) -> RunOutcome {
        let time = Duration::from_secs(task.what.timeout_seconds);
        let (stop, is_late) = (cancel.child_token(), Arc::new(AtomicBool::new(false)));
        let (late, stop_late) = (Arc::clone(&is_late), stop.clone());
        let timer = tokio::spawn(async move {
            tokio::time::sleep(time).await;
            late.store(true, Ordering::SeqCst);
            stop_late.cancel();
        });
        let came = self.work(task, run, &stop).await;
        timer.abort();
        let is_late = is_late.load(Ordering::SeqCst);
        match came {
            Err(failure) => RunOutcome {
                state: RunState::Failed,
                report: String::new(),
                error: Some(failure.sentence()),
                cost: None,
            },
            Ok((report, mut notes)) => {
                let state = match report.ended {
                    Ok(ExchangeStatus::Completed) if notes.iter().any(|note| note.starts_with(NOT_KEPT)) => {
                        RunState::Failed
                    }
                    Ok(ExchangeStatus::Completed) => RunState::Done,
                    Ok(ExchangeStatus::Stopped) => RunState::Failed,
                    Err(_) if is_late => {
                        notes.push(format!("It took longer than {} seconds.", time.as_secs()));
                        RunState::TimedOut
                    }
                    Err(_) if cancel.is_cancelled() => {
                        notes.push("It was told to stop.".into());
                        RunState::Stopped
                    }
                    Err(error) => {
                        notes.push(Failure::from(error).sentence());
                        RunState::Failed
                    }
                };
                let error = (!notes.is_empty()).then(|| notes.join(" "));
                RunOutcome { state, report: report.text, error, cost: report.cost }
            }
        }
    }
}
