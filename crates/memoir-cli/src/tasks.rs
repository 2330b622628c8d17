//! Running a task: a sub-agent with the task's model, policy, time and memory.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use memoir_agent::{Agent, Approvals, Rule, RuleEffect, SubagentReport};
use memoir_core::{Clock as _, ExchangeStatus, RunId, RunOutcome, RunState, SystemClock, Task, TimeZone};
use memoir_schedule::{Engine, History, Loaded, Scheduler};
use memoir_store::{Store, of_this_process};
use memoir_tools::{ToolContext, ToolSet};
use tokio_util::sync::CancellationToken;

use crate::{failure::Failure, home::Home, models::Models, permissions, recall, settings, tooling};

/// Runs tasks as this program is set up.
pub(crate) struct TaskEngine {
    pub(crate) models: Arc<Models>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) home: Home,
    pub(crate) zone: TimeZone,
}

impl TaskEngine {
    /// Who looks after tasks in this process.
    pub(crate) fn scheduler(&self) -> Scheduler {
        let clock = Arc::new(SystemClock);
        let owner = of_this_process(clock.now());
        Scheduler { store: Arc::clone(&self.store), clock, owner }
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
        let mut context = ToolContext::new(&project, &[], recall)?;
        context.sandbox = tooling::sandbox(&self.models.config);
        context.search = tooling::search(&self.models.config.search)?;
        let mut agent = Agent::new(model, context);
        agent.context = settings::read(&self.models.config.context, "context", self.store.as_ref()).await?;
        agent.tools = Arc::new(ToolSet::all().with_skills(&tooling::skills(&project, &self.home)));
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

    async fn work(
        &self,
        task: &Task,
        run: RunId,
        cancel: &CancellationToken,
    ) -> Result<(SubagentReport, Vec<String>), Failure> {
        let history = self.history();
        let most = usize::try_from(task.what.history).unwrap_or(usize::MAX);
        let Loaded { runs, warnings } = history.load(&task.what.name, most)?;
        let agent = self.agent(task).await?;
        let subagent = agent.subagent(runs, self.approvals(task).await?).limited(None, task.what.budget);
        let report = subagent.run(&task.what.prompt, &mut |_| {}, cancel).await?;
        let now = SystemClock.now();
        let kept = history.append(&task.what.name, run, &report.messages, &self.zone, now);
        let mut notes: Vec<String> = warnings.iter().map(|warning| format!("{warning}.")).collect();
        if let Err(error) = kept {
            notes.push(format!("What was said could not be kept for the next run: {error}."));
        }
        Ok((report, notes))
    }
}

#[async_trait]
impl Engine for TaskEngine {
    async fn run(&self, task: &Task, run: RunId, cancel: &CancellationToken) -> RunOutcome {
        let over = |state, error: String| RunOutcome {
            state,
            report: String::new(),
            error: Some(error),
            cost: None,
        };
        let time = Duration::from_secs(task.what.timeout_seconds);
        match tokio::time::timeout(time, self.work(task, run, cancel)).await {
            Err(_) => over(RunState::TimedOut, format!("it took longer than {} seconds", time.as_secs())),
            Ok(Err(_)) if cancel.is_cancelled() => over(RunState::Stopped, "it was told to stop".into()),
            Ok(Err(failure)) => over(RunState::Failed, failure.sentence()),
            Ok(Ok((report, notes))) => {
                let ended = report.status == ExchangeStatus::Completed;
                RunOutcome {
                    state: if ended && !notes.iter().any(|note| note.starts_with("What was said")) {
                        RunState::Done
                    } else {
                        RunState::Failed
                    },
                    report: report.text,
                    error: (!notes.is_empty()).then(|| notes.join(" ")),
                    cost: report.cost,
                }
            }
        }
    }
}
