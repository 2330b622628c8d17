//! A position in a line. Indentation is counted in columns, because part of a tab may belong to a container.

use std::borrow::Cow;

/// Distance between tab stops.
const TAB: usize = 4;

pub(crate) struct Cursor<'a> {
    rest: &'a str,
    /// Remaining columns of a partly consumed tab.
    spare: usize,
    column: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        Self { rest: line, spare: 0, column: 0 }
    }

    /// Returns the number of columns of white space at the cursor.
    pub(crate) fn indent(&self) -> usize {
        let start = self.column + self.spare;
        let mut column = start;
        for byte in self.rest.bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column += TAB - column % TAB,
                _ => break,
            }
        }
        self.spare + column - start
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.trimmed().is_empty()
    }

    /// Returns the rest of the line without leading white space.
    pub(crate) fn trimmed(&self) -> &'a str {
        self.rest.trim_start_matches([' ', '\t'])
    }

    /// Returns the rest of the line, including the unused columns of a tab.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        if self.spare == 0 {
            Cow::Borrowed(self.rest)
        } else {
            Cow::Owned(format!("{}{}", " ".repeat(self.spare), self.rest))
        }
    }

    /// Skips at most `columns` columns of white space.
    pub(crate) fn skip_indent(&mut self, mut columns: usize) {
        loop {
            let step = self.spare.min(columns);
            self.spare -= step;
            self.column += step;
            columns -= step;
            if columns == 0 {
                return;
            }
            self.spare = match self.rest.as_bytes().first() {
                Some(b' ') => 1,
                Some(b'\t') => TAB - self.column % TAB,
                _ => return,
            };
            self.rest = &self.rest[1..];
        }
    }

    /// Skips `bytes` bytes of ASCII. The indentation must have been skipped before.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
        self.column += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_extend_to_tab_stops() {
        let mut cursor = Cursor::new("- \t\tx");
        cursor.skip(1);
        assert_eq!(cursor.indent(), 7);
        cursor.skip_indent(2);
        assert_eq!(cursor.indent(), 5);
        assert_eq!(cursor.text(), " \tx");
        assert_eq!(cursor.trimmed(), "x");
    }

    #[test]
    fn skip_indent_stops_at_text() {
        let mut cursor = Cursor::new("  x");
        cursor.skip_indent(9);
        assert_eq!(cursor.text(), "x");
        assert!(!cursor.is_blank());
        cursor.skip(1);
        assert!(cursor.is_blank());
    }
}
