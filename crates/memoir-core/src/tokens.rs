//! Token counting.
//!
//! The `cl100k` encoding approximates every model. Where it differs, mostly outside English, it overestimates, which is
//! safe for a budget. The larger `o200k` encoding doubles the size of the binary and the memory of a turn. The table is
//! built on first use.

/// Returns the number of tokens in `text`.
pub fn count_tokens(text: &str) -> usize {
    bpe_openai::cl100k_base().count(text)
}

#[cfg(test)]
mod tests {
    use super::count_tokens;

    #[test]
    fn counts_empty_english_and_chinese_text() {
        assert_eq!(count_tokens(""), 0);
        assert_eq!(count_tokens("hello world"), 2);
        assert!(count_tokens("你好，世界") >= 2);
    }
}
