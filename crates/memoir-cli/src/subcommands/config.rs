//! `memoir config`.

use memoir_runtime::{
    failure::Failure,
    operations::config::{self, ChangeSetting, ConfigFile, ConfigSources},
};
use memoir_store::Settings;

use crate::{
    args::ConfigCommand,
    render::{self, print, print_json},
};

pub(super) async fn run(
    command: ConfigCommand,
    sources: &ConfigSources<'_>,
    store: &dyn Settings,
) -> Result<(), Failure> {
    match command {
        ConfigCommand::List { json } => {
            let list = config::list(sources, store).await?;
            if json { print_json(&list) } else { print(&render::config::list(&list)) }
        }
        ConfigCommand::Get { key, json } => {
            let entry = config::get(&key, sources, store).await?;
            if json { print_json(&entry) } else { print(&render::config::value(&entry)) }
        }
        ConfigCommand::Set { key, value, project } => {
            change(ChangeSetting { key, value: Some(value), file: file(project) }, sources, store).await
        }
        ConfigCommand::Unset { key, project } => {
            change(ChangeSetting { key, value: None, file: file(project) }, sources, store).await
        }
        ConfigCommand::Path { json } => print_paths(json, sources),
    }
}

/// Shows where the files are. This needs no memory and no valid file.
pub(super) fn print_paths(json: bool, sources: &ConfigSources<'_>) -> Result<(), Failure> {
    let paths = config::locate(sources);
    if json { print_json(&paths) } else { print(&render::config::paths(&paths)) }
}

async fn change(
    request: ChangeSetting,
    sources: &ConfigSources<'_>,
    store: &dyn Settings,
) -> Result<(), Failure> {
    let change = config::change(&request, sources, store).await?;
    print(&render::config::change(&change))
}

fn file(project: bool) -> ConfigFile {
    if project { ConfigFile::Project } else { ConfigFile::User }
}
