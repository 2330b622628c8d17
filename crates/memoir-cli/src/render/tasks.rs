//! Formats tasks and their runs.

use std::fmt::Write as _;

use memoir_core::{NewTask, Run, Schedule, Task, TimeZone};
use memoir_runtime::{
    operations::tasks::{RunList, TaskDetails, TaskList},
    printable,
};
use memoir_schedule::SchedulerEvent;

use super::pluralize;

/// Returns one line per task: name, due time and the start of its prompt.
pub(crate) fn list(list: &TaskList, zone: &TimeZone) -> String {
    let tasks = &list.tasks;
    if tasks.is_empty() {
        return "There are no tasks. Add one with `memoir schedule add NAME --cron \"0 9 * * *\" PROMPT`."
            .into();
    }
    let width = tasks.iter().map(|task| task.definition.name.chars().count()).max().unwrap_or(0);
    let line = |task: &Task| {
        format!(
            "{:width$}  {}  {}",
            task.definition.name,
            due(task, zone),
            first_line(&task.definition.prompt)
        )
    };
    printable(&tasks.iter().map(line).collect::<Vec<_>>().join("\n")).into_owned()
}

/// Returns the schedule, limits and prompt of a task.
pub(crate) fn details(details: &TaskDetails, zone: &TimeZone) -> String {
    let NewTask { name, prompt, schedule, model, scope, approval, allow, timeout_seconds, history, budget } =
        &details.task.definition;
    let schedule = match schedule {
        Schedule::Cron { line, zone } => format!("{line} ({zone})"),
        Schedule::Once(moment) => format!("once, on {}", moment.format_minute(zone)),
    };
    let then =
        details.following_due.map(|due| format!(", then {}", due.format_minute(zone))).unwrap_or_default();
    let rules = if allow.is_empty() { String::new() } else { format!(", and {}", allow.join(", ")) };
    let budget = budget.map_or("no cost limit".to_owned(), |budget| budget.to_string());
    let history = pluralize(u64::from(*history), "run", "runs");
    printable(&format!(
        "{name}: {schedule}\ndue        {}{then}\nmodel      {}\ndirectory  {scope}\napproval   {approval}{rules}\n\
         limits     {timeout_seconds} s, {budget}\nremembers  {history}\n\n{prompt}",
        due(&details.task, zone).trim_end(),
        model.as_deref().unwrap_or("chat model"),
    ))
    .into_owned()
}

pub(crate) fn runs<'a>(runs: impl Iterator<Item = &'a Run>, zone: &TimeZone) -> String {
    let text: String = runs.map(|run| report(run, zone)).collect();
    printable(text.trim_end()).into_owned()
}

pub(crate) fn inbox(list: &RunList, zone: &TimeZone) -> String {
    match list.runs.is_empty() {
        true => "No unread reports. Show earlier reports with `/inbox all`.".into(),
        false => runs(list.runs.iter(), zone),
    }
}

/// Returns a scheduler event as one line.
pub(crate) fn describe_event(event: &SchedulerEvent) -> String {
    match event {
        SchedulerEvent::Started(run) => format!("{} started (run {})", run.task.definition.name, run.run),
        SchedulerEvent::Ended(run, outcome) => {
            let reason = outcome.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            format!("{} {} (run {}){reason}", run.task.definition.name, outcome.state.describe(), run.run)
        }
        SchedulerEvent::Interrupted(run) => format!("{} was interrupted earlier (run {})", run.task, run.id),
        SchedulerEvent::Failed(message) => message.clone(),
    }
}

fn report(run: &Run, zone: &TimeZone) -> String {
    let outcome = &run.outcome;
    let cost = outcome.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
    let mut text =
        format!("{}  {} {}{cost}\n", run.started.format_minute(zone), run.task, outcome.state.describe());
    for part in [outcome.error.as_deref(), Some(outcome.report.trim())].into_iter().flatten() {
        if !part.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "    {}", part.replace('\n', "\n    "));
        }
    }
    text.push('\n');
    text
}

fn due(task: &Task, zone: &TimeZone) -> String {
    match (task.paused, task.next_due) {
        (true, _) => "paused          ".into(),
        (false, Some(due)) => due.format_minute(zone),
        (false, None) => "finished        ".into(),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
