//! Discovery of the histories of other agents on this machine.

use std::path::PathBuf;

use memoir_import::{DiscoveredHistory, HistoryFormat, discover};
use memoir_store::Imports;
use serde::Serialize;

use crate::{environment::Environment, failure::Failure};

/// Histories of other agents on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiscoveryReport {
    /// One entry for each program that has sessions.
    pub histories: Vec<LocalHistory>,
}

/// Sessions of one program on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LocalHistory {
    /// Display name of the program.
    pub program: &'static str,
    /// Tag of its format, which is also the name of its subcommand.
    pub source: &'static str,
    /// Whether each file has one session. Other files have any number of conversations.
    pub has_session_files: bool,
    /// Files of the history, oldest first.
    pub files: Vec<PathBuf>,
    /// Number of conversations that were already imported from this program.
    pub imported: u64,
}

/// Returns the histories of other agents on this machine, without opening any file.
pub async fn find_histories(
    environment: &Environment,
    store: &(impl Imports + ?Sized),
) -> Result<DiscoveryReport, Failure> {
    let mut histories = Vec::new();
    for DiscoveredHistory { format, files } in find_sessions(environment) {
        let source = format.tag();
        let imported = store.imports(&format!("{source}/")).await?.len() as u64;
        histories.push(LocalHistory {
            program: format.name(),
            source,
            has_session_files: format.has_session_files(),
            files,
            imported,
        });
    }
    Ok(DiscoveryReport { histories })
}

/// Returns the histories of programs that keep them on this machine. Their environment variables determine where to
/// look; the default is in the user's home directory.
pub(super) fn find_sessions(environment: &Environment) -> Vec<DiscoveredHistory> {
    discover(&history_places(environment))
}

/// Returns the session files of a program on this machine.
pub(crate) fn session_files(format: HistoryFormat, environment: &Environment) -> Vec<PathBuf> {
    let histories = find_sessions(environment).into_iter().filter(|history| history.format == format);
    histories.flat_map(|history| history.files).collect()
}

/// Returns the directories in which programs that are followed record their sessions.
pub(super) fn session_directories(environment: &Environment) -> Vec<(HistoryFormat, PathBuf)> {
    let below = |(format, directory): (HistoryFormat, PathBuf)| match format {
        HistoryFormat::ClaudeCode => Some((format, directory.join("projects"))),
        HistoryFormat::Codex => Some((format, directory.join("sessions"))),
        HistoryFormat::GeminiCli => Some((format, directory.join("tmp"))),
        HistoryFormat::OpenCode => Some((format, directory)),
        _ => None,
    };
    history_places(environment).into_iter().filter_map(below).collect()
}

/// Returns the directories in which programs keep their histories, on Linux and on macOS.
fn history_places(environment: &Environment) -> Vec<(HistoryFormat, PathBuf)> {
    let at_home = |path: &str| environment.user_home().map(|home| home.join(path));
    let variable = |name: &str| environment.variable(name).map(PathBuf::from);
    let config = variable("XDG_CONFIG_HOME").or_else(|| at_home(".config"));
    let data = variable("XDG_DATA_HOME").or_else(|| at_home(".local/share"));
    let in_config = |path: &str| config.as_ref().map(|config| config.join(path));
    let in_library = |path: &str| at_home("Library/Application Support").map(|library| library.join(path));
    // A program's variable replaces its other directories.
    let places = |own: Option<PathBuf>, defaults: Vec<Option<PathBuf>>| match own {
        Some(own) => vec![own],
        None => defaults.into_iter().flatten().collect(),
    };
    let llm = "io.datasette.llm";
    let programs = [
        (HistoryFormat::ClaudeCode, places(variable("CLAUDE_CONFIG_DIR"), vec![at_home(".claude")])),
        (HistoryFormat::Codex, places(variable("CODEX_HOME"), vec![at_home(".codex")])),
        (HistoryFormat::Copilot, places(variable("COPILOT_HOME"), vec![at_home(".copilot")])),
        (
            HistoryFormat::GeminiCli,
            places(variable("GEMINI_CLI_HOME").map(|home| home.join(".gemini")), vec![at_home(".gemini")]),
        ),
        (HistoryFormat::Cursor, places(None, vec![in_config("Cursor/User"), in_library("Cursor/User")])),
        (HistoryFormat::OpenCode, places(None, vec![data.map(|data| data.join("opencode"))])),
        (HistoryFormat::Llm, places(variable("LLM_USER_PATH"), vec![in_config(llm), in_library(llm)])),
        (
            HistoryFormat::AiChat,
            places(variable("AICHAT_CONFIG_DIR"), vec![in_config("aichat"), in_library("aichat")]),
        ),
    ];
    let pairs = |(format, directories): (HistoryFormat, Vec<PathBuf>)| {
        directories.into_iter().map(move |directory| (format, directory))
    };
    programs.into_iter().flat_map(pairs).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::fs;

    use super::*;
    use crate::operations::test_support::store_with;

    #[tokio::test]
    async fn environment_variables_determine_where_sessions_are() {
        let directory = tempfile::tempdir().unwrap();
        let sessions = directory.path().join("elsewhere/projects/-x");
        fs::create_dir_all(&sessions).unwrap();
        fs::write(sessions.join("1.jsonl"), "").unwrap();
        let (store, _) = store_with(&[]).await;
        let at_home = Environment::default().with_user_home(Some(directory.path().to_owned()));
        assert_eq!(find_histories(&at_home, &store).await.unwrap().histories, []);
        let elsewhere = directory.path().join("elsewhere").into_os_string();
        let environment = Environment::new([("CLAUDE_CONFIG_DIR".into(), elsewhere)]);
        let report = find_histories(&environment, &store).await.unwrap();
        let expected = LocalHistory {
            program: "Claude Code",
            source: "claude-code",
            has_session_files: true,
            files: vec![sessions.join("1.jsonl")],
            imported: 0,
        };
        assert_eq!(report.histories, [expected]);
    }

    #[test]
    fn programs_are_found_in_the_places_of_linux_and_macos() {
        let directory = tempfile::tempdir().unwrap();
        for file in [
            ".config/io.datasette.llm/logs.db",
            "Library/Application Support/Cursor/User/globalStorage/state.vscdb",
            ".local/share/opencode/opencode.db",
            ".copilot/session-state/1/events.jsonl",
            ".gemini/tmp/lamp/chats/session-2026-03-02T09-00-1.jsonl",
            "Library/Application Support/aichat/messages.md",
        ] {
            let path = directory.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let environment = Environment::default().with_user_home(Some(directory.path().to_owned()));
        let programs: Vec<&str> =
            find_sessions(&environment).iter().map(|history| history.format.name()).collect();
        assert_eq!(programs, ["Copilot CLI", "Gemini CLI", "Cursor", "opencode", "llm", "aichat"]);
    }
}
