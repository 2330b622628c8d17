//! Unified diffs of text files.

use std::fmt::Write as _;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

/// Maximum size of a diff in bytes. The user is shown all of it before it is approved.
const MAX_DIFF_BYTES: usize = 1 << 20;

/// Number of unchanged lines around a change.
const CONTEXT: u32 = 3;

/// Returns the difference between two texts in the format of `diff -u`.
pub fn diff(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return format!("{path} is unchanged\n");
    }
    let input = InternedInput::new(before, after);
    let hunks: Vec<Hunk> = compute(&input).hunks().collect();
    let mut text = format!("--- {path}\n+++ {path}\n");
    // Hunks whose context lines touch or overlap are merged.
    for group in hunks.chunk_by(|hunk, next| next.before.start - hunk.before.end <= 2 * CONTEXT) {
        write_group(&mut text, group, &input);
    }
    crate::output::truncate_output(&text, MAX_DIFF_BYTES)
}

/// Returns the number of added and removed lines, as in `+2 -1`.
pub(crate) fn size(before: &str, after: &str) -> String {
    let diff = compute(&InternedInput::new(before, after));
    format!("+{} -{}", diff.count_additions(), diff.count_removals())
}

fn compute(input: &InternedInput<&str>) -> Diff {
    let mut diff = Diff::compute(Algorithm::Histogram, input);
    diff.postprocess_lines(input);
    diff
}

/// Writes neighboring hunks with the lines around them. imara-diff can do this too, but version 0.2.0 miscounts the
/// lines before the first hunk.
fn write_group(text: &mut String, group: &[Hunk], input: &InternedInput<&str>) {
    let ([first, ..], [.., last]) = (group, group) else { return };
    let lead = CONTEXT.min(first.before.start);
    let trail = CONTEXT.min(input.before.len() as u32 - last.before.end);
    let before = first.before.start - lead..last.before.end + trail;
    let after = first.after.start - lead..last.after.end + trail;
    // By convention, an empty side has the number of the line before it.
    let start = |range: &std::ops::Range<u32>| range.start + u32::from(!range.is_empty());
    // Writing to a string cannot fail.
    let _ = writeln!(text, "@@ -{},{} +{},{} @@", start(&before), before.len(), start(&after), after.len());
    let mut write = |mark, tokens: &[Token]| {
        tokens.iter().for_each(|token| {
            let line = input.interner[*token];
            let _ = match line.strip_suffix('\n') {
                Some(line) => writeln!(text, "{mark}{line}"),
                None => writeln!(text, "{mark}{line}\n\\ No newline at end of file"),
            };
        })
    };
    let mut shown = before.start;
    for hunk in group {
        write(' ', &input.before[shown as usize..hunk.before.start as usize]);
        write('-', &input.before[hunk.before.start as usize..hunk.before.end as usize]);
        write('+', &input.after[hunk.after.start as usize..hunk.after.end as usize]);
        shown = hunk.before.end;
    }
    write(' ', &input.before[shown as usize..before.end as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_three_lines_of_context() {
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
    fn line_numbers_are_correct_for_changes_anywhere() {
        let lines: Vec<String> = (0..30).map(|number| format!("{number}\n")).collect();
        let before = lines.concat();
        for index in 0..lines.len() {
            let mut changed = lines.clone();
            changed[index] = "changed\n".into();
            let (start, end) = (index.saturating_sub(3), (index + 4).min(lines.len()));
            let header = format!("@@ -{0},{1} +{0},{1} @@", start + 1, end - start);
            let diff = diff("x", &before, &changed.concat());
            assert_eq!(diff.lines().nth(2), Some(header.as_str()), "{diff}");
            assert_eq!(diff.lines().count(), 3 + (end - start) + 1, "{diff}");
        }
        let far_apart = before.replacen("2\n", "two\n", 1).replacen("25\n", "twenty-five\n", 1);
        assert_eq!(diff("x", &before, &far_apart).matches("@@ -").count(), 2);
    }

    #[test]
    fn new_and_unchanged_files_are_shown() {
        assert_eq!(diff("x", "", "a\n"), "--- x\n+++ x\n@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(diff("x", "a\n", "a\n"), "x is unchanged\n");
        assert_eq!(size("", "a\nb\n"), "+2 -0");
    }
}
