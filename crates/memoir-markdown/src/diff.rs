//! Colors the lines of unified diffs.

use anstyle::{AnsiColor, Style};

use crate::{
    TerminalStyle, clean,
    span::{DIM, StyledLine, StyledSpan, colored, paint},
    wrap::{measure, wrap},
};

/// Begins the rest of a line that is wider than the terminal. No line of a diff begins like this.
const CONTINUATION: &str = ": ";

/// Colors the lines of a unified diff for a preview, and wraps them between words. Nothing is truncated.
pub fn color_diff(text: &str, terminal: TerminalStyle) -> String {
    let mut diff = Diff::default();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let line = diff.line(&clean::line(line));
        if measure(&line).0 <= terminal.width {
            paint(&line, terminal, &mut out);
            continue;
        }
        let width = terminal.width.saturating_sub(CONTINUATION.len()).max(1);
        for (index, part) in wrap(&line, width).iter().enumerate() {
            if index > 0 {
                out.push_str(CONTINUATION);
            }
            paint(part, terminal, &mut out);
        }
    }
    out
}

/// A position in a diff. A line that starts with `---` is a removed line inside a hunk and a file name
/// outside, so the lines of each hunk are counted down from its header.
#[derive(Clone, Default)]
pub(crate) struct Diff {
    /// Remaining lines of the old file in the hunk.
    old: usize,
    /// Remaining lines of the new file in the hunk.
    new: usize,
}

impl Diff {
    pub(crate) fn line(&mut self, text: &str) -> StyledLine {
        let style = self.style(text);
        if text.is_empty() {
            StyledLine::new()
        } else {
            vec![StyledSpan { verbatim: true, ..StyledSpan::new(text, style) }]
        }
    }

    fn style(&mut self, text: &str) -> Style {
        let is_in_hunk = self.old > 0 || self.new > 0;
        match text.as_bytes().first() {
            Some(b'+') if is_in_hunk || !text.starts_with("+++ ") => {
                self.new = self.new.saturating_sub(1);
                colored(AnsiColor::Green)
            }
            Some(b'-') if is_in_hunk || !text.starts_with("--- ") => {
                self.old = self.old.saturating_sub(1);
                colored(AnsiColor::Red)
            }
            Some(b'+' | b'-') => Style::new().bold(),
            Some(b'@') if text.starts_with("@@") => {
                (self.old, self.new) = hunk_sizes(text);
                colored(AnsiColor::Cyan)
            }
            Some(b'\\') => DIM,
            _ if is_in_hunk => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
                Style::new()
            }
            _ if text.starts_with("diff ") => Style::new().bold(),
            _ if text.starts_with("index ") => DIM,
            _ => Style::new(),
        }
    }
}

/// Returns the number of old and new lines from a hunk header, such as `@@ -1,2 +1,3 @@`.
fn hunk_sizes(text: &str) -> (usize, usize) {
    let count = |sign: char| {
        let range = text.split(' ').find_map(|word| word.strip_prefix(sign))?;
        match range.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => range.parse().ok().map(|_: usize| 1),
        }
    };
    (count('-').unwrap_or(0), count('+').unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: TerminalStyle = TerminalStyle { width: 40, color: true, links: false };

    #[test]
    fn lines_are_colored_by_kind() {
        let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn main()\n same\n--- was\n+++ is\n--- c/y\n";
        assert_eq!(
            color_diff(text, TERMINAL),
            "\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@ fn main()\x1b[0m\n same\n\
             \x1b[31m--- was\x1b[0m\n\x1b[32m+++ is\x1b[0m\n\x1b[1m--- c/y\x1b[0m\n"
        );
    }

    #[test]
    fn without_color_only_control_characters_change() {
        let text = "@@ -1 +1 @@\n-a\u{1b}[2J \r\n+b\n\n\\ No newline at end of file";
        let terminal = TerminalStyle { color: false, ..TERMINAL };
        assert_eq!(color_diff(text, terminal), "@@ -1 +1 @@\n-a�[2J \n+b\n\n\\ No newline at end of file\n");
        assert_eq!(color_diff("", terminal), "");
    }

    #[test]
    fn long_lines_are_wrapped_in_their_color() {
        let terminal = TerminalStyle { width: 12, ..TERMINAL };
        assert_eq!(
            color_diff("+one two  three", terminal),
            "\x1b[32m+one two\x1b[0m\n: \x1b[32mthree\x1b[0m\n"
        );
    }

    #[test]
    fn hunk_sizes_are_parsed() {
        assert_eq!(hunk_sizes("@@ -1,2 +3,4 @@"), (2, 4));
        assert_eq!(hunk_sizes("@@ -1 +1 @@"), (1, 1));
        assert_eq!(hunk_sizes("@@ ... @@"), (0, 0));
    }
}
