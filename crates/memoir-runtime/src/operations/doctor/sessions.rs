//! Check of the sessions that other programs are about to delete.

use std::{fs, time::Duration};

use memoir_core::{Clock as _, SystemClock};
use memoir_import::HistoryFormat;
use memoir_store::Transcripts;
use serde::Deserialize;

use super::DoctorReport;
use crate::{environment::Environment, failure::Failure, operations::import};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Days after which Claude Code deletes sessions if its settings name no other number.
const DEFAULT_PERIOD: u32 = 30;

/// Sessions are reported this many days before they are deleted.
const WARNING: u32 = 5;

/// The part of Claude Code's settings that decides when it deletes sessions.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeSettings {
    cleanup_period_days: Option<u32>,
}

/// Reports how many sessions of Claude Code will be deleted in the next days, and how many of them are in memory.
pub(super) async fn check(
    environment: &Environment,
    store: &(impl Transcripts + ?Sized),
    report: &mut DoctorReport,
) -> Result<(), Failure> {
    let sessions = import::session_files(HistoryFormat::ClaudeCode, environment);
    if sessions.is_empty() {
        return Ok(());
    }
    let settings = environment
        .variable("CLAUDE_CONFIG_DIR")
        .map(Into::into)
        .or_else(|| environment.user_home().map(|home| home.join(".claude")))
        .and_then(|directory| fs::read(directory.join("settings.json")).ok())
        .and_then(|bytes| serde_json::from_slice::<ClaudeSettings>(&bytes).ok())
        .unwrap_or_default();
    let period = settings.cleanup_period_days.unwrap_or(DEFAULT_PERIOD);
    let age = DAY * period.saturating_sub(WARNING);
    let oldest = SystemClock.now().as_millis() - i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    let (mut due, mut safe) = (0, 0);
    for session in sessions {
        // A session that was deleted meanwhile is no longer due.
        let Ok(state) = import::read_state(&session) else { continue };
        if state.modified.as_millis() <= oldest {
            due += 1;
            safe += u32::from(store.transcript_state(&state.path).await?.as_ref() == Some(&state));
        }
    }
    let missing = due - safe;
    let plural = if due == 1 { "session" } else { "sessions" };
    let heading = format!("Claude Code deletes {due} {plural} in the next {WARNING} days");
    match (due, missing) {
        (0, _) => report.add_good("sessions", format!("Claude Code deletes none in the next {WARNING} days")),
        (_, 0) => report.add_good("sessions", format!("{heading}; all are in memory")),
        _ => report.add_note(
            "sessions",
            format!("{heading}; {missing} of them {} not in memory", if missing == 1 { "is" } else { "are" }),
            "Run `memoir import claude-code`. `memoir connect claude-code` stores new ones by itself.",
        ),
    }
    Ok(())
}
