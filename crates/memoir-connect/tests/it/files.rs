//! Permissions, links, directories, updates and shared files.

use std::{fs, os::unix::fs::PermissionsExt};

use memoir_connect::{
    ConfigLevel, Host, MemoirCommand, Places, Records, apply, plan_connection, plan_removal,
};

use crate::support::{Home, exists, parse_json, program};

const SHARED_SKILL: &str = ".agents/skills/memoir/SKILL.md";

fn mode(home: &Home, file: &str) -> u32 {
    fs::metadata(home.path(file)).unwrap().permissions().mode() & 0o777
}

#[test]
fn permissions_are_kept() {
    let mut home = Home::new();
    home.write(".claude/settings.json", "{}");
    fs::set_permissions(home.path(".claude/settings.json"), fs::Permissions::from_mode(0o640)).unwrap();
    home.connect(Host::ClaudeCode);
    assert_eq!(mode(&home, ".claude/settings.json"), 0o640);
    assert_eq!(mode(&home, ".claude.json"), 0o600);
    assert_eq!(mode(&home, ".claude/skills/memoir/SKILL.md") & 0o600, 0o600);
    home.disconnect(Host::ClaudeCode);
    assert_eq!(mode(&home, ".claude/settings.json"), 0o640);
}

#[test]
fn links_are_written_through() {
    let mut home = Home::new();
    home.write("dotfiles/settings.json", "{\"a\": 1}");
    fs::create_dir(home.path(".gemini")).unwrap();
    let link = home.path(".gemini/settings.json");
    std::os::unix::fs::symlink("../dotfiles/settings.json", &link).unwrap();
    home.connect(Host::Gemini);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(home.read("dotfiles/settings.json").contains("mcpServers"));
    home.disconnect(Host::Gemini);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(home.read("dotfiles/settings.json"), "{\"a\": 1}");
}

#[test]
fn the_target_of_a_dangling_link_is_created_and_deleted() {
    let mut home = Home::new();
    fs::create_dir(home.path(".gemini")).unwrap();
    let link = home.path(".gemini/settings.json");
    std::os::unix::fs::symlink("../dotfiles/settings.json", &link).unwrap();
    home.connect(Host::Gemini);
    assert!(home.read("dotfiles/settings.json").contains("mcpServers"));
    home.disconnect(Host::Gemini);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(!exists(&home.path("dotfiles")));
}

#[test]
fn a_skill_in_linked_directories_stays_while_it_is_used() {
    let mut home = Home::new();
    fs::create_dir_all(home.path(".agents/skills")).unwrap();
    fs::create_dir(home.path(".claude")).unwrap();
    std::os::unix::fs::symlink("../.agents/skills", home.path(".claude/skills")).unwrap();
    home.connect(Host::ClaudeCode);
    home.connect(Host::Codex);
    home.disconnect(Host::ClaudeCode);
    assert!(exists(&home.path(SHARED_SKILL)));
    home.disconnect(Host::Codex);
    assert!(!exists(&home.path(SHARED_SKILL)));
}

#[test]
fn a_shared_skill_stays_until_the_last_host_is_removed() {
    let mut home = Home::new();
    let tree = home.tree();
    for host in [Host::Zed, Host::Gemini, Host::ClaudeCode] {
        home.connect(host);
    }
    home.disconnect(Host::Zed);
    assert!(exists(&home.path(SHARED_SKILL)));
    assert!(exists(&home.path(".claude/skills/memoir/SKILL.md")));
    home.disconnect(Host::Gemini);
    assert!(!exists(&home.path(".agents")));
    home.disconnect(Host::ClaudeCode);
    assert_eq!(home.tree(), tree);
}

#[test]
fn an_edited_skill_stays() {
    let mut home = Home::new();
    home.connect(Host::Zed);
    home.write(SHARED_SKILL, "mine");
    let plan = plan_removal(Host::Zed, &ConfigLevel::User, &home.places(), &home.records).unwrap();
    assert!(plan.notes.iter().any(|note| note.contains("because it was edited")), "{:?}", plan.notes);
    home.disconnect(Host::Zed);
    assert_eq!(home.read(SHARED_SKILL), "mine");
    assert!(!exists(&home.path(".config")));
}

#[test]
fn another_program_path_updates_the_entry_and_removal_restores_the_start() {
    for host in Host::ALL {
        let mut home = Home::new();
        let tree = home.tree();
        let old =
            MemoirCommand { path: "/old place/memoir".to_owned(), arguments: vec!["--offline".to_owned()] };
        let plan = plan_connection(host, &ConfigLevel::User, &home.places(), &old).unwrap();
        apply(&plan, &mut home.records).unwrap();
        home.connect(host);
        for (path, content) in home.tree() {
            let text = String::from_utf8(content.unwrap_or_default()).unwrap();
            assert!(!text.contains("/old place"), "{}\n{text}", path.display());
            assert!(!text.contains("--offline") || host != Host::Zed, "{text}");
        }
        assert!(home.plan(host).changes.is_empty());
        home.disconnect(host);
        assert_eq!(home.tree(), tree, "{host:?}");
    }
}

