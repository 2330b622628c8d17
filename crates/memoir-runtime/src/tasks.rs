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
use memoir_agent::{Agent, AgentState, Approvals, Rule, RuleEffect, SubagentReport};
use memoir_core::{Clock as _, ExchangeStatus, RunId, RunOutcome, RunState, SystemClock, Task, TimeZone};
use memoir_schedule::{Engine, LoadedRuns, Scheduler, TaskHistory};
use memoir_store::Store;
use memoir_tools::ToolSet;
use memoir_workers::{is_alive, name_this_process};
use tokio_util::sync::CancellationToken;

use crate::{
    failure::Failure, home::Home, memory::connect_recall, models::Models, permissions, settings, tools,
};

/// Runs tasks as this program is set up.
pub struct TaskEngine {
    /// The models and the configuration.
    pub models: Arc<Models>,
    /// The memory. Recall, tools and settings of a task are put together from it, so it is the whole store.
    pub store: Arc<dyn Store>,
    /// Where data and configuration are stored.
    pub home: Home,
    /// The time zone of schedules.
    pub zone: TimeZone,
    /// Who this process is.
    owner: String,
}

impl TaskEngine {
    pub(crate) fn new(models: Arc<Models>, store: Arc<dyn Store>, home: Home, zone: TimeZone) -> Arc<Self> {
        Arc::new(Self { models, store, home, zone, owner: name_this_process(SystemClock.now()) })
    }

    /// Who looks after tasks in this process.
    pub fn scheduler(&self) -> Scheduler {
        Scheduler::new(self.store.clone(), Arc::new(SystemClock), self.owner.clone(), is_alive)
    }

    /// Where tasks' histories are kept.
    pub fn history(&self) -> TaskHistory {
        TaskHistory::below(&self.home.data())
    }

    /// An agent in the task's project, with its model.
    async fn agent(&self, task: &Task) -> Result<(Arc<Agent>, AgentState), Failure> {
        let project = PathBuf::from(&task.what.scope);
        let mut choice = self.models.choose(task.what.model.as_deref(), self.store.as_ref()).await?;
        let model = self.models.connect(&mut choice).await?;
        let mut notices = Vec::new();
        let models = &self.models;
        let recall =
            connect_recall(self.store.clone(), models, &self.zone, Some(&project), &mut notices).await?;
        let (agent, mut state) = tools::agent(self.store.clone(), model, recall, (&project, &[]), models)?;
        state.context = settings::read(&models.config, "context", self.store.as_ref(), &mut notices).await?;
        for notice in notices {
            tracing::warn!(task = task.what.name, "{notice}");
        }
        state.tools = Arc::new(
            ToolSet::all().for_store(self.store.as_ref()).with_skills(&tools::skills(&project, &self.home)),
        );
        Ok((agent, state))
    }

    /// What the task may do: its mode, its own rules, and what holds in its project.
    async fn approvals(&self, task: &Task) -> Result<Approvals, Failure> {
        let (mode, config) = (Some(task.what.approval.as_str()), &self.models.config.approval);
        let (mut policy, ignored) =
            permissions::policy(mode, config, self.store.as_ref(), &task.what.scope, &self.home).await?;
        for notice in ignored {
            tracing::warn!(task = task.what.name, "{notice}");
        }
        for rule in &task.what.allow {
            policy.rules.extend(Rule::parse(RuleEffect::Allow, rule));
        }
        Ok(Approvals::new(policy))
    }

    /// Runs the sub-agent and appends what was said to the task's history.
    async fn work(&self, task: &Task, run: RunId, cancel: &CancellationToken) -> Result<TaskResult, Failure> {
        let (history, name) = (self.history(), task.what.name.clone());
        let most = usize::try_from(task.what.history).unwrap_or(usize::MAX);
        let loading = tokio::task::spawn_blocking(move || history.load(&name, most));
        let LoadedRuns { runs, warnings } =
            loading.await.map_err(|error| Failure::failed(error.to_string()))??;
        let (agent, state) = self.agent(task).await?;
        let subagent =
            agent.subagent(&state, runs, self.approvals(task).await?).limited(None, task.what.budget);
        let report = subagent.run(&task.what.prompt, &mut |_| {}, cancel).await;
        if let Err(error) = self.store.record_calls(None, &report.calls).await {
            // The report is worth more than the record of its cost.
            tracing::warn!(%error, "the cost of a task could not be recorded");
        }
        let mut notes: Vec<String> = warnings.iter().map(|warning| format!("{warning}.")).collect();
        let mut is_in_history = true;
        // A task that was removed meanwhile leaves no history.
        if self.store.task(&task.what.name).await?.is_some_and(|known| known.id == task.id) {
            let (name, now) = (&task.what.name, SystemClock.now());
            if let Err(error) = self.history().append(name, run, &report.messages, &self.zone, now) {
                is_in_history = false;
                notes.push(format!("What was said could not be kept for the next run: {error}."));
            }
        }
        Ok(TaskResult { report, notes, is_in_history })
    }
}

/// What a run of a task came to.
struct TaskResult {
    report: SubagentReport,
    /// What did not go well, in whole sentences.
    notes: Vec<String>,
    /// Whether the next run will remember this one.
    is_in_history: bool,
}

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
            Ok(TaskResult { report, mut notes, is_in_history }) => {
                let state = match report.ended {
                    Ok(ExchangeStatus::Completed) if !is_in_history => RunState::Failed,
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
