//! Rules: which calls are always allowed, and which never are.

use std::fmt;

use globset::{Glob, GlobBuilder};
use memoir_redact::redact;
use memoir_tools::{Access, Plan};

use super::{
    RuleError,
    shell::{all_words, plain_words},
};

/// What a rule does with the calls that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleEffect {
    /// Allows them.
    Allow,
    /// Refuses them.
    Deny,
}

impl RuleEffect {
    /// Returns the name of the effect in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// A rule about the calls of a tool, or about some of them: `file_edit`, `file_edit(src/**)`, `execute_bash(git status)`, `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it does with the calls that it matches.
    pub effect: RuleEffect,
    tool: String,
    what: Option<String>,
}

impl Rule {
    /// Parses a rule.
    ///
    /// # Errors
    ///
    /// See [`RuleError`].
    pub fn parse(effect: RuleEffect, text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let (tool, what) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let what = rest.strip_suffix(')').ok_or_else(|| RuleError::Unclosed(text.to_owned()))?;
                (tool.trim(), Some(what.trim().to_owned()))
            }
        };
        if !redact(text).findings.is_empty() {
            return Err(RuleError::Secret);
        }
        let is_name = |letter: char| letter.is_alphanumeric() || "_-*./".contains(letter);
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err(RuleError::NoTool(tool.to_owned()));
        }
        if let Some(what) = what.as_deref().filter(|_| !runs_commands(tool)) {
            Glob::new(what).map_err(|source| RuleError::Pattern { what: what.to_owned(), source })?;
        }
        if let Some(what) = what.as_deref().filter(|_| runs_commands(tool) && effect == RuleEffect::Allow)
            && plain_words(what.strip_prefix(EXACTLY).unwrap_or(what)).is_none()
        {
            return Err(RuleError::NotPlain(what.to_owned()));
        }
        if let Some(what) = what.as_deref().filter(|_| runs_commands(tool) && effect == RuleEffect::Deny)
            && all_words(&bare(what)).is_empty()
        {
            return Err(RuleError::NoCommand(what.to_owned()));
        }
        Ok(Self { effect, tool: tool.to_owned(), what })
    }

    /// The rule that always allows just what a call would do, if there is one.
    pub(super) fn for_call(tool: &str, plan: &Plan) -> Option<Self> {
        let what = match plan.accesses.as_slice() {
            [Access::Run(command)] if tool == BASH => {
                plain_words(command)?;
                Some(format!("{EXACTLY}{}", command.trim()))
            }
            [Access::Run(_)] => return None,
            [Access::Write(path) | Access::ReadOutside(path)] => Some(globset::escape(path.to_str()?)),
            [Access::Server(_) | Access::Network(_) | Access::Remember] => None,
            _ => return None,
        };
        let rule = Self { effect: RuleEffect::Allow, tool: tool.to_owned(), what };
        redact(&rule.to_string()).findings.is_empty().then_some(rule)
    }

    fn is_about(&self, tool: &str) -> bool {
        self.tool == tool || Glob::new(&self.tool).is_ok_and(|glob| glob.compile_matcher().is_match(tool))
    }

    /// Whether it allows an access of a tool.
    pub(super) fn allows(&self, tool: &str, access: &Access, shown: &str) -> bool {
        self.effect == RuleEffect::Allow
            && self.is_about(tool)
            && match (&self.what, access) {
                (None, _) => true,
                (Some(what), Access::Run(command)) => begins_with(command, what),
                (Some(what), Access::Read(path) | Access::Write(path)) => {
                    fits(what, shown) || fits(what, &path.to_string_lossy())
                }
                // Outside the project nothing is allowed but what is named in full.
                (Some(what), Access::ReadOutside(path)) => {
                    what.starts_with('/') && fits(what, &path.to_string_lossy())
                }
                (Some(_), _) => false,
            }
    }

    /// Whether it forbids an access of a tool. In doubt it does: a command is forbidden that has the words anywhere.
    pub(super) fn denies(&self, tool: &str, access: Option<&Access>, shown: &str) -> bool {
        self.effect == RuleEffect::Deny
            && self.is_about(tool)
            && match (&self.what, access) {
                (None, _) => true,
                (Some(what), Some(Access::Run(command))) => has_words(command, what),
                (Some(what), Some(access)) => touches(what, shown, access),
                (Some(_), None) => false,
            }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            None => formatter.write_str(&self.tool),
            Some(what) => write!(formatter, "{}({what})", self.tool),
        }
    }
}

