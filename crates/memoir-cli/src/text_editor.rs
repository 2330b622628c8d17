//! Opening the user's text editor.

use std::path::Path;

use memoir_runtime::Failure;

/// Opens `path` in the editor that `VISUAL` or `EDITOR` names, and waits until it exits.
pub(crate) async fn edit_file(path: &Path) -> Result<(), Failure> {
    let set = |name| std::env::var(name).ok().filter(|editor: &String| !editor.trim().is_empty());
    let Some(editor) = set("VISUAL").or_else(|| set("EDITOR")) else {
        return Err(Failure::usage("no editor is set").hint("Set EDITOR."));
    };
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    match tokio::process::Command::new(program).args(words).arg(path).status().await {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::failed(format!("{editor} did not end well; nothing was changed"))),
        Err(error) => Err(Failure::failed(format!("{editor} cannot be started: {error}"))
            .hint("Set EDITOR to a program that is there.")),
    }
}
