//! Writes an MCP server into a TOML file.
//!
//! The table is appended as text, and removed as text, so that line endings, comments and order stay as they are.
//! toml_edit checks the result, and edits the layouts that text cannot be appended to, such as inline tables.

use std::ops::Range;

use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::{
    diff::differences,
    error::{ConfigFormat, EditError},
    json_config::SERVER_KEY,
};

/// An MCP server in a table of servers.
#[derive(Debug, Clone)]
pub(crate) struct TomlEntry {
    /// The key of the table of servers.
    pub(crate) parent: &'static str,
    pub(crate) command: String,
    pub(crate) arguments: Vec<String>,
}

impl TomlEntry {
    fn fields(&self) -> [(&'static str, Value); 2] {
        let arguments: Array = self.arguments.iter().map(String::as_str).collect();
        [("command", Value::from(self.command.as_str())), ("args", Value::Array(arguments))]
    }
}

const BOM: char = '\u{feff}';

/// Returns the text with the server.
pub(crate) fn insert(entry: &TomlEntry, text: &str) -> Result<String, EditError> {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let document = parse(body)?;
    if server_table(&document, entry.parent)?.is_none() {
        let appended = append(entry, text);
        let is_valid = parse(appended.trim_start_matches(BOM))
            .is_ok_and(|document| matches!(server_table(&document, entry.parent), Ok(Some(_))));
        if is_valid {
            return Ok(appended);
        }
    }
    edit(text, |document| insert_into(entry, document))
}

/// Returns the text followed by the server's table.
fn append(entry: &TomlEntry, text: &str) -> String {
    let newline = newline_of(text);
    let mut after = text.to_owned();
    if !text.trim_start_matches(BOM).trim().is_empty() {
        if !text.ends_with('\n') {
            after.push_str(newline);
        }
        after.push_str(newline);
    }
    after.push_str(&format!("[{}.{SERVER_KEY}]{newline}", entry.parent));
    for (key, value) in entry.fields() {
        after.push_str(&format!("{key} = {}{newline}", value.to_string().trim()));
    }
    after
}

/// Returns the line ending that a text begins with.
fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(position) if text[..position].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn insert_into(entry: &TomlEntry, document: &mut DocumentMut) -> Result<(), EditError> {
    let servers = document.as_table_mut().entry(entry.parent).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let is_inline = servers.is_inline_table();
    let servers = servers.as_table_like_mut().ok_or_else(|| wrong_type(entry.parent))?;
    let server = servers.entry(SERVER_KEY).or_insert_with(|| {
        if is_inline { Item::Value(InlineTable::new().into()) } else { Item::Table(Table::new()) }
    });
    let server =
        server.as_table_like_mut().ok_or_else(|| wrong_type(&format!("{}.{SERVER_KEY}", entry.parent)))?;
    for (key, value) in entry.fields() {
        set_field(server, key, value);
    }
    Ok(())
}

/// Sets a field unless it has the value already. Keeps the comment behind it.
fn set_field(server: &mut dyn TableLike, key: &str, mut value: Value) {
    let current = server.get(key).and_then(Item::as_value);
    if current.is_some_and(|current| is_same(current, &value)) {
        return;
    }
    if let Some(current) = current {
        *value.decor_mut() = current.decor().clone();
    }
    match server.get_mut(key) {
        Some(item) => *item = Item::Value(value),
        None => {
            server.insert(key, Item::Value(value));
        }
    }
}

/// Returns whether two strings, or two arrays of strings, are equal.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left.value() == right.value(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        _ => false,
    }
}

