//! Opens files in the user's text editor.

use std::path::Path;

use memoir_runtime::Failure;

use crate::echo::EchoMode;

/// Opens `path` in the editor set in `VISUAL` or `EDITOR`, and waits until it exits.
pub(crate) async fn edit_file(path: &Path) -> Result<(), Failure> {
    let variable = |name| std::env::var(name).ok().filter(|editor: &String| !editor.trim().is_empty());
    let Some(editor) = variable("VISUAL").or_else(|| variable("EDITOR")) else {
        return Err(Failure::usage("no editor is set").hint("Set the environment variable `EDITOR`."));
    };
    let _echo = EchoMode::on();
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    match tokio::process::Command::new(program).args(words).arg(path).status().await {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::failed(format!("{editor} exited with an error, so nothing was changed"))),
        Err(error) => Err(Failure::failed(format!("could not start {editor}: {error}"))
            .hint("Set `EDITOR` to an installed program.")),
    }
}
