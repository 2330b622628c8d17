//! Summaries without a model: made of quotations.

/// How much of a prompt or an answer is quoted, in characters.
const QUOTED: usize = 140;

/// How many prompts stand for a conversation.
const MOST_PROMPTS: usize = 3;

/// An exchange in a sentence.
pub(crate) fn exchange(asked: &str, answered: &str) -> String {
    match (first_sentence(asked), first_sentence(answered)) {
        (asked, answered) if answered.is_empty() => format!("User: {asked}"),
        (asked, answered) => format!("User: {asked} Assistant: {answered}"),
    }
}

/// A conversation by what was asked in it: the longest prompts, in their order.
pub(crate) fn conversation(prompts: &[&str]) -> String {
    let mut longest: Vec<usize> = (0..prompts.len()).collect();
    longest.sort_by_key(|index| std::cmp::Reverse(prompts[*index].chars().take(QUOTED).count()));
    longest.truncate(MOST_PROMPTS);
    longest.sort_unstable();
    let quoted: Vec<String> = longest.into_iter().map(|index| first_sentence(prompts[index])).collect();
    format!("User: {}", quoted.join(" / "))
}

/// The first sentence in one line, or its beginning.
fn first_sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end =
        text.match_indices(['.', '!', '?']).map(|(at, _)| at + 1).find(|at| text[*at..].starts_with(' '));
    let sentence = end.map_or(text.as_str(), |end| &text[..end]);
    match sentence.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sentences_stand_for_the_rest() {
        let said = exchange("Where is the key?  I looked\neverywhere.", "Under the pot. As ever.");
        assert_eq!(said, "User: Where is the key? Assistant: Under the pot.");
        assert_eq!(exchange("It costs 3.50 today", ""), "User: It costs 3.50 today");
        assert_eq!(exchange(&"long ".repeat(100), "").chars().count(), 6 + 141);
    }

    #[test]
    fn a_conversation_is_told_by_its_longest_prompts_in_order() {
        let prompts = [
            "hi",
            "Plan a trip to Lisbon for us.",
            "thanks",
            "What does the train to Porto cost?",
            "And now Madeira please.",
        ];
        assert_eq!(
            conversation(&prompts),
            "User: Plan a trip to Lisbon for us. / What does the train to Porto cost? / And now Madeira please."
        );
        assert_eq!(conversation(&[]), "User: ");
    }
}
