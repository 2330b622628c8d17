//! Table layout. Cells are wrapped if the terminal is too narrow for them; if it is narrower still, rows are
//! shown as records.

use pulldown_cmark::Alignment;

use crate::{
    TerminalStyle,
    span::{DIM, StyledLine, StyledSpan, trim_end, width},
    wrap::{measure, wrap},
};

/// Minimum width of a column whose content is wider.
const MIN_WIDTH: usize = 6;
/// Maximum length of words that are never broken.
const MAX_UNBROKEN_WORD: usize = 12;

#[derive(Debug)]
pub(crate) struct TableBlock {
    alignments: Vec<Alignment>,
    /// The first row is the header.
    pub(crate) rows: Vec<Vec<StyledLine>>,
}

/// The text around the cells.
struct Frame {
    left: &'static str,
    between: &'static str,
    right: &'static str,
    rule: &'static str,
    rule_between: &'static str,
    /// Whether the line below the header indicates the alignment of the columns.
    has_alignment: bool,
}

const BOX_DRAWING: Frame =
    Frame {
        left: "", between: " │ ", right: "", rule: "─", rule_between: "─┼─", has_alignment: false
    };
const MARKDOWN: Frame =
    Frame { left: "| ", between: " | ", right: " |", rule: "-", rule_between: " | ", has_alignment: true };

impl TableBlock {
    pub(crate) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    /// Lays out the table in `room` columns.
    pub(crate) fn lines(&self, terminal: TerminalStyle, room: usize) -> Vec<StyledLine> {
        let frame = if terminal.color { &BOX_DRAWING } else { &MARKDOWN };
        match self.widths(frame, room) {
            Some(widths) => self.grid(frame, &widths),
            None => self.records(room),
        }
    }

    /// Returns the width of each column, or `None` if they do not fit next to each other.
    fn widths(&self, frame: &Frame, room: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let around = [frame.left, frame.right].map(|text| text.chars().count()).iter().sum::<usize>();
        let between = frame.between.chars().count() * count.saturating_sub(1);
        let room = room.checked_sub(around + between)?;
        let mut full_widths = vec![0; count];
        let mut word_widths = vec![0; count];
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate().take(count) {
                let (full, word) = measure(cell);
                full_widths[column] = full_widths[column].max(full).max(1);
                word_widths[column] = word_widths[column].max(word).max(1);
            }
        }
        let minimums = |max_word: usize| -> Vec<usize> {
            let minimum = |(word, full): (&usize, &usize)| (*word).min(max_word).max(MIN_WIDTH.min(*full));
            word_widths.iter().zip(&full_widths).map(minimum).collect()
        };
        distribute(room, &minimums(usize::MAX), &full_widths)
            .or_else(|| distribute(room, &minimums(MAX_UNBROKEN_WORD), &full_widths))
    }

    fn grid(&self, frame: &Frame, widths: &[usize]) -> Vec<StyledLine> {
        let rows: Vec<_> = self.rows.iter().map(|row| self.row(frame, widths, row)).collect();
        // Rows of several lines are separated by rules.
        let is_wrapped = rows.iter().any(|row| row.len() > 1);
        let mut lines = Vec::new();
        for (number, row) in rows.into_iter().enumerate() {
            if number == 1 {
                lines.push(self.rule(frame, widths));
            } else if number > 1 && is_wrapped {
                lines.push(plain_rule(frame, widths));
            }
            lines.extend(row);
        }
        if self.rows.len() == 1 {
            lines.push(self.rule(frame, widths));
        }
        lines
    }

    fn row(&self, frame: &Frame, widths: &[usize], row: &[StyledLine]) -> Vec<StyledLine> {
        let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let line = |number: usize| {
            let mut line = vec![StyledSpan::new(frame.left, DIM)];
            for (column, cell) in cells.iter().enumerate() {
                if column > 0 {
                    line.push(StyledSpan::new(frame.between, DIM));
                }
                let text = cell.get(number).cloned().unwrap_or_default();
                line.extend(align(text, widths[column], self.alignments[column]));
            }
            line.push(StyledSpan::new(frame.right, DIM));
            trim_end(&mut line);
            line
        };
        (0..height).map(line).collect()
    }

    /// Returns the line below the header.
    fn rule(&self, frame: &Frame, widths: &[usize]) -> StyledLine {
        if !frame.has_alignment {
            return plain_rule(frame, widths);
        }
        let part = |(width, alignment): (&usize, &Alignment)| {
            let dashes = |colons: usize| frame.rule.repeat(width.saturating_sub(colons));
            match alignment {
                Alignment::Right => format!("{}:", dashes(1)),
                Alignment::Center => format!(":{}:", dashes(2)),
                Alignment::Left | Alignment::None => dashes(0),
            }
        };
        let parts: Vec<_> = widths.iter().zip(&self.alignments).map(part).collect();
        vec![StyledSpan::plain(format!("{}{}{}", frame.left, parts.join(frame.rule_between), frame.right))]
    }

    /// Lays out each row as lines of the form "header: cell".
    fn records(&self, room: usize) -> Vec<StyledLine> {
        let Some((header, rows)) = self.rows.split_first() else { return Vec::new() };
        if rows.is_empty() {
            return header.iter().flat_map(|cell| wrap(cell, room)).collect();
        }
        // Headers are repeated in each record, so they are shortened to one line.
        let labels: Vec<_> = header.iter().map(|cell| label(cell, room)).collect();
        let mut lines = Vec::new();
        for row in rows {
            if !lines.is_empty() {
                lines.push(StyledLine::new());
            }
            for (label, cell) in labels.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
                let text: StyledLine = label.iter().chain(cell).cloned().collect();
                lines.extend(wrap(&text, room));
            }
        }
        lines
    }
}

