//! A change to a text, shown line by line.

use std::fmt::{Result, Write};

use imara_diff::{Algorithm, Diff, InternedInput, Interner, Token, UnifiedDiffConfig, UnifiedDiffPrinter};

/// More of a change than this is not shown.
const LONGEST: usize = 20_000;

/// The difference between two texts, as `diff -u` gives it.
pub(crate) fn diff(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return format!("{path} stays as it is\n");
    }
    let input = InternedInput::new(before, after);
    let diff = compute(&input);
    let printer = LinePrinter(&input.interner);
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input);
    crate::output::cap(&format!("--- {path}\n+++ {path}\n{hunks}"), LONGEST)
}

/// How many lines a change adds and takes away.
pub(crate) fn size(before: &str, after: &str) -> String {
    let diff = compute(&InternedInput::new(before, after));
    format!("+{} -{}", diff.count_additions(), diff.count_removals())
}

fn compute(input: &InternedInput<&str>) -> Diff {
    let mut diff = Diff::compute(Algorithm::Histogram, input);
    diff.postprocess_lines(input);
    diff
}

/// Prints lines as `diff -u` does, with a remark where the last line has no end.
struct LinePrinter<'a>(&'a Interner<&'a str>);

impl LinePrinter<'_> {
    fn print(&self, mut f: impl Write, mark: char, token: Token) -> Result {
        match self.0[token].strip_suffix('\n') {
            Some(line) => writeln!(f, "{mark}{line}"),
            None => writeln!(f, "{mark}{}\n\\ No newline at end of file", self.0[token]),
        }
    }
}

impl UnifiedDiffPrinter for LinePrinter<'_> {
    fn display_header(
        &self,
        mut f: impl Write,
        start_before: u32,
        start_after: u32,
        len_before: u32,
        len_after: u32,
    ) -> Result {
        // An empty side is counted from the line before it.
        let start = |start, length| if length == 0 { start } else { start + 1 };
        let (before, after) = (start(start_before, len_before), start(start_after, len_after));
        writeln!(f, "@@ -{before},{len_before} +{after},{len_after} @@")
    }

    fn display_context_token(&self, f: impl Write, token: Token) -> Result {
        self.print(f, ' ', token)
    }

    fn display_hunk(&self, mut f: impl Write, before: &[Token], after: &[Token]) -> Result {
        before.iter().try_for_each(|token| self.print(&mut f, '-', *token))?;
        after.iter().try_for_each(|token| self.print(&mut f, '+', *token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        let before = "a\nb\nc\nd\ne\nf\n";
        let expected = [
            "--- x",
            "+++ x",
            "@@ -2,5 +2,5 @@",
            " b",
            " c",
            " d",
            "-e",
            "-f",
            "+E",
            "+f",
            "\\ No newline at end of file",
        ];
        assert_eq!(diff("x", before, "a\nb\nc\nd\nE\nf").lines().collect::<Vec<_>>(), expected);
        assert_eq!(size(before, "a\nb\nc\nd\nE\nf"), "+2 -2");
    }

    #[test]
    fn a_new_file_and_no_change_are_shown_as_such() {
        assert_eq!(diff("x", "", "a\n"), "--- x\n+++ x\n@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(diff("x", "a\n", "a\n"), "x stays as it is\n");
        assert_eq!(size("", "a\nb\n"), "+2 -0");
    }
}
