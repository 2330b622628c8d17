//! The lines of a Markdown text: headings, list items and table rows.

/// The headings that apply to a line, outermost first.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeadingPath(Vec<(usize, String)>);

impl HeadingPath {
    /// Adds a line. Returns whether it is a heading.
    pub(crate) fn add(&mut self, line: &str) -> bool {
        let Some((level, title)) = parse_heading(line) else { return false };
        self.0.retain(|(other, _)| *other < level);
        self.0.push((level, title.to_owned()));
        true
    }

    pub(crate) fn titles(&self) -> Vec<String> {
        self.0.iter().map(|(_, title)| title.clone()).collect()
    }
}

/// Returns the level and the text of a heading, or `None` if the line is not a heading.
pub(crate) fn parse_heading(line: &str) -> Option<(usize, &str)> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let is_heading = (1..=6).contains(&level) && line[level..].starts_with(' ');
    is_heading.then(|| (level, line[level..].trim()))
}

/// Returns whether a line is a row of a table.
pub(crate) fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// Returns the cells of a table row.
pub(crate) fn parse_row(line: &str) -> Vec<String> {
    line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the text of a list item without its marker, or `None` if the line is not a list item.
pub(crate) fn parse_item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let bulleted =
        ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• "].iter().find_map(|marker| line.strip_prefix(marker));
    bulleted.or_else(|| {
        let digits = line.chars().take_while(char::is_ascii_digit).count();
        let item = line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "));
        item.filter(|_| (1..=2).contains(&digits))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_replace_those_of_their_level() {
        let mut path = HeadingPath::default();
        assert!(["# Manual", "## Checks", "### Daily", "## Repairs"].into_iter().all(|line| path.add(line)));
        assert!(!path.add("#hashtag") && !path.add("text"));
        assert_eq!(path.titles(), ["Manual", "Repairs"]);
    }

    #[test]
    fn items_lose_their_marker() {
        assert_eq!(parse_item("  - [x] done"), Some("done"));
        assert_eq!(parse_item("12. salt"), Some("salt"));
        assert_eq!(parse_item("2026. A year"), None);
        assert_eq!(parse_item("-5 degrees"), None);
    }

    #[test]
    fn rows_are_split_into_cells() {
        assert!(is_row(" | a | b |"));
        assert_eq!(parse_row("| a | b |"), ["a", "b"]);
    }
}
