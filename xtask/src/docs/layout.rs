//! Checks the form of the pages: how long a page and a line may be.

use std::path::{Path, PathBuf};

/// Maximum width of a line of prose.
const WIDTH: usize = 100;

/// Pages with a maximum number of lines.
const MAX_LINES: [(&str, usize); 2] = [("README.md", 120), ("ARCHITECTURE.md", 200)];

/// Returns a fault for each page of `pages` that is too long, and for each line of prose that is too wide.
pub(super) fn find_faults(pages: &[(PathBuf, String)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, text) in pages {
        let max_lines = MAX_LINES.iter().find(|(name, _)| Path::new(name) == path).map(|(_, max)| *max);
        let lines = text.lines().count();
        if let Some(max_lines) = max_lines.filter(|max| lines > *max) {
            faults.push(format!("{} has {lines} lines; at most {max_lines} are allowed.", path.display()));
        }
        for number in find_wide_lines(text) {
            faults.push(format!("{}:{number}: is wider than {WIDTH} columns.", path.display()));
        }
    }
    faults
}

/// Returns the numbers of the lines that are too wide. Tables and code cannot be wrapped.
fn find_wide_lines(text: &str) -> Vec<usize> {
    let mut is_code = false;
    let mut numbers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let can_wrap = !is_code && !line.trim_start().starts_with('|') && line.trim().contains(' ');
        if can_wrap && line.chars().count() > WIDTH {
            numbers.push(index + 1);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_prose_is_found_and_tables_and_code_are_not() {
        let wide = "word ".repeat(21);
        let text = format!("short\n{wide}\n| {wide} |\n```\n{wide}\n```\n{wide}\n{}\n", "x".repeat(120));
        assert_eq!(find_wide_lines(&text), [2, 7]);
    }

    #[test]
    fn long_pages_are_found() {
        let text = "line\n".repeat(121);
        let pages = [(PathBuf::from("README.md"), text.clone()), (PathBuf::from("docs/a.md"), text)];
        assert_eq!(find_faults(&pages), ["README.md has 121 lines; at most 120 are allowed."]);
    }
}
