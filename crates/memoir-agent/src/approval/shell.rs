//! A command as the shell would read it, as far as that can be told for sure.
//!
//! Only the plainest commands are understood: one program with its arguments, each a word that means itself. Anything else
//! (operators, expansions, redirections, a second line) is not taken apart but refused, so that an allowed beginning never lets
//! a forbidden rest through.

/// Returns the words of a plain command as the shell would pass them, or `None` if the command is not plain.
pub fn plain_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    // Other spaces than these are letters to the shell.
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
                        // Inside double quotes these still mean something.
                        '$' | '`' | '\\' | '!' | '\n' | '\r' => return None,
                        letter => word.push(letter),
                    }
                }
            }
            letter if means_itself(letter) => word.get_or_insert_default().push(letter),
            _ => return None,
        }
    }
    words.extend(word);
    // A word before the program with an equals sign sets a variable for it.
    match words.first() {
        Some(first) if !first.contains('=') => Some(words),
        _ => None,
    }
}

fn means_itself(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./:,@%+=^".contains(letter)
}

/// Every word that a command may have, whatever it does with them: quotes and operators count as gaps.
pub(super) fn all_words(command: &str) -> Vec<&str> {
    let part_of_word = |letter: char| letter.is_alphanumeric() || "_-./:,@%+=~".contains(letter);
    command.split(|letter| !part_of_word(letter)).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_are_understood() {
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
    fn anything_else_is_not() {
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
