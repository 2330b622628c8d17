//! Commands and rules of the approvals: a rule on the first line, a command on the rest. With one line, it is the command.

use std::path::Path;

use memoir_agent::{Mode, Policy, Rule, RuleEffect, Verdict, plain_words};
use memoir_tools::{Access, Plan};

use crate::input::text;

const BASH: &str = "execute_bash";

/// What makes something else of a plain command.
const ENDINGS: [&str; 9] =
    ["; rm x", " && rm x", " | sh", "\nrm x", " $(rm x)", " `rm x`", " > x", " &", "\r\nrm x"];

/// What is taken as plain is read as a shell reads it, and means nothing but itself; an allowed command lets nothing else
/// through; a denied program is found in any plain command that runs it.
pub fn approvals(data: &[u8]) {
    let text = text(data);
    plain(&text);
    let Some((rule, command)) = text.split_once('\n') else { return };
    plain(command);
    for effect in [RuleEffect::Allow, RuleEffect::Deny] {
        let Ok(rule) = Rule::parse(effect, rule) else { continue };
        let again = Rule::parse(effect, &rule.to_string());
        assert_eq!(again.as_ref(), Ok(&rule), "what is written is read again");
        let verdict = judge(rule, command);
        assert!(effect == RuleEffect::Allow || verdict != Verdict::Allowed);
    }
}

fn plain(command: &str) {
    let Some(words) = plain_words(command) else { return };
    assert_eq!(shlex::split(command), Some(words.clone()), "{command:?}");
    means_itself(command);
    if let Ok(rule) = Rule::parse(RuleEffect::Allow, &format!("{BASH}({})", command.trim())) {
        assert_eq!(judge(rule.clone(), command), Verdict::Allowed, "{command:?}");
        for ending in ENDINGS {
            let longer = format!("{command}{ending}");
            assert_eq!(judge(rule.clone(), &longer), Verdict::Ask, "{longer:?}");
        }
    }
    for word in words.iter().filter(|word| is_name(word)) {
        if let Ok(rule) = Rule::parse(RuleEffect::Deny, &format!("{BASH}({word})")) {
            assert!(matches!(judge(rule, command), Verdict::Denied(_)), "{word} in {command:?}");
        }
    }
}

/// Outside of quotes there is nothing that a shell would act on, and inside of double quotes nothing that it would put in.
fn means_itself(command: &str) {
    let mut quote = None;
    for letter in command.trim_matches('\n').chars() {
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

fn judge(rule: Rule, command: &str) -> Verdict {
    let policy = Policy { mode: Mode::Ask, rules: vec![rule], protected: Vec::new() };
    let plan = Plan { accesses: vec![Access::Run(command.to_owned())], preview: String::new() };
    policy.judge(BASH, &plan, Path::new("/project"))
}
