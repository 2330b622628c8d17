//! Wraps text. Lines break between words and between Chinese and Japanese characters. A word is broken only
//! if it is longer than a line.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::span::{StyledLine, StyledSpan, append};

/// Replacement for a tab in verbatim text.
pub(crate) const TAB: &str = "    ";
/// Characters that must not start a line.
const NO_START: &str = "、。，．・：；？！ー々〉》」』】〕）］｝〟’”…‥,.;:!?)]}%";
/// Characters that must not end a line.
const NO_END: &str = "〈《「『【〔（［｛〝‘“([{$";

/// Breaks text into lines of at most `width` columns. Empty lines at the start and the end are removed.
pub(crate) fn wrap(text: &StyledLine, width: usize) -> Vec<StyledLine> {
    let mut wrapper = Wrapper::new(width);
    wrapper.push_text(text);
    let mut lines = wrapper.lines;
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    lines.drain(..lines.iter().take_while(|line| line.is_empty()).count());
    lines
}

/// Returns the width of the widest line without wrapping, and the width of the widest word.
pub(crate) fn measure(text: &StyledLine) -> (usize, usize) {
    let mut wrapper = Wrapper::new(usize::MAX);
    wrapper.push_text(text);
    (wrapper.widest_line, wrapper.widest_word)
}

#[derive(Default)]
struct SpanRun {
    spans: StyledLine,
    width: usize,
}

impl SpanRun {
    fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    fn add(&mut self, text: &str, template: &StyledSpan) {
        self.width = self.width.saturating_add(text.width());
        append(&mut self.spans, text, template);
    }

    fn move_from(&mut self, other: &mut Self) {
        self.width = self.width.saturating_add(other.width);
        for span in other.spans.drain(..) {
            append(&mut self.spans, &span.text, &span);
        }
        other.width = 0;
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

struct Wrapper {
    width: usize,
    lines: Vec<StyledLine>,
    line: SpanRun,
    /// White space between the line and the word.
    space: SpanRun,
    word: SpanRun,
    /// The previous character of the current word.
    last: Option<char>,
    widest_line: usize,
    widest_word: usize,
}

impl Wrapper {
    fn new(width: usize) -> Self {
        Self {
            width: width.max(1),
            lines: Vec::new(),
            line: SpanRun::default(),
            space: SpanRun::default(),
            word: SpanRun::default(),
            last: None,
            widest_line: 0,
            widest_word: 0,
        }
    }

    fn push_text(&mut self, text: &StyledLine) {
        for span in text {
            for cluster in span.text.graphemes(true) {
                match cluster {
                    "\n" | "\r\n" => self.end_line(),
                    " " | "\t" => self.add_space(cluster, span),
                    _ => self.add_to_word(cluster, span),
                }
            }
        }
        self.end_word();
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    fn add_space(&mut self, cluster: &str, span: &StyledSpan) {
        self.end_word();
        self.last = None;
        if span.verbatim {
            self.space.add(if cluster == "\t" { TAB } else { cluster }, span);
        } else if self.space.is_empty() && !self.line.is_empty() {
            self.space.add(" ", span);
        }
    }

    fn add_to_word(&mut self, cluster: &str, span: &StyledSpan) {
        let first = cluster.chars().next();
        let can_break =
            matches!((self.last, first), (Some(last), Some(next)) if can_break_between(last, next));
        if can_break || self.word.width + cluster.width() > self.width {
            self.end_word();
        }
        self.word.add(cluster, span);
        self.last = first;
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        self.widest_word = self.widest_word.max(self.word.width);
        let total = self.line.width.saturating_add(self.space.width).saturating_add(self.word.width);
        if total <= self.width {
            self.line.move_from(&mut self.space);
        } else {
            if !self.line.is_empty() {
                self.put_line();
            }
            self.space.clear();
        }
        self.line.move_from(&mut self.word);
    }

    fn end_line(&mut self) {
        self.end_word();
        self.put_line();
        self.space.clear();
        self.last = None;
    }

    fn put_line(&mut self) {
        self.widest_line = self.widest_line.max(self.line.width);
        self.lines.push(std::mem::take(&mut self.line).spans);
    }
}

fn can_break_between(last: char, next: char) -> bool {
    (is_ideographic(last) || is_ideographic(next)) && !NO_END.contains(last) && !NO_START.contains(next)
}

/// Returns whether a character belongs to a script that is written without spaces.
fn is_ideographic(character: char) -> bool {
    matches!(character,
        '\u{2E80}'..='\u{312F}' | '\u{31A0}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE4F}' | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use anstyle::Style;

    use super::*;

    fn wrap_plain(text: &str, width: usize) -> Vec<String> {
        let lines = wrap(&vec![StyledSpan::plain(text)], width);
        lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect()
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap_plain("the quick  brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrap_plain(" a b ", 80), ["a b"]);
        assert_eq!(wrap_plain("\none\n\ntwo\n\n", 80), ["one", "", "two"]);
        assert_eq!(wrap_plain("", 80), Vec::<String>::new());
    }

    #[test]
    fn a_word_longer_than_a_line_is_broken() {
        assert_eq!(wrap_plain("a abcdefgh b", 5), ["a", "abcde", "fgh b"]);
        assert_eq!(wrap_plain("👩‍👩‍👧👩‍👩‍👧", 3), ["👩‍👩‍👧", "👩‍👩‍👧"]);
        assert_eq!(wrap_plain("漢字", 1), ["漢", "字"]);
    }

    #[test]
    fn chinese_and_japanese_break_between_characters() {
        assert_eq!(wrap_plain("日本語のテキストです。", 10), ["日本語のテ", "キストで", "す。"]);
        assert_eq!(wrap_plain("see「漢字」", 6), ["see", "「漢", "字」"]);
        assert_eq!(wrap_plain("한국어 문장", 8), ["한국어", "문장"]);
    }

    #[test]
    fn verbatim_white_space_is_preserved() {
        let verbatim = |text: &str| StyledSpan { verbatim: true, ..StyledSpan::plain(text) };
        let lines = wrap(&vec![verbatim("  a  b\n\tc")], 80);
        assert_eq!(lines, [[verbatim("  a  b")], [verbatim("    c")]]);
    }

    #[test]
    fn styles_continue_on_the_next_line() {
        let bold = |text: &str| StyledSpan::new(text, Style::new().bold());
        let lines = wrap(&vec![StyledSpan::plain("a "), bold("b c")], 3);
        assert_eq!(lines, [vec![StyledSpan::plain("a "), bold("b")], vec![bold("c")]]);
    }

    #[test]
    fn measure_returns_line_and_word_widths() {
        assert_eq!(measure(&vec![StyledSpan::plain("ab cde\n日本 f")]), (6, 3));
    }
}
