//! Writing a first AGENTS.md, the instructions of a project.

use std::{io, path::Path, path::PathBuf};

use serde::Serialize;

use crate::{failure::Failure, files::write_new};

/// Files that tell which commands build and test a project.
const BUILD_FILES: [(&str, &[&str]); 7] = [
    ("Cargo.toml", &["cargo build", "cargo test", "cargo clippy --all-targets", "cargo fmt"]),
    ("package.json", &["npm install", "npm test"]),
    ("pyproject.toml", &["python -m pytest"]),
    ("go.mod", &["go build ./...", "go test ./..."]),
    ("pom.xml", &["mvn test"]),
    ("build.gradle", &["gradle test"]),
    ("Makefile", &["make", "make test"]),
];

/// An AGENTS.md that is not written yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StarterInstructions {
    /// File to write.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// Returns a first AGENTS.md for a project, with the commands that its files suggest.
///
/// # Errors
///
/// Fails if the project has one already.
pub fn draft(project: &Path) -> Result<StarterInstructions, Failure> {
    let path = project.join("AGENTS.md");
    if path.exists() {
        return Err(already_exists(&path));
    }
    let name = project.file_name().map_or_else(|| "this project".into(), |name| name.to_string_lossy());
    let files = BUILD_FILES.iter().filter(|(file, _)| project.join(file).is_file());
    let commands: String =
        files.flat_map(|(_, commands)| commands.iter()).map(|command| format!("- `{command}`\n")).collect();
    let commands = match commands.as_str() {
        "" => "- (Write how to build and test the project.)\n",
        commands => commands,
    };
    let text = format!(
        "# Instructions for agents that work on {name}\n\n\
         {name} is … (Write in one sentence what it does.)\n\n\
         ## Commands\n\n{commands}\n\
         ## Rules\n\n- (Write what an agent should always or never do here.)\n"
    );
    Ok(StarterInstructions { path, text })
}

/// Writes the file.
///
/// # Errors
///
/// Fails if the file exists by now, or cannot be written.
pub fn write(instructions: &StarterInstructions) -> Result<(), Failure> {
    let StarterInstructions { path, text } = instructions;
    write_new(path, text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => already_exists(path),
        _ => Failure::failed(format!("could not write {}: {error}", path.display()))
            .hint("Check that you may write to the directory."),
    })
}

fn already_exists(path: &Path) -> Failure {
    Failure::usage(format!("{} exists already", path.display())).hint("Edit it with your editor.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_come_from_the_files_of_the_project() -> Result<(), Failure> {
        let project = tempfile::tempdir()?;
        std::fs::write(project.path().join("go.mod"), "module x")?;
        let draft = draft(project.path())?;
        assert!(
            draft.text.contains("- `go test ./...`\n") && !draft.text.contains("cargo"),
            "{}",
            draft.text
        );
        write(&draft)?;
        assert!(write(&draft).is_err(), "a file is not overwritten");
        Ok(())
    }
}
