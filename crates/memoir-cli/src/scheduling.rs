//! Tasks, for whoever types a command or runs a script.

use std::{fmt::Write as _, path::Path, sync::Arc};

use anstream::println;
use memoir_agent::{Mode, Rule, RuleEffect};
use memoir_core::{
    Clock as _, NewTask, Run, RunState, Schedule, SystemClock, Task, TimeZone, Timestamp, Usd,
};
use memoir_schedule::{CronError, check, check_name, next_due};
use memoir_store::Store;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use memoir_runtime::{
    failure::{Failure, FailureKind},
    permissions, printable, scope,
    tasks::TaskEngine,
};

use crate::{
    args::{ScheduleCommand, TaskArgs},
    interrupts::Interrupts,
};

/// How many runs are shown.
const SHOWN: u32 = 10;

/// Does what is asked for with tasks. `directory` is where one is.
pub(crate) async fn run(
    command: ScheduleCommand,
    engine: &Arc<TaskEngine>,
    directory: &Path,
) -> Result<(), Failure> {
    let (store, zone) = (engine.store.as_ref(), &engine.zone);
    match command {
        ScheduleCommand::Add(task) => add(*task, engine, directory).await,
        ScheduleCommand::List { json } => {
            let tasks = store.tasks().await?;
            println!("{}", if json { json!(tasks).to_string() } else { list(&tasks, zone) });
            Ok(())
        }
        ScheduleCommand::Show { name, json } => {
            let task = find(&name, store).await?;
            println!("{}", if json { json!(task).to_string() } else { show(&task, zone) });
            Ok(())
        }
        ScheduleCommand::Run { name } => run_now(&find(&name, store).await?, engine).await,
        ScheduleCommand::Pause { name } => {
            let task = find(&name, store).await?;
            store.set_task(task.id, true, task.next_due).await?;
            println!("{name} waits until memoir schedule resume {name}.");
            Ok(())
        }
        ScheduleCommand::Resume { name } => {
            let task = find(&name, store).await?;
            let now = SystemClock.now();
            let due = match check(&task.what.schedule, now) {
                // It was paused over its moment, and is done now; one that had its run is not done again.
                Err(CronError::Over) => now,
                due => due.map_err(refused)?,
            };
            store.set_task(task.id, false, Some(due)).await?;
            println!("{name} is due on {}.", due.minute_in(zone));
            Ok(())
        }
        ScheduleCommand::Remove { name } => {
            let task = find(&name, store).await?;
            engine.scheduler().recover().await?;
            let last = store.runs(Some(task.id), 1).await?;
            if last.first().is_some_and(|run| run.outcome.state == RunState::Running) {
                return Err(Failure::new(FailureKind::Failed, format!("{name} is running"))
                    .hint("Wait for its report, or stop whoever runs it."));
            }
            store.remove_task(task.id).await?;
            engine.history().forget(&name)?;
            println!("{name} is removed, with its runs and what it remembered of them.");
            Ok(())
        }
        ScheduleCommand::History { name, limit, json } => {
            let task = find(&name, store).await?;
            let runs = store.runs(Some(task.id), limit).await?;
            let shown = match (json, runs.is_empty()) {
                (true, _) => json!(runs).to_string(),
                (false, true) => format!("{name} has not run yet."),
                (false, false) => runs.iter().rev().map(|run| report(run, zone)).collect(),
            };
            println!("{}", printable(shown.trim_end()));
            Ok(())
        }
    }
}

