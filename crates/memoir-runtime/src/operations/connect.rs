//! Connecting other programs to this memory by writing into their configuration.

use std::{fs, io, path::PathBuf};

use memoir_connect::{
    ConfigLevel, ConnectError, ConnectionPlan, Host, MemoirCommand, Places, Records, apply, plan_connection,
    plan_removal, revert,
};
use serde::Serialize;

use crate::{environment::Environment, failure::Failure, files::replace_private, home::Home};

/// Whether a program is connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionState {
    /// Everything that connecting writes is there.
    Connected,
    /// Part of it is there, or it starts another executable.
    Outdated,
    /// Nothing is there.
    NotConnected,
    /// The program's configuration cannot be read. Contains the reason.
    Unreadable(String),
}

/// A program that can be connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostStatus {
    /// Name for the command line.
    pub host: &'static str,
    /// Name of the program.
    pub name: &'static str,
    /// Whether the program seems to be installed.
    pub is_installed: bool,
    /// Whether it is connected in the user's configuration.
    pub state: ConnectionState,
}

/// Edits the configuration of other programs.
pub struct Connector {
    places: Places,
    program: MemoirCommand,
    records_file: PathBuf,
    records: Records,
    search_path: Vec<PathBuf>,
}

impl Connector {
    /// Reads what was written before.
    ///
    /// # Errors
    ///
    /// Fails if the path of this program or the user's home is unknown, or if the records cannot be read.
    pub fn new(home: &Home, environment: &Environment) -> Result<Self, Failure> {
        let user_home = environment
            .user_home()
            .ok_or_else(|| Failure::failed("could not find your home directory").hint("Set `HOME`."))?;
        let variable = |name: &str| environment.variable(name).map(PathBuf::from);
        let places = Places {
            user_home: user_home.to_owned(),
            config_home: variable("XDG_CONFIG_HOME").unwrap_or_else(|| user_home.join(".config")),
            claude_config_dir: variable("CLAUDE_CONFIG_DIR"),
            codex_home: variable("CODEX_HOME"),
        };
        let records_file = home.data().join("connections.json");
        let records = match fs::read(&records_file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                Failure::failed(format!("could not read {}: {error}", records_file.display()))
                    .hint("Move the file away. Memoir then removes its entries by their names.")
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Records::default(),
            Err(error) => return Err(error.into()),
        };
        let path = environment.variable("PATH").unwrap_or_default();
        let search_path = std::env::split_paths(path).collect();
        Ok(Self { places, program: find_program(environment)?, records_file, records, search_path })
    }

    /// Returns all programs that can be connected.
    pub fn list(&self) -> Vec<HostStatus> {
        let status = |host: Host| HostStatus {
            host: host.tag(),
            name: host.name(),
            is_installed: host.is_installed(&self.places) || self.is_on_path(host),
            state: self.state(host),
        };
        Host::ALL.into_iter().map(status).collect()
    }

    fn state(&self, host: Host) -> ConnectionState {
        let removal = plan_removal(host, &ConfigLevel::User, &self.places, &self.records);
        match (self.plan(host, &ConfigLevel::User), removal) {
            (Err(error), _) | (_, Err(error)) => ConnectionState::Unreadable(error.to_string()),
            (Ok(connection), _) if connection.changes.is_empty() => ConnectionState::Connected,
            (Ok(_), Ok(removal)) if removal.changes.is_empty() => ConnectionState::NotConnected,
            _ => ConnectionState::Outdated,
        }
    }

    fn is_on_path(&self, host: Host) -> bool {
        let names: &[&str] = match host {
            Host::ClaudeCode => &["claude"],
            Host::Codex => &["codex"],
            Host::Gemini => &["gemini"],
            Host::Cursor => &["cursor", "cursor-agent"],
            Host::OpenCode => &["opencode"],
            Host::Zed => &["zed", "zeditor"],
            Host::VsCode => &["code"],
            Host::Windsurf => &["windsurf", "devin"],
        };
        self.search_path.iter().any(|directory| names.iter().any(|name| directory.join(name).is_file()))
    }

    fn plan(&self, host: Host, level: &ConfigLevel) -> Result<ConnectionPlan, ConnectError> {
        plan_connection(host, level, &self.places, &self.program)
    }

    /// Plans to connect a program. Nothing is written.
    ///
    /// # Errors
    ///
    /// Fails if the program's configuration cannot be read, or has something else where Memoir's entry belongs.
    pub fn plan_connection(&self, host: Host, level: &ConfigLevel) -> Result<ConnectionPlan, Failure> {
        self.plan(host, level).map_err(|error| Failure::failed(error.to_string()))
    }

    /// Plans to restore what was there before a program was connected. Nothing is written.
    ///
    /// # Errors
    ///
    /// Fails if the program's configuration cannot be read.
    pub fn plan_removal(&self, host: Host, level: &ConfigLevel) -> Result<ConnectionPlan, Failure> {
        plan_removal(host, level, &self.places, &self.records)
            .map_err(|error| Failure::failed(error.to_string()))
    }

    /// Writes the changes of a plan, and how to undo them.
    ///
    /// # Errors
    ///
    /// Fails if a file has changed since, or if a file or the records cannot be written. Then nothing is changed.
    pub fn apply(&mut self, plan: &ConnectionPlan) -> Result<(), Failure> {
        let failed = |error: ConnectError| Failure::failed(error.to_string());
        apply(plan, &mut self.records).map_err(failed)?;
        let json = serde_json::to_vec_pretty(&self.records).map_err(io::Error::from)?;
        replace_private(&self.records_file, &json).or_else(|error| {
            // Without the record, a removal could not restore the files.
            revert(plan).map_err(failed)?;
            let file = self.records_file.display();
            Err(Failure::failed(format!("could not write {file}: {error}"))
                .hint("Free some space and try again. Nothing was changed."))
        })
    }
}

/// Returns the program that hosts start. Some of them pass on few variables, so the directory of the memory is part of the
/// command if it is not the default one.
fn find_program(environment: &Environment) -> Result<MemoirCommand, Failure> {
    let path = environment.program().ok_or_else(|| {
        Failure::failed("could not determine the path of this program")
            .hint("Start `memoir` by its full path.")
    })?;
    let path = path.to_string_lossy().into_owned();
    Ok(match environment.memoir_home() {
        Some(home) => {
            let home = std::path::absolute(home)?;
            let variable = format!("MEMOIR_HOME={}", home.display());
            MemoirCommand { path: "env".to_owned(), arguments: vec![variable, path] }
        }
        None => MemoirCommand { path, arguments: Vec::new() },
    })
}
