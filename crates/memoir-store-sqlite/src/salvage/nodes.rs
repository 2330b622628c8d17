//! Parses nodes of the trees in which SQLite stores tables and indexes, and the records in them.
//!
//! Everything here comes from a damaged file, so every length, offset and page number may be wrong.

use std::collections::HashSet;

use super::pages::{FILE_HEADER_BYTES, PageFile};

/// Number of null characters at the end of a text that mean that the text is damaged.
pub(crate) const ZEROED_BYTES: usize = 64;

/// A value of a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// The kind of tree that a node belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tree {
    /// A table with row ids.
    Table,
    /// An index, or a table without row ids.
    Index,
}

/// A row of a table, or an entry of an index.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// The row id. `None` in an index.
    pub id: Option<i64>,
    pub values: Vec<Value>,
}

/// A node of a tree.
#[derive(Debug)]
pub(super) struct Node {
    pub tree: Tree,
    pub children: Vec<u32>,
    pub rows: Vec<Row>,
    /// Number of rows that could not be read.
    pub lost: usize,
}

/// Parses a page. Returns `None` if it is not a node.
pub(super) fn parse_node(file: &mut PageFile, number: u32) -> Option<Node> {
    let page = file.page(number);
    let start = if number == 1 { FILE_HEADER_BYTES } else { 0 };
    let (tree, is_leaf) = match page.get(start)? {
        13 => (Tree::Table, true),
        5 => (Tree::Table, false),
        10 => (Tree::Index, true),
        2 => (Tree::Index, false),
        _ => return None,
    };
    let mut node = Node { tree, children: Vec::new(), rows: Vec::new(), lost: 0 };
    let cell_count = usize::from(u16::from_be_bytes([*page.get(start + 3)?, *page.get(start + 4)?]));
    let pointers = page.get(start + if is_leaf { 8 } else { 12 }..)?;
    for pointer in pointers.as_chunks::<2>().0.iter().take(cell_count) {
        let cell = page.get(usize::from(u16::from_be_bytes(*pointer))..).unwrap_or_default();
        let cell = if is_leaf {
            Some(cell)
        } else {
            cell.split_first_chunk::<4>().map(|(child, rest)| {
                node.children.push(u32::from_be_bytes(*child));
                rest
            })
        };
        if tree == Tree::Table && !is_leaf {
            continue;
        }
        match cell.and_then(|cell| parse_row(file, cell, tree)) {
            Some(row) => node.rows.push(row),
            None => node.lost += 1,
        }
    }
    // More cells than the page has room for.
    node.lost += cell_count.saturating_sub(pointers.len() / 2);
    if !is_leaf {
        let last = page.get(start + 8..start + 12)?.try_into().ok()?;
        node.children.push(u32::from_be_bytes(last));
    }
    Some(node)
}

fn parse_row(file: &mut PageFile, cell: &[u8], tree: Tree) -> Option<Row> {
    let (length, cell) = split_varint(cell)?;
    let length = usize::try_from(length).ok()?;
    let (id, cell) = match tree {
        Tree::Table => {
            let (id, cell) = split_varint(cell)?;
            (Some(id), cell)
        }
        Tree::Index => (None, cell),
    };
    let payload = read_payload(file, cell, length, tree)?;
    Some(Row { id, values: parse_record(&payload)? })
}

/// Collects the payload of a cell from the page and from its overflow pages.
fn read_payload(file: &mut PageFile, cell: &[u8], length: usize, tree: Tree) -> Option<Vec<u8>> {
    let usable = file.usable();
    let max_local = match tree {
        Tree::Table => usable - 35,
        Tree::Index => (usable - 12) * 64 / 255 - 23,
    };
    if length <= max_local {
        return cell.get(..length).map(<[u8]>::to_vec);
    }
    // A payload cannot be larger than the file.
    if length > file.count() as usize * usable {
        return None;
    }
    let min_local = (usable - 12) * 32 / 255 - 23;
    let local = min_local + (length - min_local) % (usable - 4);
    let local = if local <= max_local { local } else { min_local };
    let mut payload = cell.get(..local)?.to_vec();
    let mut next = u32::from_be_bytes(cell.get(local..local + 4)?.try_into().ok()?);
    let mut visited = HashSet::new();
    while payload.len() < length {
        if next == 0 || next > file.count() || !visited.insert(next) {
            return None;
        }
        let page = file.page(next);
        let (following, content) = page.split_first_chunk::<4>()?;
        next = u32::from_be_bytes(*following);
        payload.extend_from_slice(&content[..content.len().min(length - payload.len())]);
    }
    // The last page of a chain refers to no other.
    (next == 0).then_some(payload)
}

