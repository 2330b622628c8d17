//! Splitting a text into chunks of limited size.
//!
//! Paragraphs are joined as long as they fit. A paragraph that does not fit is split at sentences, then at words.
//! Fenced code and tables stay whole if they fit and are split at lines otherwise. Each chunk starts with the end of
//! the previous one, which counts towards its size.

use std::ops::Range;

use memoir_core::count_tokens;
use memoir_store::ChunkSpan;
use unicode_segmentation::UnicodeSegmentation as _;

/// Limits on the size of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSize {
    /// Maximum number of tokens, including the overlap.
    pub tokens: usize,
    /// Maximum number of tokens repeated from the previous chunk.
    pub overlap: usize,
}

/// How a block of text may be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Prose,
    /// Code or a table, which is split only between lines.
    Lines,
}

/// Consecutive lines that belong together, with the empty lines after them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TextBlock {
    range: Range<usize>,
    kind: BlockKind,
}

/// A piece of text that is not split any further.
#[derive(Debug, Clone)]
struct Atom {
    range: Range<usize>,
    tokens: usize,
}

/// A function that counts the tokens of a text.
pub(crate) type Count<'a> = &'a dyn Fn(&str) -> usize;

/// Splits `text` into chunks. Without their overlaps, the chunks are adjacent and cover the whole text. A blank text
/// has no chunks.
pub fn split_into_chunks(text: &str, size: ChunkSize) -> Vec<ChunkSpan> {
    chunk_by(text, size, &count_tokens)
}

/// Splits `text` like [`split_into_chunks`], but measures it with `count`.
pub(crate) fn chunk_by(text: &str, size: ChunkSize, count: Count<'_>) -> Vec<ChunkSpan> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let blocks = split_blocks(text);
    let mut atoms = Vec::new();
    for block in &blocks {
        let level = match block.kind {
            BlockKind::Prose => Level::Sentences,
            BlockKind::Lines => Level::Lines,
        };
        split(text, block.range.clone(), level, (size.tokens, count), &mut |range, tokens| {
            atoms.push(Atom { range, tokens });
        });
    }
    let mut spans: Vec<ChunkSpan> = Vec::new();
    let mut rest = atoms.as_slice();
    while !rest.is_empty() {
        let previous = spans.last().map_or(0..0, |span| span.new.clone());
        let (atom_count, span) = next_chunk((text, count), &blocks, previous, rest, size);
        rest = &rest[atom_count..];
        spans.push(span);
    }
    spans
}

