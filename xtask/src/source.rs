//! Reads Rust source for the checks: its code tokens without test modules, and the text in its comments and string literals.

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};

/// A token with its place in the file.
#[derive(Debug, Clone, Copy)]
struct Lexeme<'a> {
    kind: TokenKind,
    text: &'a str,
    line: usize,
}

fn read_lexemes(source: &str) -> Vec<Lexeme<'_>> {
    let (mut position, mut line) = (0, 1);
    let mut lexemes = Vec::new();
    for token in tokenize(source, FrontmatterAllowed::No) {
        let end = position + token.len as usize;
        let text = &source[position..end];
        lexemes.push(Lexeme { kind: token.kind, text, line });
        line += text.matches('\n').count();
        position = end;
    }
    lexemes
}

/// A comment or a string literal as written in the file, with its delimiters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    /// The line that the text starts on.
    pub(crate) line: usize,
}

/// Returns the comments and string literals of `source`. Line comments that follow each other are one text.
pub(crate) fn read_texts(source: &str) -> Vec<Text<'_>> {
    let mut texts: Vec<Text<'_>> = Vec::new();
    let mut position = 0;
    // The start of a run of line comments.
    let mut run: Option<usize> = None;
    for lexeme in read_lexemes(source) {
        let end = position + lexeme.text.len();
        match lexeme.kind {
            TokenKind::LineComment { .. } => {
                let start = *run.get_or_insert(position);
                if start == position {
                    texts.push(Text { text: lexeme.text, line: lexeme.line });
                } else if let Some(last) = texts.last_mut() {
                    last.text = &source[start..end];
                }
            }
            TokenKind::Whitespace if lexeme.text.matches('\n').count() <= 1 => {}
            kind => {
                run = None;
                if is_text(kind) {
                    texts.push(Text { text: lexeme.text, line: lexeme.line });
                }
            }
        }
        position = end;
    }
    texts
}

fn is_text(kind: TokenKind) -> bool {
    match kind {
        TokenKind::BlockComment { .. } => true,
        TokenKind::Literal { kind, .. } => is_string(kind),
        _ => false,
    }
}

fn is_string(kind: LiteralKind) -> bool {
    matches!(
        kind,
        LiteralKind::Str { .. }
            | LiteralKind::ByteStr { .. }
            | LiteralKind::CStr { .. }
            | LiteralKind::RawStr { .. }
            | LiteralKind::RawByteStr { .. }
            | LiteralKind::RawCStr { .. }
    )
}

/// An identifier or a punctuation mark. `::` is one token, and a string literal is the token `""`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

/// Returns the tokens of `source`, without comments, numbers, characters and lifetimes.
fn read_tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    // The end of the last single colon.
    let mut colon_end = None;
    let mut position = 0;
    for Lexeme { kind, text, line } in read_lexemes(source) {
        position += text.len();
        match kind {
            TokenKind::Whitespace
            | TokenKind::LineComment { .. }
            | TokenKind::BlockComment { .. }
            | TokenKind::Lifetime { .. }
            | TokenKind::RawLifetime => {}
            TokenKind::Literal { kind, .. } => {
                if is_string(kind) {
                    tokens.push(Token { text: "\"\"", line });
                }
            }
            TokenKind::Colon if colon_end == Some(position - 1) => {
                colon_end = None;
                if let Some(last) = tokens.last_mut() {
                    last.text = "::";
                }
            }
            kind => {
                if kind == TokenKind::Colon {
                    colon_end = Some(position);
                }
                tokens.push(Token { text, line });
            }
        }
    }
    tokens
}

/// The code of a file that is part of the product.
#[derive(Debug, Default)]
pub(crate) struct ProductCode<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    /// Test-only modules that have their own file.
    pub(crate) test_modules: Vec<&'a str>,
}

/// Returns the code of `source` without test-only code.
pub(crate) fn read_product_code(source: &str) -> ProductCode<'_> {
    let tokens = read_tokens(source);
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

/// Returns whether `tokens` begin with `#[cfg(test)]` or `#[cfg(all(test, ..))]`, opened by `opening`.
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
        assert_eq!(read("let r#type = radius::rr;"), "let r#type = radius :: rr ;");
        assert_eq!(read("\"never closed"), "\"\"");
        assert_eq!(read("a : :b ::: c"), "a : : b :: : c");
    }

    #[test]
    fn test_modules_are_not_product_code() {
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

    #[test]
    fn comments_and_strings_are_texts() {
        let source = "//! One.\n//! Two.\n\n// Three.\nlet a = \"four\"; // Five.\n/* Six. */ let b = 'c';";
        let texts: Vec<(usize, &str)> =
            read_texts(source).into_iter().map(|text| (text.line, text.text)).collect();
        assert_eq!(
            texts,
            [
                (1, "//! One.\n//! Two."),
                (4, "// Three."),
                (5, "\"four\""),
                (5, "// Five."),
                (6, "/* Six. */")
            ]
        );
    }
}
