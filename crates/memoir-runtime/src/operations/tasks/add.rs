//! Adding a task: checking what the user wrote.

use std::path::PathBuf;

use memoir_agent::{Mode, Rule, RuleEffect};
use memoir_core::{NewTask, Schedule, TimeZone, Timestamp, Usd};
use memoir_schedule::{CronError, check, check_name};
use memoir_store::Schedules;
use serde::{Deserialize, Serialize};

use super::{TaskState, refuse_schedule};
use crate::{failure::Failure, models, permissions, scope};

/// A task to add, as the user wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AddTask {
    /// Name of the task.
    pub name: String,
    /// The prompt of each run.
    pub prompt: String,
    /// Cron line, for a task that is repeated.
    pub cron: Option<String>,
    /// Date and time, for a task that runs once. Not used with `cron`.
    pub once: Option<String>,
    /// Time zone of the schedule, as in `Europe/Berlin`; that of the machine if left out.
    pub zone: Option<String>,
    /// Model to use; the chat model if left out.
    pub model: Option<String>,
    /// Approval mode of its runs.
    pub approval: String,
    /// Rules that allow more than the mode does.
    pub allow: Vec<String>,
    /// Maximum duration of a run, in seconds.
    pub timeout_seconds: u64,
    /// Number of earlier runs that a run is told about.
    pub history: u32,
    /// Maximum cost of a run, in dollars.
    pub budget_usd: Option<f64>,
    /// Directory whose project the task works in.
    pub directory: PathBuf,
}

/// Adds a task. `zone` is the time zone of the machine.
///
/// # Errors
///
/// Fails if something in the request is not valid, or if there is a task with this name.
pub async fn add(
    request: &AddTask,
    store: &dyn Schedules,
    zone: &TimeZone,
    now: Timestamp,
) -> Result<TaskState, Failure> {
    let schedule = parse_schedule(request, zone)?;
    let due = check(&schedule, now).map_err(refuse_schedule)?;
    let new = new_task(request, schedule)?;
    if !store.add_task(&new, Some(due), now).await? {
        return Err(Failure::usage(format!("there is a task {} already", new.name))
            .hint(format!("memoir schedule remove {} makes room.", new.name)));
    }
    Ok(TaskState { name: new.name, is_paused: false, next_due: Some(due) })
}

fn parse_schedule(request: &AddTask, zone: &TimeZone) -> Result<Schedule, Failure> {
    check_name(&request.name).map_err(|error| {
        Failure::usage(error.to_string()).hint("Use letters, numbers, - and _, at most 64 of them.")
    })?;
    if request.prompt.trim().is_empty() {
        return Err(Failure::usage("a task needs to be told what to do").hint("Say it after the name."));
    }
    let zone = request.zone.clone().or_else(|| zone.iana_name().map(str::to_owned)).ok_or_else(|| {
        Failure::usage("the time zone of this machine has no name").hint("Give one: --zone Europe/Berlin.")
    })?;
    match (&request.cron, &request.once) {
        (Some(line), _) => Ok(Schedule::Cron { line: line.clone(), zone }),
        (None, Some(moment)) => Ok(Schedule::Once(parse_moment(moment, &zone)?)),
        (None, None) => Err(Failure::usage("a task needs a time")
            .hint("Use --cron \"0 9 * * *\" or --once \"2026-05-01 09:00\".")),
    }
}

fn new_task(request: &AddTask, schedule: Schedule) -> Result<NewTask, Failure> {
    let AddTask { name, prompt, model, approval, allow, timeout_seconds, history, budget_usd, .. } =
        request.clone();
    let mode = permissions::mode(&approval)?;
    if mode == Mode::ReadOnly && !allow.is_empty() {
        return Err(Failure::usage("in the mode read-only no rule allows anything")
            .hint("Add --approval ask: what no rule allows is refused then."));
    }
    if budget_usd.is_some_and(|budget| !budget.is_finite() || budget <= 0.0) {
        return Err(Failure::usage("--budget takes an amount of dollars above zero")
            .hint("--budget 0.05 is five cents for a run."));
    }
    let directory = &request.directory;
    let folder = directory.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
        Failure::usage(format!("{} is no folder", directory.display())).hint("--dir names one that exists.")
    })?;
    for rule in &allow {
        Rule::parse(RuleEffect::Allow, rule).map_err(|error| Failure::usage(error.to_string()))?;
    }
    if let Some(model) = &model {
        models::parse(model, "--model")?;
    }
    let scope = scope::project_of(&folder).to_string_lossy().into_owned();
    let budget = budget_usd.map(Usd::from_dollars);
    Ok(NewTask { name, prompt, schedule, model, scope, approval, allow, timeout_seconds, history, budget })
}

