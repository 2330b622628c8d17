//! Splitting text into chunks.

use memoir_core::count_tokens;
use memoir_recall::{ChunkSize, split_into_chunks};

use crate::input::text;

/// Checks that chunks are in order, cover the whole text, and respect the size limits.
pub fn chunker(data: &[u8]) {
    let text = text(data);
    let tokens = 16 + data.len() % 184;
    let size = ChunkSize { tokens, overlap: (data.len() / 7) % (tokens / 2) };
    let spans = split_into_chunks(&text, size);
    assert_eq!(spans.is_empty(), text.trim().is_empty(), "only blank text has no chunks");
    let mut end = 0;
    for span in &spans {
        assert_eq!(span.new.start, end, "chunks follow each other without a gap");
        assert!(span.new.end > span.new.start, "every chunk has new text");
        end = span.new.end;
        // This panics if the range splits a character.
        let whole = &text[span.new.start - span.overlap..span.new.end];
        assert_eq!(span.tokens, count_tokens(whole) as u64);
        assert!(span.tokens <= size.tokens as u64, "{} of {tokens}: {whole:?}", span.tokens);
        let overlap = &text[span.new.start - span.overlap..span.new.start];
        assert!(count_tokens(overlap) <= size.overlap, "{overlap:?}");
    }
    assert!(spans.is_empty() || end == text.len(), "the chunks reach the end of the text");
}
