//! Files that cannot be edited stay as they are.

use std::fs;

use memoir_connect::{ConfigLevel, ConnectError, Host, apply, plan_connection};

use crate::{
    expected::expected,
    support::{Home, program},
};

fn refuse(host: Host, file: &str, content: &[u8]) -> ConnectError {
    let home = Home::new();
    home.write(file, "");
    fs::write(home.path(file), content).unwrap();
    let tree = home.tree();
    let error = plan_connection(host, &ConfigLevel::User, &home.places(), &program()).unwrap_err();
    assert_eq!(home.tree(), tree);
    let message = error.to_string();
    assert!(message.contains(file) && message.ends_with("Nothing was changed."), "{message}");
    error
}

#[test]
fn invalid_json_is_refused() {
    for host in Host::ALL {
        let expected = expected(host);
        for file in expected.files() {
            for text in [
                "{",
                "{\"a\": }",
                "{\"a\": 1 \"b\": 2}",
                "{a: 1}",
                "{'a': 1}",
                "{} {}",
                "nonsense",
                "{\"a\": \"x}\n",
            ] {
                assert!(matches!(refuse(host, file, text.as_bytes()), ConnectError::Syntax { .. }), "{text}");
            }
            for text in ["[]", "null", "1", "\"text\""] {
                assert!(
                    matches!(refuse(host, file, text.as_bytes()), ConnectError::NotAnObject { .. }),
                    "{text}"
                );
            }
            assert!(matches!(refuse(host, file, b"{\"a\": \"\xff\"}"), ConnectError::NotUtf8 { .. }));
        }
    }
}

#[test]
fn other_types_and_duplicates_are_refused() {
    for host in Host::ALL {
        let expected = expected(host);
        if let Some(file) = expected.server_file {
            for value in ["[]", "null", "\"text\"", "{\"memoir\": []}", "{\"memoir\": \"x\"}"] {
                let text = format!("{{\"{}\": {value}}}", expected.servers);
                assert!(
                    matches!(refuse(host, file, text.as_bytes()), ConnectError::WrongType { .. }),
                    "{text}"
                );
            }
            let text = format!("{{\"{0}\": {{}}, \"{0}\": {{}}}}", expected.servers);
            assert!(matches!(refuse(host, file, text.as_bytes()), ConnectError::DuplicateKey { .. }));
        }
        if let Some(file) = expected.hook_file {
            let event = expected.events[1].0;
            for value in ["[]".to_owned(), format!("{{\"{event}\": {{}}}}"), format!("{{\"{event}\": 1}}")] {
                let text = format!("{{\"hooks\": {value}}}");
                assert!(
                    matches!(refuse(host, file, text.as_bytes()), ConnectError::WrongType { .. }),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn trailing_commas_are_refused_where_the_host_refuses_them() {
    let error = refuse(Host::Gemini, ".gemini/settings.json", b"{\n  \"a\": 1,\n}\n");
    assert!(matches!(error, ConnectError::Syntax { .. }), "{error}");
}

#[test]
fn invalid_toml_is_refused() {
    let file = ".codex/config.toml";
    for text in ["a = ", "[a", "a = 1\na = 2\n", "[a]\n[a]\n"] {
        assert!(matches!(refuse(Host::Codex, file, text.as_bytes()), ConnectError::Syntax { .. }), "{text}");
    }
    for text in
        ["mcp_servers = []\n", "mcp_servers = 1\n", "[[mcp_servers]]\n", "[mcp_servers]\nmemoir = 1\n"]
    {
        assert!(
            matches!(refuse(Host::Codex, file, text.as_bytes()), ConnectError::WrongType { .. }),
            "{text}"
        );
    }
    assert!(matches!(refuse(Host::Codex, file, b"a = \"\xff\""), ConnectError::NotUtf8 { .. }));
}

#[test]
fn the_message_names_the_line() {
    let error = refuse(Host::ClaudeCode, ".claude/settings.json", b"{\n  \"a\": 1,\n  \"b\" 2\n}\n");
    let message = error.to_string();
    assert!(message.contains("settings.json is not valid JSON (line 3: "), "{message}");
    let error = refuse(Host::Codex, ".codex/config.toml", b"a = 1\nb = \n");
    assert!(error.to_string().contains("config.toml is not valid TOML (line 2: "), "{error}");
}

#[test]
fn a_file_that_changes_meanwhile_is_left_alone() {
    let mut home = Home::new();
    home.write(".claude.json", "{}");
    home.write(".claude/settings.json", "{}");
    let plan = home.plan(Host::ClaudeCode);
    home.write(".claude/settings.json", "{\"new\": 1}");
    let tree = home.tree();
    let error = apply(&plan, &mut home.records).unwrap_err();
    assert!(matches!(error, ConnectError::ChangedMeanwhile { .. }), "{error}");
    assert_eq!(home.tree(), tree);
    assert!(home.records.files.is_empty());
}

#[test]
fn a_file_that_appears_meanwhile_is_left_alone() {
    let mut home = Home::new();
    let plan = home.plan(Host::Cursor);
    home.write(".cursor/hooks.json", "{}");
    let tree = home.tree();
    assert!(matches!(apply(&plan, &mut home.records), Err(ConnectError::ChangedMeanwhile { .. })));
    assert_eq!(home.tree(), tree);
}

#[test]
fn nothing_is_written_if_one_file_cannot_be() {
    let mut home = Home::new();
    home.write(".claude.json", "{}");
    let plan = home.plan(Host::ClaudeCode);
    // A file where the directory of the settings belongs.
    home.write(".claude", "");
    let tree = home.tree();
    assert!(apply(&plan, &mut home.records).is_err());
    assert_eq!(home.tree(), tree);
    assert!(home.records.files.is_empty());
}
