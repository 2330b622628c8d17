//! Runs scheduled tasks. Each run is a sub-agent with the task's model, permissions, time limit and history.

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
    failure::Failure,
    home::Home,
    memory::connect_recall,
    models::Models,
    permissions, settings, tools,
    trust::{self, Trust},
};

/// Runs tasks with the models and configuration of a runtime.
pub struct TaskEngine {
    /// The models and the configuration.
    pub models: Arc<Models>,
    /// The memory. It is the whole store because tasks need recall, tools and settings.
    pub store: Arc<dyn Store>,
    /// Directories for data and configuration.
    pub home: Home,
    /// The time zone of schedules.
    pub zone: TimeZone,
    /// Owner name of this process's leases.
    owner: String,
}

impl TaskEngine {
    pub(crate) fn new(models: Arc<Models>, store: Arc<dyn Store>, home: Home, zone: TimeZone) -> Arc<Self> {
        Arc::new(Self { models, store, home, zone, owner: name_this_process(SystemClock.now()) })
    }

    /// Returns a scheduler that takes leases under the name of this process.
    pub fn scheduler(&self) -> Scheduler {
        Scheduler::new(self.store.clone(), Arc::new(SystemClock), self.owner.clone(), is_alive)
    }

    /// Returns the history of all tasks.
    pub fn history(&self) -> TaskHistory {
        TaskHistory::in_data_directory(&self.home.data())
    }

    /// Creates an agent for the task's project, with its model.
    async fn create_agent(&self, task: &Task) -> Result<(Arc<Agent>, AgentState), Failure> {
        let project = PathBuf::from(&task.definition.scope);
        let mut choice = self.models.choose(task.definition.model.as_deref(), self.store.as_ref()).await?;
        let model = self.models.connect(&mut choice).await?;
        let mut notices = Vec::new();
        let models = &self.models;
        let recall = connect_recall(
            self.store.clone(),
            models,
            &self.zone,
            Some(task.definition.scope.clone()),
            &mut notices,
        )
        .await?;
        let limits = settings::read(&models.config, "agent", self.store.as_ref(), &mut notices).await?;
        let (agent, mut state) =
            tools::create_agent(self.store.clone(), model, recall, (&project, &[]), limits, models)?;
        state.context = settings::read(&models.config, "context", self.store.as_ref(), &mut notices).await?;
        for notice in notices {
            tracing::warn!(task = task.definition.name, "{notice}");
        }
        let trust = trust::read(self.store.as_ref(), &models.environment, &project).await?;
        state.follows_project = trust == Trust::Trusted;
        let trusted = state.follows_project.then_some(project.as_path());
        state.tools = Arc::new(
            ToolSet::all()
                .for_store(self.store.as_ref())
                .with_skills(&tools::read_skills(trusted, &self.home)),
        );
        Ok((agent, state))
    }

    /// Returns the permissions of the task: its approval mode, its own rules and those of its project.
    async fn approvals(&self, task: &Task) -> Result<Approvals, Failure> {
        let (mode, config) = (Some(task.definition.approval.as_str()), &self.models.config.approval);
        let (mut policy, notices) =
            permissions::read_policy(mode, config, self.store.as_ref(), &task.definition.scope, &self.home)
                .await?;
        for notice in notices {
            tracing::warn!(task = task.definition.name, "{notice}");
        }
        for rule in &task.definition.allow {
            policy.rules.extend(Rule::parse(RuleEffect::Allow, rule));
        }
        Ok(Approvals::new(policy))
    }

    /// Runs the sub-agent and appends its messages to the task's history.
    async fn run_subagent(
        &self,
        task: &Task,
        run: RunId,
        cancel: &CancellationToken,
    ) -> Result<TaskResult, Failure> {
        let (history, name) = (self.history(), task.definition.name.clone());
        let limit = usize::try_from(task.definition.history).unwrap_or(usize::MAX);
        let loading = tokio::task::spawn_blocking(move || history.load(&name, limit));
        let LoadedRuns { runs, warnings } =
            loading.await.map_err(|error| Failure::failed(error.to_string()))??;
        let (agent, state) = self.create_agent(task).await?;
        let subagent = agent
            .subagent(&state, runs, self.approvals(task).await?)
            .with_limits(None, task.definition.budget);
        let report = subagent.run(&task.definition.prompt, &mut |_| {}, cancel).await;
        if let Err(error) = self.store.record_calls(None, &report.calls).await {
            // The report is still useful without a record of its cost.
            tracing::warn!(%error, "could not record the cost of a task");
        }
        let mut notes: Vec<String> = warnings.iter().map(|warning| format!("{warning}.")).collect();
        let mut is_in_history = true;
        // Do not write the history of a task that was removed during the run.
        if self.store.task(&task.definition.name).await?.is_some_and(|stored| stored.id == task.id) {
            let (name, now) = (&task.definition.name, SystemClock.now());
            if let Err(error) = self.history().append(name, run, &report.messages, &self.zone, now) {
                is_in_history = false;
                notes.push(format!("Could not save the messages for the next run: {error}."));
            }
        }
        Ok(TaskResult { report, notes, is_in_history })
    }
}

/// The result of a run.
struct TaskResult {
    report: SubagentReport,
    /// Problems, as whole sentences.
    notes: Vec<String>,
    /// Whether the messages were saved for the next run.
    is_in_history: bool,
}

#[async_trait]
impl Engine for TaskEngine {
    async fn run(&self, task: &Task, run: RunId, cancel: &CancellationToken) -> RunOutcome {
        let time_limit = Duration::from_secs(task.definition.timeout_seconds);
        let (stop, is_late) = (cancel.child_token(), Arc::new(AtomicBool::new(false)));
        let (set_late, stop_late) = (Arc::clone(&is_late), stop.clone());
        let timer = tokio::spawn(async move {
            tokio::time::sleep(time_limit).await;
            set_late.store(true, Ordering::SeqCst);
            stop_late.cancel();
        });
        let result = self.run_subagent(task, run, &stop).await;
        timer.abort();
        let is_late = is_late.load(Ordering::SeqCst);
        match result {
            Err(failure) => RunOutcome {
                state: RunState::Failed,
                report: String::new(),
                error: Some(failure.sentence()),
                cost: None,
            },
            Ok(TaskResult { report, mut notes, is_in_history }) => {
                let state = match report.outcome {
                    Ok(ExchangeStatus::Completed) if !is_in_history => RunState::Failed,
                    Ok(ExchangeStatus::Completed) => RunState::Done,
                    Ok(ExchangeStatus::Stopped) => RunState::Failed,
                    Err(_) if is_late => {
                        notes.push(format!("The run exceeded its time limit of {} s.", time_limit.as_secs()));
                        RunState::TimedOut
                    }
                    Err(_) if cancel.is_cancelled() => {
                        notes.push("The run was stopped.".into());
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
