//! Splits a slash command into the words that clap parses.

use clap::{
    Arg, Command,
    error::{ContextKind, ErrorKind},
};
use memoir_runtime::{Failure, most_similar};

use super::listed;
use crate::{completion_source::ValueSource, paths::expand_home};

/// Splits a slash command into words, as a shell would. A free text argument, such as a search query, becomes one word.
///
/// # Errors
///
/// Fails if the command is unknown or ambiguous, or if a quotation mark is not closed.
pub(super) fn split(line: &str, all: &Command) -> Result<Vec<String>, Failure> {
    let line = line.trim().trim_start_matches('/');
    let (name, rest) = first_word(line);
    let mut command = resolve(name, all)?;
    let mut words = vec![command.get_name().to_owned()];
    let mut rest = rest;
    while let Some(subcommand) = command.find_subcommand(first_word(rest).0) {
        words.push(subcommand.get_name().to_owned());
        (command, rest) = (subcommand, first_word(rest).1);
    }
    match split_free_text(command, rest) {
        Some(free_text) => words.extend(free_text),
        None => words.extend(split_like_a_shell(rest, &words[0])?),
    }
    Ok(words)
}

/// Returns the command called `name`, or the only command whose name starts with it.
pub(crate) fn resolve<'a>(name: &str, all: &'a Command) -> Result<&'a Command, Failure> {
    if let Some(exact) = all.find_subcommand(name) {
        return Ok(exact);
    }
    let has_prefix = |command: &&Command| !name.is_empty() && command.get_name().starts_with(name);
    let matches: Vec<&Command> = listed(all).filter(has_prefix).collect();
    match matches.as_slice() {
        [only] => Ok(*only),
        [] => {
            let hint = match most_similar(name, listed(all).map(Command::get_name)) {
                Some(similar) => format!("Did you mean /{similar}?"),
                None => "Type `/help` for a list of commands.".to_owned(),
            };
            Err(Failure::usage(format!("unknown command /{name}")).hint(hint))
        }
        candidates => {
            let names: Vec<_> = candidates.iter().map(|command| format!("/{}", command.get_name())).collect();
            Err(Failure::usage(format!("/{name} is ambiguous: {}", names.join(" or ")))
                .hint("Type more letters."))
        }
    }
}

/// Returns an error from clap as a failure, without the usage lines, which describe a command line.
pub(super) fn parse_failure(name: &str, error: &clap::Error) -> Failure {
    let hint = usage_hint(name);
    if let (ErrorKind::ValueValidation, Some(argument), Some(value)) =
        (error.kind(), error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
    {
        let argument = argument.to_string();
        let expected = argument.trim_matches(['<', '>', '[', ']']);
        return Failure::usage(format!("\"{value}\" is not a valid {expected}")).hint(hint);
    }
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let sentence = lines.join(" ").trim_start_matches("error: ").to_owned();
    Failure::usage(sentence).hint(hint)
}

fn usage_hint(name: &str) -> String {
    format!("Type `/help {name}` to see how to use it.")
}

pub(super) fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

/// Splits the arguments of a command whose last argument is free text. Returns `None` for any other command, or if there
/// are options, because the text is then quoted.
fn split_free_text(command: &Command, rest: &str) -> Option<Vec<String>> {
    let positionals: Vec<&Arg> = command.get_positionals().collect();
    let (last, before) = positionals.split_last()?;
    if last.get::<ValueSource>() != Some(&ValueSource::FreeText)
        || rest.split_whitespace().any(|word| word.starts_with("--"))
    {
        return None;
    }
    let (mut words, mut rest) = (Vec::new(), rest);
    for _ in before {
        let (word, remainder) = first_word(rest);
        if word.is_empty() {
            return Some(words);
        }
        words.push(word.to_owned());
        rest = remainder;
    }
    if !rest.is_empty() {
        words.extend(["--".to_owned(), rest.to_owned()]);
    }
    Some(words)
}

pub(super) fn split_like_a_shell(rest: &str, name: &str) -> Result<Vec<String>, Failure> {
    let words = shlex::split(rest)
        .ok_or_else(|| Failure::usage("a quotation mark is not closed").hint(usage_hint(name)))?;
    // In a command line, the shell expands the tilde.
    let expanded = words.into_iter().map(|word| match word.starts_with("~/") {
        true => expand_home(&word).to_string_lossy().into_owned(),
        false => word,
    });
    Ok(expanded.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve_name(name: &str) -> Result<String, String> {
        let all = super::super::all();
        resolve(name, &all).map(|command| command.get_name().to_owned()).map_err(|failure| failure.sentence())
    }

    fn words(line: &str) -> Vec<String> {
        split(line, &super::super::all()).unwrap_or_else(|failure| vec![failure.sentence()])
    }

    #[test]
    fn unique_prefix_selects_a_command() {
        assert_eq!(resolve_name("help"), Ok("help".into()));
        assert_eq!(resolve_name("n"), Ok("new".into()));
        assert_eq!(resolve_name("migrate-exchanges"), Ok("migrate-exchanges".into()));
        assert_eq!(resolve_name("model"), Ok("model".into()), "an exact name wins over a longer one");
        assert_eq!(resolve_name("h"), Err("/h is ambiguous: /help or /history. Type more letters.".into()));
        assert_eq!(
            resolve_name("xyz"),
            Err("unknown command /xyz. Type `/help` for a list of commands.".into())
        );
        assert_eq!(resolve_name("memroy"), Err("unknown command /memroy. Did you mean /memory?".into()));
        assert_eq!(resolve_name("quit"), Ok("exit".into()));
        assert_eq!(resolve_name(""), Err("unknown command /. Type `/help` for a list of commands.".into()));
    }

    #[test]
    fn free_text_stays_whole_and_other_arguments_are_split() {
        assert_eq!(words("/memory edit user I'm \"here\""), ["memory", "edit", "user", "--", "I'm \"here\""]);
        assert_eq!(words("/memory search Anna's birthday"), ["memory", "search", "--", "Anna's birthday"]);
        assert_eq!(words("/memory search --limit 3 'a b'"), ["memory", "search", "--limit", "3", "a b"]);
        assert_eq!(words("/approval deny bash(git push)"), ["approval", "deny", "--", "bash(git push)"]);
        assert_eq!(words("/docs show 'two words'"), ["docs", "show", "two words"]);
        assert_eq!(
            words("/docs show 'two"),
            ["a quotation mark is not closed. Type `/help docs` to see how to use it."]
        );
    }
}
