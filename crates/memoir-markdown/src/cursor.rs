//! A place in a line. White space at its beginning is counted in columns, since a tab may belong to a container in part.

use std::borrow::Cow;

/// Tabs reach to the next multiple of this.
const TAB: usize = 4;

/// What is left of a line.
pub(crate) struct Cursor<'a> {
    rest: &'a str,
    /// Columns of a tab that was used in part.
    spare: usize,
    column: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        Self { rest: line, spare: 0, column: 0 }
    }

    /// How many columns of white space come next.
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

    /// Whether nothing but white space is left.
    pub(crate) fn is_blank(&self) -> bool {
        self.trimmed().is_empty()
    }

    /// The rest without the white space before it.
    pub(crate) fn trimmed(&self) -> &'a str {
        self.rest.trim_start_matches([' ', '\t'])
    }

    /// The rest as it stands.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        if self.spare == 0 {
            Cow::Borrowed(self.rest)
        } else {
            Cow::Owned(format!("{}{}", " ".repeat(self.spare), self.rest))
        }
    }

    /// Goes on by at most so many columns of white space.
    pub(crate) fn skip_indent(&mut self, mut columns: usize) {
        loop {
            let used = self.spare.min(columns);
            self.spare -= used;
            self.column += used;
            columns -= used;
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

    /// Goes on by so many bytes, which are all ASCII; what is before them must be skipped already.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
        self.column += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_reach_to_their_stops() {
        let mut cursor = Cursor::new("- \t\tx");
        cursor.skip(1);
        assert_eq!(cursor.indent(), 7);
        cursor.skip_indent(2);
        assert_eq!(cursor.indent(), 5);
        assert_eq!(cursor.text(), " \tx");
        assert_eq!(cursor.trimmed(), "x");
    }

    #[test]
    fn it_stops_where_the_white_space_does() {
        let mut cursor = Cursor::new("  x");
        cursor.skip_indent(9);
        assert_eq!(cursor.text(), "x");
        assert!(!cursor.is_blank());
        cursor.skip(1);
        assert!(cursor.is_blank());
    }
}
