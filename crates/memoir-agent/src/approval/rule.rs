//! Permission rules, which always allow or always deny particular calls.

use std::{fmt, path::Path};

use globset::{Glob, GlobBuilder, GlobMatcher};
use memoir_redact::redact;
use memoir_tools::{Access, Plan};

use super::{
    RuleError,
    options::may_write_or_run,
    shell::{all_words, plain_words},
};

/// What separates the name of a server from the name of its tool.
const SERVER_SEPARATOR: &str = "__";

/// Effect of a rule on the calls that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleEffect {
    /// The calls are allowed.
    Allow,
    /// The calls are denied.
    Deny,
}

impl RuleEffect {
    /// Returns the name that the config uses for the effect.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// A rule about all or some calls of a tool: `file_edit`, `file_edit(src/**)`, `execute_bash(git status)`, `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Effect on the calls that the rule matches.
    pub effect: RuleEffect,
    tool: String,
    /// Command or path pattern in the parentheses.
    argument: Option<String>,
}

impl Rule {
    /// Parses a rule.
    ///
    /// # Errors
    ///
    /// Fails if the rule is not valid; see [`RuleError`].
    pub fn parse(effect: RuleEffect, text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let (tool, argument) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let argument = rest.strip_suffix(')').ok_or_else(|| RuleError::Unclosed(text.to_owned()))?;
                (tool.trim(), Some(argument.trim().to_owned()))
            }
        };
        if !redact(text).findings.is_empty() {
            return Err(RuleError::Secret);
        }
        let is_name_char = |letter: char| letter.is_alphanumeric() || "_-*./".contains(letter);
        if tool.is_empty() || !tool.chars().all(is_name_char) {
            return Err(RuleError::NoTool(tool.to_owned()));
        }
        if let Some(argument) = argument.as_deref().filter(|_| !runs_commands(tool)) {
            Glob::new(argument)
                .map_err(|source| RuleError::Pattern { pattern: argument.to_owned(), source })?;
        }
        if let Some(argument) =
            argument.as_deref().filter(|_| runs_commands(tool) && effect == RuleEffect::Allow)
            && plain_words(argument.strip_prefix(EXACT_PREFIX).unwrap_or(argument)).is_none()
        {
            return Err(RuleError::NotPlain(argument.to_owned()));
        }
        if let Some(argument) =
            argument.as_deref().filter(|_| runs_commands(tool) && effect == RuleEffect::Deny)
            && all_words(&unquote(argument)).is_empty()
        {
            return Err(RuleError::NoCommand(argument.to_owned()));
        }
        Ok(Self { effect, tool: tool.to_owned(), argument })
    }

    /// Returns the rule that allows exactly this call, or `None` if a rule cannot express it.
    pub(super) fn for_call(tool: &str, plan: &Plan) -> Option<Self> {
        let argument = match plan.accesses.as_slice() {
            [Access::Run(command)] if tool == BASH => {
                plain_words(command)?;
                Some(format!("{EXACT_PREFIX}{}", command.trim()))
            }
            [Access::Run(_)] => return None,
            [Access::Write(path) | Access::ReadOutside(path)] => Some(globset::escape(path.to_str()?)),
            [Access::Server(_) | Access::Network(_) | Access::ChangeMemory] => None,
            _ => return None,
        };
        let rule = Self { effect: RuleEffect::Allow, tool: tool.to_owned(), argument };
        redact(&rule.to_string()).findings.is_empty().then_some(rule)
    }

    fn matches_tool(&self, tool: &str) -> bool {
        self.tool == tool || Glob::new(&self.tool).is_ok_and(|glob| glob.compile_matcher().is_match(tool))
    }

    /// Returns whether the rule allows an access of a tool. `relative_path` is relative to the project.
    pub(super) fn allows(&self, tool: &str, access: &Access, relative_path: &str) -> bool {
        self.effect == RuleEffect::Allow
            && self.matches_tool(tool)
            && match (&self.argument, access) {
                // A command that may run may not use the network.
                (None, Access::Network(_)) => !runs_commands(tool),
                // A rule for built-in tools, such as `file_*`, does not hold for a server called `file`.
                (None, Access::Server(_)) => self.tool == "*" || self.tool.contains(SERVER_SEPARATOR),
                (None, _) => true,
                (Some(argument), Access::Run(command)) => matches_command(command, argument),
                (Some(argument), Access::Read(path) | Access::Write(path)) => {
                    matches_path(argument, relative_path) || matches_path(argument, &path.to_string_lossy())
                }
                // Outside the workspace, only absolute patterns allow an access.
                (Some(argument), Access::ReadOutside(path)) => {
                    argument.starts_with('/') && matches_path(argument, &path.to_string_lossy())
                }
                (Some(_), _) => false,
            }
    }

    /// Returns the rule for the real path, if this is a deny rule that names a path through a link.
    pub(super) fn with_real_path(&self, project: &Path) -> Option<Self> {
        let name = self.argument.as_deref().filter(|_| self.effect == RuleEffect::Deny)?;
        let path = project.join(name.trim_end_matches('/'));
        let real = path.canonicalize().ok().filter(|real| !runs_commands(&self.tool) && *real != path)?;
        Some(Self { argument: Some(globset::escape(real.to_str()?)), ..self.clone() })
    }

    /// Returns the patterns of the paths that the rule denies to a tool.
    pub(super) fn denied_paths(&self, tool: &str) -> Vec<Glob> {
        match &self.argument {
            Some(pattern)
                if self.effect == RuleEffect::Deny && self.matches_tool(tool) && !runs_commands(tool) =>
            {
                deny_patterns(pattern)
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether the rule denies an access of a tool. It errs on the side of denying: it matches a command that
    /// contains the words anywhere.
    pub(super) fn denies(&self, tool: &str, access: Option<&Access>, relative_path: &str) -> bool {
        self.effect == RuleEffect::Deny
            && self.matches_tool(tool)
            && match (&self.argument, access) {
                (None, _) => true,
                (Some(argument), Some(Access::Run(command))) => contains_command(command, argument),
                (Some(argument), Some(access)) => overlaps_path(argument, relative_path, access),
                (Some(_), None) => false,
            }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            None => formatter.write_str(&self.tool),
            Some(argument) => write!(formatter, "{}({argument})", self.tool),
        }
    }
}

const BASH: &str = "execute_bash";

fn runs_commands(tool: &str) -> bool {
    tool.starts_with("execute_")
}

/// Prefix of a command that must match as a whole. Without it, a command matches as a prefix.
const EXACT_PREFIX: char = '=';

/// Returns whether a plain command starts with the pattern's words, or consists of them if the pattern is exact. The
/// words after a prefix must not be options that make the command do something else.
fn matches_command(command: &str, pattern: &str) -> bool {
    let (pattern, is_exact) = match pattern.strip_prefix(EXACT_PREFIX) {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    match (plain_words(command), plain_words(pattern)) {
        (Some(words), Some(pattern)) if is_exact => words == pattern,
        (Some(words), Some(pattern)) => {
            let rest = words.strip_prefix(pattern.as_slice());
            rest.is_some_and(|rest| !rest.iter().any(|word| may_write_or_run(word)))
        }
        _ => false,
    }
}

/// Returns whether a command contains the pattern's words in a row, with or without quotes. A program matches by its
/// file name, in any directory.
fn contains_command(command: &str, pattern: &str) -> bool {
    let pattern = unquote(pattern);
    [command, &unquote(command)].into_iter().any(|command| contains_words(command, &pattern))
}

/// Removes the exact prefix, and the quotes and backslashes, which could hide a denied word from a comparison.
fn unquote(command: &str) -> String {
    let command = command.strip_prefix(EXACT_PREFIX).unwrap_or(command);
    command.chars().filter(|letter| !"'\"\\".contains(*letter)).collect()
}

fn contains_words(command: &str, pattern: &str) -> bool {
    let (words, pattern) = (all_words(command), all_words(pattern));
    let is_same = |word: &&str, other: &&str| word == other || word.rsplit('/').next() == Some(*other);
    !pattern.is_empty()
        && words
            .windows(pattern.len())
            .any(|window| window.iter().zip(&pattern).all(|(word, other)| is_same(word, other)))
}

/// Returns whether a path matches a pattern, in which a single star does not match a slash.
fn matches_path(pattern: &str, path: &str) -> bool {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
}

/// Returns the patterns of what a deny rule covers: the paths that match, and everything below them.
fn deny_patterns(pattern: &str) -> Vec<Glob> {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    // The pattern was checked when the rule was parsed.
    [pattern.to_owned(), format!("{pattern}/**")]
        .iter()
        .filter_map(|pattern| Glob::new(pattern).ok())
        .collect()
}

/// Returns whether a path matches a pattern or, if it would be changed, is a directory above paths that may. Tools that
/// read a directory skip the denied paths in it.
fn overlaps_path(pattern: &str, relative_path: &str, access: &Access) -> bool {
    let (Access::Read(path) | Access::ReadOutside(path) | Access::Write(path)) = access else { return false };
    let literal_prefix: String = pattern.chars().take_while(|letter| !"*?[{".contains(*letter)).collect();
    let is_ancestor = |path: &str| {
        path.is_empty()
            || literal_prefix.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let full_path = path.to_string_lossy();
    let matchers: Vec<GlobMatcher> = deny_patterns(pattern).iter().map(Glob::compile_matcher).collect();
    let is_above =
        || is_ancestor(relative_path) || (literal_prefix.starts_with('/') && is_ancestor(&full_path));
    matchers.iter().any(|matcher| matcher.is_match(relative_path) || matcher.is_match(path))
        || (matches!(access, Access::Write(_)) && is_above())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn run(command: &str) -> Access {
        Access::Run(command.into())
    }

    #[test]
    fn an_allowed_prefix_does_not_allow_other_commands() {
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
    fn a_denied_command_is_found_anywhere_in_a_command() {
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
        for text in ["execute_bash(=rm)", "execute_bash(r'm')", "execute_bash('rm')"] {
            let rule = Rule::parse(RuleEffect::Deny, text).unwrap();
            assert!(rule.denies(BASH, Some(&run("rm -r x")), ""), "{text}");
        }
        for text in ["execute_bash('')", "execute_bash(=)", "execute_bash(;)"] {
            assert!(Rule::parse(RuleEffect::Deny, text).is_err(), "{text}");
        }
        let rule = Rule::parse(RuleEffect::Deny, "execute_bash(git push)").unwrap();
        assert!(
            rule.denies(BASH, Some(&run("cd x && git push -f")), "")
                && !rule.denies(BASH, Some(&run("git pull")), "")
        );
    }

    #[test]
    fn paths_and_tools_match_patterns() {
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
        // A single star does not match a slash, and paths outside the workspace need an absolute pattern.
        let notes = Rule::parse(RuleEffect::Allow, "file_write(notes/*)").unwrap();
        assert!(
            notes.allows("file_write", &write, "notes/a") && !notes.allows("file_write", &write, "notes/a/b")
        );
        let any = Rule::parse(RuleEffect::Allow, "file_read(**/*.md)").unwrap();
        assert!(!any.allows("file_read", &Access::ReadOutside("/etc/x.md".into()), "/etc/x.md"));
        // A directory that contains denied paths is denied too.
        let secret = Rule::parse(RuleEffect::Deny, "file_*(secret/**)").unwrap();
        for (path, is_denied) in
            [("secret/a", true), ("secret", true), ("", true), ("secrets", false), ("src", false)]
        {
            assert_eq!(
                secret.denies("file_move", Some(&Access::Write(format!("/w/{path}").into())), path),
                is_denied,
                "{path}"
            );
        }
        assert!(!secret.denies("file_grep", Some(&Access::Read("/w".into())), ""), "the search skips them");
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
