//! Permission rules and commands. The first line is a rule and the rest a command; a single line is a command.

use std::path::Path;

use memoir_agent::{ApprovalMode, ApprovalPolicy, Rule, RuleEffect, Verdict, plain_words};
use memoir_tools::{Access, Plan};

use crate::input::text;

const BASH: &str = "execute_bash";

/// Suffixes that make a plain command do something else.
const SUFFIXES: [&str; 9] =
    ["; rm x", " && rm x", " | sh", "\nrm x", " $(rm x)", " `rm x`", " > x", " &", "\r\nrm x"];

/// Checks three invariants: plain commands are split as a shell splits them and contain no shell syntax; an
/// allow rule allows only the commands it names; a deny rule matches every plain command that runs its
/// program.
pub fn approvals(data: &[u8]) {
    let text = text(data);
    check_plain(&text);
    let Some((rule, command)) = text.split_once('\n') else { return };
    check_plain(command);
    for effect in [RuleEffect::Allow, RuleEffect::Deny] {
        let Ok(rule) = Rule::parse(effect, rule) else { continue };
        let reparsed = Rule::parse(effect, &rule.to_string());
        assert_eq!(reparsed.as_ref(), Ok(&rule), "a rule survives a round trip");
        match effect {
            RuleEffect::Allow => check_allow_rule(&rule, command),
            RuleEffect::Deny => check_deny_rule(&rule, command),
        }
    }
}

/// Checks that an allowed command is plain and begins with the words of the rule, or equals them. No rule
/// allows commands in read-only mode.
fn check_allow_rule(rule: &Rule, command: &str) {
    assert!(
        matches!(judge(ApprovalMode::ReadOnly, rule, command), Verdict::Denied(_)),
        "{rule}: {command:?}"
    );
    if judge(ApprovalMode::Ask, rule, command) != Verdict::Allowed {
        return;
    }
    let rule_text = rule.to_string();
    let (tool, pattern) = split_rule(&rule_text);
    assert!(tool == BASH || tool.contains('*'), "{rule} is about another tool");
    let Some(pattern) = pattern else { return };
    let (prefix, is_exact) = pattern.strip_prefix('=').map_or((pattern, false), |exact| (exact, true));
    let (Some(words), Some(prefix)) = (plain_words(command), plain_words(prefix)) else {
        panic!("{rule} allows {command:?}, which is not plain");
    };
    let is_match = if is_exact { words == prefix } else { words.starts_with(&prefix) };
    assert!(is_match, "{rule} allows {command:?}");
}

/// Checks that a command that begins with the words of the rule is denied in every mode.
fn check_deny_rule(rule: &Rule, command: &str) {
    let rule_text = rule.to_string();
    let (BASH, pattern) = split_rule(&rule_text) else { return };
    if pattern.is_some_and(|pattern| !starts_with_names(command, pattern)) {
        return;
    }
    for mode in ApprovalMode::ALL {
        let verdict = judge(mode, rule, command);
        assert!(matches!(verdict, Verdict::Denied(_)), "{rule} does not deny {command:?} in {mode:?}");
    }
}

/// Returns whether a plain command begins with the words of a pattern, all of which are plain names.
fn starts_with_names(command: &str, pattern: &str) -> bool {
    let (Some(words), Some(prefix)) = (plain_words(command), plain_words(pattern)) else { return false };
    prefix.iter().all(|word| is_name(word)) && words.starts_with(&prefix)
}

/// Splits a rule into its tool and its pattern.
fn split_rule(rule: &str) -> (&str, Option<&str>) {
    match rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) {
        Some((tool, pattern)) => (tool, Some(pattern)),
        None => (rule, None),
    }
}

fn check_plain(command: &str) {
    let Some(words) = plain_words(command) else { return };
    assert_eq!(shlex::split(command), Some(words.clone()), "{command:?}");
    check_no_shell_syntax(command);
    if let Ok(rule) = Rule::parse(RuleEffect::Allow, &format!("{BASH}({})", command.trim())) {
        assert_eq!(judge(ApprovalMode::Ask, &rule, command), Verdict::Allowed, "{command:?}");
        for suffix in SUFFIXES {
            let longer = format!("{command}{suffix}");
            assert_eq!(judge(ApprovalMode::Ask, &rule, &longer), Verdict::Ask, "{longer:?}");
        }
    }
    for word in words.iter().filter(|word| is_name(word)) {
        if let Ok(rule) = Rule::parse(RuleEffect::Deny, &format!("{BASH}({word})")) {
            assert!(
                matches!(judge(ApprovalMode::Ask, &rule, command), Verdict::Denied(_)),
                "{word} in {command:?}"
            );
        }
    }
}

/// Checks that there is no shell syntax outside quotes and no expansion inside double quotes.
fn check_no_shell_syntax(command: &str) {
    let mut quote = None;
    for character in command.trim_matches([' ', '\t', '\n']).chars() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), character) if open == character => quote = None,
            (None, character) => {
                assert!(!";&|<>()$`\\*?[]{}~#!\n\r".contains(character), "{character:?} in {command:?}");
            }
            (Some('"'), character) => assert!(!"$`\\!".contains(character), "{character:?} in {command:?}"),
            _ => {}
        }
    }
    assert_eq!(quote, None, "{command:?}");
}

/// Returns whether a rule can name a word without quotes.
fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|character| character.is_alphanumeric() || "_-./".contains(character))
}

fn judge(mode: ApprovalMode, rule: &Rule, command: &str) -> Verdict {
    let policy = ApprovalPolicy { mode, rules: vec![rule.clone()], protected: Vec::new() };
    let plan = Plan { accesses: vec![Access::Run(command.to_owned())], preview: String::new() };
    policy.judge(BASH, &plan, Path::new("/project"))
}
