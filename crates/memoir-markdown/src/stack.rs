//! The containers that are open: quotes, lists and their items; and what stands before each line because of them.

use anstyle::AnsiColor;

use crate::{
    TerminalStyle,
    cursor::Cursor,
    marker::{ListKind, Marker},
    span::{DIM, StyledLine, StyledSpan, colored, width},
};

/// So many containers within each other are looked at. Every line has to be matched with all of them.
const DEEPEST: usize = 32;

enum Container {
    Quote,
    List(List),
    Item(ListItem),
}

struct List {
    kind: ListKind,
    first: u64,
    last: u64,
}

struct ListItem {
    /// Lines that belong to it are indented by so many columns.
    indent: usize,
    /// What stands before its first line.
    mark: StyledLine,
    is_shown: bool,
    /// Whether nothing but the mark has come yet.
    is_bare: bool,
}

/// The containers that are open, outermost first.
#[derive(Default)]
pub(crate) struct Stack {
    containers: Vec<Container>,
    /// So many of them were open all the time since the last block was shown.
    shared: usize,
}

impl Stack {
    pub(crate) fn len(&self) -> usize {
        self.containers.len()
    }

    pub(crate) fn has_room(&self) -> bool {
        // A list and its item come together.
        self.len() + 2 <= DEEPEST
    }

    /// How many containers a line belongs to. Their marks are taken off it.
    pub(crate) fn matching(&mut self, cursor: &mut Cursor<'_>) -> usize {
        let other = self.containers.iter_mut().position(|container| !continues(container, cursor));
        other.unwrap_or(self.len())
    }

    /// Begins a quote.
    pub(crate) fn push_quote(&mut self) {
        self.containers.push(Container::Quote);
    }

    /// Begins an item, and a list if it is in none yet.
    pub(crate) fn push_item(
        &mut self,
        marker: Marker,
        indent: usize,
        task: Option<bool>,
        terminal: TerminalStyle,
    ) {
        let number = self.next_number(marker);
        let mark = mark(marker.kind, number, task, terminal);
        let item = ListItem { indent, mark, is_shown: false, is_bare: marker.is_bare };
        self.containers.push(Container::Item(item));
    }

    /// An item counts on when all have the number of the first, as many write them; else it has its own.
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

    /// Ends a list whose items are all ended.
    pub(crate) fn end_list(&mut self) {
        if matches!(self.containers.last(), Some(Container::List(_))) {
            self.pop();
        }
    }

    pub(crate) fn pop(&mut self) {
        self.containers.pop();
        self.shared = self.shared.min(self.len());
    }

    /// Whether the innermost container is an item whose mark was not shown.
    pub(crate) fn ends_unshown(&self) -> bool {
        matches!(self.containers.last(), Some(Container::Item(item)) if !item.is_shown)
    }

    /// Whether any mark was not shown yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.containers.iter().any(|container| matches!(container, Container::Item(item) if !item.is_shown))
    }

    /// Whether the block before and the next are in one list.
    pub(crate) fn stays_in_list(&self) -> bool {
        self.containers[..self.shared].iter().any(|container| matches!(container, Container::List(_)))
    }

    /// A block is shown: from now on the containers of this one count as shared.
    pub(crate) fn share_all(&mut self) {
        self.shared = self.len();
    }

    /// What stands in an empty line between two blocks.
    pub(crate) fn before_gap(&self, terminal: TerminalStyle) -> StyledLine {
        before(&self.containers[..self.shared], terminal)
    }

    /// What stands before the next line. Marks are shown once.
    pub(crate) fn before_line(&mut self, terminal: TerminalStyle) -> StyledLine {
        let line = before(&self.containers, terminal);
        for container in &mut self.containers {
            if let Container::Item(item) = container {
                item.is_shown = true;
            }
        }
        line
    }

    /// How many columns are left for text.
    pub(crate) fn room(&self, terminal: TerminalStyle) -> usize {
        terminal.width.saturating_sub(width(&before(&self.containers, terminal))).max(1)
    }
}

/// Whether a line belongs to a container.
fn continues(container: &mut Container, cursor: &mut Cursor<'_>) -> bool {
    match container {
        Container::List(_) => true,
        Container::Quote => take_quote(cursor),
        Container::Item(item) => {
            let is_bare = std::mem::take(&mut item.is_bare);
            if cursor.is_blank() {
                return !is_bare;
            }
            let belongs = cursor.indent() >= item.indent;
            if belongs {
                cursor.skip_indent(item.indent);
            }
            belongs
        }
    }
}

/// Takes the mark of a quote off a line, if there is one.
pub(crate) fn take_quote(cursor: &mut Cursor<'_>) -> bool {
    let indent = cursor.indent();
    let is_quote = indent < 4 && cursor.trimmed().starts_with('>');
    if is_quote {
        cursor.skip_indent(indent);
        cursor.skip(1);
        cursor.skip_indent(1);
    }
    is_quote
}

fn mark(kind: ListKind, number: u64, task: Option<bool>, terminal: TerminalStyle) -> StyledLine {
    let box_of = |done: bool| {
        if done {
            vec![StyledSpan::new("[x]", colored(AnsiColor::Green)), StyledSpan::plain(" ")]
        } else {
            vec![StyledSpan::plain("[ ] ")]
        }
    };
    let mut mark = match (kind, task) {
        (ListKind::Number(end), _) => vec![StyledSpan::plain(format!("{number}{} ", char::from(end)))],
        // The box is mark enough.
        (ListKind::Bullet(_), Some(_)) if terminal.color => StyledLine::new(),
        (ListKind::Bullet(_), _) => vec![StyledSpan::plain(if terminal.color { "• " } else { "- " })],
    };
    mark.extend(task.map(box_of).unwrap_or_default());
    mark
}

/// What containers put before a line. Where that would take more than half of the width, the outer ones put nothing.
fn before(containers: &[Container], terminal: TerminalStyle) -> StyledLine {
    let mut parts: Vec<StyledLine> = Vec::new();
    let mut taken = 0;
    for container in containers.iter().rev() {
        let part = part(container, terminal);
        taken += width(&part);
        if taken > terminal.width / 2 && parts.iter().any(|part| !part.is_empty()) {
            break;
        }
        parts.push(part);
    }
    parts.into_iter().rev().flatten().collect()
}

fn part(container: &Container, terminal: TerminalStyle) -> StyledLine {
    match container {
        Container::Quote => vec![StyledSpan::new(if terminal.color { "│ " } else { "> " }, DIM)],
        Container::List(_) => StyledLine::new(),
        Container::Item(item) if item.is_shown => vec![StyledSpan::plain(" ".repeat(width(&item.mark)))],
        Container::Item(item) => item.mark.clone(),
    }
}
