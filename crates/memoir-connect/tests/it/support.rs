//! A temporary home directory and a JSON parser.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use jsonc_parser::{JsonValue, ParseOptions};
use memoir_connect::{
    ConfigLevel, ConnectionPlan, Host, MemoirCommand, Places, Records, apply, plan_connection, plan_removal,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

pub(crate) struct Home {
    directory: TempDir,
    pub(crate) records: Records,
}

impl Home {
    pub(crate) fn new() -> Self {
        // Files are synchronized when they are written, which takes long on a disk.
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { env::temp_dir() };
        Self { directory: TempDir::new_in(parent).unwrap(), records: Records::default() }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap()
    }

    pub(crate) fn places(&self) -> Places {
        Places {
            user_home: self.directory.path().to_owned(),
            config_home: self.path(".config"),
            claude_config_dir: None,
            codex_home: None,
        }
    }

    pub(crate) fn plan(&self, host: Host) -> ConnectionPlan {
        plan_connection(host, &ConfigLevel::User, &self.places(), &program()).unwrap()
    }

    pub(crate) fn connect(&mut self, host: Host) {
        apply(&self.plan(host), &mut self.records).unwrap();
    }

    pub(crate) fn disconnect(&mut self, host: Host) {
        // The caller saves the records between two runs.
        let saved = serde_json::to_string(&self.records).unwrap();
        self.records = serde_json::from_str(&saved).unwrap();
        let plan = plan_removal(host, &ConfigLevel::User, &self.places(), &self.records).unwrap();
        apply(&plan, &mut self.records).unwrap();
    }

    /// Returns every file with its content, and every directory.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut tree = BTreeMap::new();
        let mut directories = vec![self.directory.path().to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path.clone());
                    tree.insert(path, None);
                } else {
                    let content = fs::read(&path).unwrap();
                    tree.insert(path, Some(content));
                }
            }
        }
        tree
    }
}

pub(crate) fn program() -> MemoirCommand {
    MemoirCommand { path: "/opt/memoir/bin/memoir".to_owned(), arguments: Vec::new() }
}

/// Parses a JSON text with comments. An empty text is an empty object.
pub(crate) fn parse_json(text: &str, allows_trailing_commas: bool) -> Value {
    let options = ParseOptions {
        allow_trailing_commas: allows_trailing_commas,
        allow_missing_commas: false,
        allow_loose_object_property_names: false,
        allow_single_quoted_strings: false,
        ..ParseOptions::default()
    };
    let text = text.trim_start_matches('\u{feff}');
    let value =
        jsonc_parser::parse_to_value(text, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    value.map_or_else(|| json!({}), convert)
}

fn convert(value: JsonValue<'_>) -> Value {
    match value {
        JsonValue::String(text) => Value::String(text.into_owned()),
        JsonValue::Number(number) => serde_json::from_str(number).unwrap(),
        JsonValue::Boolean(flag) => Value::Bool(flag),
        JsonValue::Object(object) => {
            let entries: Map<String, Value> =
                object.into_iter().map(|(key, value)| (key.to_string(), convert(value))).collect();
            Value::Object(entries)
        }
        JsonValue::Array(array) => array.into_iter().map(convert).collect(),
        JsonValue::Null => Value::Null,
    }
}

/// Returns whether all characters of `part`, without white space and commas, are in `whole` in the same order.
pub(crate) fn is_contained(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().filter(|c| !c.is_whitespace() && *c != ',').all(|wanted| whole.any(|c| c == wanted))
}

pub(crate) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
