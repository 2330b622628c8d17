//! Code blocks in the source of a text.

/// Returns the text of the last fenced code block. A block that is not closed ends with the text.
pub fn last_code_block(text: &str) -> Option<String> {
    let (mut last, mut open): (Option<String>, Option<(String, String)>) = (None, None);
    for line in text.lines() {
        let trimmed = line.trim_start();
        let fence: String = trimmed.chars().take_while(|letter| *letter == '`' || *letter == '~').collect();
        match &mut open {
            Some((opened, code)) => {
                if fence.len() >= opened.len()
                    && trimmed.trim_end() == fence
                    && fence.starts_with(&opened[..1])
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
    fn the_last_fence_is_taken_whole() {
        assert_eq!(
            last_code_block("a\n```rust\nfn a() {}\n```\nb\n~~~\nlast\n```\n~~~\n"),
            Some("last\n```\n".into())
        );
        assert_eq!(last_code_block("````\n```\nx\n```\n````"), Some("```\nx\n```\n".into()));
        assert_eq!(last_code_block("```\ncut off"), Some("cut off\n".into()));
        assert_eq!(last_code_block("no code"), None);
    }
}
