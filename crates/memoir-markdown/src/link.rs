//! Links: which URLs are passed to the terminal, and when they are shown as text.

use std::sync::Arc;

use anstyle::Style;

use crate::{
    TerminalStyle,
    span::{DIM, StyledLine, StyledSpan},
};

/// Schemes that a click may open.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];
/// Maximum length of a URL that terminals accept.
const MAX_LENGTH: usize = 2048;
/// Punctuation that may follow a URL in a sentence without being part of it.
const TRAILING: [char; 11] = ['.', ',', ';', ':', '!', '?', ')', ']', '\'', '"', '*'];

/// Returns the URL in the form that is passed to the terminal, with only visible ASCII characters, or `None`
/// if it must not be passed.
fn target(url: &str) -> Option<Arc<str>> {
    let is_allowed = SCHEMES.iter().any(|scheme| url.starts_with(scheme));
    let mut encoded = String::with_capacity(url.len());
    for byte in url.bytes() {
        if byte.is_ascii_graphic() {
            encoded.push(byte.into());
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    (is_allowed && encoded.len() <= MAX_LENGTH).then(|| encoded.into())
}

/// Returns whether a link text looks like a URL other than its target.
fn is_misleading(text: &str, url: &str) -> bool {
    let normalize = |text: &str| {
        let text = text.trim().trim_end_matches('/');
        let text = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
        text.strip_prefix("www.").unwrap_or(text).to_owned()
    };
    (text.contains("://") || text.contains("www.")) && normalize(text) != normalize(url)
}

fn underline(style: Style) -> Style {
    style.effects(style.get_effects() | anstyle::Effects::UNDERLINE)
}

/// Links the spans from `start` on to a URL. If the terminal does not support the link, or the text would be
/// misleading, the URL is shown after the text.
pub(crate) fn link(line: &mut StyledLine, start: usize, url: &str, terminal: TerminalStyle) {
    let text: String = line.iter().skip(start).map(|span| span.text.as_str()).collect();
    let is_empty = text.trim().is_empty();
    if is_empty {
        line.push(StyledSpan::plain(url));
    }
    let target = target(url).filter(|_| terminal.links && terminal.color && !is_misleading(&text, url));
    for span in line.iter_mut().skip(start) {
        span.style = underline(span.style);
        span.link = target.clone();
    }
    let is_url = is_empty || text == url || url.strip_prefix("mailto:") == Some(&text);
    if target.is_none() && !is_url && !url.is_empty() {
        line.push(StyledSpan::new(format!(" ({url})"), DIM));
    }
}

/// Adds the URL of an image after its description, which are the spans from `start` on.
pub(crate) fn image(line: &mut StyledLine, start: usize, url: &str, terminal: TerminalStyle) {
    let is_empty = line.iter().skip(start).all(|span| span.text.trim().is_empty());
    let [open, close] = if is_empty { ["", ""] } else { [" (", ")"] };
    line.push(StyledSpan::new(open, DIM));
    let url_start = line.len();
    line.push(StyledSpan::new(url, DIM));
    link(line, url_start, url, terminal);
    line.push(StyledSpan::new(close, DIM));
}

/// Adds text and links the URLs in it, for terminals that support links.
pub(crate) fn add_text(line: &mut StyledLine, text: &str, style: Style, terminal: TerminalStyle) {
    let mut rest = text;
    while let Some(offset) = find_url(rest) {
        let after = &rest[offset..];
        let end = after.find(|character: char| character.is_whitespace() || "<>`|".contains(character));
        let url = after[..end.unwrap_or(after.len())].trim_end_matches(TRAILING);
        line.push(StyledSpan::new(&rest[..offset], style));
        let start = line.len();
        line.push(StyledSpan::new(url, style));
        link(line, start, url, terminal);
        rest = &after[url.len()..];
    }
    line.push(StyledSpan::new(rest, style));
}

/// Returns the offset of the next URL that has a host.
fn find_url(text: &str) -> Option<usize> {
    text.match_indices("http").map(|(start, _)| start).find(|start| {
        let after = &text[*start..];
        let host = after.strip_prefix("https://").or_else(|| after.strip_prefix("http://"));
        host.is_some_and(|host| host.starts_with(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: TerminalStyle = TerminalStyle { width: 80, color: true, links: true };

    fn render_link(text: &str, url: &str, terminal: TerminalStyle) -> (String, Option<String>) {
        let mut line = vec![StyledSpan::plain(text)];
        link(&mut line, 0, url, terminal);
        let text = line.iter().map(|span| span.text.as_str()).collect();
        (text, line[0].link.as_deref().map(str::to_owned))
    }

    #[test]
    fn only_safe_urls_are_passed_to_the_terminal() {
        assert_eq!(
            target("https://a.example/ü b\u{fffd}").as_deref(),
            Some("https://a.example/%C3%BC%20b%EF%BF%BD")
        );
        assert_eq!(target("javascript:alert(1)"), None);
        assert_eq!(target("src/lib.rs"), None);
        assert_eq!(target(&format!("https://a.example/{}", "x".repeat(MAX_LENGTH))), None);
    }

    #[test]
    fn the_url_is_shown_where_needed() {
        let url = "https://a.example/b";
        assert_eq!(render_link("text", url, TERMINAL), ("text".into(), Some(url.into())));
        assert_eq!(
            render_link("text", url, TerminalStyle { links: false, ..TERMINAL }),
            (format!("text ({url})"), None)
        );
        assert_eq!(render_link(url, url, TerminalStyle { links: false, ..TERMINAL }), (url.into(), None));
        assert_eq!(
            render_link(" ", url, TerminalStyle { links: false, ..TERMINAL }),
            (format!(" {url}"), None)
        );
        assert_eq!(render_link("lib", "src/lib.rs", TERMINAL), ("lib (src/lib.rs)".into(), None));
        assert_eq!(
            render_link("https://bank.example", url, TERMINAL),
            (format!("https://bank.example ({url})"), None)
        );
        assert_eq!(
            render_link("www.a.example/b/", url, TERMINAL),
            ("www.a.example/b/".into(), Some(url.into()))
        );
    }

    #[test]
    fn urls_in_text_are_linked() {
        let mut line = StyledLine::new();
        add_text(&mut line, "see (https://a.example/b), http://x or http://.", Style::new(), TERMINAL);
        let links: Vec<_> =
            line.iter().filter(|span| span.link.is_some()).map(|span| span.text.as_str()).collect();
        assert_eq!(links, ["https://a.example/b", "http://x"]);
        let text: String = line.iter().map(|span| span.text.as_str()).collect();
        assert_eq!(text, "see (https://a.example/b), http://x or http://.");
    }
}
