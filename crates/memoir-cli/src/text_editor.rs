//! Opens texts in the user's editor.

use std::{
    io::{IsTerminal as _, stdin},
    path::Path,
    process::Command,
};

use memoir_runtime::{Failure, files::write_private};

use crate::echo::EchoMode;

/// Opens `path` in the editor set in `VISUAL` or `EDITOR`, or in a common one, and waits until it exits.
pub(crate) async fn edit_file(path: &Path) -> Result<(), Failure> {
    let path = path.to_owned();
    let editing = tokio::task::spawn_blocking(move || edit_file_blocking(&path));
    editing.await.map_err(|error| Failure::failed(format!("the editor failed: {error}")))?
}

/// Opens a text in the editor and returns what the user saves. Blocks until the editor exits. The text is in a file of a
/// private directory for that time.
pub(crate) fn edit_text(text: &str, directory: &Path) -> Result<String, Failure> {
    let path = directory.join(format!("prompt.{}.md", std::process::id()));
    write_private(&path, text)?;
    let result = edit_file_blocking(&path).and_then(|()| Ok(std::fs::read_to_string(&path)?));
    if let Err(error) = std::fs::remove_file(&path) {
        // The editor may have removed it already.
        tracing::debug!(%error, "could not remove the edited file");
    }
    result
}

/// Returns a common editor that is installed, if the user can use it.
fn find_editor() -> Option<String> {
    let directories = std::env::var_os("PATH").filter(|_| stdin().is_terminal())?;
    let is_installed =
        |editor: &&str| std::env::split_paths(&directories).any(|directory| directory.join(editor).is_file());
    ["editor", "nano", "vim", "vi"]
        .iter()
        .find(|editor| is_installed(editor))
        .map(|editor| (*editor).to_owned())
}

fn edit_file_blocking(path: &Path) -> Result<(), Failure> {
    let variable = |name| std::env::var(name).ok().filter(|editor: &String| !editor.trim().is_empty());
    let Some(editor) = variable("VISUAL").or_else(|| variable("EDITOR")).or_else(find_editor) else {
        return Err(Failure::usage("no editor is set").hint("Set the environment variable `EDITOR`."));
    };
    let _echo = EchoMode::on();
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    match Command::new(program).args(words).arg(path).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::failed(format!("{editor} exited with an error, so nothing was changed"))),
        Err(error) => Err(Failure::failed(format!("could not start {editor}: {error}"))
            .hint("Set `EDITOR` to an installed program.")),
    }
}
