//! Arguments of a slash command, taken as the command line takes them.

use clap::Parser;

use crate::{
    failure::{Failure, Kind},
    paths::expand_home,
};

/// What was typed behind a command; `by_default` when that is nothing.
pub(super) fn parse<P: Parser>(name: &str, arguments: &str, by_default: &str) -> Result<P, Failure> {
    let hint = format!("/help {name} shows how it is used.");
    let arguments = if arguments.is_empty() { by_default } else { arguments };
    let words = shlex::split(arguments)
        .ok_or_else(|| Failure::new(Kind::Usage, "a quotation mark is not closed").hint(&hint))?;
    // Shells do this before a program sees it.
    let words = words.into_iter().map(|word| match word.starts_with("~/") {
        true => expand_home(&word).to_string_lossy().into_owned(),
        false => word,
    });
    P::try_parse_from(words).map_err(|error| {
        let said = error.to_string();
        // What is wrong, without how it is used on the command line.
        let lines = said.lines().take_while(|line| !line.starts_with("Usage:"));
        let words: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
        Failure::new(Kind::Usage, words.join(" ").trim_start_matches("error: ").to_owned()).hint(hint)
    })
}
