//! Tables: columns as wide as they need to be, wrapped where the terminal is too narrow, and records where it is narrower
//! than that.

use pulldown_cmark::Alignment;

use crate::{
    TerminalStyle,
    span::{DIM, StyledLine, StyledSpan, trim_end, width},
    wrap::{measure, wrap},
};

/// No column is made narrower than this, unless it needs no more.
const NARROWEST: usize = 6;
/// Words up to this length are not broken.
const WORD: usize = 12;

/// Rows of cells; the first is the head.
#[derive(Debug)]
pub(crate) struct TableBlock {
    alignments: Vec<Alignment>,
    pub(crate) rows: Vec<Vec<StyledLine>>,
}

/// What stands around the cells.
struct Frame {
    left: &'static str,
    between: &'static str,
    right: &'static str,
    rule: &'static str,
    rule_between: &'static str,
    /// Whether the line below the head says how columns are aligned.
    says_alignment: bool,
}

const DRAWN: Frame =
    Frame {
        left: "", between: " │ ", right: "", rule: "─", rule_between: "─┼─", says_alignment: false
    };
/// As Markdown has it.
const WRITTEN: Frame =
    Frame { left: "| ", between: " | ", right: " |", rule: "-", rule_between: " | ", says_alignment: true };

impl TableBlock {
    pub(crate) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    /// Lays it out in so many columns.
    pub(crate) fn lines(&self, terminal: TerminalStyle, room: usize) -> Vec<StyledLine> {
        let frame = if terminal.color { &DRAWN } else { &WRITTEN };
        match self.widths(frame, room) {
            Some(widths) => self.grid(frame, &widths),
            None => self.records(room),
        }
    }

    /// How wide each column is, if they fit side by side.
    fn widths(&self, frame: &Frame, room: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let around = [frame.left, frame.right].map(|text| text.chars().count()).iter().sum::<usize>();
        let between = frame.between.chars().count() * count.saturating_sub(1);
        let room = room.checked_sub(around + between)?;
        let mut needed = vec![0; count];
        let mut words = vec![0; count];
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate().take(count) {
                let (all, word) = measure(cell);
                needed[column] = needed[column].max(all).max(1);
                words[column] = words[column].max(word).max(1);
            }
        }
        let least = |longest: usize| -> Vec<usize> {
            let of = |(word, needed): (&usize, &usize)| (*word).min(longest).max(NARROWEST.min(*needed));
            words.iter().zip(&needed).map(of).collect()
        };
        share(room, &least(usize::MAX), &needed).or_else(|| share(room, &least(WORD), &needed))
    }

    fn grid(&self, frame: &Frame, widths: &[usize]) -> Vec<StyledLine> {
        let rows: Vec<_> = self.rows.iter().map(|row| self.row(frame, widths, row)).collect();
        // Where rows take several lines each, it must be seen where one ends.
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

    /// The line below the head.
    fn rule(&self, frame: &Frame, widths: &[usize]) -> StyledLine {
        if !frame.says_alignment {
            return plain_rule(frame, widths);
        }
        let part = |(width, alignment): (&usize, &Alignment)| {
            let dashes = |taken: usize| frame.rule.repeat(width.saturating_sub(taken));
            match alignment {
                Alignment::Right => format!("{}:", dashes(1)),
                Alignment::Center => format!(":{}:", dashes(2)),
                Alignment::Left | Alignment::None => dashes(0),
            }
        };
        let parts: Vec<_> = widths.iter().zip(&self.alignments).map(part).collect();
        vec![StyledSpan::plain(format!("{}{}{}", frame.left, parts.join(frame.rule_between), frame.right))]
    }

    /// Each row by itself: "head: cell".
    fn records(&self, room: usize) -> Vec<StyledLine> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        if rows.is_empty() {
            return head.iter().flat_map(|cell| wrap(cell, room)).collect();
        }
        // A head is repeated in each record, so it is kept short.
        let labels: Vec<_> = head.iter().map(|cell| label(cell, room)).collect();
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

/// Shares room out: every column gets at least what it must have and at most what it needs, and what is between is the same
/// for all.
fn share(room: usize, least: &[usize], needed: &[usize]) -> Option<Vec<usize>> {
    let at = |level: usize| -> Vec<usize> {
        least.iter().zip(needed).map(|(least, needed)| level.clamp(*least, (*needed).max(*least))).collect()
    };
    let fits = |level: usize| at(level).iter().sum::<usize>() <= room;
    if !fits(0) {
        return None;
    }
    let (mut low, mut high) = (0, needed.iter().max().copied().unwrap_or(0));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(at(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_shared_out() {
        assert_eq!(share(20, &[1, 1, 1], &[5, 5, 5]), Some(vec![5, 5, 5]));
        assert_eq!(share(20, &[1, 1, 1], &[4, 30, 30]), Some(vec![4, 8, 8]));
        assert_eq!(share(20, &[1, 12, 1], &[4, 30, 30]), Some(vec![4, 12, 4]));
        assert_eq!(share(10, &[6, 6], &[9, 9]), None);
        assert_eq!(share(10, &[], &[]), Some(vec![]));
    }
}
