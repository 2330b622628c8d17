//! Where the files of the hosts are, and which program they start.

use std::path::{Path, PathBuf};

use crate::host::{HookMoment, Host};

/// The directories that hosts keep their configuration in. The caller reads them from the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The user's home directory.
    pub user_home: PathBuf,
    /// `$XDG_CONFIG_HOME`, or `~/.config` if it is not set.
    pub config_home: PathBuf,
    /// `$CLAUDE_CONFIG_DIR`, if it is set.
    pub claude_config_dir: Option<PathBuf>,
    /// `$CODEX_HOME`, if it is set.
    pub codex_home: Option<PathBuf>,
}

impl Places {
    /// Returns the directory in which desktop programs keep their settings on this system.
    pub(crate) fn app_data(&self) -> PathBuf {
        if cfg!(target_os = "macos") {
            self.user_home.join("Library/Application Support")
        } else if cfg!(windows) {
            self.user_home.join("AppData/Roaming")
        } else {
            self.config_home.clone()
        }
    }
}

/// Whose configuration is edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigLevel {
    /// The user's own, which applies everywhere.
    User,
    /// That of the project in this directory.
    Project(PathBuf),
}

impl ConfigLevel {
    /// Returns the directory that contains the `.agents` directory of this level.
    pub(crate) fn agents_parent<'a>(&'a self, places: &'a Places) -> &'a Path {
        match self {
            Self::User => &places.user_home,
            Self::Project(directory) => directory,
        }
    }
}

/// The program that the hosts start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoirCommand {
    /// Path or name of the executable.
    pub path: String,
    /// Arguments before the subcommand, such as the path of a config file.
    pub arguments: Vec<String>,
}

impl MemoirCommand {
    /// Returns the arguments that start the MCP server.
    pub(crate) fn server_arguments(&self) -> Vec<String> {
        let subcommand = ["mcp", "serve"].map(str::to_owned);
        self.arguments.iter().cloned().chain(subcommand).collect()
    }

    /// Returns the executable followed by the arguments that start the MCP server.
    pub(crate) fn server_command(&self) -> Vec<String> {
        std::iter::once(self.path.clone()).chain(self.server_arguments()).collect()
    }

    /// Returns the shell command of a hook.
    pub(crate) fn hook_command(&self, host: Host, event: HookMoment) -> String {
        let words = std::iter::once(&self.path).chain(&self.arguments).map(|word| quote(word));
        let program = words.collect::<Vec<_>>().join(" ");
        format!("{program}{}{}", hook_marker(host), event.tag())
    }
}

/// Returns the part of a hook command that identifies it as Memoir's.
pub(crate) fn hook_marker(host: Host) -> String {
    format!(" hook --host {} ", host.tag())
}

/// Returns a word as the shell must see it. Plain words stay as they are.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_are_quoted() {
        let program = MemoirCommand {
            path: "/opt/my tools/it's/memoir".to_owned(),
            arguments: vec!["--quiet".to_owned()],
        };
        assert_eq!(
            program.hook_command(Host::Codex, HookMoment::TurnEnd),
            r"'/opt/my tools/it'\''s/memoir' --quiet hook --host codex turn-end"
        );
        let plain = MemoirCommand { path: "/usr/bin/memoir".to_owned(), arguments: Vec::new() };
        assert_eq!(
            plain.hook_command(Host::ClaudeCode, HookMoment::PromptSubmit),
            "/usr/bin/memoir hook --host claude-code prompt-submit"
        );
    }
}