#[test]
fn an_update_after_an_edit_can_be_removed() {
    let mut home = Home::new();
    let old = MemoirCommand { path: "/old/memoir".to_owned(), arguments: Vec::new() };
    let plan = plan_connection(Host::ClaudeCode, &ConfigLevel::User, &home.places(), &old).unwrap();
    apply(&plan, &mut home.records).unwrap();
    let text = home.read(".claude.json");
    home.write(".claude.json", &text.replacen('{', "{\n  \"userID\": \"u\",", 1));
    home.connect(Host::ClaudeCode);
    home.disconnect(Host::ClaudeCode);
    assert_eq!(parse_json(&home.read(".claude.json"), false), serde_json::json!({"userID": "u"}));
}

#[test]
fn records_contain_nothing_of_the_user() {
    let mut home = Home::new();
    let text = "{\n  \"mcpServers\": {\n    \"gh\": { \"env\": { \"TOKEN\": \"s3cr3t\" } }\n  },\n  \
                \"hooks\": {\n    \"AfterAgent\": [{\"hooks\": []}]\n  }\n}\n";
    home.write(".gemini/settings.json", text);
    home.connect(Host::Gemini);
    let record = &home.records.files[&home.path(".gemini/settings.json")];
    assert!(record.edits.iter().all(|edit| edit.removed.trim().is_empty()), "{:?}", record.edits);
}

#[test]
fn projects_have_their_own_files() {
    let files = [
        (Host::ClaudeCode, vec![".mcp.json", ".claude/settings.json", ".claude/skills/memoir/SKILL.md"]),
        (Host::Codex, vec![".codex/config.toml", ".codex/hooks.json", SHARED_SKILL]),
        (Host::Gemini, vec![".gemini/settings.json", SHARED_SKILL]),
        (Host::Cursor, vec![".cursor/mcp.json", ".cursor/hooks.json", SHARED_SKILL]),
        (Host::OpenCode, vec!["opencode.json", ".opencode/plugins/memoir.js", SHARED_SKILL]),
        (Host::Zed, vec![".zed/settings.json", SHARED_SKILL]),
        (Host::VsCode, vec![".vscode/mcp.json", SHARED_SKILL]),
        (Host::Windsurf, vec![".devin/mcp_config.json", SHARED_SKILL]),
    ];
    for (host, files) in files {
        let home = Home::new();
        let project = ConfigLevel::Project(home.path("project"));
        let mut records = Records::default();
        let plan = plan_connection(host, &project, &home.places(), &program()).unwrap();
        let paths: Vec<_> = plan.changes.iter().map(|change| change.path.clone()).collect();
        let wanted: Vec<_> = files.iter().map(|file| home.path("project").join(file)).collect();
        assert_eq!(paths, wanted);
        apply(&plan, &mut records).unwrap();
        assert_eq!(fs::metadata(&wanted[0]).unwrap().permissions().mode() & 0o044, 0o044);
        let plan = plan_removal(host, &project, &home.places(), &records).unwrap();
        apply(&plan, &mut records).unwrap();
        assert!(home.tree().is_empty(), "{:?}", home.tree());
        assert_eq!(records, Records::default());
    }
}

#[test]
fn environment_directories_are_used() {
    let home = Home::new();
    let places = Places {
        claude_config_dir: Some(home.path("claude")),
        codex_home: Some(home.path("codex")),
        ..home.places()
    };
    for (host, directory) in [(Host::ClaudeCode, "claude"), (Host::Codex, "codex")] {
        assert!(!host.is_installed(&places));
        fs::create_dir(home.path(directory)).unwrap();
        assert!(host.is_installed(&places));
        let plan = plan_connection(host, &ConfigLevel::User, &places, &program()).unwrap();
        assert!(plan.changes[0].path.starts_with(home.path(directory)), "{:?}", plan.changes[0].path);
    }
}

#[test]
fn the_existing_file_of_two_is_used() {
    let mut home = Home::new();
    home.write(".config/opencode/opencode.jsonc", "{}\n");
    home.write(".config/devin/mcp_config.json", "{}\n");
    home.connect(Host::OpenCode);
    home.connect(Host::Windsurf);
    assert!(home.read(".config/opencode/opencode.jsonc").contains("\"local\""));
    assert!(!exists(&home.path(".config/opencode/opencode.json")));
    assert!(home.read(".config/devin/mcp_config.json").contains("memoir"));
    // Removal looks for the previous file if another one would be used now.
    home.write(".codeium/windsurf/mcp_config.json", "{}");
    home.disconnect(Host::Windsurf);
    assert_eq!(home.read(".config/devin/mcp_config.json"), "{}\n");
}

#[test]
fn tags_are_unique() {
    let tags: std::collections::HashSet<&str> = Host::ALL.iter().map(|host| host.tag()).collect();
    assert_eq!(tags.len(), Host::ALL.len());
}

#[test]
fn hooks_that_occur_twice_are_merged() {
    let mut home = Home::new();
    let hook =
        |path: &str| format!("{{\"hooks\": [{{\"command\": \"{path} hook --host gemini turn-end\"}}]}}");
    let text = format!("{{\"hooks\": {{\"AfterAgent\": [{}, {}]}}}}", hook("/old"), hook("/older"));
    home.write(".gemini/settings.json", &text);
    home.connect(Host::Gemini);
    let value = parse_json(&home.read(".gemini/settings.json"), false);
    let command = "/opt/memoir/bin/memoir hook --host gemini turn-end";
    assert_eq!(value["hooks"]["AfterAgent"], serde_json::json!([{"hooks": [{"command": command}]}]));
    home.disconnect(Host::Gemini);
    assert_eq!(home.read(".gemini/settings.json"), text);
}