/// Returns the text without the server.
pub(crate) fn remove(entry: &TomlEntry, text: &str) -> Result<String, EditError> {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let document = parse(body)?;
    let Some(server) = server_table(&document, entry.parent)? else { return Ok(text.to_owned()) };
    if let Some(table) = server.as_table()
        && let Some(mut regions) = table_regions(table, body)
    {
        let bom = &text[..text.len() - body.len()];
        regions.sort_by_key(|region| region.start);
        let mut after = bom.to_owned();
        let mut position = 0;
        for region in regions {
            after.push_str(&body[position..region.start.max(position)]);
            position = region.end.max(position);
        }
        let rest = &body[position..];
        // Connecting has put an empty line above the table.
        let blank = format!("{0}{0}", newline_of(body));
        if after.ends_with(&blank) && (rest.is_empty() || rest.starts_with(['\n', '\r'])) {
            after.truncate(after.len() - blank.len() / 2);
        }
        after.push_str(rest);
        let is_removed = parse(after.trim_start_matches(BOM))
            .is_ok_and(|document| matches!(server_table(&document, entry.parent), Ok(None)));
        if is_removed {
            return Ok(after);
        }
    }
    edit(text, |document| {
        if let Some(servers) = document.get_mut(entry.parent).and_then(Item::as_table_like_mut) {
            servers.remove(SERVER_KEY);
        }
        Ok(())
    })
}

/// Returns the lines of a table and of the tables in it, or `None` if it has no header of its own.
fn table_regions(table: &Table, text: &str) -> Option<Vec<Range<usize>>> {
    let header = table.span()?;
    if table.is_dotted() || !text[header.start..].starts_with('[') {
        return None;
    }
    let mut end = header.end;
    let mut regions = Vec::new();
    for (_, item) in table.iter() {
        match item {
            Item::Table(child) if !child.is_dotted() => regions.extend(table_regions(child, text)?),
            Item::Value(value) => end = end.max(value.span()?.end),
            _ => return None,
        }
    }
    let line_end = text[end..].find('\n').map_or(text.len(), |length| end + length + 1);
    regions.push(header.start..line_end);
    Some(regions)
}

/// Returns Memoir's entry.
fn server_table<'a>(document: &'a Document<String>, parent: &str) -> Result<Option<&'a Item>, EditError> {
    let Some(servers) = document.get(parent) else { return Ok(None) };
    let servers = servers.as_table_like().ok_or_else(|| wrong_type(parent))?;
    let Some(server) = servers.get(SERVER_KEY) else { return Ok(None) };
    if server.is_table_like() { Ok(Some(server)) } else { Err(wrong_type(&format!("{parent}.{SERVER_KEY}"))) }
}

fn wrong_type(key: &str) -> EditError {
    EditError::WrongType { key: key.to_owned(), expected: "a table" }
}

fn parse(text: &str) -> Result<Document<String>, EditError> {
    Document::parse(text.to_owned()).map_err(|error| {
        let position = error.span().map_or(0, |span| span.start);
        EditError::Syntax {
            format: ConfigFormat::Toml,
            line: text.bytes().take(position).filter(|byte| *byte == b'\n').count() + 1,
            reason: error.message().lines().next().unwrap_or_default().to_owned(),
        }
    })
}

/// Edits a text with toml_edit. Transfers only the differences, because toml_edit writes its own line endings.
fn edit(
    text: &str,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), EditError>,
) -> Result<String, EditError> {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let mut document = parse(body)?.into_mut();
    let before = document.to_string();
    change(&mut document)?;
    let after = document.to_string();
    let newline = newline_of(text);
    let mut result = text[..text.len() - body.len()].to_owned();
    let mut position = 0;
    for hunk in differences(&before, &after) {
        let start = original_position(body, &before, hunk.before.start).ok_or(EditError::Layout)?;
        let end = original_position(body, &before, hunk.before.end).ok_or(EditError::Layout)?;
        result.push_str(body.get(position..start).ok_or(EditError::Layout)?);
        result.push_str(&after[hunk.after].replace("\r\n", "\n").replace('\n', newline));
        position = end;
    }
    result.push_str(body.get(position..).ok_or(EditError::Layout)?);
    parse(result.trim_start_matches(BOM)).map_err(|_| EditError::Layout)?;
    Ok(result)
}

/// Returns the position in `original` that corresponds to one in `copy`, which lacks some carriage returns.
fn original_position(original: &str, copy: &str, position: usize) -> Option<usize> {
    let mut original_bytes = original.bytes().enumerate().peekable();
    for expected in copy.get(..position)?.bytes() {
        let (_, byte) = original_bytes.next()?;
        if byte != expected {
            let (_, next) = original_bytes.next()?;
            if byte != b'\r' || next != expected {
                return None;
            }
        }
    }
    Some(original_bytes.peek().map_or(original.len(), |(index, _)| *index))
}
