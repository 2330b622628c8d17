//! Showing stored text. It may come from anybody, so nothing in it is HTML, and characters that reorder or hide text are
//! removed.

use std::borrow::Cow;

use maud::{Markup, html};
use memoir_core::content_words;
use memoir_runtime::printable;

/// Number of characters of an excerpt.
const EXCERPT_CHARS: usize = 420;

/// Number of characters of an excerpt before the first word that was searched for.
const CHARS_BEFORE: usize = 120;

/// Minimum length of a word whose other forms are marked, too.
const MIN_STEM_CHARS: usize = 4;

/// Returns text without characters that would change how other text is shown.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    printable(text)
}

/// The words of a search.
pub(super) struct Terms(Vec<String>);

impl Terms {
    pub(super) fn new(query: &str) -> Self {
        Self(content_words(query))
    }

    /// Returns the words of the search that a text contains.
    pub(super) fn in_text(&self, text: &str) -> Vec<&str> {
        let words = content_words(text);
        let is_in_text = |term: &&String| words.iter().any(|word| is_form_of(word, term));
        self.0.iter().filter(is_in_text).map(String::as_str).collect()
    }

    /// Returns the part of a text around the first word of the search, in which the words are marked.
    pub(super) fn excerpt(&self, text: &str) -> Markup {
        let text = plain(text.trim());
        let first = words(&text).find(|(_, word)| self.contains(word)).map_or(0, |(start, _)| start);
        let start = start_of_excerpt(&text, first);
        let end = text[start..].char_indices().nth(EXCERPT_CHARS).map_or(text.len(), |(end, _)| start + end);
        html! {
            @if start > 0 { "… " }
            (self.mark(&text[start..end]))
            @if end < text.len() { " …" }
        }
    }

    fn mark(&self, text: &str) -> Markup {
        let mut position = 0;
        let mut parts = Vec::new();
        for (start, word) in words(text).filter(|(_, word)| self.contains(word)) {
            parts.push((&text[position..start], word));
            position = start + word.len();
        }
        html! {
            @for (before, word) in parts { (before) mark { (word) } }
            (text[position..])
        }
    }

    fn contains(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        self.0.iter().any(|term| is_form_of(&word, term))
    }
}

/// Returns whether two words, in lower case, are the same or differ at their ends only.
fn is_form_of(word: &str, term: &str) -> bool {
    let stem_chars = term.chars().count().saturating_sub(2).max(MIN_STEM_CHARS);
    let stem = term.char_indices().nth(stem_chars).map_or(term, |(end, _)| &term[..end]);
    let is_longer = word.chars().count() <= term.chars().count() + 3;
    word == term || (stem.chars().count() >= MIN_STEM_CHARS && word.starts_with(stem) && is_longer)
}

/// Returns the words of a text with their positions.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let pieces = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    pieces.map(|word| (word.as_ptr().addr() - text.as_ptr().addr(), word))
}

/// Returns where an excerpt begins: at a word shortly before a position.
fn start_of_excerpt(text: &str, position: usize) -> usize {
    let before = text[..position].char_indices().rev().nth(CHARS_BEFORE);
    let Some((start, _)) = before else { return 0 };
    text[start..position].find(char::is_whitespace).map_or(start, |space| start + space + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_forms_are_marked_and_nothing_is_html() {
        let terms = Terms::new("ports of the servers");
        let shown = terms.excerpt("The port & the <b>server</b>.").into_string();
        assert_eq!(shown, "The <mark>port</mark> &amp; the &lt;b&gt;<mark>server</mark>&lt;/b&gt;.");
        assert_eq!(terms.in_text("A server, an important airport."), ["servers"]);
        assert_eq!(Terms::new("").excerpt("x").into_string(), "x");
    }

    #[test]
    fn an_excerpt_begins_shortly_before_the_first_match() {
        let text = format!("{}Der Schlüssel liegt hier. {}", "äöü ".repeat(300), "ß".repeat(600));
        let shown = Terms::new("schlüssel").excerpt(&text).into_string();
        assert!(shown.starts_with("… ") && shown.ends_with(" …"), "{shown}");
        assert!(shown.contains("<mark>Schlüssel</mark>") && shown.len() < 1200, "{shown}");
    }

    #[test]
    fn characters_that_reorder_text_are_not_shown() {
        assert!(!plain("a\u{202e}b").contains('\u{202e}'));
    }
}
