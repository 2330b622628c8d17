//! Reference pages: written from the program's own lists, and compared with them in CI.

use std::{fs, path::Path};

use crate::{ChoreError, ChoreResult, reference};

/// Every generated page: where it lives and what it says.
fn pages() -> [(&'static str, String); 6] {
    [
        ("docs/commands.md", reference::commands::page()),
        ("docs/environment.md", reference::environment()),
        ("docs/memoir.1", memoir_cli::man_page()),
        ("docs/models.md", reference::models::page()),
        ("docs/settings.md", reference::settings()),
        ("docs/tools.md", reference::tools()),
    ]
}

pub(crate) fn write(root: &Path) -> ChoreResult {
    for (path, page) in pages() {
        let path = root.join(path);
        fs::write(&path, page).map_err(|error| ChoreError::file(&path, error))?;
    }
    Ok("The reference pages are written.".into())
}

pub(crate) fn check(root: &Path) -> ChoreResult {
    let stale: Vec<_> = pages()
        .into_iter()
        .filter(|(path, page)| fs::read_to_string(root.join(path)).ok().as_deref() != Some(page))
        .map(|(path, _)| path)
        .collect();
    if stale.is_empty() {
        Ok("The reference pages are up to date.".into())
    } else {
        Err(ChoreError::Failed(format!("Stale: {}. Run: cargo xtask docs write", stale.join(", "))))
    }
}
