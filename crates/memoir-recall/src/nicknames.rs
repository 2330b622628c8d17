//! Nicknames: names by which a participant of a chat is addressed, such as "Kate" for the author "Emi".

use std::collections::HashMap;

use memoir_core::{ConversationId, is_stop_word};
use memoir_store::{MessageOutline, WordSearch};

use crate::{Inquiry, Recall, RecallError, question::is_name};

/// Maximum number of conversations and of messages to read for a name.
const MAX_CONVERSATIONS: usize = 16;
const MAX_MESSAGES: usize = 60;

/// Minimum number of messages that address someone by the name.
const MIN_MESSAGES: usize = 2;

/// Words before a name that address someone: "hey Kate", "how about you Kate".
const BEFORE_NAME: [&str; 17] = [
    "hey",
    "hi",
    "hello",
    "hiya",
    "thanks",
    "thank",
    "you",
    "yourself",
    "night",
    "morning",
    "afternoon",
    "evening",
    "bye",
    "dear",
    "sorry",
    "welcome",
    "wow",
];

/// Returns each name in the question that is a nickname, with the author it belongs to.
pub(crate) async fn find_nicknames(
    inquiry: &Inquiry,
    authors: &[String],
    recall: &Recall,
) -> Result<Vec<(String, String)>, RecallError> {
    let mut nicknames = Vec::new();
    if authors.len() < 2 {
        return Ok(nicknames);
    }
    for name in capitalized_words(&inquiry.text) {
        if authors.iter().any(|author| is_name(name, author)) {
            continue;
        }
        let words = [name.to_lowercase()];
        let search = WordSearch {
            words: &words,
            filter: &inquiry.filter,
            conversations: MAX_CONVERSATIONS,
            extra_conversations: &[],
        };
        let found = recall.store.search_words(&search).await?;
        let messages: Vec<_> =
            found.words.into_iter().flatten().take(MAX_MESSAGES).map(|message| message.message_id).collect();
        if messages.len() < MIN_MESSAGES {
            continue;
        }
        let conversations: Vec<_> = found.conversations.iter().map(|(id, _)| *id).collect();
        let outlines = recall.store.outlines(&conversations).await?;
        let texts = recall.store.texts(&messages).await?;
        let addressing: Vec<_> =
            texts.iter().filter(|(_, text)| is_addressed(text, name)).map(|(id, _)| *id).collect();
        let greetings = outlines.iter().filter(|outline| addressing.contains(&outline.id));
        if let Some(author) = addressee(greetings, &outlines) {
            nicknames.push((name.to_owned(), author));
        }
    }
    Ok(nicknames)
}

/// Returns the words that are capitalized, except the first one.
fn capitalized_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.skip(1).filter(|word| word.starts_with(char::is_uppercase) && !is_stop_word(&word.to_lowercase()))
}

/// Returns whether a text addresses someone by this name.
fn is_addressed(text: &str, name: &str) -> bool {
    let mut previous = "";
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|character: char| !character.is_alphanumeric());
        let is_pause = previous.ends_with(',') && word.ends_with(['!', '?', '.', ',']);
        let before = previous.trim_matches(|character: char| !character.is_alphanumeric()).to_lowercase();
        if bare.eq_ignore_ascii_case(name) && (is_pause || BEFORE_NAME.contains(&before.as_str())) {
            return true;
        }
        previous = word;
    }
    false
}

/// Returns the author that the messages address: in chats of two, the one who did not write them.
fn addressee<'a>(
    addressing: impl Iterator<Item = &'a MessageOutline>,
    outlines: &[MessageOutline],
) -> Option<String> {
    let mut participants: HashMap<ConversationId, Vec<&str>> = HashMap::new();
    for outline in outlines {
        let authors = participants.entry(outline.conversation_id).or_default();
        match outline.author.as_deref() {
            Some(author) if !authors.contains(&author) => authors.push(author),
            _ => {}
        }
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for outline in addressing {
        let Some([a, b]) = participants.get(&outline.conversation_id).map(Vec::as_slice) else { continue };
        let other = if outline.author.as_deref() == Some(a) { b } else { a };
        *counts.entry(other).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let (author, count) = counts.into_iter().max_by_key(|(author, count)| (*count, *author))?;
    (count >= MIN_MESSAGES && 5 * count >= 4 * total).then(|| author.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::inquiry;

    #[test]
    fn a_name_is_a_nickname_only_where_someone_is_addressed() {
        for text in ["Hey Kate! How are you?", "What about you Kate?", "Sounds good, Kate."] {
            assert!(is_addressed(text, "Kate"), "{text}");
        }
        for text in ["I met Kate.", "Kate and I went out", "your sister, Kate, called Tom"] {
            assert!(!is_addressed(text, "Tom"), "{text}");
        }
        assert!(!is_addressed("I met Kate.", "Kate"));
    }

    #[test]
    fn the_other_participant_is_addressed() {
        let outlines = inquiry(&[
            (1, Some("Emi"), 0, false),
            (1, Some("Elise"), 0, false),
            (1, Some("Elise"), 0, false),
            (2, Some("Elise"), 0, false),
            (2, Some("Emi"), 0, false),
        ])
        .outlines;
        assert_eq!(addressee(outlines[1..4].iter(), &outlines).as_deref(), Some("Emi"));
        assert_eq!(addressee(outlines[..2].iter(), &outlines), None, "both use the name");
        assert_eq!(addressee(outlines[1..2].iter(), &outlines), None, "once is not enough");
    }
}
