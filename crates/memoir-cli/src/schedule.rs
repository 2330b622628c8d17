//! Runs `memoir schedule`, `/schedule` and `/inbox`.

use std::{path::Path, sync::Arc};

use memoir_core::{Clock as _, RunState, SystemClock, TimeZone};
use memoir_runtime::{
    Failure, FailureKind,
    operations::tasks::{self, AddTask, InboxFilter, RunReport, TaskRuns},
    printable,
    scope::find_project,
    tasks::TaskEngine,
};
use memoir_store::Schedules;
use tokio_util::sync::CancellationToken;

use crate::{
    args::{ScheduleCommand, TaskArgs, TaskName},
    interrupts::Interrupts,
    render::{self, print, print_report},
};

/// Runs a subcommand of `schedule`. Tasks are added to the project in `directory` unless they name another.
pub(crate) async fn run(
    command: ScheduleCommand,
    engine: &Arc<TaskEngine>,
    directory: &Path,
) -> Result<(), Failure> {
    let (store, zone): (&dyn Schedules, _) = (engine.store.as_ref(), &engine.zone);
    match command {
        ScheduleCommand::Add(task) => {
            let state =
                tasks::add(&request(*task, engine, directory), store, zone, SystemClock.now()).await?;
            let due = state.next_due.map(|due| due.format_minute(zone)).unwrap_or_default();
            print(&format!(
                "{} is due on {due}. It runs while a REPL is open or `memoir daemon` is running.",
                state.name
            ))
        }
        ScheduleCommand::List { json } => {
            print_report(&tasks::list(store).await?, json, |list| render::tasks::list(list, zone))
        }
        ScheduleCommand::Show { name, json } => {
            print_report(&tasks::show(&name, store).await?, json, |task| render::tasks::details(task, zone))
        }
        ScheduleCommand::Run(TaskName { name }) => run_now(&name, engine).await,
        ScheduleCommand::Pause(TaskName { name }) => {
            let name = tasks::pause(&name, store).await?.name;
            print(&format!("{name} is paused. Resume it with `memoir schedule resume {name}`."))
        }
        ScheduleCommand::Resume(TaskName { name }) => {
            let state = tasks::resume(&name, store, SystemClock.now()).await?;
            let due = state.next_due.map(|due| due.format_minute(zone)).unwrap_or_default();
            print(&format!("{} is due on {due}.", state.name))
        }
        ScheduleCommand::Remove(TaskName { name }) => {
            let name = tasks::remove(&name, engine).await?.name;
            print(&format!("Removed {name}, its runs and its memory of them."))
        }
        ScheduleCommand::History { name, limit, json } => {
            let list = tasks::history(&TaskRuns { name: name.clone(), limit }, store).await?;
            print_report(&list, json, |list| match list.runs.is_empty() {
                true => printable(&format!("{name} has not run yet.")).into_owned(),
                false => render::tasks::runs(list.runs.iter().rev(), zone),
            })
        }
    }
}

fn request(task: TaskArgs, engine: &TaskEngine, directory: &Path) -> AddTask {
    let directory = task.dir.as_deref().unwrap_or(directory);
    AddTask {
        name: task.name,
        prompt: task.prompt.join(" "),
        cron: task.cron,
        once: task.once,
        zone: task.zone,
        model: task.model,
        approval: task.approval,
        allow: task.allow,
        timeout_seconds: task.timeout,
        history: task.history,
        budget_usd: task.budget,
        directory: find_project(directory, engine.models.environment.user_home()),
    }
}

/// Runs a task now and shows its report. Ctrl-C stops it.
async fn run_now(name: &str, engine: &Arc<TaskEngine>) -> Result<(), Failure> {
    let cancel = CancellationToken::new();
    let running = tasks::run(name, engine, &cancel);
    let RunReport { task, outcome, .. } = Interrupts::listen().cancel_on_interrupt(&cancel, running).await?;
    if !outcome.report.trim().is_empty() {
        print(&printable(outcome.report.trim_end()))?;
    }
    match (outcome.state, outcome.error) {
        (RunState::Done, None) => Ok(()),
        (RunState::Done, Some(note)) => {
            note!("{}", printable(&note));
            Ok(())
        }
        (RunState::Stopped, _) => Err(Failure::new(FailureKind::Interrupted, format!("{task} was stopped"))),
        (state, error) => {
            let reason = error.unwrap_or_else(|| "it did not finish".into());
            Err(Failure::failed(format!("{task} {}: {reason}", state.describe())))
        }
    }
}

/// Returns the unread reports as text, or the latest ones if `all` is set, and marks them as read.
pub(crate) async fn inbox(all: bool, store: &dyn Schedules, zone: &TimeZone) -> Result<String, Failure> {
    let filter = if all { InboxFilter::Latest } else { InboxFilter::Unread };
    Ok(render::tasks::inbox(&tasks::read_inbox(filter, store).await?, zone))
}
