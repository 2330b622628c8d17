//! How a command is used, read from the words that help shows: `[list | show NAME | add FILE… | set KEY [yes | no]]`.

/// A word of a usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// As it stands.
    Word(String),
    /// Something of a kind, as NAME.
    Slot {
        /// What kind.
        name: String,
        /// Whether it may be given several times.
        repeats: bool,
    },
}

impl Token {
    fn of(word: &str) -> Self {
        let repeats = word.ends_with('…');
        let name = word.trim_end_matches('…');
        match name.chars().all(|letter| letter.is_uppercase() || letter == '_') {
            true => Self::Slot { name: name.to_owned(), repeats },
            false => Self::Word(name.to_owned()),
        }
    }

    /// Whether a typed word is one of these.
    pub(super) fn takes(&self, word: &str) -> bool {
        match self {
            Self::Word(known) => known == word,
            Self::Slot { .. } => true,
        }
    }
}

/// One way to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Alternative {
    pub(super) tokens: Vec<Token>,
    /// Whether nothing comes before it.
    pub(super) is_alone: bool,
}

/// Every way that a usage shows.
pub(super) fn alternatives(usage: &str) -> Vec<Alternative> {
    let groups = groups(usage);
    let is_alone = groups.len() == 1;
    let mut ways = Vec::new();
    for group in groups {
        for part in split(group, '|') {
            ways.extend(ways_of(part).into_iter().map(|tokens| Alternative { tokens, is_alone }));
        }
    }
    ways
}

/// The bracketed groups of a usage, without their brackets.
fn groups(usage: &str) -> Vec<&str> {
    let mut groups = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in usage.char_indices() {
        match letter {
            '[' => {
                if depth == 0 {
                    start = at + 1;
                }
                depth += 1;
            }
            ']' => {
                depth -= 1;
                if depth == 0 {
                    groups.push(&usage[start..at]);
                }
            }
            _ => {}
        }
    }
    groups
}

/// Parts between signs that stand in no brackets.
fn split(text: &str, sign: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if letter == sign && depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// A sequence of words, with a way for each choice in brackets within it.
fn ways_of(sequence: &str) -> Vec<Vec<Token>> {
    let mut ways = vec![Vec::new()];
    for word in split(sequence, ' ') {
        match word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
            None => ways.iter_mut().for_each(|way| way.push(Token::of(word))),
            Some(choices) => {
                let further: Vec<Vec<Token>> = split(choices, '|').into_iter().flat_map(ways_of).collect();
                ways = ways
                    .iter()
                    .flat_map(|way| further.iter().map(move |more| way.iter().chain(more).cloned().collect()))
                    .collect();
            }
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(usage: &str) -> Vec<String> {
        let word = |token: &Token| match token {
            Token::Word(word) => word.clone(),
            Token::Slot { name, repeats } => format!("<{name}{}>", if *repeats { "+" } else { "" }),
        };
        alternatives(usage)
            .iter()
            .map(|way| way.tokens.iter().map(word).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn a_usage_is_read_as_it_is_written() {
        assert_eq!(shown(""), Vec::<String>::new());
        assert_eq!(shown("[N]"), ["<N>"]);
        assert_eq!(shown("[on | off | rebuild [yes]]"), ["on", "off", "rebuild yes"]);
        assert_eq!(shown("[set MODEL [a | b] | list]"), ["set <MODEL> a", "set <MODEL> b", "list"]);
        assert_eq!(shown("[markdown | jsonl] [FILE…]"), ["markdown", "jsonl", "<FILE+>"]);
        assert_eq!(shown("[exchange [on|off]]"), ["exchange on", "exchange off"]);
    }
}
