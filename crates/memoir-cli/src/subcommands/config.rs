//! `memoir config`: shows and changes settings.

use memoir_runtime::{
    Failure, Runtime,
    operations::config::{self, ChangeSetting, ConfigFile, ConfigSources},
};

use crate::{
    args::ConfigCommand,
    render::{self, print, print_report},
};

/// Runs a command. Without one, lists the settings.
pub(crate) async fn run(command: Option<ConfigCommand>, runtime: &Runtime) -> Result<(), Failure> {
    let store = runtime.store().as_ref();
    let sources = &ConfigSources {
        home: runtime.home(),
        project: runtime.project(),
        is_trusted: runtime.trusted_project().is_some(),
        environment: &runtime.models().environment,
    };
    let (key, value, project) = match command.unwrap_or(ConfigCommand::List { json: false }) {
        ConfigCommand::List { json } => {
            return print_report(&config::list(sources, store).await?, json, render::config::list);
        }
        ConfigCommand::Get { key, json } => {
            return print_report(&config::get(&key, sources, store).await?, json, render::config::value);
        }
        ConfigCommand::Path { json } => return print_paths(json, sources),
        ConfigCommand::Set { key, value, project } => (key, Some(value), project),
        ConfigCommand::Unset { key, project } => (key, None, project),
    };
    let file = if project { ConfigFile::Project } else { ConfigFile::User };
    let change = config::change(&ChangeSetting { key, value, file }, sources, store).await?;
    print(&render::config::change(&change))
}

/// Prints the paths of the config files and the memory. The files need not exist or be valid.
pub(super) fn print_paths(json: bool, sources: &ConfigSources<'_>) -> Result<(), Failure> {
    print_report(&config::locate(sources), json, render::config::paths)
}