/// Parses a date and time in a zone.
fn parse_moment(text: &str, zone: &str) -> Result<Timestamp, Failure> {
    let wrong =
        || Failure::usage(format!("\"{text}\" is not a moment")).hint("Write it as 2026-05-01 09:00.");
    let zone = TimeZone::get(zone).map_err(|_| refuse_schedule(CronError::Zone(zone.to_owned())))?;
    let moment = match text.parse::<jiff::Timestamp>() {
        Ok(moment) => moment,
        Err(_) => {
            let civil = text.replace(' ', "T").parse::<jiff::civil::DateTime>().map_err(|_| wrong())?;
            civil.to_zoned(zone).map_err(|_| wrong())?.timestamp()
        }
    };
    Ok(Timestamp::from_millis(moment.as_millisecond()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::failure::FailureKind;
    use crate::operations::{database, tasks};

    fn request() -> AddTask {
        AddTask {
            name: "tea".into(),
            prompt: "Say whether it is time for tea.".into(),
            cron: None,
            once: Some("2026-05-01 09:00".into()),
            zone: Some("Europe/Berlin".into()),
            model: None,
            approval: "read-only".into(),
            allow: Vec::new(),
            timeout_seconds: 600,
            history: 5,
            budget_usd: None,
            directory: "/".into(),
        }
    }

    #[test]
    fn a_moment_is_read_in_its_zone() {
        let moment = |text| parse_moment(text, "Europe/Berlin").map(Timestamp::as_millis).unwrap();
        assert_eq!(moment("2026-05-01 09:00"), moment("2026-05-01T07:00:00Z"));
        assert!(parse_moment("tomorrow", "Europe/Berlin").is_err());
        assert!(parse_moment("2026-05-01 09:00", "Nowhere/Here").is_err());
    }

    #[tokio::test]
    async fn a_task_is_added_once_paused_and_resumed() {
        let store = database::open_empty().await.unwrap();
        let now = parse_moment("2026-04-30 09:00", "UTC").unwrap();
        let added = add(&request(), store.as_ref(), &TimeZone::UTC, now).await.unwrap();
        assert!(added.next_due.is_some() && !added.is_paused);
        assert!(add(&request(), store.as_ref(), &TimeZone::UTC, now).await.is_err(), "the name is taken");
        assert!(tasks::pause("tea", store.as_ref()).await.unwrap().is_paused);
        let later = parse_moment("2026-05-02 09:00", "UTC").unwrap();
        let resumed = tasks::resume("tea", store.as_ref(), later).await.unwrap();
        assert_eq!(resumed.next_due, Some(later), "its time passed while it was paused");
        let shown = tasks::show("tea", store.as_ref()).await.unwrap();
        assert_eq!(shown.following_due, None);
        let json = serde_json::to_value(&shown).unwrap();
        assert_eq!((&json["name"], &json["paused"]), (&"tea".into(), &false.into()));
    }

    #[tokio::test]
    async fn a_request_with_a_mistake_adds_nothing() {
        let store = database::open_empty().await.unwrap();
        let mistakes: [fn(&mut AddTask); 6] = [
            |task| task.name = "a b".into(),
            |task| task.prompt = " ".into(),
            |task| task.once = None,
            |task| task.allow = vec!["file_edit".into()],
            |task| task.budget_usd = Some(0.0),
            |task| task.directory = "/nowhere/at/all".into(),
        ];
        for mistake in mistakes {
            let mut task = request();
            mistake(&mut task);
            let added = add(&task, store.as_ref(), &TimeZone::UTC, Timestamp::from_millis(0)).await;
            assert_eq!(added.err().map(|failure| failure.kind), Some(FailureKind::Usage), "{task:?}");
        }
        assert!(tasks::list(store.as_ref()).await.unwrap().tasks.is_empty());
    }
}
