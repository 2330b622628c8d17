//! Checks that every unsafe block is listed with its proof.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::{
    ChoreError,
    files::{list_files, read},
};

/// The page that lists the blocks.
const PAGE: &str = "docs/design/unsafe.md";

/// Returns the differences between the list and the code.
pub(crate) fn find_unlisted(root: &Path) -> Result<Vec<String>, ChoreError> {
    let listed = read_list(&read(&root.join(PAGE))?);
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for path in list_files(&root.join("crates"), "rs")? {
        let blocks = count_blocks(&read(&path)?);
        if blocks > 0 {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            found.insert(name, blocks);
        }
    }
    let names: BTreeSet<&String> = listed.keys().chain(found.keys()).collect();
    let differs = |name: &&&String| listed.get(**name) != found.get(**name);
    let describe = |name: &String| {
        let (blocks, listed) = (found.get(name).unwrap_or(&0), listed.get(name).unwrap_or(&0));
        format!("{name} has {blocks} unsafe blocks, but {PAGE} lists {listed}.")
    };
    Ok(names.iter().filter(differs).map(|name| describe(name)).collect())
}

fn count_blocks(code: &str) -> usize {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    code.lines().filter(is_code).map(|line| line.matches("unsafe {").count()).sum()
}

fn read_list(page: &str) -> BTreeMap<String, usize> {
    page.lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split('|');
            let name = cells.next()?.trim().trim_end_matches('`').to_owned();
            Some((name, cells.next()?.trim().parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_and_the_list_is_read() {
        assert_eq!(count_blocks("// unsafe { }\nlet x = unsafe { f() };\nunsafe {\n}"), 2);
        let list = read_list("| file | blocks |\n| --- | --- |\n| `a.rs` | 2 | x | y |");
        assert_eq!(list, BTreeMap::from([("a.rs".to_owned(), 2)]));
    }
}