const BASH: &str = "execute_bash";

fn runs_commands(tool: &str) -> bool {
    tool.starts_with("execute_")
}

/// Before a command that is meant as it is, and not as a beginning.
const EXACTLY: char = '=';

/// Whether a plain command begins with these words, or is just them.
fn begins_with(command: &str, wanted: &str) -> bool {
    let (wanted, whole) = match wanted.strip_prefix(EXACTLY) {
        Some(wanted) => (wanted, true),
        None => (wanted, false),
    };
    match (plain_words(command), plain_words(wanted)) {
        (Some(words), Some(wanted)) if whole => words == wanted,
        (Some(words), Some(wanted)) => words.starts_with(&wanted),
        _ => false,
    }
}

/// Whether a command has these words in a row, anywhere; a program counts by its name, wherever it lies.
fn has_words(command: &str, wanted: &str) -> bool {
    let wanted = bare(wanted);
    [command, &bare(command)].into_iter().any(|command| has_words_as_written(command, &wanted))
}

/// A command without quotes and backslashes, which mean nothing to the shell inside a word, and without the sign that it is meant as it is: what
/// is forbidden is so wherever it stands.
fn bare(command: &str) -> String {
    let meant = command.strip_prefix(EXACTLY).unwrap_or(command);
    meant.chars().filter(|letter| !"'\"\\".contains(*letter)).collect()
}

fn has_words_as_written(command: &str, wanted: &str) -> bool {
    let (words, wanted) = (all_words(command), all_words(wanted));
    let same = |word: &&str, wanted: &&str| word == wanted || word.rsplit('/').next() == Some(*wanted);
    !wanted.is_empty()
        && words
            .windows(wanted.len())
            .any(|some| some.iter().zip(&wanted).all(|(word, wanted)| same(word, wanted)))
}

/// Whether a path fits a pattern, in which a star stays within a folder.
fn fits(pattern: &str, path: &str) -> bool {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
}

