//! Finds the names of files in a prompt: after `@`, or as a terminal writes them when a file is dropped onto it.

/// A name in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileName {
    /// The name without quotation marks and backslashes.
    pub(crate) name: String,
    /// Whether it follows an `@`.
    pub(crate) has_mark: bool,
    /// Whether it is in quotation marks or has escaped characters, so that punctuation belongs to it.
    pub(crate) is_quoted: bool,
}

/// Returns the names in a prompt: words after `@`, and absolute paths.
pub(crate) fn find_names(prompt: &str) -> Vec<FileName> {
    let mut names = Vec::new();
    let mut rest = prompt.trim_start();
    while !rest.is_empty() {
        let (has_mark, word) = match rest.strip_prefix('@') {
            Some(word) => (true, word),
            None => (false, rest),
        };
        let (name, is_quoted, length) = read_word(word);
        let is_path = name.starts_with('/') || name.starts_with("~/");
        if !name.is_empty() && (has_mark || is_path) {
            names.push(FileName { name, has_mark, is_quoted });
        }
        let end = (rest.len() - word.len() + length).max(1);
        rest = rest.get(end..).map_or("", str::trim_start);
    }
    names
}

/// Returns the first word of a text without quoting, whether it was quoted, and its length in the text.
fn read_word(text: &str) -> (String, bool, usize) {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    if let Some(quote) = quote
        && let Some(end) = text[1..].find([quote, '\n']).filter(|end| text[1 + end..].starts_with(quote))
    {
        return (text[1..=end].to_owned(), true, end + 2);
    }
    let (mut name, mut is_quoted) = (String::new(), false);
    let mut characters = text.char_indices();
    while let Some((position, character)) = characters.next() {
        match character {
            '\\' => {
                is_quoted = true;
                name.extend(characters.next().map(|(_, escaped)| escaped));
            }
            _ if character.is_whitespace() => return (name, is_quoted, position),
            _ => name.push(character),
        }
    }
    (name, is_quoted, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(prompt: &str) -> Vec<String> {
        find_names(prompt).into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn names_are_marked_quoted_or_escaped() {
        assert_eq!(
            names("See @a.txt, and @\"two words.txt\" or @'x y'."),
            ["a.txt,", "two words.txt", "x y"]
        );
        assert_eq!(
            names(r"'/home/me/My File.png' /tmp/a\ b.txt ~/c"),
            ["/home/me/My File.png", "/tmp/a b.txt", "~/c"]
        );
        assert_eq!(names("it's me@home, either/or 'quoted words'"), [""; 0]);
        assert_eq!(names("@ @\" \\"), ["\""]);
        assert!(find_names("@'a b'")[0].is_quoted && find_names("@a")[0].has_mark);
    }
}
