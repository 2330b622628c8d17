//! Discovery of the histories of other agents on this machine.

use std::path::PathBuf;

use memoir_import::{DiscoveredHistory, discover};
use memoir_store::Imports;
use serde::Serialize;

use super::source_name;
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
    /// Tag of its [`ImportSource`](super::ImportSource), which is also the name of its subcommand.
    pub source: &'static str,
    /// One file per session, oldest first.
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
        let source = source_name(format);
        let imported = store.imports(&format!("{source}/")).await?.len() as u64;
        histories.push(LocalHistory { program: format.name(), source, files, imported });
    }
    Ok(DiscoveryReport { histories })
}

/// Returns the sessions of Claude Code and Codex. Their environment variables determine where to look; the default is
/// the user's home directory.
pub(super) fn find_sessions(environment: &Environment) -> Vec<DiscoveredHistory> {
    let directory = |variable: &str, default: &str| match environment.variable(variable) {
        Some(path) => PathBuf::from(path),
        None => environment.user_home().map(|home| home.join(default)).unwrap_or_default(),
    };
    discover(&directory("CLAUDE_CONFIG_DIR", ".claude"), &directory("CODEX_HOME", ".codex"))
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
            files: vec![sessions.join("1.jsonl")],
            imported: 0,
        };
        assert_eq!(report.histories, [expected]);
    }
}
