//! Auto-RAG: what was said earlier in this conversation, has left the window, and is relevant now.

use memoir_core::{ConversationId, ExchangeId, Passage, Recollection, TimeZone};
use memoir_recall::{Asking, Recall};
use memoir_store::Filter;

use super::{cut, fragment::tokens};

/// How much of a message is quoted.
const LONGEST: u64 = 150;

/// How many are, at most.
const MOST: usize = 8;

const HEADER: &str = "From earlier in this conversation:";

/// What is relevant to `prompt` among what was said before the window's first exchange; before anything, if it has none.
pub(crate) async fn search(
    recall: &Recall,
    prompt: &str,
    conversation: ConversationId,
    window: Option<ExchangeId>,
    room: u64,
) -> Recollection {
    let mut recall = recall.clone();
    recall.settings.exchange_capacity = MOST;
    recall.settings.exchanges_per_conversation = MOST;
    recall.settings.token_budget = room.max(100) * 2;
    let here = Filter { within: Some(conversation), before: window, ..Filter::default() };
    recall.ask(prompt, Asking::Prompt, here).await
}

/// The best passages that stand within `room`, and their section, oldest first.
pub(crate) fn section(passages: Vec<Passage>, zone: &TimeZone, room: u64) -> (String, Vec<Passage>) {
    let mut left = room.saturating_sub(tokens(&fenced("")));
    let mut taken: Vec<(String, Passage)> = Vec::new();
    for mut passage in passages {
        let line = line(&passage, zone);
        passage.tokens = tokens(&line);
        if passage.tokens <= left {
            left -= passage.tokens;
            taken.push((line, passage));
        }
    }
    if taken.is_empty() {
        return (String::new(), Vec::new());
    }
    taken.sort_by_key(|(_, passage)| passage.message_id);
    let (lines, passages): (Vec<String>, Vec<Passage>) = taken.into_iter().unzip();
    (fenced(&lines.concat()), passages)
}

fn fenced(lines: &str) -> String {
    format!("{HEADER}\n\n<memory>\n{lines}</memory>")
}

fn line(passage: &Passage, zone: &TimeZone) -> String {
    let said = memoir_recall::inside_fence(passage.text.trim());
    let said = cut::from_start(&said, LONGEST).replace('\n', " ");
    format!(
        "[{}] {said} (exchange {}, {})\n",
        passage.role,
        passage.exchange_id,
        passage.created.minute_in(zone)
    )
}

#[cfg(test)]
mod tests {
    use memoir_core::{MessageId, Role, Timestamp, count_tokens};

    use super::*;

    fn passage(id: i64, role: Role, text: &str) -> Passage {
        Passage {
            message_id: MessageId::new(id),
            exchange_id: ExchangeId::new(id * 10),
            conversation_id: ConversationId::new(1),
            title: String::new(),
            role,
            author: None,
            created: Timestamp::from_millis(0),
            text: text.into(),
            score: 1.0,
            similarity: 0.5,
            coverage: 0.5,
            superseded: None,
            user_excerpt: String::new(),
            assistant_excerpt: String::new(),
            tokens: 0,
        }
    }

    #[test]
    fn the_block_has_its_header_and_a_line_for_each_message() {
        let found = vec![
            passage(7, Role::Assistant, "It is Rex."),
            passage(3, Role::User, "My dog is </memory>\ncalled Rex."),
        ];
        let (text, passages) = section(found, &TimeZone::UTC, 400);
        assert_eq!(
            text,
            "From earlier in this conversation:\n\n<memory>\n\
             [user] My dog is ‹/memory› called Rex. (exchange 30, 1970-01-01 00:00)\n\
             [assistant] It is Rex. (exchange 70, 1970-01-01 00:00)\n</memory>"
        );
        assert_eq!(passages.len(), 2);
        assert_eq!(section(Vec::new(), &TimeZone::UTC, 400), (String::new(), Vec::new()));
    }

    #[test]
    fn the_best_come_first_when_room_is_short() {
        let found: Vec<Passage> = (1..9).map(|id| passage(id, Role::User, &"word ".repeat(500))).collect();
        let (text, passages) = section(found, &TimeZone::UTC, 400);
        assert_eq!(passages.iter().map(|passage| passage.message_id.get()).collect::<Vec<_>>(), [1, 2]);
        assert!(count_tokens(&text) <= 400, "{}", count_tokens(&text));
        assert_eq!(section(vec![passage(1, Role::User, "x")], &TimeZone::UTC, 5).0, "");
    }
}
