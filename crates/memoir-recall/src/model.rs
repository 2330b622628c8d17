//! `memoir/recall`: a model that answers with quotations from memory, without a language model.

use async_trait::async_trait;
use futures::StreamExt as _;
use memoir_core::{Document, DocumentPassage, Passage, Provenance, Recollection, TimeZone, Usage, Usd};
use memoir_models::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Finish, ModelError, ModelName, StopReason,
};

/// Maximum number of passages quoted in an answer.
const MAX_PASSAGES: usize = 5;

/// Maximum length of a quotation, in characters.
const MAX_QUOTE_CHARS: usize = 400;

/// A model that answers with quotations from memory.
pub struct RecallModel {
    name: String,
    zone: TimeZone,
}

impl RecallModel {
    /// Creates a model that formats dates in `zone`.
    pub fn new(zone: TimeZone) -> Self {
        Self { name: ModelName::recall().to_string(), zone }
    }

    fn answer(&self, memory: &Recollection) -> String {
        let passages = &memory.passages;
        let mut answer = String::new();
        if memory.is_empty() {
            answer.push_str("Nothing in memory about this.\n");
            if memory.pending_embeddings > 0 {
                answer.push_str(&describe_backlog(memory.pending_embeddings));
                answer.push('\n');
            }
        } else {
            answer.push_str("From memory:\n");
            for passage in passages.iter().take(MAX_PASSAGES) {
                quote(&mut answer, passage, &self.zone);
            }
            memory.documents.iter().for_each(|passage| quote_document(&mut answer, passage));
        }
        answer.truncate(answer.trim_end().len());
        answer
    }
}

#[async_trait]
impl ChatModel for RecallModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let events = [
            ChatEvent::Text(self.answer(&request.memory)),
            ChatEvent::Usage(Usage::default()),
            ChatEvent::End(Finish { reason: StopReason::Done, replay: None }),
        ];
        Ok(futures::stream::iter(events.map(Ok)).boxed())
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }

    fn is_free(&self) -> bool {
        true
    }

    fn provenance(&self) -> Provenance {
        Provenance::Derived
    }
}

/// Returns a sentence stating how many texts have no embedding yet.
pub fn describe_backlog(texts: u64) -> String {
    let (texts, have) = match texts {
        1 => ("1 text".to_owned(), "has"),
        count => (format!("{count} texts"), "have"),
    };
    format!("{texts} {have} not been embedded yet and can be found by keyword only.")
}

/// Appends a passage of a document with its source.
fn quote_document(answer: &mut String, passage: &DocumentPassage) {
    let Document { title, slug, date, .. } = &passage.document;
    answer.push_str(&format!(
        "\n{date}, \"{title}\" (document {slug}, score {:.2}):\n> {}\n",
        passage.score, passage.text
    ));
}

/// Appends a passage of a conversation with its date, speaker, ids and score.
fn quote(answer: &mut String, passage: &Passage, zone: &TimeZone) {
    let speaker = passage.speaker("you");
    let superseded = passage
        .superseded
        .map(|date| format!(", superseded on {}", date.format_minute(zone)))
        .unwrap_or_default();
    answer.push_str(&format!(
        "\n{}, {speaker} (conversation {}, exchange {}, score {:.2}{superseded}):\n",
        passage.created.format_minute(zone),
        passage.conversation_id,
        passage.exchange_id,
        passage.score
    ));
    let text = passage.text.trim();
    let (quotation, ellipsis) = match text.char_indices().nth(MAX_QUOTE_CHARS) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    };
    let lines: Vec<String> = quotation.lines().map(|line| format!("> {line}")).collect();
    answer.push_str(&format!("{}{ellipsis}\n", lines.join("\n")));
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, ExchangeId, MessageId, Role, Timestamp};

    use super::*;

    fn passage(text: &str) -> Passage {
        Passage {
            message_id: MessageId::new(1),
            exchange_id: ExchangeId::new(2),
            conversation_id: ConversationId::new(3),
            title: "t".into(),
            role: Role::User,
            author: None,
            created: Timestamp::from_millis(1_700_000_000_000),
            text: text.into(),
            score: 2.5,
            similarity: 0.7,
            coverage: 1.0,
            superseded: None,
            user_excerpt: text.into(),
            assistant_excerpt: String::new(),
            tokens: 9,
        }
    }

    fn answer(passages: &[Passage]) -> String {
        let memory = Recollection { passages: passages.to_vec(), ..Recollection::default() };
        RecallModel::new(TimeZone::UTC).answer(&memory)
    }

    #[test]
    fn passages_are_quoted_with_their_source() {
        assert_eq!(
            answer(&[passage("The key\nis here")]),
            "From memory:\n\n2023-11-14 22:13, you (conversation 3, exchange 2, score 2.50):\n> The key\n> is here"
        );
        assert_eq!(answer(&[]), "Nothing in memory about this.");
        let memory = Recollection { pending_embeddings: 2, ..Recollection::default() };
        let answer = RecallModel::new(TimeZone::UTC).answer(&memory);
        assert!(answer.contains("\n2 texts have not been embedded yet "), "{answer}");
    }

    #[test]
    fn long_passages_are_truncated_at_a_character_boundary() {
        let answer = answer(&[passage(&"é".repeat(2 * MAX_QUOTE_CHARS))]);
        assert!(answer.ends_with("é…") && answer.chars().count() < MAX_QUOTE_CHARS + 200, "{answer}");
    }
}
