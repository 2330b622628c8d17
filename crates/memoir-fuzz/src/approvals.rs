//! Commands and rules of the approvals: a rule on the first line, a command on the rest. With one line, it is the command.

use std::path::Path;

use memoir_agent::{Mode, Policy, Rule, RuleEffect, Verdict, plain_words};
use memoir_tools::{Access, Plan};

use crate::input::text;

const BASH: &str = "execute_bash";

/// What makes something else of a plain command.
const ENDINGS: [&str; 9] =
    ["; rm x", " && rm x", " | sh", "\nrm x", " $(rm x)", " `rm x`", " > x", " &", "\r\nrm x"];

/// What is taken as plain is read as a shell reads it, and means nothing but itself; a rule lets through what it names, and nothing
/// else; a denied program is found in any plain command that runs it.
pub fn approvals(data: &[u8]) {
    let text = text(data);
    plain(&text);
    let Some((rule, command)) = text.split_once('\n') else { return };
    plain(command);
    for effect in [RuleEffect::Allow, RuleEffect::Deny] {
        let Ok(rule) = Rule::parse(effect, rule) else { continue };
        let again = Rule::parse(effect, &rule.to_string());
        assert_eq!(again.as_ref(), Ok(&rule), "what is written is read again");
        match effect {
            RuleEffect::Allow => allows_what_it_names(&rule, command),
            RuleEffect::Deny => denies_what_it_names(&rule, command),
        }
    }
}

/// What a rule lets through is plain, and begins with its words or is just them. No rule lets anything run that is only to read.
fn allows_what_it_names(rule: &Rule, command: &str) {
    assert!(matches!(judge(Mode::ReadOnly, rule, command), Verdict::Denied(_)), "{rule}: {command:?}");
    if judge(Mode::Ask, rule, command) != Verdict::Allowed {
        return;
    }
    let shown = rule.to_string();
    let (tool, what) = parts(&shown);
    assert!(tool == BASH || tool.contains('*'), "{rule} is about another tool");
    let Some(what) = what else { return };
    let (named, is_whole) = what.strip_prefix('=').map_or((what, false), |named| (named, true));
    let (Some(words), Some(named)) = (plain_words(command), plain_words(named)) else {
        panic!("{rule} lets through what is not plain: {command:?}");
    };
    let fits = if is_whole { words == named } else { words.starts_with(&named) };
    assert!(fits, "{rule} lets through {command:?}");
}

/// What begins with the words of a rule is denied in every mode.
fn denies_what_it_names(rule: &Rule, command: &str) {
    let shown = rule.to_string();
    let (BASH, what) = parts(&shown) else { return };
    if what.is_some_and(|what| !begins_with_names(command, what)) {
        return;
    }
    for mode in Mode::ALL {
        let verdict = judge(mode, rule, command);
        assert!(matches!(verdict, Verdict::Denied(_)), "{rule} lets through {command:?} in {mode:?}");
    }
}

/// Whether a plain command begins with these words.
fn begins_with_names(command: &str, what: &str) -> bool {
    let (Some(words), Some(named)) = (plain_words(command), plain_words(what)) else { return false };
    named.iter().all(|word| is_name(word)) && words.starts_with(&named)
}

/// The tool of a rule, and what of it.
fn parts(rule: &str) -> (&str, Option<&str>) {
    match rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) {
        Some((tool, what)) => (tool, Some(what)),
        None => (rule, None),
    }
}

fn plain(command: &str) {
    let Some(words) = plain_words(command) else { return };
    assert_eq!(shlex::split(command), Some(words.clone()), "{command:?}");
    means_itself(command);
    if let Ok(rule) = Rule::parse(RuleEffect::Allow, &format!("{BASH}({})", command.trim())) {
        assert_eq!(judge(Mode::Ask, &rule, command), Verdict::Allowed, "{command:?}");
        for ending in ENDINGS {
            let longer = format!("{command}{ending}");
            assert_eq!(judge(Mode::Ask, &rule, &longer), Verdict::Ask, "{longer:?}");
        }
    }
    for word in words.iter().filter(|word| is_name(word)) {
        if let Ok(rule) = Rule::parse(RuleEffect::Deny, &format!("{BASH}({word})")) {
            assert!(matches!(judge(Mode::Ask, &rule, command), Verdict::Denied(_)), "{word} in {command:?}");
        }
    }
}

/// Outside of quotes there is nothing that a shell would act on, and inside of double quotes nothing that it would put in.
fn means_itself(command: &str) {
    let mut quote = None;
    for letter in command.trim_matches([' ', '\t', '\n']).chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None, letter) => {
                assert!(!";&|<>()$`\\*?[]{}~#!\n\r".contains(letter), "{letter:?} in {command:?}");
            }
            (Some('"'), letter) => assert!(!"$`\\!".contains(letter), "{letter:?} in {command:?}"),
            _ => {}
        }
    }
    assert_eq!(quote, None, "{command:?}");
}

/// Whether a word is one that a rule can name.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || "_-./".contains(letter))
}

fn judge(mode: Mode, rule: &Rule, command: &str) -> Verdict {
    let policy = Policy { mode, rules: vec![rule.clone()], protected: Vec::new() };
    let plan = Plan { accesses: vec![Access::Run(command.to_owned())], preview: String::new() };
    policy.judge(BASH, &plan, Path::new("/project"))
}
