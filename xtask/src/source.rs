//! Reads Rust source as far as the boundary check needs it: identifiers and punctuation, without comments, the contents of
//! literals, and test modules.

use std::str::CharIndices;

/// An identifier or a punctuation mark. `::` is one token, and a literal is the token `""`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

/// The code of a file that is part of the product.
#[derive(Debug, Default)]
pub(crate) struct ProductCode<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    /// Modules with a file of their own that are compiled for tests only.
    pub(crate) test_modules: Vec<&'a str>,
}

/// Returns the code of `source` without what is compiled for tests only.
pub(crate) fn read_product_code(source: &str) -> ProductCode<'_> {
    let tokens = Tokenizer::new(source).read_all();
    let mut code = ProductCode::default();
    let mut rest = tokens.as_slice();
    while let Some((token, after)) = rest.split_first() {
        if is_test_attribute(rest, &["#", "!", "["]) {
            // The whole file is for tests.
            return ProductCode::default();
        }
        if is_test_attribute(rest, &["#", "["]) {
            let (item, after) = split_item(rest);
            let texts: Vec<&str> = item.iter().map(|token| token.text).collect();
            if let [.., "mod", name, ";"] = texts.as_slice() {
                code.test_modules.push(name);
            }
            rest = after;
        } else {
            code.tokens.push(*token);
            rest = after;
        }
    }
    code
}

/// Whether `tokens` begin with `#[cfg(test)]` or `#[cfg(all(test, ..))]`, opened by `opening`.
fn is_test_attribute(tokens: &[Token<'_>], opening: &[&str]) -> bool {
    let begins_with = |start: usize, texts: &[&str]| {
        texts
            .iter()
            .enumerate()
            .all(|(offset, text)| tokens.get(start + offset).is_some_and(|token| token.text == *text))
    };
    begins_with(0, opening)
        && (begins_with(opening.len(), &["cfg", "(", "test", ")"])
            || begins_with(opening.len(), &["cfg", "(", "all", "(", "test"]))
}

/// Splits off the first item with its attributes: up to the first `;` or the end of the first block.
fn split_item<'a, 'b>(tokens: &'b [Token<'a>]) -> (&'b [Token<'a>], &'b [Token<'a>]) {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return tokens.split_at(index + 1);
                }
            }
            ";" if depth == 0 => return tokens.split_at(index + 1),
            _ => {}
        }
    }
    (tokens, &[])
}