async fn add(task: TaskArgs, engine: &TaskEngine, directory: &Path) -> Result<(), Failure> {
    let now = SystemClock.now();
    check_name(&task.name).map_err(|error| {
        Failure::new(FailureKind::Usage, error.to_string())
            .hint("Use letters, numbers, - and _, at most 64 of them.")
    })?;
    let prompt = task.prompt.join(" ");
    if prompt.trim().is_empty() {
        return Err(Failure::new(FailureKind::Usage, "a task needs to be told what to do")
            .hint("Say it after the name."));
    }
    let zone = task.zone.clone().or_else(|| engine.zone.iana_name().map(str::to_owned)).ok_or_else(|| {
        Failure::new(FailureKind::Usage, "the time zone of this machine has no name")
            .hint("Give one: --zone Europe/Berlin.")
    })?;
    let schedule = match (task.cron, task.once) {
        (Some(line), _) => Schedule::Cron { line, zone },
        (None, Some(moment)) => Schedule::Once(moment_of(&moment, &zone)?),
        (None, None) => {
            return Err(Failure::new(FailureKind::Usage, "a task needs a time")
                .hint("Use --cron \"0 9 * * *\" or --once \"2026-05-01 09:00\"."));
        }
    };
    let due = check(&schedule, now).map_err(refused)?;
    let mode = permissions::mode(&task.approval)?;
    if mode == Mode::ReadOnly && !task.allow.is_empty() {
        return Err(Failure::new(FailureKind::Usage, "in the mode read-only no rule allows anything")
            .hint("Add --approval ask: what no rule allows is refused then."));
    }
    if task.budget.is_some_and(|budget| !budget.is_finite() || budget <= 0.0) {
        return Err(Failure::new(FailureKind::Usage, "--budget takes an amount of dollars above zero")
            .hint("--budget 0.05 is five cents for a run."));
    }
    let folder = task.dir.clone().unwrap_or_else(|| directory.to_owned());
    let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
        Failure::new(FailureKind::Usage, format!("{} is no folder", folder.display()))
            .hint("--dir names one that exists.")
    })?;
    for rule in &task.allow {
        Rule::parse(RuleEffect::Allow, rule)
            .map_err(|reason| Failure::new(FailureKind::Usage, reason.to_string()))?;
    }
    if let Some(model) = &task.model {
        memoir_runtime::models::parse(model, "--model")?;
    }
    let new = NewTask {
        name: task.name,
        prompt,
        schedule,
        model: task.model,
        scope: scope::project_of(&folder).to_string_lossy().into_owned(),
        approval: task.approval,
        allow: task.allow,
        timeout_seconds: task.timeout,
        history: task.history,
        budget: task.budget.map(Usd::from_dollars),
    };
    if !engine.store.add_task(&new, Some(due), now).await? {
        return Err(Failure::new(FailureKind::Usage, format!("there is a task {} already", new.name))
            .hint(format!("memoir schedule remove {} makes room.", new.name)));
    }
    println!(
        "{} is due on {}, while a REPL is open or memoir daemon runs.",
        new.name,
        due.minute_in(&engine.zone)
    );
    Ok(())
}

/// Runs a task at once and shows what comes of it.
async fn run_now(task: &Task, engine: &Arc<TaskEngine>) -> Result<(), Failure> {
    let scheduler = engine.scheduler();
    scheduler.recover().await?;
    let Some(begun) = scheduler.begin_now(task).await? else {
        return Err(Failure::new(FailureKind::Failed, format!("{} is running already", task.what.name))
            .hint("Its report will be in the inbox."));
    };
    let cancel = CancellationToken::new();
    // Whoever does not want to wait stops it; what came of it is noted all the same.
    let _stop = cancel.clone().drop_guard();
    let working = {
        let (begun, engine, cancel) = (begun.clone(), Arc::clone(engine), cancel.clone());
        tokio::spawn(async move { scheduler.perform(&begun, engine.as_ref(), &cancel).await })
    };
    let outcome = Interrupts::listen().cancelling(&cancel, working).await;
    let outcome = outcome.map_err(|error| Failure::new(FailureKind::Failed, error.to_string()))??;
    if !outcome.report.trim().is_empty() {
        println!("{}", printable(outcome.report.trim_end()));
    }
    // Not noted, it is in the inbox once more.
    let _ = engine.store.mark_seen(&[begun.run]).await;
    match (outcome.state, outcome.error) {
        (RunState::Done, None) => Ok(()),
        (RunState::Done, Some(note)) => {
            anstream::eprintln!("{}", printable(&note));
            Ok(())
        }
        (RunState::Stopped, _) => {
            Err(Failure::new(FailureKind::Interrupted, format!("{} was stopped", task.what.name)))
        }
        (state, error) => Err(Failure::new(
            FailureKind::Failed,
            format!(
                "{} {}: {}",
                task.what.name,
                state.describe(),
                error.unwrap_or_else(|| "it came to no end".into())
            ),
        )),
    }
}

/// The reports that nobody has read, which count as read then; or the last, read or not.
pub(crate) async fn inbox(all: bool, store: &dyn Store, zone: &TimeZone) -> Result<String, Failure> {
    let runs = if all {
        let mut runs = store.runs(None, SHOWN).await?;
        runs.reverse();
        runs
    } else {
        store.unseen_runs().await?
    };
    if runs.is_empty() {
        return Ok("The inbox is empty. /inbox all shows earlier reports.".into());
    }
    let text: String = runs.iter().map(|run| report(run, zone)).collect();
    let read: Vec<_> =
        runs.iter().filter(|run| run.outcome.state != RunState::Running).map(|run| run.id).collect();
    store.mark_seen(&read).await?;
    Ok(printable(text.trim_end()).into_owned())
}

