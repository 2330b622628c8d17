//! Counting tokens.
//!
//! One encoding, `o200k`, stands for every model: exact for OpenAI's current ones and close enough for
//! budgets elsewhere. Its table is built on first use, never at start-up.

/// How many tokens `text` takes.
pub fn count_tokens(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

#[cfg(test)]
mod tests {
    use super::count_tokens;

    #[test]
    fn counts_words_and_nothing() {
        assert_eq!(count_tokens(""), 0);
        assert_eq!(count_tokens("hello world"), 2);
        assert!(count_tokens("你好，世界") >= 2);
    }
}
