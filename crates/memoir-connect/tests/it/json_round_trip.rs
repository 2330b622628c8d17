//! Connects each host to generated JSON files and removes it.

use memoir_connect::Host;
use serde_json::{Value, json};

use crate::{
    expected::{Expected, expected},
    support::{Home, is_contained, parse_json},
    variants::{Variant, json_variants},
};

/// Runs a check with every variant of the JSON files of a host. Returns the number of variants.
fn with_variants(host: Host, check: impl Fn(&Expected, &mut Home, &Variant)) -> usize {
    let expected = expected(host);
    let variants = json_variants(&expected);
    for variant in &variants {
        let mut home = Home::new();
        for file in expected.files() {
            home.write(file, &variant.text);
        }
        check(&expected, &mut home, variant);
    }
    variants.len()
}

fn check_round_trip(expected: &Expected, home: &mut Home, variant: &Variant) {
    let host = expected.host;
    let text = &variant.text;
    let before = parse_json(text, expected.allows_trailing_commas);
    let tree = home.tree();
    home.connect(host);
    for file in expected.files() {
        let after = home.read(file);
        let value = parse_json(&after, expected.allows_trailing_commas);
        assert_eq!(value, expected.connected(file, &before), "{host:?} {file}\n{text:?}\n{after}");
        assert_eq!(after.starts_with('\u{feff}'), text.starts_with('\u{feff}'), "{after:?}");
        if !variant.has_old_entry {
            assert!(is_contained(text, &after), "{host:?} {file} lost text\n{text}\n{after}");
        }
        if text.contains("\r\n") {
            assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
        }
        // The indentation is taken from the first key of the root.
        if text.trim_start_matches('\u{feff}').replace('\r', "").starts_with("{\n\t") {
            assert!(!after.contains("\n "), "{host:?} {file} mixes spaces with tabs\n{after}");
        }
        if !text.contains(",\n}") && !text.contains(",}") && !text.contains(",]") && !text.contains(",\r\n}")
        {
            parse_json(&after, false);
        }
    }
    assert!(home.plan(host).changes.is_empty(), "{host:?} changes something twice\n{text:?}");
    home.disconnect(host);
    assert_eq!(home.tree(), tree, "{host:?} does not restore\n{text:?}");
    assert!(home.records.files.is_empty() && home.records.directories.is_empty(), "{:?}", home.records);
}

/// Adds a key at the start of the root object, as a user or the host might.
fn add_key(text: &str) -> String {
    let start = text.find('{').unwrap();
    let is_empty = parse_json(text, true).as_object().unwrap().is_empty();
    let comma = if is_empty { "" } else { "," };
    format!("{} \"addedByUser\": true{comma}{}", &text[..=start], &text[start + 1..])
}

fn check_edited_removal(expected: &Expected, home: &mut Home, variant: &Variant) {
    let host = expected.host;
    let before = parse_json(&variant.text, expected.allows_trailing_commas);
    home.connect(host);
    for file in expected.files() {
        home.write(file, &add_key(&home.read(file)));
    }
    home.disconnect(host);
    for file in expected.files() {
        let after = home.read(file);
        let mut wanted = expected.stripped(file, &before);
        wanted["addedByUser"] = json!(true);
        if expected.hook_file == Some(file)
            && let Some(version) = expected.version
        {
            // The user's key may depend on it.
            wanted["version"] = before.get("version").cloned().unwrap_or_else(|| json!(version));
        }
        let value = parse_json(&after, expected.allows_trailing_commas);
        assert_eq!(value, wanted, "{host:?} {file}\n{}\n{after}", variant.text);
        let is_text = |line: &&str| line.contains("//") || line.contains("/*");
        for comment in variant.text.lines().filter(is_text).filter(|_| !variant.has_old_entry) {
            let comment = &comment[comment.find("//").or(comment.find("/*")).unwrap()..];
            let comment = comment.split("*/").next().unwrap().trim_end();
            assert!(after.contains(comment), "{host:?} lost {comment}\n{}\n{after}", variant.text);
        }
        assert!(!after.contains("/opt/memoir"), "{after}");
    }
    assert!(home.records.files.is_empty(), "{:?}", home.records);
}

#[test]
fn every_variant_is_restored_byte_for_byte() {
    for host in Host::ALL {
        let count = with_variants(host, check_round_trip);
        assert!(count >= 50, "{host:?}: {count}");
    }
}

#[test]
fn removal_after_an_edit_keeps_the_edit() {
    for host in Host::ALL {
        with_variants(host, check_edited_removal);
    }
}

#[test]
fn missing_files_are_created_and_deleted() {
    for host in Host::ALL {
        let mut home = Home::new();
        let expected = expected(host);
        home.connect(host);
        for file in expected.files() {
            let text = home.read(file);
            assert_eq!(parse_json(&text, false), expected.connected(file, &json!({})), "{text}");
            assert!(text.starts_with("{\n  \"") && text.ends_with("\n}\n"), "{text}");
            let _: Value = serde_json::from_str(&text).unwrap();
        }
        assert!(home.plan(host).changes.is_empty());
        home.disconnect(host);
        assert!(home.tree().is_empty(), "{:?}", home.tree());
    }
}

#[test]
fn created_files_with_edits_keep_only_the_edits() {
    for host in Host::ALL {
        let mut home = Home::new();
        let expected = expected(host);
        home.connect(host);
        for file in expected.files() {
            home.write(file, &add_key(&home.read(file)));
        }
        home.disconnect(host);
        for file in expected.files() {
            let mut wanted = json!({"addedByUser": true});
            if expected.hook_file == Some(file)
                && let Some(version) = expected.version
            {
                wanted["version"] = json!(version);
            }
            assert_eq!(parse_json(&home.read(file), false), wanted);
        }
    }
}

#[test]
fn a_connection_without_records_can_be_removed() {
    for host in Host::ALL {
        let mut home = Home::new();
        let expected = expected(host);
        for file in expected.files() {
            home.write(file, "{\n  \"a\": 1\n}\n");
        }
        home.connect(host);
        home.records = memoir_connect::Records::default();
        home.disconnect(host);
        for file in expected.files() {
            let text = home.read(file);
            let mut value = parse_json(&text, false);
            value.as_object_mut().unwrap().remove("version");
            assert_eq!(value, json!({"a": 1}), "{host:?} {text}");
        }
    }
}
