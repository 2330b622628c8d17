//! The scanner.

use anstyle::{AnsiColor, Style};

use super::languages::{Case, Keys, LANGUAGES, Language, Quote, Reach};
use crate::span::{DIM, StyledLine, StyledSpan, append, colored};

const STRING: Style = colored(AnsiColor::Green);
const KEYWORD: Style = colored(AnsiColor::Magenta);
const VALUE: Style = colored(AnsiColor::Cyan);
const FUNCTION: Style = colored(AnsiColor::Blue);
const TYPE: Style = colored(AnsiColor::Yellow);
const PLAIN: Style = Style::new();

/// Words that are values in one language or another.
const VALUES: [&str; 12] =
    ["true", "false", "null", "None", "True", "False", "nil", "undefined", "NULL", "nullptr", "NaN", "inf"];

/// Colours code, line by line.
pub(crate) struct Highlighter {
    language: &'static Language,
    open: Open,
}

/// What is open at the end of a line.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    /// A comment, and the text that ends it.
    Comment(&'static str),
    String(Quote),
}

impl Highlighter {
    /// For a language, if it is known.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let language = LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))?;
        Some(Self { language, open: Open::Nothing })
    }

    /// Colours the next line.
    pub(crate) fn line(&mut self, text: &str) -> StyledLine {
        let mut scan = LineScan { text, at: 0, line: StyledLine::new(), is_first: true };
        while scan.at < text.len() {
            self.step(&mut scan);
        }
        if matches!(self.open, Open::String(quote) if quote.reach != Reach::Lines) {
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
            Open::String(quote) => self.string(scan, quote, 0),
            Open::Nothing => self.token(scan),
        }
    }

    fn token(&mut self, scan: &mut LineScan<'_>) {
        let language = self.language;
        let rest = scan.rest();
        if let Some((start, end)) = language.block_comment.filter(|(start, _)| rest.starts_with(start)) {
            scan.put(start.len(), DIM);
            self.open = Open::Comment(end);
            return;
        }
        if language.line_comments.iter().any(|start| rest.starts_with(start) && scan.may_comment(start)) {
            return scan.put(rest.len(), DIM);
        }
        if let Some(quote) = language.quotes.iter().find(|quote| quote.opens(rest)) {
            return self.string(scan, *quote, quote.start.len());
        }
        match rest.chars().next() {
            Some(first) if first.is_ascii_digit() => scan.put(number(rest), VALUE),
            Some(first) if is_word(first) => self.word(scan),
            Some(first) => scan.put(first.len_utf8(), PLAIN),
            None => {}
        }
    }

    /// A string, from behind what opens it, if that is still to be put.
    fn string(&mut self, scan: &mut LineScan<'_>, quote: Quote, opening: usize) {
        let inside = &scan.rest()[opening..];
        let (length, is_closed) = quote.length(inside);
        self.open = if is_closed { Open::Nothing } else { Open::String(quote) };
        let is_key =
            self.language.keys == Keys::Quoted && is_closed && inside[length..].trim_start().starts_with(':');
        scan.put(opening + length, if is_key { FUNCTION } else { STRING });
    }

    fn word(&self, scan: &mut LineScan<'_>) {
        let language = self.language;
        let rest = scan.rest();
        let dash = |letter: char| letter == '-' && language.keys != Keys::None;
        let length = rest.find(|letter| !is_word(letter) && !dash(letter)).unwrap_or(rest.len());
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

/// A line that is being looked at.
struct LineScan<'a> {
    text: &'a str,
    at: usize,
    line: StyledLine,
    /// Whether no word has come yet.
    is_first: bool,
}

impl<'a> LineScan<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn before(&self) -> &'a str {
        &self.text[..self.at]
    }

    fn put(&mut self, length: usize, style: Style) {
        let rest = self.rest();
        append(&mut self.line, &rest[..length], &StyledSpan::new("", style));
        self.is_first &= matches!(&rest[..length], " " | "\t" | "-");
        self.at += length;
    }

    /// `#` within a word is no comment: `$#`, `a#b`.
    fn may_comment(&self, start: &str) -> bool {
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
    /// Whether a word is a key, by what is before it in its line and after it.
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
        let Some(inside) = text.strip_prefix(self.start) else { return false };
        // In Rust, and where a letter stands in quotes, `'a` alone is something else.
        let mut letters = inside.chars();
        self.reach != Reach::Letter
            || matches!((letters.next(), letters.next()), (Some('\\'), _) | (_, Some('\'')))
    }

    /// How far a string reaches into a text, and whether it ends there.
    fn length(&self, text: &str) -> (usize, bool) {
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if rest.starts_with(self.end) {
                return (at + self.end.len(), true);
            }
            let step = rest.chars().next().map_or(1, char::len_utf8);
            let escaped = self.escapes && rest.starts_with('\\');
            at += step;
            if escaped {
                at += text[at..].chars().next().map_or(0, char::len_utf8);
            }
        }
        (text.len(), false)
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// How long a number is: `0xff_u8`, `1.5e-3`; a range `1..2` is two.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let goes_on = |at: usize| match bytes[at] {
        b'.' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        b'-' | b'+' => {
            matches!(bytes[at - 1], b'e' | b'E')
                && !text.starts_with("0x")
                && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
        }
        byte => byte.is_ascii_alphanumeric() || byte == b'_',
    };
    (1..bytes.len()).find(|at| !goes_on(*at)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    /// A line with a letter for each colour.
    fn colours(highlighter: &mut Highlighter, text: &str) -> String {
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
            assert_eq!(colours(&mut highlighter, text), *expected, "{text}");
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
    fn strings_over_lines_end_where_they_may() {
        check("python", &[("def f(): # c", "kkk.f....ccc"), ("'''a", "ssss"), ("b''' None", "ssss.vvvv")]);
        check("js", &[("`a", "ss"), ("b` + 'c", "ss...ss"), ("d", ".")]);
        check("sh", &[("echo a#b $# #c", "............cc"), ("'a\\' if", "ssss.kk")]);
    }

    #[test]
    fn keys_are_seen() {
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
    fn names_are_known_once_and_in_small_letters() {
        let mut names: Vec<_> = LANGUAGES.iter().flat_map(|language| language.names).collect();
        assert!(names.iter().all(|name| **name == name.to_ascii_lowercase()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(Highlighter::new("Rust").is_some() && Highlighter::new("brainfuck").is_none());
    }
}
