//! The open containers (quotes, lists and list items) and the prefix that they add to each line.

use anstyle::AnsiColor;

use crate::{
    TerminalStyle,
    cursor::Cursor,
    marker::{ListKind, Marker},
    span::{DIM, StyledLine, StyledSpan, colored, width},
};

/// Maximum nesting depth. Every line is matched against all open containers.
const MAX_DEPTH: usize = 32;

#[derive(Clone)]
enum Container {
    Quote,
    List(List),
    Item(ListItem),
}

#[derive(Clone)]
struct List {
    kind: ListKind,
    first: u64,
    last: u64,
}

#[derive(Clone)]
struct ListItem {
    /// Indentation of the item's lines, in columns.
    indent: usize,
    /// Prefix of the item's first line.
    marker_text: StyledLine,
    is_written: bool,
    /// Whether the source contains only the marker so far.
    is_empty: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Stack {
    /// Outermost first.
    containers: Vec<Container>,
    /// Number of containers that have stayed open since the last block was written.
    shared: usize,
}

impl Stack {
    pub(crate) fn len(&self) -> usize {
        self.containers.len()
    }

    pub(crate) fn has_room(&self) -> bool {
        // A list and its first item are opened together.
        self.len() + 2 <= MAX_DEPTH
    }

    /// Returns the number of containers that a line continues, and moves the cursor past their markers.
    pub(crate) fn match_line(&mut self, cursor: &mut Cursor<'_>) -> usize {
        let mismatch = self.containers.iter_mut().position(|container| !continues(container, cursor));
        mismatch.unwrap_or(self.len())
    }

    pub(crate) fn push_quote(&mut self) {
        self.containers.push(Container::Quote);
    }

    /// Opens an item, and a list if no matching one is open.
    pub(crate) fn push_item(
        &mut self,
        marker: Marker,
        indent: usize,
        task: Option<bool>,
        terminal: TerminalStyle,
    ) {
        let number = self.next_number(marker);
        let marker_text = marker_text(marker.kind, number, task, terminal);
        let item = ListItem { indent, marker_text, is_written: false, is_empty: marker.is_empty_item };
        self.containers.push(Container::Item(item));
    }

    /// Returns the number of a new item. Items are counted if all of them are written with the number of the first.
    fn next_number(&mut self, marker: Marker) -> u64 {
        if let Some(Container::List(list)) = self.containers.last_mut()
            && list.kind == marker.kind
        {
            list.last = if marker.number == list.first { list.last + 1 } else { marker.number };
            return list.last;
        }
        self.end_list();
        let list = List { kind: marker.kind, first: marker.number, last: marker.number };
        self.containers.push(Container::List(list));
        marker.number
    }

    /// Closes the innermost container if it is a list, that is, if its items are closed.
    pub(crate) fn end_list(&mut self) {
        if matches!(self.containers.last(), Some(Container::List(_))) {
            self.pop();
        }
    }

    pub(crate) fn pop(&mut self) {
        self.containers.pop();
        self.shared = self.shared.min(self.len());
    }

    /// Returns whether the innermost container is an item whose marker has not been written.
    pub(crate) fn has_unwritten_item(&self) -> bool {
        matches!(self.containers.last(), Some(Container::Item(item)) if !item.is_written)
    }

    /// Returns whether any marker has not been written yet.
    pub(crate) fn has_pending(&self) -> bool {
        self.containers.iter().any(|container| matches!(container, Container::Item(item) if !item.is_written))
    }

    /// Returns whether the previous and the next block are in the same list.
    pub(crate) fn stays_in_list(&self) -> bool {
        self.containers[..self.shared].iter().any(|container| matches!(container, Container::List(_)))
    }

    /// Marks all open containers as shared between the block being written and the next one.
    pub(crate) fn share_all(&mut self) {
        self.shared = self.len();
    }

    /// Returns the prefix of the blank line between two blocks.
    pub(crate) fn gap_prefix(&self, terminal: TerminalStyle) -> StyledLine {
        prefix(&self.containers[..self.shared], terminal)
    }

    /// Returns the prefix of the next line. Each item's marker is included once.
    pub(crate) fn line_prefix(&mut self, terminal: TerminalStyle) -> StyledLine {
        let line = prefix(&self.containers, terminal);
        for container in &mut self.containers {
            if let Container::Item(item) = container {
                item.is_written = true;
            }
        }
        line
    }

    /// Returns the number of columns available for text.
    pub(crate) fn room(&self, terminal: TerminalStyle) -> usize {
        terminal.width.saturating_sub(width(&prefix(&self.containers, terminal))).max(1)
    }
}

/// Returns whether a line continues a container, and moves the cursor past the container's marker.
fn continues(container: &mut Container, cursor: &mut Cursor<'_>) -> bool {
    match container {
        Container::List(_) => true,
        Container::Quote => skip_quote_marker(cursor),
        Container::Item(item) => {
            let is_empty = std::mem::take(&mut item.is_empty);
            if cursor.is_blank() {
                return !is_empty;
            }
            let is_indented = cursor.indent() >= item.indent;
            if is_indented {
                cursor.skip_indent(item.indent);
            }
            is_indented
        }
    }
}

/// Moves the cursor past the marker of a quote. Returns `false` if there is none.
pub(crate) fn skip_quote_marker(cursor: &mut Cursor<'_>) -> bool {
    let indent = cursor.indent();
    let is_quote = indent < 4 && cursor.trimmed().starts_with('>');
    if is_quote {
        cursor.skip_indent(indent);
        cursor.skip(1);
        cursor.skip_indent(1);
    }
    is_quote
}

fn marker_text(kind: ListKind, number: u64, task: Option<bool>, terminal: TerminalStyle) -> StyledLine {
    let checkbox = |is_done: bool| {
        if is_done {
            vec![StyledSpan::new("[x]", colored(AnsiColor::Green)), StyledSpan::plain(" ")]
        } else {
            vec![StyledSpan::plain("[ ] ")]
        }
    };
    let mut text = match (kind, task) {
        (ListKind::Number(end), _) => vec![StyledSpan::plain(format!("{number}{} ", char::from(end)))],
        // The checkbox replaces the bullet.
        (ListKind::Bullet(_), Some(_)) if terminal.color => StyledLine::new(),
        (ListKind::Bullet(_), _) => vec![StyledSpan::plain(if terminal.color { "• " } else { "- " })],
    };
    text.extend(task.map(checkbox).unwrap_or_default());
    text
}

/// Returns the prefix of a line. The outermost containers are omitted if it would take more than half of the width.
fn prefix(containers: &[Container], terminal: TerminalStyle) -> StyledLine {
    let mut parts: Vec<StyledLine> = Vec::new();
    let mut prefix_width = 0;
    for container in containers.iter().rev() {
        let part = prefix_part(container, terminal);
        prefix_width += width(&part);
        if prefix_width > terminal.width / 2 && parts.iter().any(|part| !part.is_empty()) {
            break;
        }
        parts.push(part);
    }
    parts.into_iter().rev().flatten().collect()
}

fn prefix_part(container: &Container, terminal: TerminalStyle) -> StyledLine {
    match container {
        Container::Quote => vec![StyledSpan::new(if terminal.color { "│ " } else { "> " }, DIM)],
        Container::List(_) => StyledLine::new(),
        Container::Item(item) if item.is_written => {
            vec![StyledSpan::plain(" ".repeat(width(&item.marker_text)))]
        }
        Container::Item(item) => item.marker_text.clone(),
    }
}
