//! The documentation: writes the reference pages from the program's own lists, and checks all pages in CI.

mod layout;
mod links;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    ChoreError, ChoreResult,
    files::{list_files, read},
    reference,
};

/// Returns the path and the text of every generated page.
fn reference_pages() -> [(&'static str, String); 7] {
    [
        ("docs/commands.md", reference::commands::page()),
        ("docs/environment.md", reference::environment()),
        ("docs/memoir.1", memoir_cli::man_page()),
        ("docs/models.md", reference::models::page()),
        ("docs/openapi.json", reference::api_document()),
        ("docs/settings.md", reference::settings()),
        ("docs/tools.md", reference::tools()),
    ]
}

pub(crate) fn write(root: &Path) -> ChoreResult {
    for (path, page) in reference_pages() {
        let path = root.join(path);
        fs::write(&path, page).map_err(|error| ChoreError::file(&path, error))?;
    }
    Ok("Wrote the reference pages.".into())
}

pub(crate) fn check(root: &Path) -> ChoreResult {
    let pages = read_pages(root)?;
    let mut faults = links::find_broken_links(root, &pages);
    faults.extend(layout::find_faults(&pages));
    let orphans = links::find_orphans(&pages);
    let orphans = orphans.iter().filter(|path| path.starts_with("docs"));
    faults.extend(orphans.map(|path| format!("No page links to {}.", path.display())));
    let stale: Vec<_> = reference_pages()
        .into_iter()
        .filter(|(path, page)| fs::read_to_string(root.join(path)).ok().as_deref() != Some(page))
        .map(|(path, _)| path)
        .collect();
    if !stale.is_empty() {
        faults.push(format!("Out of date: {}. Run `cargo xtask docs write`.", stale.join(", ")));
    }
    if faults.is_empty() {
        Ok("The pages are up to date, and every link works.".into())
    } else {
        Err(ChoreError::Failed(faults.join("\n")))
    }
}

/// Returns the path below `root` and the text of every Markdown page for readers: at the top level, in `docs` and in crates.
fn read_pages(root: &Path) -> Result<Vec<(PathBuf, String)>, ChoreError> {
    let paths = list_files(root, "md")?;
    let paths = paths.iter().filter_map(|path| path.strip_prefix(root).ok());
    let is_page = |path: &&Path| {
        path.parent() == Some(Path::new(""))
            || path.starts_with("docs")
            || path.file_name().is_some_and(|name| name == "README.md")
    };
    paths.filter(is_page).map(|path| Ok((path.to_owned(), read(&root.join(path))?))).collect()
}