struct Tokenizer<'a> {
    source: &'a str,
    characters: std::iter::Peekable<CharIndices<'a>>,
    line: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Tokenizer<'a> {
    fn new(source: &'a str) -> Self {
        Self { source, characters: source.char_indices().peekable(), line: 1, tokens: Vec::new() }
    }

    fn read_all(mut self) -> Vec<Token<'a>> {
        while let Some((start, character)) = self.advance() {
            let rest = &self.source[start..];
            match character {
                '/' if rest.starts_with("//") => self.skip_while(|character| character != '\n'),
                '/' if rest.starts_with("/*") => self.skip_block_comment(),
                '"' => self.skip_string(),
                '\'' => self.skip_character_or_lifetime(),
                'r' | 'b' | 'c' if let Some(hashes) = count_raw_hashes(rest) => self.skip_raw_string(hashes),
                'b' | 'c' if rest[1..].starts_with('"') => {
                    self.advance();
                    self.skip_string();
                }
                'b' if rest[1..].starts_with('\'') => {
                    self.advance();
                    self.skip_character_or_lifetime();
                }
                character if is_word(character) => {
                    let line = self.line;
                    self.skip_while(is_word);
                    let end = self.position();
                    self.tokens.push(Token { text: &self.source[start..end], line });
                }
                ':' if rest.starts_with("::") => {
                    self.push(&rest[..2]);
                    self.advance();
                }
                character if character.is_whitespace() => {}
                character => self.push(&rest[..character.len_utf8()]),
            }
        }
        self.tokens
    }

    fn advance(&mut self) -> Option<(usize, char)> {
        let next = self.characters.next();
        self.line += usize::from(next.is_some_and(|(_, character)| character == '\n'));
        next
    }

    fn position(&mut self) -> usize {
        self.characters.peek().map_or(self.source.len(), |(position, _)| *position)
    }

    fn push(&mut self, text: &'a str) {
        self.tokens.push(Token { text, line: self.line });
    }

    fn skip_while(&mut self, matches: impl Fn(char) -> bool) {
        while self.characters.peek().is_some_and(|(_, character)| matches(*character)) {
            self.advance();
        }
    }

    /// Block comments nest. The first `/` has been read.
    fn skip_block_comment(&mut self) {
        self.advance();
        let mut depth = 1;
        let mut previous = ' ';
        while depth > 0
            && let Some((_, character)) = self.advance()
        {
            let pair = (previous, character);
            previous = character;
            match pair {
                ('*', '/') => depth -= 1,
                ('/', '*') => depth += 1,
                _ => continue,
            }
            previous = ' ';
        }
    }

    /// The opening quote has been read.
    fn skip_string(&mut self) {
        self.push("\"\"");
        while let Some((_, character)) = self.advance() {
            match character {
                '\\' => {
                    self.advance();
                }
                '"' => return,
                _ => {}
            }
        }
    }

    /// The first letter has been read.
    fn skip_raw_string(&mut self, hashes: usize) {
        self.push("\"\"");
        let end = format!("\"{}", "#".repeat(hashes));
        self.skip_while(|character| character != '"');
        self.advance();
        while let Some((position, _)) = self.advance() {
            if self.source[position..].starts_with(&end) {
                for _ in 0..hashes {
                    self.advance();
                }
                return;
            }
        }
    }

    /// The quote has been read. A lifetime has no closing quote.
    fn skip_character_or_lifetime(&mut self) {
        let start = self.position();
        let mut ahead = self.source[start..].chars();
        match (ahead.next(), ahead.next()) {
            (Some('\\'), _) => {
                self.advance();
                self.advance();
                self.skip_while(|character| character != '\'');
                self.advance();
            }
            (Some(_), Some('\'')) => {
                self.advance();
                self.advance();
            }
            _ => self.skip_while(is_word),
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the number of `#` around the raw string that `rest` begins with, if it begins with one.
fn count_raw_hashes(rest: &str) -> Option<usize> {
    let rest = rest.strip_prefix(['b', 'c']).unwrap_or(rest).strip_prefix('r')?;
    let without_hashes = rest.trim_start_matches('#');
    without_hashes.starts_with('"').then(|| rest.len() - without_hashes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> String {
        let texts: Vec<&str> = read_product_code(source).tokens.iter().map(|token| token.text).collect();
        texts.join(" ")
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        assert_eq!(read("a // b\nc /* d /* e */ f */ g"), "a c g");
        assert_eq!(read(r#"f("x \" y", b"z", c"w")"#), r#"f ( "" , "" , "" )"#);
        assert_eq!(read(r###"f(r#"x " y"#, br"\", r"")"###), r#"f ( "" , "" , "" )"#);
        assert_eq!(read(r"f('\'', '\u{41}', b'\\', '/', '/')"), "f ( , , , , )");
        assert_eq!(read("fn f<'a>(x: &'a str) {}"), "fn f < > ( x : & str ) { }");
        assert_eq!(read("let r#type = radius::rr;"), "let r # type = radius :: rr ;");
        assert_eq!(read("\"never closed"), "\"\"");
    }

    #[test]
    fn what_is_for_tests_alone_is_left_out() {
        assert_eq!(read("a; #[cfg(test)] mod tests { fn f() { x } } b;"), "a ; b ;");
        assert_eq!(read("#[cfg(test)] #[expect(x)] fn f(a: [u8; 2]) { { } } b;"), "b ;");
        assert_eq!(read("#[cfg(all(test, unix))] use x; b;"), "b ;");
        assert_eq!(read("//! Helpers.\n#![cfg(test)]\nfn f() {}"), "");
        assert_eq!(read("#[cfg(any(test, unix))] a;"), "# [ cfg ( any ( test , unix ) ) ] a ;");
        let code = read_product_code("#[cfg(test)]\nmod cases;\nmod real;");
        assert_eq!(code.test_modules, ["cases"]);
        assert_eq!(code.tokens.len(), 3);
    }

    #[test]
    fn lines_are_counted_through_literals_and_comments() {
        let code = read_product_code("\"a\nb\" /* \n */\n//\nc");
        assert_eq!(code.tokens.last(), Some(&Token { text: "c", line: 5 }));
    }
}
