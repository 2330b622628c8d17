//! Finds code blocks in Markdown source.

/// Returns the content of the last fenced code block. An unclosed block extends to the end of the text.
pub fn last_code_block(text: &str) -> Option<String> {
    let (mut last, mut open): (Option<String>, Option<(String, String)>) = (None, None);
    for line in text.lines() {
        let trimmed = line.trim_start();
        let fence: String = trimmed.chars().take_while(|character| matches!(character, '`' | '~')).collect();
        match &mut open {
            Some((opening_fence, code)) => {
                if fence.len() >= opening_fence.len()
                    && trimmed.trim_end() == fence
                    && fence.starts_with(&opening_fence[..1])
                {
                    last = Some(std::mem::take(code));
                    open = None;
                } else {
                    code.push_str(line);
                    code.push('\n');
                }
            }
            None if fence.len() >= 3 => open = Some((fence, String::new())),
            None => {}
        }
    }
    open.map(|(_, code)| code).or(last)
}

#[cfg(test)]
mod tests {
    use super::last_code_block;

    #[test]
    fn the_last_code_block_is_returned() {
        assert_eq!(
            last_code_block("a\n```rust\nfn a() {}\n```\nb\n~~~\nlast\n```\n~~~\n"),
            Some("last\n```\n".into())
        );
        assert_eq!(last_code_block("````\n```\nx\n```\n````"), Some("```\nx\n```\n".into()));
        assert_eq!(last_code_block("```\ncut off"), Some("cut off\n".into()));
        assert_eq!(last_code_block("no code"), None);
    }
}
