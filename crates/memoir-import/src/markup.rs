//! Markup that programs put into the text of answers.

/// Removes the thoughts that reasoning models write between `<think>` and `</think>` in front of an answer.
/// Returns the answer, and whether there were thoughts.
pub(crate) fn strip_thoughts(text: &str) -> (&str, bool) {
    let rest = text.trim_start().strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"));
    match rest {
        Some((_, answer)) => (answer.trim(), true),
        None => (text.trim(), false),
    }
}

/// Removes every block that starts with `open` and ends with `close`. Returns the remaining text and the number of
/// blocks. A block without an end is not removed.
pub(crate) fn remove_blocks(text: &str, open: &str, close: &str) -> (String, usize) {
    let (mut result, mut rest, mut count) = (String::with_capacity(text.len()), text, 0);
    while let Some((before, block)) = rest.split_once(open) {
        let Some((_, after)) = block.split_once(close) else { break };
        result.push_str(before);
        rest = after;
        count += 1;
    }
    result.push_str(rest);
    (result, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_removed_from_the_beginning_only() {
        assert_eq!(strip_thoughts("<think>\nHm.\n</think>\n\nYes."), ("Yes.", true));
        assert_eq!(strip_thoughts("Write <think>x</think>."), ("Write <think>x</think>.", false));
        assert_eq!(strip_thoughts("<think>cut off"), ("<think>cut off", false));
    }

    #[test]
    fn blocks_without_an_end_are_not_removed() {
        assert_eq!(remove_blocks("a<x>1</x>b<x>2</x>c", "<x>", "</x>"), ("abc".into(), 2));
        assert_eq!(remove_blocks("a<x>1</x>b<x>2", "<x>", "</x>"), ("ab<x>2".into(), 1));
        assert_eq!(remove_blocks("", "<x>", "</x>"), (String::new(), 0));
    }
}
