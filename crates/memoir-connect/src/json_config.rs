//! Writes an MCP server and hooks into a JSON file.

use jsonc_parser::cst::{CstInputValue, CstObject};
use serde_json::Value;

use crate::{
    content::{KeyPath, Prune},
    error::EditError,
    json_hooks::{self, Hooks},
    jsonc::{JsonDialect, JsonDocument, object_at, property, value_of},
};

/// The key of Memoir's entry among the MCP servers.
pub(crate) const SERVER_KEY: &str = "memoir";

/// What Memoir writes into a JSON file.
#[derive(Debug, Clone)]
pub(crate) struct JsonConfig {
    pub(crate) dialect: JsonDialect,
    pub(crate) server: Option<ServerEntry>,
    pub(crate) hooks: Option<Hooks>,
    /// Value of the `version` key, which some hosts require. An existing one stays.
    pub(crate) version: Option<u32>,
}

/// Memoir's entry in an object of MCP servers.
#[derive(Debug, Clone)]
pub(crate) struct ServerEntry {
    /// The key of the object.
    pub(crate) parent: &'static str,
    pub(crate) fields: Vec<(&'static str, FieldValue)>,
}

/// The value of a field of an MCP server.
#[derive(Debug, Clone)]
pub(crate) enum FieldValue {
    Text(String),
    List(Vec<String>),
    Flag(bool),
}

impl FieldValue {
    fn to_input(&self) -> CstInputValue {
        match self {
            Self::Text(text) => CstInputValue::String(text.clone()),
            Self::List(items) => {
                CstInputValue::Array(items.iter().cloned().map(CstInputValue::String).collect())
            }
            Self::Flag(flag) => CstInputValue::Bool(*flag),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::List(items) => Value::from(items.as_slice()),
            Self::Flag(flag) => Value::from(*flag),
        }
    }
}

/// Returns the text with Memoir's keys. A missing file becomes an indented object with a final newline.
pub(crate) fn insert(config: &JsonConfig, before: Option<&str>) -> Result<String, EditError> {
    let document = JsonDocument::parse(before.unwrap_or("{}\n"), config.dialect)?;
    let root = document.object()?;
    insert_version(config, &root)?;
    if let Some(server) = &config.server {
        insert_server(server, &root)?;
    }
    if let Some(hooks) = &config.hooks {
        json_hooks::insert(hooks, &root)?;
    }
    let after = document.text();
    if is_unchanged(config, before, &after) {
        return Ok(before.unwrap_or_default().to_owned());
    }
    JsonDocument::parse(&after, config.dialect).map_err(|_| EditError::Layout)?;
    Ok(after)
}

/// Returns whether editing has at most rewritten the white space of a text that has the keys already.
fn is_unchanged(config: &JsonConfig, before: Option<&str>, after: &str) -> bool {
    let value = |text: &str| {
        let document = JsonDocument::parse(text, config.dialect).ok()?;
        value_of(&document.object().ok()?.into())
    };
    before.is_some_and(|text| !text.trim().is_empty() && value(text) == value(after))
}

fn insert_version(config: &JsonConfig, root: &CstObject) -> Result<(), EditError> {
    if let Some(version) = config.version
        && property(root, "version")?.is_none()
    {
        root.insert(0, "version", CstInputValue::from(version));
    }
    Ok(())
}

fn insert_server(server: &ServerEntry, root: &CstObject) -> Result<(), EditError> {
    let servers = match object_at(root, &[server.parent])? {
        Some(servers) => servers,
        None => append_object(root, server.parent)?,
    };
    let Some(entry) = object_at(root, &[server.parent, SERVER_KEY])? else {
        let fields = server.fields.iter().map(|(key, value)| ((*key).to_owned(), value.to_input()));
        servers.append(SERVER_KEY, CstInputValue::Object(fields.collect()));
        return Ok(());
    };
    for (key, value) in &server.fields {
        match property(&entry, key)? {
            Some(field) => {
                if field.value().as_ref().and_then(value_of) != Some(value.to_value()) {
                    field.set_value(value.to_input());
                }
            }
            None => {
                entry.append(key, value.to_input());
            }
        }
    }
    Ok(())
}

/// Appends an empty object and returns it.
pub(crate) fn append_object(parent: &CstObject, key: &str) -> Result<CstObject, EditError> {
    parent.append(key, CstInputValue::Object(Vec::new())).object_value().ok_or(EditError::Layout)
}

/// Returns the text without Memoir's keys.
pub(crate) fn remove(config: &JsonConfig, text: &str, prune: Prune<'_>) -> Result<String, EditError> {
    let document = JsonDocument::parse(text, config.dialect)?;
    // `object` would add one to a text that has no value.
    if document.is_empty() {
        return Ok(text.to_owned());
    }
    let root = document.object()?;
    let mut is_changed = false;
    if let Some(server) = &config.server
        && let Some(servers) = object_at(&root, &[server.parent])?
        && let Some(entry) = property(&servers, SERVER_KEY)?
    {
        entry.remove();
        is_changed = true;
        prune_if_empty(&root, &[server.parent], prune)?;
    }
    if let Some(hooks) = &config.hooks {
        is_changed |= json_hooks::remove(hooks, &root, prune)?;
    }
    if !is_changed {
        return Ok(text.to_owned());
    }
    if config.version.is_some() && prune.includes(&["version"]) {
        remove_lonely_version(&root)?;
    }
    let after = document.text();
    JsonDocument::parse(&after, config.dialect).map_err(|_| EditError::Layout)?;
    Ok(after)
}

/// Removes the version from an object that has nothing else.
fn remove_lonely_version(root: &CstObject) -> Result<(), EditError> {
    if root.properties().len() == 1
        && let Some(version) = property(root, "version")?
    {
        version.remove();
    }
    Ok(())
}

/// Removes an object or array without values and comments.
pub(crate) fn prune_if_empty(root: &CstObject, path: &[&str], prune: Prune<'_>) -> Result<(), EditError> {
    let Some((last, parents)) = path.split_last() else { return Ok(()) };
    let Some(parent) = object_at(root, parents)? else { return Ok(()) };
    let Some(container) = property(&parent, last)? else { return Ok(()) };
    let children = container.value().map(|value| value.children()).unwrap_or_default();
    let is_empty =
        children.iter().all(|child| child.is_token() || child.is_whitespace() || child.is_newline());
    if is_empty && prune.includes(path) {
        container.remove();
    }
    Ok(())
}

/// Returns the containers of Memoir's keys that a text lacks. An invalid text lacks all.
pub(crate) fn missing_containers(config: &JsonConfig, before: Option<&str>) -> Vec<KeyPath> {
    let root = before
        .and_then(|text| JsonDocument::parse(text, config.dialect).ok())
        .and_then(|document| document.object().ok());
    let mut paths: Vec<Vec<&str>> = Vec::new();
    paths.extend(config.version.map(|_| vec!["version"]));
    paths.extend(config.server.iter().map(|server| vec![server.parent]));
    if let Some(hooks) = &config.hooks {
        paths.push(vec![json_hooks::HOOKS_KEY]);
        paths.extend(hooks.items.iter().map(|hook| vec![json_hooks::HOOKS_KEY, hook.event]));
    }
    let is_missing = |path: &Vec<&str>| {
        let Some(root) = &root else { return true };
        let Some((last, parents)) = path.split_last() else { return false };
        match object_at(root, parents) {
            Ok(Some(parent)) => parent.get(last).is_none(),
            _ => true,
        }
    };
    paths.retain(is_missing);
    paths.into_iter().map(|path| path.into_iter().map(str::to_owned).collect()).collect()
}
