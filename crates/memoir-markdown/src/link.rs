//! Links: which addresses a terminal is told, and when the reader sees them.

use std::sync::Arc;

use anstyle::Style;

use crate::{
    TerminalStyle,
    span::{DIM, StyledLine, StyledSpan},
};

/// Schemes that a click may open.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];
/// Terminals take no longer addresses.
const LONGEST: usize = 2048;
/// What follows an address in a sentence and is no part of it.
const AFTER: [char; 11] = ['.', ',', ';', ':', '!', '?', ')', ']', '\'', '"', '*'];

/// What a terminal is told, if it may be told this address: nothing but visible ASCII.
fn target(url: &str) -> Option<Arc<str>> {
    let known = SCHEMES.iter().any(|scheme| url.starts_with(scheme));
    let mut encoded = String::with_capacity(url.len());
    for byte in url.bytes() {
        if byte.is_ascii_graphic() {
            encoded.push(byte.into());
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    (known && encoded.len() <= LONGEST).then(|| encoded.into())
}

/// Whether a text is taken for another address than the one behind it.
fn misleads(text: &str, url: &str) -> bool {
    let short = |text: &str| {
        let text = text.trim().trim_end_matches('/');
        let text = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
        text.strip_prefix("www.").unwrap_or(text).to_owned()
    };
    (text.contains("://") || text.contains("www.")) && short(text) != short(url)
}

fn underline(style: Style) -> Style {
    style.effects(style.get_effects() | anstyle::Effects::UNDERLINE)
}

/// Links a text, from a span on, to an address. Where a terminal cannot be told the address, or the text would mislead, the
/// address follows it.
pub(crate) fn link(text: &mut StyledLine, from: usize, url: &str, terminal: TerminalStyle) {
    let shown: String = text.iter().skip(from).map(|span| span.text.as_str()).collect();
    let is_bare = shown.trim().is_empty();
    if is_bare {
        text.push(StyledSpan::plain(url));
    }
    let target = target(url).filter(|_| terminal.links && terminal.color && !misleads(&shown, url));
    for span in text.iter_mut().skip(from) {
        span.style = underline(span.style);
        span.link = target.clone();
    }
    let is_address = is_bare || shown == url || url.strip_prefix("mailto:") == Some(&shown);
    if target.is_none() && !is_address && !url.is_empty() {
        text.push(StyledSpan::new(format!(" ({url})"), DIM));
    }
}

/// An image: what it shows is there from a span on, and where it is follows.
pub(crate) fn image(text: &mut StyledLine, from: usize, url: &str, terminal: TerminalStyle) {
    let is_bare = text.iter().skip(from).all(|span| span.text.trim().is_empty());
    let around = if is_bare { ["", ""] } else { [" (", ")"] };
    text.push(StyledSpan::new(around[0], DIM));
    let address = text.len();
    text.push(StyledSpan::new(url, DIM));
    link(text, address, url, terminal);
    text.push(StyledSpan::new(around[1], DIM));
}

/// Adds text with the addresses in it linked, for terminals that can be told.
pub(crate) fn bare(line: &mut StyledLine, text: &str, style: Style, terminal: TerminalStyle) {
    let mut rest = text;
    while let Some(start) = next_address(rest) {
        let after = &rest[start..];
        let end = after.find(|letter: char| letter.is_whitespace() || "<>`|".contains(letter));
        let url = after[..end.unwrap_or(after.len())].trim_end_matches(AFTER);
        line.push(StyledSpan::new(&rest[..start], style));
        let from = line.len();
        line.push(StyledSpan::new(url, style));
        link(line, from, url, terminal);
        rest = &after[url.len()..];
    }
    line.push(StyledSpan::new(rest, style));
}

/// Where the next address begins that is more than its scheme.
fn next_address(text: &str) -> Option<usize> {
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

    fn linked(text: &str, url: &str, terminal: TerminalStyle) -> (String, Option<String>) {
        let mut line = vec![StyledSpan::plain(text)];
        link(&mut line, 0, url, terminal);
        let shown = line.iter().map(|span| span.text.as_str()).collect();
        (shown, line[0].link.as_deref().map(str::to_owned))
    }

    #[test]
    fn a_terminal_is_told_clean_addresses_only() {
        assert_eq!(
            target("https://a.example/ü b\u{fffd}").as_deref(),
            Some("https://a.example/%C3%BC%20b%EF%BF%BD")
        );
        assert_eq!(target("javascript:alert(1)"), None);
        assert_eq!(target("src/lib.rs"), None);
        assert_eq!(target(&format!("https://a.example/{}", "x".repeat(LONGEST))), None);
    }

    #[test]
    fn the_address_is_shown_where_it_must_be() {
        let url = "https://a.example/b";
        assert_eq!(linked("text", url, TERMINAL), ("text".into(), Some(url.into())));
        assert_eq!(
            linked("text", url, TerminalStyle { links: false, ..TERMINAL }),
            (format!("text ({url})"), None)
        );
        assert_eq!(linked(url, url, TerminalStyle { links: false, ..TERMINAL }), (url.into(), None));
        assert_eq!(linked(" ", url, TerminalStyle { links: false, ..TERMINAL }), (format!(" {url}"), None));
        assert_eq!(linked("lib", "src/lib.rs", TERMINAL), ("lib (src/lib.rs)".into(), None));
        assert_eq!(
            linked("https://bank.example", url, TERMINAL),
            (format!("https://bank.example ({url})"), None)
        );
        assert_eq!(linked("www.a.example/b/", url, TERMINAL), ("www.a.example/b/".into(), Some(url.into())));
    }

    #[test]
    fn addresses_are_found_in_text() {
        let mut line = StyledLine::new();
        bare(&mut line, "see (https://a.example/b), http://x or http://.", Style::new(), TERMINAL);
        let links: Vec<_> =
            line.iter().filter(|span| span.link.is_some()).map(|span| span.text.as_str()).collect();
        assert_eq!(links, ["https://a.example/b", "http://x"]);
        let shown: String = line.iter().map(|span| span.text.as_str()).collect();
        assert_eq!(shown, "see (https://a.example/b), http://x or http://.");
    }
}
