//! The scanner that colors code by a language's table entry.

use anstyle::{AnsiColor, Style};

use super::languages::{Case, Extent, Keys, LANGUAGES, Language, Quote};
use crate::span::{DIM, StyledLine, StyledSpan, append, colored};

const STRING: Style = colored(AnsiColor::Green);
const KEYWORD: Style = colored(AnsiColor::Magenta);
const VALUE: Style = colored(AnsiColor::Cyan);
const FUNCTION: Style = colored(AnsiColor::Blue);
const TYPE: Style = colored(AnsiColor::Yellow);
const PLAIN: Style = Style::new();

/// Words that are values in at least one language.
const VALUES: [&str; 12] =
    ["true", "false", "null", "None", "True", "False", "nil", "undefined", "NULL", "nullptr", "NaN", "inf"];

#[derive(Clone)]
pub(crate) struct Highlighter {
    language: &'static Language,
    open: Open,
}

/// The token that continues on the next line.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    /// A comment, with its closing delimiter.
    Comment(&'static str),
    String(Quote),
}

impl Highlighter {
    /// Returns `None` if the language is unknown.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let language = LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))?;
        Some(Self { language, open: Open::Nothing })
    }

    /// Colors the next line.
    pub(crate) fn line(&mut self, text: &str) -> StyledLine {
        let mut scan = LineScan { text, position: 0, line: StyledLine::new(), is_first: true };
        while scan.position < text.len() {
            self.step(&mut scan);
        }
        if matches!(self.open, Open::String(quote) if quote.extent != Extent::Lines) {
            self.open = Open::Nothing;
        }
        scan.line
    }

    fn step(&mut self, scan: &mut LineScan<'_>) {
        match self.open {
            Open::Comment(end) => {
                let length = scan.rest().find(end).map(|start| start + end.len());
                scan.put(length.unwrap_or(scan.rest().len()), DIM);
                if length.is_some() {
                    self.open = Open::Nothing;
                }
            }
            Open::String(quote) => self.scan_string(scan, quote, 0),
            Open::Nothing => self.scan_token(scan),
        }
    }

    fn scan_token(&mut self, scan: &mut LineScan<'_>) {
        let language = self.language;
        let rest = scan.rest();
        if let Some((start, end)) = language.block_comment.filter(|(start, _)| rest.starts_with(start)) {
            scan.put(start.len(), DIM);
            self.open = Open::Comment(end);
            return;
        }
        if language.line_comments.iter().any(|start| rest.starts_with(start) && scan.can_start_comment(start))
        {
            return scan.put(rest.len(), DIM);
        }
        if let Some(quote) = language.quotes.iter().find(|quote| quote.opens(rest)) {
            return self.scan_string(scan, *quote, quote.start.len());
        }
        match rest.chars().next() {
            Some(first) if first.is_ascii_digit() => scan.put(number_length(rest), VALUE),
            Some(first) if is_word(first) => self.scan_word(scan),
            Some(first) => scan.put(first.len_utf8(), PLAIN),
            None => {}
        }
    }

    /// Scans a string. `opening` is the length of the opening quote, or 0 if the string started on an earlier line.
    fn scan_string(&mut self, scan: &mut LineScan<'_>, quote: Quote, opening: usize) {
        let content = &scan.rest()[opening..];
        let (length, is_closed) = quote.length(content);
        self.open = if is_closed { Open::Nothing } else { Open::String(quote) };
        let is_key = self.language.keys == Keys::Quoted
            && is_closed
            && content[length..].trim_start().starts_with(':');
        scan.put(opening + length, if is_key { FUNCTION } else { STRING });
    }

    fn scan_word(&self, scan: &mut LineScan<'_>) {
        let language = self.language;
        let rest = scan.rest();
        let is_dash = |character: char| character == '-' && language.keys != Keys::None;
        let length = rest.find(|character| !is_word(character) && !is_dash(character)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let style = if language.is_keyword(word) {
            KEYWORD
        } else if VALUES.contains(&word) {
            VALUE
        } else if language.keys.is_key(scan, after) || after.starts_with('(') || after.starts_with("!(") {
            FUNCTION
        } else if language.case == Case::Types && word.starts_with(char::is_uppercase) {
            TYPE
        } else {
            PLAIN
        };
        scan.put(length, style);
    }
}

/// The progress of scanning one line.
struct LineScan<'a> {
    text: &'a str,
    position: usize,
    line: StyledLine,
    /// Whether no word has been scanned yet.
    is_first: bool,
}

impl<'a> LineScan<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn before(&self) -> &'a str {
        &self.text[..self.position]
    }

    fn put(&mut self, length: usize, style: Style) {
        let rest = self.rest();
        append(&mut self.line, &rest[..length], &StyledSpan::new("", style));
        self.is_first &= matches!(&rest[..length], " " | "\t" | "-");
        self.position += length;
    }

    /// Returns whether a comment may start here. `#` within a word does not start one: `$#`, `a#b`.
    fn can_start_comment(&self, start: &str) -> bool {
        start != "#"
            || self.before().is_empty()
            || self.before().ends_with([' ', '\t', ';', '{', '}', '(', ')', ','])
    }
}

