//! Draws a few lines below the printed text, and redraws them in place.

use std::fmt::Write as _;

use crossterm::{
    Command,
    cursor::{MoveToColumn, MoveUp},
    terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate},
};
use unicode_width::UnicodeWidthStr as _;

/// Size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// The lines on the screen. The cursor is at the end of the last one.
#[derive(Debug, Default)]
pub(crate) struct Area {
    lines: Vec<String>,
    columns: usize,
}

impl Area {
    /// Returns what to write to the terminal so that `text` is printed above the area and the area has these lines.
    /// Every line must fit into one row, and every line of `text` ends with a line break. If there are more lines than
    /// rows, the last ones are drawn.
    pub(crate) fn update(&mut self, text: &str, mut lines: Vec<String>, size: Size) -> String {
        lines.drain(..lines.len().saturating_sub(size.rows.saturating_sub(1).max(1)));
        let is_resized = size.columns != self.columns;
        let kept = match text.is_empty() && !is_resized {
            true => self.lines.iter().zip(&lines).take_while(|(old, new)| old == new).count(),
            false => 0,
        };
        if text.is_empty() && kept == self.lines.len() && kept == lines.len() {
            return String::new();
        }
        let mut out = String::new();
        put(&mut out, BeginSynchronizedUpdate);
        self.erase_from(kept, size, &mut out);
        out.push_str(text);
        for (index, line) in lines.iter().enumerate().skip(kept) {
            let separator = if index == 0 { "" } else { "\n" };
            // Writing to a string cannot fail.
            let _ = write!(out, "{separator}{line}");
        }
        put(&mut out, EndSynchronizedUpdate);
        (self.lines, self.columns) = (lines, size.columns);
        out
    }

    /// Erases all lines but the first `kept`. Moves the cursor to the end of those.
    fn erase_from(&self, kept: usize, size: Size, out: &mut String) {
        let erased = &self.lines[kept..];
        if erased.is_empty() {
            return;
        }
        // When the window becomes narrower, most terminals wrap the lines that no longer fit.
        let rows: usize = erased.iter().map(|line| width(line).div_ceil(size.columns.max(1)).max(1)).sum();
        put(out, MoveToColumn(0));
        move_up(rows.min(size.rows) - 1, out);
        put(out, Clear(ClearType::FromCursorDown));
        if let Some(last) = kept.checked_sub(1) {
            move_up(1, out);
            put(out, MoveToColumn(u16::try_from(width(&self.lines[last])).unwrap_or(u16::MAX)));
        }
    }
}

fn move_up(rows: usize, out: &mut String) {
    if rows > 0 {
        put(out, MoveUp(u16::try_from(rows).unwrap_or(u16::MAX)));
    }
}

fn put(out: &mut String, command: impl Command) {
    // Writing to a string cannot fail.
    let _ = command.write_ansi(out);
}

/// Returns the number of columns that a line with styles takes up.
fn width(line: &str) -> usize {
    anstream::adapter::strip_str(line).to_string().width()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { rows: 10, columns: 20 };

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn visible(output: &str) -> String {
        output.replace("\u{1b}[?2026h", "").replace("\u{1b}[?2026l", "").replace('\u{1b}', "^")
    }

    #[test]
    fn only_lines_that_changed_are_redrawn() {
        let mut area = Area::default();
        assert_eq!(visible(&area.update("", lines(&["one", "two"]), SIZE)), "one\ntwo");
        assert_eq!(area.update("", lines(&["one", "two"]), SIZE), "");
        assert_eq!(visible(&area.update("", lines(&["one", "2"]), SIZE)), "^[1G^[J^[1A^[4G\n2");
        assert_eq!(visible(&area.update("", lines(&["one", "2", "3"]), SIZE)), "\n3");
        assert_eq!(visible(&area.update("", lines(&["one"]), SIZE)), "^[1G^[1A^[J^[1A^[4G");
        assert_eq!(visible(&area.update("done\n", lines(&[]), SIZE)), "^[1G^[Jdone\n");
        assert_eq!(area.update("", lines(&[]), SIZE), "");
    }

    #[test]
    fn wrapped_lines_of_a_narrower_window_are_erased() {
        let mut area = Area::default();
        area.update("", lines(&["eighteen columns..", "\u{1b}[1mshort\u{1b}[0m"]), SIZE);
        let narrow = Size { columns: 10, ..SIZE };
        assert_eq!(visible(&area.update("", lines(&["new"]), narrow)), "^[1G^[2A^[Jnew");
    }

    #[test]
    fn an_area_that_is_too_high_shows_its_end() {
        let mut area = Area::default();
        let size = Size { rows: 3, columns: 20 };
        assert_eq!(visible(&area.update("", lines(&["1", "2", "3", "4"]), size)), "3\n4");
    }
}
