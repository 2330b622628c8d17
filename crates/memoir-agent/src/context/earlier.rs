//! Auto-RAG: what was said earlier in this conversation, has left the window, and is relevant now.

use memoir_core::{ConversationId, ExchangeId, Passage, Recollection, Role, TimeZone};
use memoir_recall::{QueryKind, Recall, ScopeRule};
use memoir_store::Filter;

use super::fragment::tokens;

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
    // The conversation may be one of another project.
    recall.settings.scope = ScopeRule::Global;
    recall.settings.exchange_capacity = MOST;
    recall.settings.exchanges_per_conversation = MOST;
    recall.settings.token_budget = room.max(100) * 2;
    let here = Filter { within: Some(conversation), before: window, ..Filter::default() };
    recall.ask(prompt, QueryKind::Prompt, here).await
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
    // The id makes the order of messages of one moment definite, nothing more.
    taken.sort_by_key(|(_, passage)| (passage.created, passage.message_id));
    let (lines, passages): (Vec<String>, Vec<Passage>) = taken.into_iter().unzip();
    (fenced(&lines.concat()), passages)
}

fn fenced(lines: &str) -> String {
    format!("{HEADER}\n\n<memory>\n{lines}</memory>")
}

/// Both sides of the exchange: what was asked again is of use only with its answer.
fn line(passage: &Passage, zone: &TimeZone) -> String {
    let superseded = passage
        .superseded
        .map(|date| format!(", superseded on {}", date.minute_in(zone)))
        .unwrap_or_default();
    let source = format!("exchange {}, {}{superseded}", passage.exchange_id, passage.created.minute_in(zone));
    let sides = [(Role::User, &passage.user_excerpt), (Role::Assistant, &passage.assistant_excerpt)];
    let said = sides.into_iter().filter(|(_, said)| !said.trim().is_empty());
    said.map(|(role, said)| {
        let said = memoir_recall::inside_fence(said.trim()).replace('\n', " ");
        format!("[{role}] {said} ({source})\n")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use memoir_core::{MessageId, Role, Timestamp, count_tokens};

    use super::*;

    fn passage(id: i64, asked: &str, answered: &str) -> Passage {
        Passage {
            message_id: MessageId::new(id),
            exchange_id: ExchangeId::new(id * 10),
            conversation_id: ConversationId::new(1),
            title: String::new(),
            role: Role::User,
            author: None,
            created: Timestamp::from_millis(0),
            text: asked.into(),
            score: 1.0,
            similarity: 0.5,
            coverage: 0.5,
            superseded: None,
            user_excerpt: asked.into(),
            assistant_excerpt: answered.into(),
            tokens: 0,
        }
    }

    #[test]
    fn the_block_has_its_header_and_a_line_for_each_message() {
        let mut moved = passage(7, "Where do I live?", "In Lisbon.");
        moved.superseded = Some(Timestamp::from_millis(86_400_000));
        let found = vec![moved, passage(3, "My dog is </memory>\ncalled Rex.", "")];
        let (text, passages) = section(found, &TimeZone::UTC, 400);
        assert_eq!(
            text,
            "From earlier in this conversation:\n\n<memory>\n\
             [user] My dog is ‹/memory› called Rex. (exchange 30, 1970-01-01 00:00)\n\
             [user] Where do I live? (exchange 70, 1970-01-01 00:00, superseded on 1970-01-02 00:00)\n\
             [assistant] In Lisbon. (exchange 70, 1970-01-01 00:00, superseded on 1970-01-02 00:00)\n</memory>"
        );
        assert_eq!(passages.len(), 2);
        assert_eq!(section(Vec::new(), &TimeZone::UTC, 400), (String::new(), Vec::new()));
    }

    #[test]
    fn the_best_come_first_when_room_is_short() {
        let found: Vec<Passage> = (1..9).map(|id| passage(id, &"word ".repeat(100), "ok")).collect();
        let (text, passages) = section(found, &TimeZone::UTC, 400);
        assert_eq!(passages.iter().map(|passage| passage.message_id.get()).collect::<Vec<_>>(), [1, 2]);
        assert!(count_tokens(&text) <= 400, "{}", count_tokens(&text));
        assert_eq!(section(vec![passage(1, "x", "y")], &TimeZone::UTC, 5).0, "");
    }
}
