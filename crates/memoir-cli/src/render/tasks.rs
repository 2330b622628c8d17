//! Tasks and their runs as text.

use std::fmt::Write as _;

use memoir_core::{NewTask, Run, Schedule, Task, TimeZone};
use memoir_runtime::{
    operations::tasks::{RunList, TaskDetails, TaskList},
    printable,
};
use memoir_schedule::Event;

/// Returns a line for each task.
pub(crate) fn list(list: &TaskList, zone: &TimeZone) -> String {
    let tasks = &list.tasks;
    if tasks.is_empty() {
        return "There are no tasks. memoir schedule add NAME --cron \"0 9 * * *\" PROMPT adds one.".into();
    }
    let width = tasks.iter().map(|task| task.what.name.chars().count()).max().unwrap_or(0);
    let line = |task: &Task| {
        format!("{:width$}  {}  {}", task.what.name, due(task, zone), first_line(&task.what.prompt))
    };
    printable(&tasks.iter().map(line).collect::<Vec<_>>().join("\n")).into_owned()
}

/// Returns everything about a task.
pub(crate) fn details(details: &TaskDetails, zone: &TimeZone) -> String {
    let NewTask { name, prompt, schedule, model, scope, approval, allow, timeout_seconds, history, budget } =
        &details.task.what;
    let schedule = match schedule {
        Schedule::Cron { line, zone } => format!("{line} ({zone})"),
        Schedule::Once(moment) => format!("once, on {}", moment.minute_in(zone)),
    };
    let then = details.following_due.map(|due| format!(", then {}", due.minute_in(zone))).unwrap_or_default();
    let rules = if allow.is_empty() { String::new() } else { format!(", and {}", allow.join(", ")) };
    let budget = budget.map_or("as much as it takes".to_owned(), |budget| budget.to_string());
    printable(&format!(
        "{name}: {schedule}\ndue       {}{then}\nmodel     {}\nin        {scope}\nmay       {approval}{rules}\n\
         takes     {timeout_seconds} s at most, {budget}\nremembers its last {history} runs\n\n{prompt}",
        due(&details.task, zone).trim_end(),
        model.as_deref().unwrap_or("whoever answers"),
    ))
    .into_owned()
}

/// Returns runs with their reports, in the given order.
pub(crate) fn runs<'a>(runs: impl Iterator<Item = &'a Run>, zone: &TimeZone) -> String {
    let text: String = runs.map(|run| report(run, zone)).collect();
    printable(text.trim_end()).into_owned()
}

/// Returns the reports in the inbox.
pub(crate) fn inbox(list: &RunList, zone: &TimeZone) -> String {
    match list.runs.is_empty() {
        true => "The inbox is empty. /inbox all shows earlier reports.".into(),
        false => runs(list.runs.iter(), zone),
    }
}

/// Returns what happened in the scheduler, in one line.
pub(crate) fn describe_event(event: &Event) -> String {
    match event {
        Event::Began(begun) => format!("{} begins (run {})", begun.task.what.name, begun.run),
        Event::Ended(begun, outcome) => {
            let reason = outcome.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            format!("{} {} (run {}){reason}", begun.task.what.name, outcome.state.describe(), begun.run)
        }
        Event::WasCutOff(run) => format!("{} was cut off earlier (run {})", run.task, run.id),
        Event::Trouble(trouble) => trouble.clone(),
    }
}

fn report(run: &Run, zone: &TimeZone) -> String {
    let outcome = &run.outcome;
    let cost = outcome.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
    let mut text =
        format!("{}  {} {}{cost}\n", run.started.minute_in(zone), run.task, outcome.state.describe());
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
        (false, Some(due)) => due.minute_in(zone),
        (false, None) => "over            ".into(),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
