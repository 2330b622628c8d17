//! Personas: named instructions for the model, stored as one file each.

use std::path::PathBuf;

use memoir_store::Settings;

use crate::{failure::Failure, files::write_private, home::Home};

/// Key of the setting that names the persona in use.
pub const KEY: &str = "chat.persona";

/// Maximum length of a persona in characters. It is part of every request.
pub const MAX_CHARS: usize = 4000;

/// Returns the names of all personas, sorted.
pub fn list(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.personas()).into_iter().flatten().flatten();
    let name = |path: PathBuf| {
        let is_persona = path.extension().is_some_and(|extension| extension == "md");
        is_persona.then(|| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))?
    };
    let mut names: Vec<String> = entries.filter_map(|entry| name(entry.path())).collect();
    names.sort();
    names
}

/// Returns the path of a persona's file, which need not exist.
pub fn persona_path(name: &str, home: &Home) -> Result<PathBuf, Failure> {
    let is_allowed = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_allowed) {
        return Err(Failure::usage(format!("\"{name}\" is not a valid persona name"))
            .hint("Use letters, numbers, - and _."));
    }
    Ok(home.personas().join(format!("{name}.md")))
}

/// Returns the text of a persona.
///
/// # Errors
///
/// Fails if there is no such persona, or if its text is empty or too long.
pub fn read(name: &str, home: &Home) -> Result<String, Failure> {
    let path = persona_path(name, home)?;
    let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::usage(format!("there is no persona \"{name}\""))
            .hint("List personas with `/persona list`, or create one with `/persona create NAME TEXT`."),
        _ => Failure::failed(format!("could not read {}: {error}", path.display()))
            .hint("Fix the file, or delete it."),
    })?;
    check(&text)?;
    Ok(text.trim().to_owned())
}

/// Writes a persona, replacing its old text.
pub fn write(name: &str, text: &str, home: &Home) -> Result<(), Failure> {
    check(text)?;
    let path = persona_path(name, home)?;
    let result = std::fs::create_dir_all(home.personas())
        .and_then(|()| write_private(&path, &format!("{}\n", text.trim())));
    result.map_err(|error| {
        Failure::failed(format!("could not write {}: {error}", path.display()))
            .hint("Check the permissions of the directory.")
    })
}

/// Deletes the file of a persona.
pub fn delete(name: &str, home: &Home) -> Result<(), Failure> {
    let path = persona_path(name, home)?;
    if !path.exists() {
        // This returns the error for a missing persona.
        read(name, home)?;
    }
    Ok(std::fs::remove_file(path)?)
}

fn check(text: &str) -> Result<(), Failure> {
    let length = text.trim().chars().count();
    if length == 0 || length > MAX_CHARS {
        return Err(Failure::usage(format!(
            "a persona must have 1 to {MAX_CHARS} characters; this one has {length}"
        ))
        .hint("It is part of every request, so keep it short."));
    }
    Ok(())
}

/// Returns the name and text of the persona in use. If it cannot be read, adds a notice and returns `None`.
pub async fn read_in_use(
    store: &dyn Settings,
    home: &Home,
    notices: &mut Vec<String>,
) -> Result<Option<(String, String)>, Failure> {
    let Some(name) = store.setting(KEY).await? else { return Ok(None) };
    match read(&name, home) {
        Ok(text) => Ok(Some((name, text))),
        Err(failure) => {
            notices.push(format!("The persona {name} is not used: {}", failure.sentence()));
            Ok(None)
        }
    }
}
