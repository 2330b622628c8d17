//! Cutting a text into chunks of a size that models take.
//!
//! Paragraphs are joined as long as they fit. One that does not fit by itself is cut at sentences, then at words. Code between
//! fences and tables stay whole where they fit, and are cut at lines where they do not. Each chunk begins with the end of
//! the one before, and is measured with that.

use std::ops::Range;

use memoir_core::count_tokens;
use memoir_store::ChunkSpan;
use unicode_segmentation::UnicodeSegmentation as _;

/// How large a chunk may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSize {
    /// The most tokens it has, what it repeats included.
    pub tokens: usize,
    /// The most tokens that are repeated of the chunk before.
    pub overlap: usize,
}

/// What a stretch of text is, as far as cutting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Prose,
    /// Code or a table: lines that belong together.
    Lines,
}

/// Lines that belong together, with the empty lines after them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TextBlock {
    range: Range<usize>,
    kind: BlockKind,
}

/// A stretch that is not cut any further.
#[derive(Debug, Clone)]
struct Atom {
    range: Range<usize>,
    tokens: usize,
}

/// Counts the tokens of a text.
pub(crate) type Count<'a> = &'a dyn Fn(&str) -> usize;

/// Cuts `text`. What is new in the chunks follows each other and is all of the text; an empty text has none.
pub fn chunk(text: &str, size: ChunkSize) -> Vec<ChunkSpan> {
    chunk_by(text, size, &count_tokens)
}

/// The same in tokens of another kind.
pub(crate) fn chunk_by(text: &str, size: ChunkSize, count: Count<'_>) -> Vec<ChunkSpan> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let blocks = blocks(text);
    let mut atoms = Vec::new();
    for block in &blocks {
        let level = match block.kind {
            BlockKind::Prose => Level::Sentences,
            BlockKind::Lines => Level::Lines,
        };
        cut(text, block.range.clone(), level, (size.tokens, count), &mut |range, tokens| {
            atoms.push(Atom { range, tokens });
        });
    }
    let mut spans: Vec<ChunkSpan> = Vec::new();
    let mut rest = atoms.as_slice();
    while !rest.is_empty() {
        let before = spans.last().map_or(0..0, |span| span.new.clone());
        let (taken, span) = next((text, count), &blocks, before, rest, size);
        rest = &rest[taken..];
        spans.push(span);
    }
    spans
}

