//! From a typed line to the words that clap parses.

use clap::{
    Arg, Command,
    error::{ContextKind, ErrorKind},
};
use memoir_runtime::Failure;

use crate::{completion_source::ValueSource, paths::expand_home};

/// Splits a line that begins with a slash into words, as a shell would. Text that is taken as it stands, such as a search
/// or a rule, becomes one word.
///
/// # Errors
///
/// Fails if there is no such command, or if a quotation mark is not closed.
pub(super) fn split(line: &str, all: &Command) -> Result<Vec<String>, Failure> {
    let line = line.trim().trim_start_matches('/');
    let (name, rest) = first_word(line);
    let mut leaf = resolve(name, all)?;
    let mut words = vec![leaf.get_name().to_owned()];
    let mut rest = rest;
    while let Some(below) = leaf.find_subcommand(first_word(rest).0) {
        words.push(below.get_name().to_owned());
        (leaf, rest) = (below, first_word(rest).1);
    }
    match free_text(leaf, rest) {
        Some(free) => words.extend(free),
        None => words.extend(split_like_a_shell(rest, &words[0])?),
    }
    Ok(words)
}

/// Returns the command of this name, or the only one whose name begins with it.
pub(crate) fn resolve<'a>(name: &str, all: &'a Command) -> Result<&'a Command, Failure> {
    if let Some(exact) = all.find_subcommand(name) {
        return Ok(exact);
    }
    let begins = |command: &&Command| !name.is_empty() && command.get_name().starts_with(name);
    let matches: Vec<&Command> = all.get_subcommands().filter(begins).collect();
    match matches.as_slice() {
        [only] => Ok(*only),
        [] => Err(Failure::usage(format!("there is no command /{name}")).hint("/help lists them all.")),
        several => {
            let names: Vec<_> = several.iter().map(|command| format!("/{}", command.get_name())).collect();
            Err(Failure::usage(format!("/{name} could be {}", names.join(" or ")))
                .hint("Type one more letter."))
        }
    }
}

/// What clap refused, without its usage of a command line.
pub(super) fn refusal(name: &str, error: &clap::Error) -> Failure {
    let hint = format!("/help {name} shows how it is used.");
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

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

/// The words of a command whose last argument is text as it stands. Options in the line mean that it is quoted instead.
fn free_text(command: &Command, rest: &str) -> Option<Vec<String>> {
    let positionals: Vec<&Arg> = command.get_positionals().collect();
    let (last, before) = positionals.split_last()?;
    if last.get::<ValueSource>() != Some(&ValueSource::FreeText)
        || rest.split_whitespace().any(|word| word.starts_with("--"))
    {
        return None;
    }
    let (mut words, mut rest) = (Vec::new(), rest);
    for _ in before {
        let (word, further) = first_word(rest);
        if word.is_empty() {
            return Some(words);
        }
        words.push(word.to_owned());
        rest = further;
    }
    if !rest.is_empty() {
        words.extend(["--".to_owned(), rest.to_owned()]);
    }
    Some(words)
}

fn split_like_a_shell(rest: &str, name: &str) -> Result<Vec<String>, Failure> {
    let words = shlex::split(rest).ok_or_else(|| {
        Failure::usage("a quotation mark is not closed").hint(format!("/help {name} shows how it is used."))
    })?;
    // A shell does this before a program sees the word.
    let expanded = words.into_iter().map(|word| match word.starts_with("~/") {
        true => expand_home(&word).to_string_lossy().into_owned(),
        false => word,
    });
    Ok(expanded.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(name: &str) -> Result<String, String> {
        let all = super::super::all();
        resolve(name, &all).map(|command| command.get_name().to_owned()).map_err(|failure| failure.sentence())
    }

    fn cut(line: &str) -> Vec<String> {
        split(line, &super::super::all()).unwrap_or_else(|failure| vec![failure.sentence()])
    }

    #[test]
    fn a_unique_beginning_is_enough() {
        assert_eq!(resolved("help"), Ok("help".into()));
        assert_eq!(resolved("n"), Ok("new".into()));
        assert_eq!(resolved("mi"), Ok("migrate-exchanges".into()));
        assert_eq!(resolved("model"), Ok("model".into()), "a whole name wins over a longer one");
        assert_eq!(resolved("h"), Err("/h could be /help or /history. Type one more letter.".into()));
        assert_eq!(resolved("xyz"), Err("there is no command /xyz. /help lists them all.".into()));
        assert_eq!(resolved(""), Err("there is no command /. /help lists them all.".into()));
    }

    #[test]
    fn text_is_taken_as_it_stands_and_everything_else_like_a_shell_does() {
        assert_eq!(cut("/memory edit user I'm \"here\""), ["memory", "edit", "user", "--", "I'm \"here\""]);
        assert_eq!(cut("/memory search Anna's birthday"), ["memory", "search", "--", "Anna's birthday"]);
        assert_eq!(cut("/memory search --limit 3 'a b'"), ["memory", "search", "--limit", "3", "a b"]);
        assert_eq!(cut("/approval deny bash(git push)"), ["approval", "deny", "--", "bash(git push)"]);
        assert_eq!(cut("/docs show 'two words'"), ["docs", "show", "two words"]);
        assert_eq!(
            cut("/docs show 'two"),
            ["a quotation mark is not closed. /help docs shows how it is used."]
        );
    }
}
