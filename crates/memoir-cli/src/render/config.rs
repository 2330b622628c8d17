//! Settings as text.

use std::path::PathBuf;

use memoir_runtime::{
    operations::config::{ConfigPaths, SettingChange, SettingEntry, SettingList, SettingOrigin},
    printable,
};

/// Returns a line for each setting.
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
        SettingOrigin::Program => "set in the program",
        SettingOrigin::User => "user file",
        SettingOrigin::Default => "default",
    }
}

/// Returns the value of a setting.
pub(crate) fn value(entry: &SettingEntry) -> String {
    printable(&entry.value).into_owned()
}

/// Returns a line for each file.
pub(crate) fn paths(paths: &ConfigPaths) -> String {
    let line = |(name, path): (&str, &PathBuf)| {
        let note = if paths.missing.contains(path) { " (not there yet)" } else { "" };
        format!("{name:<14}{}{note}", path.display())
    };
    [("user file", &paths.user), ("project file", &paths.project), ("memory", &paths.memory)]
        .map(line)
        .join("\n")
}

/// Returns what was changed, and where.
pub(crate) fn change(change: &SettingChange) -> String {
    let SettingChange { key, value, path, overridden_by } = change;
    let mut text = match value {
        Some(value) => format!("{key} is {value} in {}.", path.display()),
        None => format!("{key} is not in {} any more.", path.display()),
    };
    if let Some(project) = overridden_by {
        text.push_str(&format!("\nHere the file of this project goes before it: {}.", project.display()));
    }
    text
}
