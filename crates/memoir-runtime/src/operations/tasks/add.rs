//! Adding a task, after validating the user's input.

use std::path::PathBuf;

use memoir_agent::{ApprovalMode, Rule, RuleEffect};
use memoir_core::{NewTask, Schedule, TimeZone, Timestamp, Usd};
use memoir_schedule::{CronError, check_name, check_schedule};
use memoir_store::Schedules;
use serde::{Deserialize, Serialize};

use super::{TaskState, schedule_failure};
use crate::{failure::Failure, models, permissions};

/// Request to add a task, as entered by the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AddTask {
    /// Name of the task.
    pub name: String,
    /// Prompt of each run.
    pub prompt: String,
    /// Cron line of a recurring task.
    pub cron: Option<String>,
    /// Date and time of a task that runs once. Ignored if `cron` is set.
    pub once: Option<String>,
    /// Time zone of the schedule, such as `Europe/Berlin`. Defaults to the time zone of the machine.
    pub zone: Option<String>,
    /// Model to use. Defaults to the chat model.
    pub model: Option<String>,
    /// Approval mode of the runs.
    pub approval: String,
    /// Permission rules that allow more than the approval mode does.
    pub allow: Vec<String>,
    /// Maximum duration of a run, in seconds.
    pub timeout_seconds: u64,
    /// Number of earlier runs that are included in the prompt of a run.
    pub history: u32,
    /// Maximum cost of a run in US dollars.
    pub budget_usd: Option<f64>,
    /// Directory of the task's project.
    pub directory: PathBuf,
}

/// Adds a task. `zone` is the default time zone.
///
/// # Errors
///
/// Fails if the request is invalid, or if a task with this name already exists.
pub async fn add(
    request: &AddTask,
    store: &dyn Schedules,
    zone: &TimeZone,
    now: Timestamp,
) -> Result<TaskState, Failure> {
    let schedule = parse_schedule(request, zone)?;
    let due = check_schedule(&schedule, now).map_err(schedule_failure)?;
    let task = new_task(request, schedule)?;
    if !store.add_task(&task, Some(due), now).await? {
        return Err(Failure::usage(format!("the task {} already exists", task.name))
            .hint(format!("Choose another name, or run `memoir schedule remove {}` first.", task.name)));
    }
    Ok(TaskState { name: task.name, is_paused: false, next_due: Some(due) })
}

fn parse_schedule(request: &AddTask, zone: &TimeZone) -> Result<Schedule, Failure> {
    check_name(&request.name).map_err(|error| {
        Failure::usage(error.to_string()).hint("Use letters, digits, `-` and `_`, at most 64 characters.")
    })?;
    if request.prompt.trim().is_empty() {
        return Err(Failure::usage("the task has no prompt").hint("Write the prompt after the name."));
    }
    let zone = request.zone.clone().or_else(|| zone.iana_name().map(str::to_owned)).ok_or_else(|| {
        Failure::usage("could not determine the name of this machine's time zone")
            .hint("Specify one, for example `--zone Europe/Berlin`.")
    })?;
    match (&request.cron, &request.once) {
        (Some(line), _) => Ok(Schedule::Cron { line: line.clone(), zone }),
        (None, Some(time)) => Ok(Schedule::Once(parse_time(time, &zone)?)),
        (None, None) => Err(Failure::usage("the task has no schedule")
            .hint("Use `--cron \"0 9 * * *\"` or `--once \"2026-05-01 09:00\"`.")),
    }
}

fn new_task(request: &AddTask, schedule: Schedule) -> Result<NewTask, Failure> {
    let AddTask { name, prompt, model, approval, allow, timeout_seconds, history, budget_usd, .. } =
        request.clone();
    let mode = permissions::parse_mode(&approval)?;
    if mode == ApprovalMode::ReadOnly && !allow.is_empty() {
        return Err(Failure::usage("allow rules have no effect in read-only mode")
            .hint("Use `--approval ask`. Anything that no rule allows is then denied."));
    }
    if budget_usd.is_some_and(|budget| !budget.is_finite() || budget <= 0.0) {
        return Err(Failure::usage("`--budget` must be greater than 0 dollars")
            .hint("For example, `--budget 0.05` allows five cents per run."));
    }
    let directory = &request.directory;
    let directory = directory.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(|| {
        Failure::usage(format!("{} is not a directory", directory.display()))
            .hint("`--dir` must be an existing directory.")
    })?;
    for rule in &allow {
        Rule::parse(RuleEffect::Allow, rule).map_err(|error| Failure::usage(error.to_string()))?;
    }
    if let Some(model) = &model {
        models::parse_model_name(model, "--model")?;
    }
    let scope = directory.to_string_lossy().into_owned();
    let budget = budget_usd.map(Usd::from_dollars);
    Ok(NewTask { name, prompt, schedule, model, scope, approval, allow, timeout_seconds, history, budget })
}

fn parse_time(text: &str, zone: &str) -> Result<Timestamp, Failure> {
    let invalid = || {
        Failure::usage(format!("\"{text}\" is not a date and time")).hint("Write it like `2026-05-01 09:00`.")
    };
    let zone = TimeZone::get(zone).map_err(|_| schedule_failure(CronError::Zone(zone.to_owned())))?;
    let time = match text.parse::<jiff::Timestamp>() {
        Ok(time) => time,
        Err(_) => {
            let civil = text.replace(' ', "T").parse::<jiff::civil::DateTime>().map_err(|_| invalid())?;
            civil.to_zoned(zone).map_err(|_| invalid())?.timestamp()
        }
    };
    Ok(Timestamp::from_millis(time.as_millisecond()))
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
    fn a_time_is_parsed_in_its_zone() {
        let parse = |text| parse_time(text, "Europe/Berlin").map(Timestamp::as_millis).unwrap();
        assert_eq!(parse("2026-05-01 09:00"), parse("2026-05-01T07:00:00Z"));
        assert!(parse_time("tomorrow", "Europe/Berlin").is_err());
        assert!(parse_time("2026-05-01 09:00", "Nowhere/Here").is_err());
    }

    #[tokio::test]
    async fn a_task_can_be_added_paused_and_resumed() {
        let store = database::open_empty().await.unwrap();
        let now = parse_time("2026-04-30 09:00", "UTC").unwrap();
        let state = add(&request(), store.as_ref(), &TimeZone::UTC, now).await.unwrap();
        assert!(state.next_due.is_some() && !state.is_paused);
        assert!(
            add(&request(), store.as_ref(), &TimeZone::UTC, now).await.is_err(),
            "the task already exists"
        );
        assert!(tasks::pause("tea", store.as_ref()).await.unwrap().is_paused);
        let later = parse_time("2026-05-02 09:00", "UTC").unwrap();
        let state = tasks::resume("tea", store.as_ref(), later).await.unwrap();
        assert_eq!(state.next_due, Some(later), "the task became due while it was paused");
        let details = tasks::show("tea", store.as_ref()).await.unwrap();
        assert_eq!(details.following_due, None);
        let json = serde_json::to_value(&details).unwrap();
        assert_eq!((&json["name"], &json["paused"]), (&"tea".into(), &false.into()));
    }

    #[tokio::test]
    async fn an_invalid_request_adds_nothing() {
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
            let result = add(&task, store.as_ref(), &TimeZone::UTC, Timestamp::from_millis(0)).await;
            assert_eq!(result.err().map(|failure| failure.kind), Some(FailureKind::Usage), "{task:?}");
        }
        assert!(tasks::list(store.as_ref()).await.unwrap().tasks.is_empty());
    }
}
