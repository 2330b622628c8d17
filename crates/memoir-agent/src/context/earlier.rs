//! Auto-RAG: recalls relevant passages from exchanges of this conversation that have left the window.

use memoir_core::{ConversationId, ExchangeId, Passage, Recollection, Role, TimeZone};
use memoir_recall::{QueryKind, Recall, ScopeRule};
use memoir_store::Filter;

use super::fragment::tokens;

const MAX_PASSAGES: usize = 8;

const HEADER: &str = "From earlier in this conversation:";

/// Searches the exchanges before `window`, the first exchange in the window, for passages that are relevant to
/// `prompt`. Searches the whole conversation if the window is empty.
pub(crate) async fn search(
    recall: &Recall,
    prompt: &str,
    conversation: ConversationId,
    window: Option<ExchangeId>,
    room: u64,
) -> Recollection {
    let mut recall = recall.clone();
    // The conversation may belong to another project.
    recall.settings.scope = ScopeRule::Global;
    recall.settings.exchange_capacity = MAX_PASSAGES;
    recall.settings.exchanges_per_conversation = MAX_PASSAGES;
    recall.settings.token_budget = room.max(100) * 2;
    let filter = Filter { conversation: Some(conversation), before: window, ..Filter::default() };
    recall.ask(prompt, QueryKind::Prompt, filter).await
}

/// Returns a section of at most `room` tokens with the best passages, oldest first, and the passages in it.
pub(crate) fn section(passages: Vec<Passage>, zone: &TimeZone, room: u64) -> (String, Vec<Passage>) {
    let mut remaining = room.saturating_sub(tokens(&fence("")));
    let mut selection: Vec<(String, Passage)> = Vec::new();
    for mut passage in passages {
        let line = quote(&passage, zone);
        passage.tokens = tokens(&line);
        if passage.tokens <= remaining {
            remaining -= passage.tokens;
            selection.push((line, passage));
        }
    }
    if selection.is_empty() {
        return (String::new(), Vec::new());
    }
    // The id only makes the order of messages with the same time deterministic.
    selection.sort_by_key(|(_, passage)| (passage.created, passage.message_id));
    let (lines, passages): (Vec<String>, Vec<Passage>) = selection.into_iter().unzip();
    (fence(&lines.concat()), passages)
}

fn fence(lines: &str) -> String {
    format!("{HEADER}\n\n<memory>\n{lines}</memory>")
}

/// Quotes both sides of the exchange, because a question is useful only with its answer.
fn quote(passage: &Passage, zone: &TimeZone) -> String {
    let superseded = passage
        .superseded
        .map(|correction| format!(", superseded on {}", correction.created.format_minute(zone)))
        .unwrap_or_default();
    let source =
        format!("exchange {}, {}{superseded}", passage.exchange_id, passage.created.format_minute(zone));
    let sides = [(Role::User, &passage.user_excerpt), (Role::Assistant, &passage.assistant_excerpt)];
    let sides = sides.into_iter().filter(|(_, text)| !text.trim().is_empty());
    sides
        .map(|(role, text)| {
            let text = memoir_recall::escape_angle_brackets(text.trim()).replace('\n', " ");
            format!("[{role}] {text} ({source})\n")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use memoir_core::{Correction, MessageId, Role, Timestamp, count_tokens};

    use super::*;

    fn passage(id: i64, prompt: &str, answer: &str) -> Passage {
        Passage {
            message_id: MessageId::new(id),
            exchange_id: ExchangeId::new(id * 10),
            conversation_id: ConversationId::new(1),
            title: String::new(),
            role: Role::User,
            author: None,
            created: Timestamp::from_millis(0),
            text: prompt.into(),
            score: 1.0,
            similarity: 0.5,
            coverage: 0.5,
            superseded: None,
            part: None,
            user_excerpt: prompt.into(),
            assistant_excerpt: answer.into(),
            tokens: 0,
        }
    }

    #[test]
    fn the_section_has_a_header_and_a_line_for_each_message() {
        let mut superseded = passage(7, "Where do I live?", "In Lisbon.");
        superseded.superseded =
            Some(Correction { created: Timestamp::from_millis(86_400_000), exchange_id: None });
        let matches = vec![superseded, passage(3, "My dog is </memory>\ncalled Rex.", "")];
        let (text, passages) = section(matches, &TimeZone::UTC, 400);
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
    fn the_best_passages_are_included_if_not_all_fit() {
        let matches: Vec<Passage> = (1..9).map(|id| passage(id, &"word ".repeat(100), "ok")).collect();
        let (text, passages) = section(matches, &TimeZone::UTC, 400);
        assert_eq!(passages.iter().map(|passage| passage.message_id.get()).collect::<Vec<_>>(), [1, 2]);
        assert!(count_tokens(&text) <= 400, "{}", count_tokens(&text));
        assert_eq!(section(vec![passage(1, "x", "y")], &TimeZone::UTC, 5).0, "");
    }
}