/// The next chunk, and how many atoms it takes.
fn next(
    (text, count): (&str, Count<'_>),
    blocks: &[TextBlock],
    before: Range<usize>,
    rest: &[Atom],
    size: ChunkSize,
) -> (usize, ChunkSpan) {
    let first = &rest[0];
    // What is repeated must leave room for what is new.
    let room = size.overlap.min(size.tokens.saturating_sub(first.tokens));
    let mut overlap = repeated((text, count), blocks, before.clone(), room);
    let mut sum = count(&text[before.end - overlap..before.end]);
    let mut taken = 0;
    while let Some(atom) = rest.get(taken) {
        if taken > 0 && sum + atom.tokens > size.tokens {
            break;
        }
        sum += atom.tokens;
        taken += 1;
    }
    taken = without_lonely_heading(text, rest, taken);
    // The sum of the parts is not the whole: words that meet may count otherwise.
    loop {
        let new = first.range.start..rest[taken - 1].range.end;
        let tokens = count(&text[new.start - overlap..new.end]);
        if tokens <= size.tokens || (overlap == 0 && taken == 1) {
            return (taken, ChunkSpan { new, overlap, tokens: tokens as u64 });
        }
        if overlap > 0 {
            overlap = repeated(
                (text, count),
                blocks,
                before.clone(),
                count(&text[before.end - overlap..before.end]) / 2,
            );
        } else {
            taken -= 1;
        }
    }
}

/// One fewer where the last is a heading, which belongs to what follows it.
fn without_lonely_heading(text: &str, rest: &[Atom], taken: usize) -> usize {
    let is_heading = |atom: &Atom| {
        let line = text[atom.range.clone()].trim();
        line.starts_with('#') && !line.contains('\n')
    };
    match rest.get(taken) {
        Some(_) if taken > 1 && is_heading(&rest[taken - 1]) => taken - 1,
        _ => taken,
    }
}

/// How many bytes at the end of what was new before are repeated: whole blocks, or sentences or words of one, of at most so many
/// tokens.
fn repeated(
    (text, count): (&str, Count<'_>),
    blocks: &[TextBlock],
    before: Range<usize>,
    tokens: usize,
) -> usize {
    let end = before.end;
    // The sum of the parts is not the whole: with a little less it fits.
    let bytes = (0..=tokens).rev().map(|tokens| last_of((text, count), blocks, before.clone(), tokens));
    bytes.into_iter().find(|bytes| count(&text[end - bytes..end]) <= tokens).unwrap_or(0)
}

/// The same, by the sum of the parts.
fn last_of(
    (text, count): (&str, Count<'_>),
    blocks: &[TextBlock],
    before: Range<usize>,
    tokens: usize,
) -> usize {
    let (mut start, mut left) = (before.end, tokens);
    let first = blocks.partition_point(|block| block.range.end <= before.start);
    let past = blocks.partition_point(|block| block.range.start < before.end);
    for block in blocks[first..past].iter().rev() {
        let range = block.range.start.max(before.start)..block.range.end.min(before.end);
        let takes = count(&text[range.clone()]);
        if takes <= left {
            (start, left) = (range.start, left - takes);
            continue;
        }
        if block.kind == BlockKind::Prose {
            // What follows is not repeated without the end of what comes before it.
            start = end_of((text, count), range, left).unwrap_or(start);
        }
        break;
    }
    before.end - start
}

/// Where the last sentences of `range` begin that have at most so many tokens; else the last words.
fn end_of((text, count): (&str, Count<'_>), range: Range<usize>, tokens: usize) -> Option<usize> {
    let begin = |starts: Vec<usize>| {
        let (mut found, mut end, mut left) = (None, range.end, tokens);
        for start in starts.into_iter().rev() {
            let takes = count(&text[start..end]);
            if takes > left {
                break;
            }
            (found, end, left) = (Some(start), start, left - takes);
        }
        found
    };
    let within = &text[range.clone()];
    let sentences = within.split_sentence_bound_indices().map(|(start, _)| range.start + start).collect();
    begin(sentences).or_else(|| {
        // A token is at least a byte: nothing further back fits.
        let last = within.ceil_char_boundary(within.len().saturating_sub(tokens.saturating_mul(16)));
        let words = within[last..].split_word_bound_indices();
        begin(
            words
                .filter(|(_, word)| !word.trim().is_empty())
                .map(|(start, _)| range.start + last + start)
                .collect(),
        )
    })
}

/// Where a stretch that is too large is cut.
#[derive(Debug, Clone, Copy)]
enum Level {
    Lines,
    Sentences,
    Words,
    Characters,
}

/// Gives a range, or the ranges it must be cut into, with their tokens.
fn cut(
    text: &str,
    range: Range<usize>,
    level: Level,
    (most, count): (usize, Count<'_>),
    give: &mut impl FnMut(Range<usize>, usize),
) {
    let within = &text[range.clone()];
    let tokens = count(within);
    if tokens <= most || within.chars().nth(1).is_none() {
        return give(range, tokens);
    }
    let (lengths, level): (Vec<usize>, Level) = match level {
        Level::Lines => (within.split_inclusive('\n').map(str::len).collect(), Level::Words),
        Level::Sentences => (within.split_sentence_bounds().map(str::len).collect(), Level::Words),
        Level::Words => (within.split_word_bounds().map(str::len).collect(), Level::Characters),
        Level::Characters => {
            let middle = within.ceil_char_boundary(within.len() / 2);
            let middle = if middle == within.len() { within.floor_char_boundary(middle / 2) } else { middle };
            (vec![middle, within.len() - middle], Level::Characters)
        }
    };
    let mut start = range.start;
    for length in lengths.into_iter().filter(|length| *length > 0) {
        cut(text, start..start + length, level, (most, count), give);
        start += length;
    }
}

/// The blocks of a text, in order and without a gap.
fn blocks(text: &str) -> Vec<TextBlock> {
    let mut blocks: Vec<TextBlock> = Vec::new();
    let mut open: Option<TextBlock> = None;
    let mut fence: Option<&str> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let trimmed = line.trim();
        if let Some(mark) = fence {
            extend(&mut open, &range, BlockKind::Lines);
            let closes = trimmed.starts_with(mark) && trimmed.trim_start_matches(&mark[..1]).is_empty();
            if closes {
                fence = None;
                blocks.extend(open.take());
            }
            continue;
        }
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        let kind = if trimmed.starts_with('|') { BlockKind::Lines } else { BlockKind::Prose };
        if trimmed.is_empty() {
            blocks.extend(open.take());
            // Empty lines belong to what they follow.
            match blocks.last_mut() {
                Some(last) => last.range.end = range.end,
                None => open = Some(TextBlock { range, kind: BlockKind::Prose }),
            }
        } else if mark.is_some() {
            blocks.extend(open.take());
            fence = mark;
            extend(&mut open, &range, BlockKind::Lines);
        } else {
            if open
                .as_ref()
                .is_some_and(|open| open.kind != kind && !text[open.range.clone()].trim().is_empty())
            {
                blocks.extend(open.take());
            }
            extend(&mut open, &range, kind);
        }
    }
    blocks.extend(open);
    blocks
}

fn extend(open: &mut Option<TextBlock>, line: &Range<usize>, kind: BlockKind) {
    match open {
        Some(block) => (block.range.end, block.kind) = (line.end, kind),
        None => *open = Some(TextBlock { range: line.clone(), kind }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: ChunkSize = ChunkSize { tokens: 40, overlap: 10 };

    fn texts<'a>(text: &'a str, spans: &[ChunkSpan]) -> Vec<&'a str> {
        spans.iter().map(|span| &text[span.new.start - span.overlap..span.new.end]).collect()
    }

    #[test]
    fn paragraphs_are_joined_as_long_as_they_fit() {
        let text = "One short paragraph.\n\nAnother one.\n\nA third.";
        let spans = chunk(text, SMALL);
        assert_eq!(texts(text, &spans), [text]);
        assert_eq!((spans[0].overlap, spans[0].tokens), (0, count_tokens(text) as u64));
        assert!(chunk(" \n\n\t", SMALL).is_empty() && chunk("", SMALL).is_empty());
    }

    #[test]
    fn the_next_chunk_begins_with_the_end_of_the_one_before() {
        let sentence = |number| format!("Sentence number {number} tells of something else.");
        let text: Vec<String> = (0..20).map(sentence).collect();
        let text = text.join(" ");
        let spans = chunk(&text, SMALL);
        assert!(spans.len() > 3);
        for span in &spans[1..] {
            let repeated = &text[span.new.start - span.overlap..span.new.start];
            assert!(repeated.starts_with("Sentence number") && repeated.ends_with(' '), "{repeated:?}");
        }
    }

    #[test]
    fn code_and_tables_stay_whole_where_they_fit() {
        let words = "Words before the code that take some room in the chunk, as words do, and more of them. ";
        let code = "```rust\nfn main() {\n\n    println!(\"hello\");\n}\n```\n";
        let table = "| a | b |\n| - | - |\n| 1 | 2 |\n";
        let text = format!("{words}{words}\n\n{code}\n{words}\n\n{table}\n# Heading\n\n{words}");
        let spans = chunk(&text, SMALL);
        for whole in [code, table] {
            assert!(
                spans.iter().any(|span| text[span.new.clone()].contains(whole)),
                "{:#?}",
                texts(&text, &spans)
            );
        }
        assert!(
            spans.iter().all(|span| !text[span.new.clone()].trim_end().ends_with("# Heading")),
            "a heading stands with what follows it: {:#?}",
            texts(&text, &spans)
        );
        let long = format!("```\n{}```\n", "a line of code;\n".repeat(60));
        let cut = chunk(&long, SMALL);
        assert!(cut.iter().all(|span| long[span.new.clone()].ends_with('\n')), "at lines, if at all");
    }

    #[test]
    fn what_is_repeated_is_measured_as_a_whole() {
        let text = "a漢#  aee  jk  a  a\n| |\n|bjaeapb|\n|a|\n";
        for span in chunk(text, ChunkSize { tokens: 26, overlap: 11 }) {
            assert!(count_tokens(&text[span.new.start - span.overlap..span.new.start]) <= 11);
        }
    }

    #[test]
    fn what_has_no_words_is_cut_too() {
        let text = "x".repeat(5000);
        let spans = chunk(&text, SMALL);
        assert!(spans.len() > 10 && spans.iter().all(|span| span.tokens <= 40));
        let chinese = "我们去年夏天在山里走了很久。".repeat(40);
        assert!(chunk(&chinese, SMALL).iter().all(|span| span.tokens <= 40));
    }

    fn markdown() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-zA-Z ,.!?éß漢字🦀]{0,120}",
            1 => Just("\n\n".to_owned()),
            1 => Just("\n".to_owned()),
            1 => Just("\r\n\r\n".to_owned()),
            1 => "```[a-z]{0,4}\n([a-z(){};= ]{0,30}\n){0,12}```\n",
            1 => Just("~~~\nnever closed\n".to_owned()),
            1 => "(\\|[a-z ]{0,12}\\|\n){1,8}",
            1 => "#{1,3} [a-z ]{1,20}\n",
            1 => "[a-z]{200,400}",
            1 => ".{0,40}",
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn nothing_is_lost_nothing_is_too_large_and_the_order_is_kept(
            text in markdown(),
            tokens in 16_usize..200,
            overlap in 0_usize..60,
        ) {
            let size = ChunkSize { tokens, overlap: overlap.min(tokens / 2) };
            let spans = chunk(&text, size);
            if text.trim().is_empty() {
                prop_assert!(spans.is_empty());
                return Ok(());
            }
            let mut end = 0;
            for span in &spans {
                prop_assert_eq!(span.new.start, end, "one after the other, without a gap");
                prop_assert!(span.new.end > span.new.start);
                end = span.new.end;
                let whole = &text[span.new.start - span.overlap..span.new.end];
                prop_assert_eq!(span.tokens, count_tokens(whole) as u64);
                prop_assert!(span.tokens <= tokens as u64, "{} of {tokens}: {whole:?}", span.tokens);
                let repeated = &text[span.new.start - span.overlap..span.new.start];
                prop_assert!(count_tokens(repeated) <= size.overlap, "{repeated:?}");
            }
            prop_assert_eq!(end, text.len(), "to the last byte");
        }
    }
}
