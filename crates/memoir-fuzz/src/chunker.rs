//! Cutting a text into chunks.

use memoir_core::count_tokens;
use memoir_recall::{ChunkSize, chunk};

use crate::input::text;

/// Nothing is lost, nothing is too large, and the order is kept.
pub fn chunker(data: &[u8]) {
    let text = text(data);
    let tokens = 16 + data.len() % 184;
    let size = ChunkSize { tokens, overlap: (data.len() / 7) % (tokens / 2) };
    let spans = chunk(&text, size);
    assert_eq!(spans.is_empty(), text.trim().is_empty(), "chunks, if there is something to cut");
    let mut end = 0;
    for span in &spans {
        assert_eq!(span.new.start, end, "one after the other, without a gap");
        assert!(span.new.end > span.new.start, "with something new in each");
        end = span.new.end;
        // A range that cuts a character panics here.
        let whole = &text[span.new.start - span.overlap..span.new.end];
        assert_eq!(span.tokens, count_tokens(whole) as u64);
        assert!(span.tokens <= size.tokens as u64, "{} of {tokens}: {whole:?}", span.tokens);
        let repeated = &text[span.new.start - span.overlap..span.new.start];
        assert!(count_tokens(repeated) <= size.overlap, "{repeated:?}");
    }
    assert!(spans.is_empty() || end == text.len(), "to the last byte");
}
