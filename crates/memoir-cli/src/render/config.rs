//! Formats settings and config paths.

use std::path::PathBuf;

use memoir_runtime::{
    operations::config::{ConfigPaths, SettingChange, SettingEntry, SettingList, SettingOrigin},
    printable,
};

/// Returns one line per setting: name, value and origin.
pub(crate) fn list(list: &SettingList) -> String {
    list.settings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(entry: &SettingEntry) -> String {
    let value = if entry.value.is_empty() { "-" } else { &entry.value };
    format!("{:<36} {:<24} {}", entry.key, printable(value), describe_origin(entry.origin))
}

fn describe_origin(origin: SettingOrigin) -> &'static str {
    match origin {
        SettingOrigin::Environment => "environment",
        SettingOrigin::Project => "project file",
        SettingOrigin::Program => "set by a command",
        SettingOrigin::User => "user file",
        SettingOrigin::Default => "default",
    }
}

pub(crate) fn value(entry: &SettingEntry) -> String {
    printable(&entry.value).into_owned()
}

/// Returns one line per file, with a note if it does not exist.
pub(crate) fn paths(paths: &ConfigPaths) -> String {
    let line = |(name, path): (&str, &PathBuf)| {
        let note = if paths.missing.contains(path) { " (does not exist yet)" } else { "" };
        format!("{name:<14}{}{note}", path.display())
    };
    [("user file", &paths.user), ("project file", &paths.project), ("memory", &paths.memory)]
        .map(line)
        .join("\n")
}

/// Returns a description of a changed setting.
pub(crate) fn change(change: &SettingChange) -> String {
    let SettingChange { key, value, path, overridden_by } = change;
    let mut text = match value {
        Some(value) => format!("Set {key} to {value} in {}.", path.display()),
        None => format!("Removed {key} from {}.", path.display()),
    };
    if let Some(project) = overridden_by {
        text.push_str(&format!("\nThe config file of this project overrides it: {}.", project.display()));
    }
    text
}