/// Whether a path is, lies in, or holds what a pattern is about: a folder above it is moved and searched with it.
fn touches(pattern: &str, shown: &str, access: &Access) -> bool {
    let (Access::Read(path) | Access::ReadOutside(path) | Access::Write(path)) = access else { return false };
    let plain: String = pattern.chars().take_while(|letter| !"*?[{".contains(*letter)).collect();
    let holds = |path: &str| {
        path.is_empty()
            || plain.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let whole = path.to_string_lossy();
    let matcher = Glob::new(pattern).map(|glob| glob.compile_matcher());
    matcher.is_ok_and(|matcher| matcher.is_match(shown) || matcher.is_match(path))
        || holds(shown)
        || (plain.starts_with('/') && holds(&whole))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn run(command: &str) -> Access {
        Access::Run(command.into())
    }

    #[test]
    fn an_allowed_beginning_lets_nothing_else_through() {
        let rule = Rule::parse(RuleEffect::Allow, "execute_bash(git status)").unwrap();
        for command in ["git status", "git  status -s", "git 'status' src"] {
            assert!(rule.allows(BASH, &run(command), ""), "{command}");
        }
        for command in [
            "git statusx",
            "git",
            "git status; rm -rf x",
            "git status $(rm x)",
            "git status\nrm x",
            "git -C / status",
            "cd x && git status",
        ] {
            assert!(!rule.allows(BASH, &run(command), ""), "{command}");
        }
        assert!(!rule.allows("execute_python", &run("git status"), ""));
        assert!(Rule::parse(RuleEffect::Allow, "execute_bash(git status; ls)").is_err());
        let exact = Rule::parse(RuleEffect::Allow, "execute_bash(=find . -name x)").unwrap();
        assert!(
            exact.allows(BASH, &run("find . -name x"), "")
                && !exact.allows(BASH, &run("find . -name x -delete"), "")
        );
    }

    #[test]
    fn what_is_denied_is_found_wherever_it_hides() {
        let rule = Rule::parse(RuleEffect::Deny, "execute_bash(rm)").unwrap();
        for command in [
            "rm x",
            "git status; rm -rf x",
            "$(rm x)",
            "bash -c 'rm x'",
            "find . -exec /bin/rm {} +",
            "echo x | xargs rm",
            "ls\nrm x",
        ] {
            assert!(rule.denies(BASH, Some(&run(command)), ""), "{command}");
        }
        assert!(!rule.denies(BASH, Some(&run("git rm-branch farm")), ""));
        for spelled in ["execute_bash(=rm)", "execute_bash(r'm')", "execute_bash('rm')"] {
            let rule = Rule::parse(RuleEffect::Deny, spelled).unwrap();
            assert!(rule.denies(BASH, Some(&run("rm -r x")), ""), "{spelled}");
        }
        for nothing in ["execute_bash('')", "execute_bash(=)", "execute_bash(;)"] {
            assert!(Rule::parse(RuleEffect::Deny, nothing).is_err(), "{nothing}");
        }
        let rule = Rule::parse(RuleEffect::Deny, "execute_bash(git push)").unwrap();
        assert!(
            rule.denies(BASH, Some(&run("cd x && git push -f")), "")
                && !rule.denies(BASH, Some(&run("git pull")), "")
        );
    }

    #[test]
    fn paths_and_tools_go_by_patterns() {
        let rule = Rule::parse(RuleEffect::Allow, "file_*(src/**)").unwrap();
        let write = Access::Write("/w/src/a.rs".into());
        assert!(
            rule.allows("file_edit", &write, "src/a.rs") && !rule.allows("file_edit", &write, "lib/a.rs")
        );
        assert!(!rule.allows("dir_delete", &write, "src/a.rs"));
        assert!(Rule::parse(RuleEffect::Deny, "*edit*").unwrap().denies(
            "file_edit",
            Some(&write),
            "src/a.rs"
        ));
        // A star stays in its folder, and what lies outside is named in full.
        let notes = Rule::parse(RuleEffect::Allow, "file_write(notes/*)").unwrap();
        assert!(
            notes.allows("file_write", &write, "notes/a") && !notes.allows("file_write", &write, "notes/a/b")
        );
        let any = Rule::parse(RuleEffect::Allow, "file_read(**/*.md)").unwrap();
        assert!(!any.allows("file_read", &Access::ReadOutside("/etc/x.md".into()), "/etc/x.md"));
        // What holds something denied is denied with it.
        let secret = Rule::parse(RuleEffect::Deny, "file_*(secret/**)").unwrap();
        for (shown, denied) in
            [("secret/a", true), ("secret", true), ("", true), ("secrets", false), ("src", false)]
        {
            assert_eq!(
                secret.denies("file_move", Some(&Access::Write(format!("/w/{shown}").into())), shown),
                denied,
                "{shown}"
            );
        }
        assert!(
            Rule::parse(RuleEffect::Allow, "execute_bash(curl -H 'Authorization: Bearer abcdefgh12345678')")
                .is_err()
        );
        let everything = Rule::parse(RuleEffect::Deny, "*").unwrap();
        assert!(everything.denies("file_read", None, ""));
        for text in ["", "(x)", "file_edit(src", "a b(c)", "file_edit([)"] {
            assert!(Rule::parse(RuleEffect::Allow, text).is_err(), "{text}");
        }
        assert_eq!(rule.to_string(), "file_*(src/**)");
    }
}