/// Returns the next chunk and the number of atoms in it.
fn next_chunk(
    (text, count): (&str, Count<'_>),
    blocks: &[TextBlock],
    previous: Range<usize>,
    rest: &[Atom],
    size: ChunkSize,
) -> (usize, ChunkSpan) {
    let first = &rest[0];
    // The overlap must leave room for at least one new atom.
    let max_overlap = size.overlap.min(size.tokens.saturating_sub(first.tokens));
    let mut overlap = overlap_bytes((text, count), blocks, previous.clone(), max_overlap);
    let mut sum = count(&text[previous.end - overlap..previous.end]);
    let mut atom_count = 0;
    while let Some(atom) = rest.get(atom_count) {
        if atom_count > 0 && sum + atom.tokens > size.tokens {
            break;
        }
        sum += atom.tokens;
        atom_count += 1;
    }
    atom_count = without_trailing_heading(text, rest, atom_count);
    // The whole can have more tokens than the sum of its parts, so measure it and shrink it until it fits.
    loop {
        let new = first.range.start..rest[atom_count - 1].range.end;
        let tokens = count(&text[new.start - overlap..new.end]);
        if tokens <= size.tokens || (overlap == 0 && atom_count == 1) {
            return (atom_count, ChunkSpan { new, overlap, tokens: tokens as u64 });
        }
        if overlap > 0 {
            let half = count(&text[previous.end - overlap..previous.end]) / 2;
            overlap = overlap_bytes((text, count), blocks, previous.clone(), half);
        } else {
            atom_count -= 1;
        }
    }
}

/// Returns `atom_count`, less one if the last atom is a heading, which belongs to the text that follows it.
fn without_trailing_heading(text: &str, rest: &[Atom], atom_count: usize) -> usize {
    let is_heading = |atom: &Atom| {
        let line = text[atom.range.clone()].trim();
        line.starts_with('#') && !line.contains('\n')
    };
    match rest.get(atom_count) {
        Some(_) if atom_count > 1 && is_heading(&rest[atom_count - 1]) => atom_count - 1,
        _ => atom_count,
    }
}

/// Returns the number of bytes at the end of the previous chunk to repeat: whole blocks, or sentences or words of one,
/// with at most `max_tokens` tokens.
fn overlap_bytes(
    (text, count): (&str, Count<'_>),
    blocks: &[TextBlock],
    previous: Range<usize>,
    max_tokens: usize,
) -> usize {
    let end = previous.end;
    // The whole can have more tokens than the sum of its parts, so try smaller sums until it fits.
    let bytes =
        (0..=max_tokens).rev().map(|tokens| tail_bytes((text, count), blocks, previous.clone(), tokens));
    bytes.into_iter().find(|bytes| count(&text[end - bytes..end]) <= max_tokens).unwrap_or(0)
}

/// Returns the number of bytes at the end of the previous chunk whose parts add up to at most `max_tokens` tokens.
fn tail_bytes(
    (text, count): (&str, Count<'_>),
    blocks: &[TextBlock],
    previous: Range<usize>,
    max_tokens: usize,
) -> usize {
    let (mut start, mut remaining) = (previous.end, max_tokens);
    let first = blocks.partition_point(|block| block.range.end <= previous.start);
    let past = blocks.partition_point(|block| block.range.start < previous.end);
    for block in blocks[first..past].iter().rev() {
        let range = block.range.start.max(previous.start)..block.range.end.min(previous.end);
        let tokens = count(&text[range.clone()]);
        if tokens <= remaining {
            (start, remaining) = (range.start, remaining - tokens);
            continue;
        }
        if block.kind == BlockKind::Prose {
            start = tail_start((text, count), range, remaining).unwrap_or(start);
        }
        break;
    }
    previous.end - start
}

/// Returns the start of the last sentences of `range` with at most `max_tokens` tokens, or of the last words if not
/// even one sentence fits.
fn tail_start((text, count): (&str, Count<'_>), range: Range<usize>, max_tokens: usize) -> Option<usize> {
    let earliest = |starts: Vec<usize>| {
        let (mut earliest, mut end, mut remaining) = (None, range.end, max_tokens);
        for start in starts.into_iter().rev() {
            let tokens = count(&text[start..end]);
            if tokens > remaining {
                break;
            }
            (earliest, end, remaining) = (Some(start), start, remaining - tokens);
        }
        earliest
    };
    let within = &text[range.clone()];
    let sentences = within.split_sentence_bound_indices().map(|(start, _)| range.start + start).collect();
    earliest(sentences).or_else(|| {
        // Limit the search to 16 bytes per token.
        let offset = within.ceil_char_boundary(within.len().saturating_sub(max_tokens.saturating_mul(16)));
        let words = within[offset..].split_word_bound_indices();
        earliest(
            words
                .filter(|(_, word)| !word.trim().is_empty())
                .map(|(start, _)| range.start + offset + start)
                .collect(),
        )
    })
}

/// The units at which a range that is too large is split.
#[derive(Debug, Clone, Copy)]
enum Level {
    Lines,
    Sentences,
    Words,
    Characters,
}

/// Passes the range, or the ranges it must be split into, to `emit` with their token counts.
fn split(
    text: &str,
    range: Range<usize>,
    level: Level,
    (max_tokens, count): (usize, Count<'_>),
    emit: &mut impl FnMut(Range<usize>, usize),
) {
    let within = &text[range.clone()];
    let tokens = count(within);
    if tokens <= max_tokens || within.chars().nth(1).is_none() {
        return emit(range, tokens);
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
        split(text, start..start + length, level, (max_tokens, count), emit);
        start += length;
    }
}

/// Splits a text into adjacent blocks that cover all of it.
fn split_blocks(text: &str) -> Vec<TextBlock> {
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
            // Empty lines belong to the block before them.
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
        let spans = split_into_chunks(text, SMALL);
        assert_eq!(texts(text, &spans), [text]);
        assert_eq!((spans[0].overlap, spans[0].tokens), (0, count_tokens(text) as u64));
        assert!(split_into_chunks(" \n\n\t", SMALL).is_empty() && split_into_chunks("", SMALL).is_empty());
    }

    #[test]
    fn each_chunk_starts_with_the_end_of_the_previous_one() {
        let sentence = |number| format!("Sentence number {number} describes something else.");
        let text: Vec<String> = (0..20).map(sentence).collect();
        let text = text.join(" ");
        let spans = split_into_chunks(&text, SMALL);
        assert!(spans.len() > 3);
        for span in &spans[1..] {
            let overlap = &text[span.new.start - span.overlap..span.new.start];
            assert!(overlap.starts_with("Sentence number") && overlap.ends_with(' '), "{overlap:?}");
        }
    }

    #[test]
    fn code_and_tables_stay_whole_if_they_fit() {
        let words = "Words before the code that take some room in the chunk, as words do, and more of them. ";
        let code = "```rust\nfn main() {\n\n    println!(\"hello\");\n}\n```\n";
        let table = "| a | b |\n| - | - |\n| 1 | 2 |\n";
        let text = format!("{words}{words}\n\n{code}\n{words}\n\n{table}\n# Heading\n\n{words}");
        let spans = split_into_chunks(&text, SMALL);
        for whole in [code, table] {
            assert!(
                spans.iter().any(|span| text[span.new.clone()].contains(whole)),
                "{:#?}",
                texts(&text, &spans)
            );
        }
        assert!(
            spans.iter().all(|span| !text[span.new.clone()].trim_end().ends_with("# Heading")),
            "a heading must be in the same chunk as the text after it: {:#?}",
            texts(&text, &spans)
        );
        let long = format!("```\n{}```\n", "a line of code;\n".repeat(60));
        let spans = split_into_chunks(&long, SMALL);
        assert!(
            spans.iter().all(|span| long[span.new.clone()].ends_with('\n')),
            "code is split between lines"
        );
    }

    #[test]
    fn the_overlap_is_measured_as_a_whole() {
        let text = "a漢#  aee  jk  a  a\n| |\n|bjaeapb|\n|a|\n";
        for span in split_into_chunks(text, ChunkSize { tokens: 26, overlap: 11 }) {
            assert!(count_tokens(&text[span.new.start - span.overlap..span.new.start]) <= 11);
        }
    }

    #[test]
    fn text_without_word_boundaries_is_split() {
        let text = "x".repeat(5000);
        let spans = split_into_chunks(&text, SMALL);
        assert!(spans.len() > 10 && spans.iter().all(|span| span.tokens <= 40));
        let chinese = "我们去年夏天在山里走了很久。".repeat(40);
        assert!(split_into_chunks(&chinese, SMALL).iter().all(|span| span.tokens <= 40));
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
        fn chunks_cover_the_text_in_order_within_their_limits(
            text in markdown(),
            tokens in 16_usize..200,
            overlap in 0_usize..60,
        ) {
            let size = ChunkSize { tokens, overlap: overlap.min(tokens / 2) };
            let spans = split_into_chunks(&text, size);
            if text.trim().is_empty() {
                prop_assert!(spans.is_empty());
                return Ok(());
            }
            let mut end = 0;
            for span in &spans {
                prop_assert_eq!(span.new.start, end, "chunks are adjacent");
                prop_assert!(span.new.end > span.new.start);
                end = span.new.end;
                let whole = &text[span.new.start - span.overlap..span.new.end];
                prop_assert_eq!(span.tokens, count_tokens(whole) as u64);
                prop_assert!(span.tokens <= tokens as u64, "{} of {tokens}: {whole:?}", span.tokens);
                let overlap = &text[span.new.start - span.overlap..span.new.start];
                prop_assert!(count_tokens(overlap) <= size.overlap, "{overlap:?}");
            }
            prop_assert_eq!(end, text.len(), "the last chunk ends at the end of the text");
        }
    }
}
