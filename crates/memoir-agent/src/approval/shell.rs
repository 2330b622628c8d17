//! Splits commands into words as the shell does, as far as that is certain.
//!
//! Only plain commands are supported: one program with literal arguments. Everything else (operators, expansions,
//! redirections, a second line) is rejected, so that a rule that allows the start of a command never allows what
//! follows an operator.

/// Returns the words of a plain command as the shell would pass them, or `None` if the command is not plain.
pub fn plain_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    // The shell treats all other whitespace as part of a word.
    let mut letters = command.trim_matches([' ', '\t', '\n']).chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        letter => word.push(letter),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        // These are special inside double quotes too.
                        '$' | '`' | '\\' | '!' | '\n' | '\r' => return None,
                        letter => word.push(letter),
                    }
                }
            }
            letter if is_literal(letter) => word.get_or_insert_default().push(letter),
            _ => return None,
        }
    }
    words.extend(word);
    // A first word with an equals sign would set a variable.
    match words.first() {
        Some(first) if !first.contains('=') => Some(words),
        _ => None,
    }
}

/// Returns whether the shell takes a character literally.
fn is_literal(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./:,@%+=^".contains(letter)
}

/// Returns all words in a command, plain or not. Quotes and operators separate words.
pub(super) fn all_words(command: &str) -> Vec<&str> {
    let is_word_char = |letter: char| letter.is_alphanumeric() || "_-./:,@%+=~".contains(letter);
    command.split(|letter| !is_word_char(letter)).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_are_split_into_words() {
        for (command, words) in [
            ("git status", vec!["git", "status"]),
            ("  ls   -la src/main.rs ", vec!["ls", "-la", "src/main.rs"]),
            ("grep 'a b; c' \"x y\" z", vec!["grep", "a b; c", "x y", "z"]),
            ("echo 'it'\"s\"", vec!["echo", "its"]),
        ] {
            assert_eq!(
                plain_words(command).as_deref(),
                Some(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()[..]),
                "{command}"
            );
        }
    }

    #[test]
    fn other_commands_are_rejected() {
        for command in [
            "git status; rm -rf x",
            "git status && rm x",
            "git status || rm x",
            "git status | sh",
            "git status &",
            "git status\nrm x",
            "git status\r\nrm x",
            "git status $(rm x)",
            "git status `rm x`",
            "git status > x",
            "git status < x",
            "git $x",
            "git status \"$(rm x)\"",
            "git status \\; rm",
            "X=1 git status",
            "git status #x",
            "(git status)",
            "{ git status; }",
            "git status *",
            "git status ~",
            "git 'status",
            "git status !!",
            "",
            "git status <(rm x)",
            "git [status]",
            "git status?",
            "git status\u{a0}",
            "git status\r",
        ] {
            assert_eq!(plain_words(command), None, "{command}");
        }
    }
}
