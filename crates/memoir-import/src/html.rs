//! Conversion of HTML to plain text with Markdown marks, as far as answers of models use HTML.

/// Maximum number of levels by which the items of a list are indented.
const MAX_INDENT: usize = 8;

/// Converts HTML to text. Lists, headings, code, emphasis and links become Markdown; other tags are dropped.
pub(crate) fn to_text(html: &str) -> String {
    let mut output = TextOutput::default();
    let mut rest = html;
    while let Some((text, tag_and_rest)) = rest.split_once('<') {
        output.push_text(text);
        let starts_tag = tag_and_rest
            .starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/' || letter == '!');
        match starts_tag.then(|| tag_and_rest.split_once('>')) {
            Some(Some((tag, after))) => {
                output.push_tag(tag);
                rest = after;
            }
            // No other tag ends, either.
            Some(None) => {
                output.push_text("<");
                output.push_text(tag_and_rest);
                return output.finish();
            }
            None => {
                output.push_text("<");
                rest = tag_and_rest;
            }
        }
    }
    output.push_text(rest);
    output.finish()
}

#[derive(Default)]
struct TextOutput {
    text: String,
    is_preformatted: bool,
    /// The number of the next item of each open list, or `None` in a list without numbers.
    lists: Vec<Option<u32>>,
    /// Addresses of the open links.
    links: Vec<String>,
}

impl TextOutput {
    fn push_text(&mut self, text: &str) {
        let text = unescape(text);
        if self.is_preformatted {
            self.text.push_str(&text);
            return;
        }
        // White space in HTML is one space, and none at the beginning of a line.
        for letter in text.chars() {
            if !letter.is_whitespace() {
                self.text.push(letter);
            } else if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
                self.text.push(' ');
            }
        }
    }

    fn push_tag(&mut self, tag: &str) {
        let name_end = tag.find(|letter: char| letter.is_whitespace()).unwrap_or(tag.len());
        let name = tag[..name_end].trim_end_matches('/').to_ascii_lowercase();
        match name.as_str() {
            "p" | "/p" | "/ul" | "/ol" | "table" | "/table" | "blockquote" | "/blockquote" | "/h1"
            | "/h2" | "/h3" | "/h4" | "/h5" | "/h6" | "hr" => {
                if name.starts_with("/ul") || name.starts_with("/ol") {
                    self.lists.pop();
                }
                self.end_lines(if self.lists.is_empty() { 2 } else { 1 });
            }
            "ul" | "ol" => {
                self.end_lines(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push((name == "ol").then_some(1));
            }
            "li" => self.start_item(),
            "br" | "div" | "/div" | "tr" | "/tr" => self.end_lines(1),
            "td" | "th" => self.push_text(" "),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_lines(2);
                let level = name[1..].parse().unwrap_or(1);
                self.text.push_str(&"#".repeat(level));
                self.text.push(' ');
            }
            "pre" => {
                self.end_lines(2);
                self.text.push_str("```\n");
                self.is_preformatted = true;
            }
            "/pre" => {
                self.is_preformatted = false;
                self.end_lines(1);
                self.text.push_str("```");
                self.end_lines(2);
            }
            "code" | "/code" if !self.is_preformatted => self.text.push('`'),
            "strong" | "/strong" | "b" | "/b" => self.text.push_str("**"),
            "em" | "/em" | "i" | "/i" => self.text.push('*'),
            "a" => {
                self.links.push(attribute(tag, "href").unwrap_or_default());
                self.text.push('[');
            }
            "/a" => {
                let address = self.links.pop().unwrap_or_default();
                self.text.push_str(&format!("]({address})"));
            }
            _ => {}
        }
    }

    fn start_item(&mut self) {
        self.end_lines(1);
        let depth = self.lists.len().saturating_sub(1).min(MAX_INDENT);
        self.text.push_str(&"  ".repeat(depth));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.text.push_str(&format!("{number}. "));
                *number = number.saturating_add(1);
            }
            _ => self.text.push_str("- "),
        }
    }

    /// Ends the line, and with `count` 2 also the paragraph.
    fn end_lines(&mut self, count: usize) {
        let end = self.text.trim_end_matches([' ', '\t']).len();
        self.text.truncate(end);
        if self.text.is_empty() {
            return;
        }
        let present = self.text.len() - self.text.trim_end_matches('\n').len();
        for _ in present..count {
            self.text.push('\n');
        }
    }

    fn finish(self) -> String {
        self.text.trim().to_owned()
    }
}

/// Returns the value of a tag's attribute that is in quotation marks.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!("{name}="))?;
    let quote = rest.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    Some(unescape(rest[1..].split(quote).next()?))
}

/// Replaces character references such as `&amp;` and `&#39;`.
pub(crate) fn unescape(text: &str) -> String {
    let (mut result, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, reference)) = rest.split_once('&') {
        result.push_str(before);
        let end = reference.char_indices().take(10).find(|(_, letter)| *letter == ';').map(|(end, _)| end);
        match end.and_then(|end| Some((named_character(&reference[..end])?, end))) {
            Some((letter, end)) => {
                result.push(letter);
                rest = &reference[end + 1..];
            }
            None => {
                result.push('&');
                rest = reference;
            }
        }
    }
    result.push_str(rest);
    result
}

fn named_character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|letter| *letter != '\0')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_become_markdown() {
        let html = "<h3>Pancakes</h3><p>For <strong>four</strong>:</p><ul><li>250 g flour</li><li>480&nbsp;ml milk\
            <ol><li>warm</li><li>stir</li></ol></li></ul><pre><code>mix &lt;gently&gt;\n  twice</code></pre>\
            <p>See <a href=\"https://example.org/?a=1&amp;b=2\">this</a>.<br>It&#39;s done.</p>";
        assert_eq!(
            to_text(html),
            "### Pancakes\n\nFor **four**:\n\n- 250 g flour\n- 480 ml milk\n  1. warm\n  2. stir\n\n\
             ```\nmix <gently>\n  twice\n```\n\nSee [this](https://example.org/?a=1&b=2).\nIt's done."
        );
    }

    #[test]
    fn text_that_only_looks_like_html_is_preserved() {
        for text in ["a < b and c > d", "R&D & more", "&#0;", "&unknown;", "<", "&", "5 <6", "ß & ü;"] {
            assert_eq!(to_text(text), text);
        }
        assert_eq!(to_text("</li></ul></a></pre><li>x<b"), "](".to_owned() + ")\n```\n\n- x<b");
    }
}
