//! Connects Codex to generated TOML files and removes it.

use memoir_connect::Host;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, TableLike};

use crate::{
    support::{Home, is_contained},
    variants::{Variant, toml_variants},
};

const FILE: &str = ".codex/config.toml";

fn parse(text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let document: DocumentMut = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    table(document.as_table())
}

fn table(table: &dyn TableLike) -> Value {
    table.iter().map(|(key, item)| (key.to_owned(), convert(item))).collect::<serde_json::Map<_, _>>().into()
}

fn convert(item: &Item) -> Value {
    if let Some(like) = item.as_table_like() {
        return table(like);
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|entry| table(entry)).collect();
    }
    if let Some(array) = item.as_array() {
        return array.iter().map(|value| convert(&Item::Value(value.clone()))).collect();
    }
    item.as_str().map(Value::from).or_else(|| item.as_integer().map(Value::from)).unwrap()
}

fn connected(before: &Value) -> Value {
    let mut after = before.clone();
    after["mcp_servers"]["memoir"]["command"] = json!("/opt/memoir/bin/memoir");
    after["mcp_servers"]["memoir"]["args"] = json!(["mcp", "serve"]);
    after
}

fn is_header(line: &&str) -> bool {
    line.trim_start_matches('\u{feff}').trim_start().starts_with('[')
}

fn check(variant: &Variant) {
    let text = &variant.text;
    let mut home = Home::new();
    home.write(FILE, text);
    let tree = home.tree();
    home.connect(Host::Codex);
    let after = home.read(FILE);
    assert_eq!(parse(&after), connected(&parse(text)), "{text:?}\n{after}");
    assert_eq!(after.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
    if !variant.has_old_entry {
        assert!(is_contained(text, &after), "{text}\n{after}");
    }
    let lone = |text: &str| text.matches('\n').count() - text.matches("\r\n").count();
    if text.contains("\r\n") && lone(text) == 0 {
        assert_eq!(lone(&after), 0, "{after:?}");
    }
    assert!(home.plan(Host::Codex).changes.is_empty(), "{text:?}");
    home.disconnect(Host::Codex);
    assert_eq!(home.tree(), tree, "{text:?}\n{after:?}");
}

fn check_edited(variant: &Variant) {
    let mut home = Home::new();
    home.write(FILE, &variant.text);
    home.connect(Host::Codex);
    home.write(FILE, &format!("{}\n# my note\n[added]\nby = \"user\"\n", home.read(FILE)));
    home.disconnect(Host::Codex);
    let after = home.read(FILE);
    let mut wanted = parse(&variant.text);
    if let Some(servers) = wanted.get_mut("mcp_servers").and_then(Value::as_object_mut) {
        servers.remove("memoir");
    }
    wanted["added"] = json!({"by": "user"});
    let mut value = parse(&after);
    // An empty table of servers makes no difference.
    for value in [&mut value, &mut wanted] {
        if value.get("mcp_servers") == Some(&json!({})) {
            value.as_object_mut().unwrap().remove("mcp_servers");
        }
    }
    assert_eq!(value, wanted, "{}\n{after}", variant.text);
    assert!(after.contains("# my note"), "{after}");
    if !variant.has_old_entry {
        assert!(is_contained(&variant.text, &after), "{}\n{after}", variant.text);
        let headers = |text: &str| text.lines().filter(is_header).map(str::to_owned).collect::<Vec<_>>();
        assert!(headers(&after).len() == headers(&variant.text).len() + 1, "{after}");
    }
}

#[test]
fn every_variant_is_restored_byte_for_byte() {
    let variants = toml_variants();
    assert!(variants.len() >= 50, "{}", variants.len());
    variants.iter().for_each(check);
}

#[test]
fn removal_after_an_edit_keeps_the_edit() {
    toml_variants().iter().for_each(check_edited);
}

#[test]
fn a_missing_file_is_created_and_deleted() {
    let mut home = Home::new();
    home.connect(Host::Codex);
    assert_eq!(
        home.read(FILE),
        "[mcp_servers.memoir]\ncommand = \"/opt/memoir/bin/memoir\"\nargs = [\"mcp\", \"serve\"]\n"
    );
    home.disconnect(Host::Codex);
    assert!(home.tree().is_empty());
}