fn plain_rule(frame: &Frame, widths: &[usize]) -> StyledLine {
    let parts: Vec<_> = widths.iter().map(|width| frame.rule.repeat(*width)).collect();
    vec![StyledSpan::new(format!("{}{}{}", frame.left, parts.join(frame.rule_between), frame.right), DIM)]
}

fn label(cell: &StyledLine, room: usize) -> StyledLine {
    let mut lines = wrap(cell, room).into_iter();
    let Some(mut label) = lines.next() else { return StyledLine::new() };
    label.push(StyledSpan::plain(if lines.next().is_some() { "…: " } else { ": " }));
    label
}

fn align(mut text: StyledLine, room: usize, alignment: Alignment) -> StyledLine {
    let free = room.saturating_sub(width(&text));
    let before = match alignment {
        Alignment::Left | Alignment::None => 0,
        Alignment::Center => free / 2,
        Alignment::Right => free,
    };
    text.insert(0, StyledSpan::plain(" ".repeat(before)));
    text.push(StyledSpan::plain(" ".repeat(free - before)));
    text
}

/// Distributes the available columns. Every table column gets the same width, clamped between its minimum and
/// its full width. Returns `None` if the minimums do not fit.
fn distribute(room: usize, minimums: &[usize], full_widths: &[usize]) -> Option<Vec<usize>> {
    let clamp_all = |width: usize| -> Vec<usize> {
        let columns = minimums.iter().zip(full_widths);
        columns.map(|(minimum, full)| width.clamp(*minimum, (*full).max(*minimum))).collect()
    };
    let fits = |width: usize| clamp_all(width).iter().sum::<usize>() <= room;
    if !fits(0) {
        return None;
    }
    let (mut low, mut high) = (0, full_widths.iter().max().copied().unwrap_or(0));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(clamp_all(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_distributed() {
        assert_eq!(distribute(20, &[1, 1, 1], &[5, 5, 5]), Some(vec![5, 5, 5]));
        assert_eq!(distribute(20, &[1, 1, 1], &[4, 30, 30]), Some(vec![4, 8, 8]));
        assert_eq!(distribute(20, &[1, 12, 1], &[4, 30, 30]), Some(vec![4, 12, 4]));
        assert_eq!(distribute(10, &[6, 6], &[9, 9]), None);
        assert_eq!(distribute(10, &[], &[]), Some(vec![]));
    }
}
