//! How the user wants the model to be: a text with a name, a file each.

use std::path::PathBuf;

use memoir_store::Settings;

use crate::{failure::Failure, files::write_private, home::Home};

/// Under which name the one in use is kept.
pub const KEY: &str = "chat.persona";

/// What is read of one, at most, in characters: it stands in every request.
pub const LONGEST: usize = 4000;

/// All there are, by name.
pub fn list(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.personas()).into_iter().flatten().flatten();
    let name = |path: PathBuf| {
        let is_one = path.extension().is_some_and(|extension| extension == "md");
        is_one.then(|| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))?
    };
    let mut names: Vec<String> = entries.filter_map(|entry| name(entry.path())).collect();
    names.sort();
    names
}

/// Where one is, whether it is there or not.
pub fn file(name: &str, home: &Home) -> Result<PathBuf, Failure> {
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
        return Err(Failure::usage(format!("\"{name}\" is no name for a persona"))
            .hint("Use letters, numbers, - and _."));
    }
    Ok(home.personas().join(format!("{name}.md")))
}

/// What one says.
pub fn read(name: &str, home: &Home) -> Result<String, Failure> {
    let path = file(name, home)?;
    let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::usage(format!("there is no persona \"{name}\""))
            .hint("/persona list shows them; /persona create NAME TEXT makes one."),
        _ => Failure::failed(format!("{} cannot be read: {error}", path.display()))
            .hint("Mend the file, or delete it."),
    })?;
    check(&text)?;
    Ok(text.trim().to_owned())
}

/// Writes one.
pub fn write(name: &str, text: &str, home: &Home) -> Result<(), Failure> {
    check(text)?;
    let path = file(name, home)?;
    let written = std::fs::create_dir_all(home.personas())
        .and_then(|()| write_private(&path, &format!("{}\n", text.trim())));
    written.map_err(|error| {
        Failure::failed(format!("{} cannot be written: {error}", path.display()))
            .hint("Look at the folder's permissions.")
    })
}

/// Deletes one.
pub fn delete(name: &str, home: &Home) -> Result<(), Failure> {
    let path = file(name, home)?;
    if !path.exists() {
        // This fails, and says that there is none.
        read(name, home)?;
    }
    Ok(std::fs::remove_file(path)?)
}

fn check(text: &str) -> Result<(), Failure> {
    let length = text.trim().chars().count();
    if length == 0 || length > LONGEST {
        return Err(Failure::usage(format!(
            "a persona has 1 to {LONGEST} characters, and this one {length}"
        ))
        .hint("It stands in every request; keep it short."));
    }
    Ok(())
}

/// The one in use, by name, and what it says. One that is gone is said, and left out.
pub async fn in_use(
    store: &dyn Settings,
    home: &Home,
    notices: &mut Vec<String>,
) -> Result<Option<(String, String)>, Failure> {
    let Some(name) = store.setting(KEY).await? else { return Ok(None) };
    match read(&name, home) {
        Ok(text) => Ok(Some((name, text))),
        Err(failure) => {
            notices.push(format!("The persona {name} is left out: {}", failure.sentence()));
            Ok(None)
        }
    }
}