impl Language {
    fn is_keyword(&self, word: &str) -> bool {
        let mut keywords = self.keywords.split_ascii_whitespace();
        match self.case {
            Case::Ignored => keywords.any(|keyword| keyword.eq_ignore_ascii_case(word)),
            Case::Types | Case::Plain => keywords.any(|keyword| keyword == word),
        }
    }
}

impl Keys {
    /// Returns whether a word is a key, judged by the text before and after it.
    fn is_key(self, scan: &LineScan<'_>, after: &str) -> bool {
        match self {
            Self::None | Self::Quoted => false,
            Self::Colon => after.starts_with(':') && scan.is_first,
            Self::Equals => after.trim_start().starts_with('=') && scan.is_first,
            Self::Tags => scan.before().ends_with('<') || scan.before().ends_with("</"),
        }
    }
}

impl Quote {
    fn opens(&self, text: &str) -> bool {
        let Some(content) = text.strip_prefix(self.start) else { return false };
        // In languages with character literals, a lone `'a` is something else, such as a lifetime in Rust.
        let mut characters = content.chars();
        self.extent != Extent::Character
            || matches!((characters.next(), characters.next()), (Some('\\'), _) | (_, Some('\'')))
    }

    /// Returns the length of a string from its content to its closing quote, and whether that quote is in the text.
    fn length(&self, text: &str) -> (usize, bool) {
        let mut position = 0;
        while position < text.len() {
            let rest = &text[position..];
            if rest.starts_with(self.end) {
                return (position + self.end.len(), true);
            }
            let step = rest.chars().next().map_or(1, char::len_utf8);
            let is_escape = self.escapes && rest.starts_with('\\');
            position += step;
            if is_escape {
                position += text[position..].chars().next().map_or(0, char::len_utf8);
            }
        }
        (text.len(), false)
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the length of a number such as `0xff_u8` or `1.5e-3`. A range such as `1..2` is two numbers.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_part = |index: usize| match bytes[index] {
        b'.' => bytes.get(index + 1).is_some_and(u8::is_ascii_digit),
        b'-' | b'+' => {
            matches!(bytes[index - 1], b'e' | b'E')
                && !text.starts_with("0x")
                && bytes.get(index + 1).is_some_and(u8::is_ascii_digit)
        }
        byte => byte.is_ascii_alphanumeric() || byte == b'_',
    };
    (1..bytes.len()).find(|index| !is_part(*index)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    /// Highlights a line and returns one letter for the color of each character.
    fn color_letters(highlighter: &mut Highlighter, text: &str) -> String {
        let letter = |style: Style| match style {
            DIM => 'c',
            STRING => 's',
            KEYWORD => 'k',
            VALUE => 'v',
            FUNCTION => 'f',
            TYPE => 't',
            _ => '.',
        };
        let line = highlighter.line(text);
        assert_eq!(line.iter().map(|span| span.text.as_str()).collect::<String>(), text);
        line.iter().map(|span| letter(span.style).to_string().repeat(span.text.chars().count())).collect()
    }

    fn check(language: &str, lines: &[(&str, &str)]) {
        let mut highlighter = Highlighter::new(language).unwrap();
        for (text, expected) in lines {
            assert_eq!(color_letters(&mut highlighter, text), *expected, "{text}");
        }
    }

    #[test]
    fn rust() {
        check(
            "rust",
            &[
                ("fn f<'a>(x: &'a str) -> Vec<u8> { // c", "kk......................ttt.......cccc"),
                ("let y = 'y'; /* a", "kkk.....sss..cccc"),
                (r#"b */ g("a\"b", 0xff_u8, 1..2) "un"#, "cccc.f.ssssss..vvvvvvv..v..v..sss"),
                (r##"closed", r#"a"b"# + '\''"##, "sssssss..ssssssss...ssss"),
            ],
        );
    }

    #[test]
    fn multiline_strings_end_at_their_closing_quote() {
        check("python", &[("def f(): # c", "kkk.f....ccc"), ("'''a", "ssss"), ("b''' None", "ssss.vvvv")]);
        check("js", &[("`a", "ss"), ("b` + 'c", "ss...ss"), ("d", ".")]);
        check("sh", &[("echo a#b $# #c", "............cc"), ("'a\\' if", "ssss.kk")]);
    }

    #[test]
    fn keys_are_highlighted() {
        check("json", &[(r#"{"a": [1.5e-3, true, "b"]}"#, ".fff...vvvvvv..vvvv..sss..")]);
        check("yaml", &[("- a-b: c: 1", "..fff.....v"), ("x: 'y' # z", "f..sss.ccc")]);
        check("toml", &[("a = \"b = c\"", "f...sssssss"), ("[d]", "...")]);
        check(
            "html",
            &[("<p a=\"b\">don't</p> <!-- c", ".f...sss........f..cccccc"), ("d --> e", "ccccc..")],
        );
        check("lua", &[("--[[ a", "cccccc"), ("b ]] c -- d", "cccc...cccc")]);
        check("sql", &[("SELECT a from B -- c", "kkkkkk...kkkk...cccc")]);
    }

    #[test]
    fn language_names_are_unique_and_lowercase() {
        let mut names: Vec<_> = LANGUAGES.iter().flat_map(|language| language.names).collect();
        assert!(names.iter().all(|name| **name == name.to_ascii_lowercase()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(Highlighter::new("Rust").is_some() && Highlighter::new("brainfuck").is_none());
    }
}
