//! Summaries made of quotes, for when no model is available.

/// Maximum length of one quote in characters.
const MAX_QUOTE_CHARS: usize = 140;

/// Maximum number of prompts quoted from a conversation.
const MAX_PROMPTS: usize = 3;

/// Returns the first sentences of a prompt and its answer.
pub(crate) fn quote_exchange(prompt: &str, answer: &str) -> String {
    match (first_sentence(prompt), first_sentence(answer)) {
        (prompt, answer) if answer.is_empty() => format!("User: {prompt}"),
        (prompt, answer) => format!("User: {prompt} Assistant: {answer}"),
    }
}

/// Returns the first sentences of the longest prompts, in their original order.
pub(crate) fn quote_conversation(prompts: &[&str]) -> String {
    let mut longest: Vec<usize> = (0..prompts.len()).collect();
    longest.sort_by_key(|index| std::cmp::Reverse(prompts[*index].chars().take(MAX_QUOTE_CHARS).count()));
    longest.truncate(MAX_PROMPTS);
    longest.sort_unstable();
    let quotes: Vec<String> = longest.into_iter().map(|index| first_sentence(prompts[index])).collect();
    format!("User: {}", quotes.join(" / "))
}

/// Returns the first sentence on one line, truncated if it is too long.
fn first_sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut ends = text.match_indices(['.', '!', '?']).map(|(start, _)| start + 1);
    let end = ends.find(|end| text[*end..].starts_with(' '));
    let sentence = end.map_or(text.as_str(), |end| &text[..end]);
    match sentence.char_indices().nth(MAX_QUOTE_CHARS) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_is_reduced_to_first_sentences() {
        let summary = quote_exchange("Where is the key?  I looked\neverywhere.", "Under the pot. As ever.");
        assert_eq!(summary, "User: Where is the key? Assistant: Under the pot.");
        assert_eq!(quote_exchange("It costs 3.50 today", ""), "User: It costs 3.50 today");
        assert_eq!(quote_exchange(&"long ".repeat(100), "").chars().count(), 6 + 141);
    }

    #[test]
    fn a_conversation_is_reduced_to_its_longest_prompts_in_order() {
        let prompts = [
            "hi",
            "Plan a trip to Lisbon for us.",
            "thanks",
            "What does the train to Porto cost?",
            "And now Madeira please.",
        ];
        assert_eq!(
            quote_conversation(&prompts),
            "User: Plan a trip to Lisbon for us. / What does the train to Porto cost? / And now Madeira please."
        );
        assert_eq!(quote_conversation(&[]), "User: ");
    }
}