/// One run with its report.
fn report(run: &Run, zone: &TimeZone) -> String {
    let outcome = &run.outcome;
    let cost = outcome.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
    let mut text =
        format!("{}  {} {}{cost}\n", run.started.minute_in(zone), run.task, outcome.state.describe());
    for said in [outcome.error.as_deref(), Some(outcome.report.trim())].into_iter().flatten() {
        if !said.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "    {}", said.replace('\n', "\n    "));
        }
    }
    text.push('\n');
    text
}

fn list(tasks: &[Task], zone: &TimeZone) -> String {
    if tasks.is_empty() {
        return "There are no tasks. memoir schedule add NAME --cron \"0 9 * * *\" PROMPT adds one.".into();
    }
    let width = tasks.iter().map(|task| task.what.name.chars().count()).max().unwrap_or(0);
    let line = |task: &Task| {
        format!("{:width$}  {}  {}", task.what.name, when(task, zone), first_line(&task.what.prompt))
    };
    printable(&tasks.iter().map(line).collect::<Vec<_>>().join("\n")).into_owned()
}

fn when(task: &Task, zone: &TimeZone) -> String {
    match (task.paused, task.next_due) {
        (true, _) => "paused          ".into(),
        (false, Some(due)) => due.minute_in(zone),
        (false, None) => "over            ".into(),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

fn show(task: &Task, zone: &TimeZone) -> String {
    let NewTask { name, prompt, schedule, model, scope, approval, allow, timeout_seconds, history, budget } =
        &task.what;
    let schedule = match schedule {
        Schedule::Cron { line, zone } => format!("{line} ({zone})"),
        Schedule::Once(moment) => format!("once, on {}", moment.minute_in(zone)),
    };
    let after = task.next_due.and_then(|due| next_due(&task.what.schedule, due).ok().flatten());
    let then = after.map(|after| format!(", then {}", after.minute_in(zone))).unwrap_or_default();
    let rules = if allow.is_empty() { String::new() } else { format!(", and {}", allow.join(", ")) };
    let budget = budget.map_or("as much as it takes".to_owned(), |budget| budget.to_string());
    printable(&format!(
        "{name}: {schedule}\ndue       {}{then}\nmodel     {}\nin        {scope}\nmay       {approval}{rules}\n\
         takes     {timeout_seconds} s at most, {budget}\nremembers its last {history} runs\n\n{prompt}",
        when(task, zone).trim_end(),
        model.as_deref().unwrap_or("whoever answers"),
    ))
    .into_owned()
}

async fn find(name: &str, store: &dyn Store) -> Result<Task, Failure> {
    store.task(name).await?.ok_or_else(|| {
        Failure::new(FailureKind::Usage, format!("there is no task \"{name}\""))
            .hint("memoir schedule list shows all of them.")
    })
}

fn refused(error: CronError) -> Failure {
    let hint = match &error {
        CronError::Line { .. } => {
            "Five fields: minute, hour, day, month, weekday; six with seconds before them. 0 9 * * MON-FRI is nine on workdays."
        }
        CronError::Zone(_) => "Use a name like Europe/Berlin or UTC.",
        CronError::Never(_) => "Look at the day and the month: there is no such date.",
        CronError::Over => "Give one that is still to come.",
    };
    Failure::new(FailureKind::Usage, error.to_string()).hint(hint)
}

/// A moment as people write it, in a zone.
fn moment_of(text: &str, zone: &str) -> Result<Timestamp, Failure> {
    let wrong = || {
        Failure::new(FailureKind::Usage, format!("\"{text}\" is not a moment"))
            .hint("Write it as 2026-05-01 09:00.")
    };
    let zone = TimeZone::get(zone).map_err(|_| refused(CronError::Zone(zone.to_owned())))?;
    let moment = match text.parse::<jiff::Timestamp>() {
        Ok(moment) => moment,
        Err(_) => {
            let civil = text.replace(' ', "T").parse::<jiff::civil::DateTime>().map_err(|_| wrong())?;
            civil.to_zoned(zone).map_err(|_| wrong())?.timestamp()
        }
    };
    Ok(Timestamp::from_millis(moment.as_millisecond()))
}