/// Parses a record. Returns `None` if it is not one, or if a text in it is not valid.
pub(super) fn parse_record(payload: &[u8]) -> Option<Vec<Value>> {
    let (header_length, rest) = split_varint(payload)?;
    let header_length = usize::try_from(header_length).ok()?;
    let prefix = payload.len() - rest.len();
    let mut types = payload.get(prefix..header_length)?;
    let mut content = payload.get(header_length..)?;
    let mut values = Vec::new();
    while !types.is_empty() {
        let (kind, rest) = split_varint(types)?;
        types = rest;
        let (value, rest) = split_value(kind, content)?;
        values.push(value);
        content = rest;
    }
    Some(values)
}

fn split_value(kind: i64, content: &[u8]) -> Option<(Value, &[u8])> {
    let length = match kind {
        0 | 8 | 9 => 0,
        1..=4 => usize::try_from(kind).ok()?,
        5 => 6,
        6 | 7 => 8,
        12.. => usize::try_from((kind - 12) / 2).ok()?,
        _ => return None,
    };
    let (bytes, rest) = content.split_at_checked(length)?;
    let value = match kind {
        0 => Value::Null,
        8 | 9 => Value::Integer(kind - 8),
        1..=6 => Value::Integer(parse_integer(bytes)),
        7 => Value::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
        _ if kind % 2 == 0 => Value::Blob(bytes.to_vec()),
        // Programs print a few null characters; more than that are the remains of a zeroed page.
        _ if bytes.ends_with(&[0; ZEROED_BYTES]) => return None,
        _ => Value::Text(std::str::from_utf8(bytes).ok()?.to_owned()),
    };
    Some((value, rest))
}

fn parse_integer(bytes: &[u8]) -> i64 {
    let is_negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    bytes.iter().fold(if is_negative { -1 } else { 0 }, |value, byte| (value << 8) | i64::from(*byte))
}

/// Splits off an integer of one to nine bytes.
fn split_varint(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut value: i64 = 0;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        if index == 8 {
            return Some(((value << 8) | i64::from(*byte), &bytes[9..]));
        }
        value = (value << 7) | i64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_one_to_nine_bytes() {
        assert_eq!(split_varint(&[0x7f, 1]), Some((127, &[1][..])));
        assert_eq!(split_varint(&[0x81, 0x00]), Some((128, &[][..])));
        assert_eq!(split_varint(&[0xff; 9]), Some((-1, &[][..])));
        assert_eq!(split_varint(&[0x80, 0x80]), None);
        assert_eq!(parse_integer(&[0xff, 0xfe]), -2);
        assert_eq!(parse_integer(&[0x01, 0x00]), 256);
    }

    #[test]
    fn a_record_is_parsed_and_a_damaged_one_is_not() {
        let record = [6, 0, 1, 9, 17, 14, 0xfe, b't', b'e', 7];
        let text = Value::Text("te".into());
        let expected = vec![Value::Null, Value::Integer(-2), Value::Integer(1), text, Value::Blob(vec![7])];
        assert_eq!(parse_record(&record), Some(expected));
        assert_eq!(parse_record(&record[..9]), None, "too short");
        // A text of 64 bytes.
        let zeroed = [&[3, 0x81, 0x0d][..], &[0; 64]].concat();
        assert_eq!(parse_record(&zeroed), None, "the end of a text is zeroed");
        assert_eq!(parse_record(&[2, 10]), None, "a reserved type");
    }
}
