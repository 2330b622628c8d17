//! `memoir/recall`: a model that answers with quotations from memory, without a language model.

use std::collections::HashSet;

use async_trait::async_trait;
use futures::StreamExt as _;
use memoir_core::{
    Answer, Document, DocumentPassage, Overview, Passage, Provenance, Quotation, Recollection, Role, Source,
    TimeZone, Timestamp, Usage, Usd,
};
use memoir_models::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Finish, ModelError, ModelName, StopReason,
};

/// Maximum number of passages quoted in an answer.
const MAX_PASSAGES: usize = 5;

/// Maximum length of a text that is quoted on one line, in characters.
const MAX_LINE_CHARS: usize = 100;

/// Maximum length of a quotation, in characters.
const MAX_QUOTE_CHARS: usize = 400;

/// Returns the text with which `memoir/recall` answers.
pub fn render_answer(memory: &Recollection, zone: &TimeZone) -> String {
    RecallModel::new(zone.clone()).answer(memory)
}

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
        let mut answer = match &memory.answer {
            Some(Answer::Quotation(quotation)) => self.quote_answer(quotation, memory),
            Some(Answer::Overview(overview)) => self.list_overview(overview),
            Some(Answer::Noted { supersedes }) => self.acknowledge(supersedes),
            Some(Answer::Absent { .. }) | None => self.describe_absence(memory),
        };
        answer.truncate(answer.trim_end().len());
        answer
    }

    /// Puts the sentence that answers the question first, then the exchange it is from, and the other passages in a
    /// line each, so that the answer stays on the screen.
    fn quote_answer(&self, quotation: &Quotation, memory: &Recollection) -> String {
        let mut answer = match (&quotation.source, quotation.answers_with_date) {
            (Source::Message { created, .. }, true) => {
                format!("{}: {}", created.format_date(&self.zone), quotation.text)
            }
            (Source::Document { date, .. }, true) => format!("{date}: {}", quotation.text),
            _ => quotation.text.clone(),
        };
        answer.push_str(&format!("\n\n({})\n", describe_source(&quotation.source, &self.zone)));
        let support = self.quote_support(quotation, memory);
        if !support.is_empty() {
            answer.push_str(&format!("\nFrom memory:\n{support}"));
        }
        answer
    }

    /// Quotes the passages from which the answer is taken, unless it is all they say, and lists the others.
    fn quote_support(&self, quotation: &Quotation, memory: &Recollection) -> String {
        let (mut text, mut others) = (String::new(), String::new());
        let says_more =
            |passage: &&Passage| passage.superseded.is_some() || passage.text.trim() != quotation.text;
        for passage in select_passages(memory).filter(says_more) {
            match &quotation.source {
                Source::Message { exchange, .. } if *exchange == passage.exchange_id => {
                    quote(&mut text, passage, &self.zone);
                }
                _ => {
                    let source = describe_passage(passage, &self.zone);
                    others.push_str(&format!("- {source}: {}\n", shorten(&quote_part(passage))));
                }
            }
        }
        for passage in &memory.documents {
            match &quotation.source {
                Source::Document { slug, .. } if *slug == passage.document.slug => {
                    quote_document(&mut text, passage);
                }
                _ => {
                    let source = describe_document(&passage.document);
                    others.push_str(&format!("- {source}: {}\n", shorten(&passage.text)));
                }
            }
        }
        if !others.is_empty() {
            text.push_str(&format!("\n{others}"));
        }
        text
    }

    /// Quotes all passages with their sources.
    fn quote_passages(&self, memory: &Recollection) -> String {
        let mut text = String::from("From memory:\n");
        select_passages(memory).for_each(|passage| quote(&mut text, passage, &self.zone));
        memory.documents.iter().for_each(|passage| quote_document(&mut text, passage));
        text
    }

    fn describe_absence(&self, memory: &Recollection) -> String {
        let mut text = match &memory.answer {
            Some(Answer::Absent { related }) => {
                let related = related.as_ref().map(|related| {
                    format!("\nRelated: {} ({})", related.text, describe_source(&related.source, &self.zone))
                });
                format!("Nothing in memory about this.{}\n", related.unwrap_or_default())
            }
            _ if memory.is_empty() => "Nothing in memory about this.\n".to_owned(),
            _ => self.quote_passages(memory),
        };
        if memory.is_empty() && memory.pending_embeddings > 0 {
            text.push_str(&describe_backlog(memory.pending_embeddings));
            text.push('\n');
        }
        text
    }

    fn list_overview(&self, overview: &Overview) -> String {
        let last = Timestamp::from_millis(overview.end.as_millis() - 1);
        let (first, last) = (overview.start.format_date(&self.zone), last.format_date(&self.zone));
        let period = if first == last { format!("On {first}") } else { format!("From {first} to {last}") };
        if overview.days.is_empty() {
            return format!("{period}: no conversations.");
        }
        let mut text = format!("{period}:\n");
        for day in &overview.days {
            text.push_str(&format!("\n{}\n", day.day.format_date(&self.zone)));
            for (id, title) in &day.conversations {
                text.push_str(&format!("- {title} (conversation {id})\n"));
            }
        }
        if overview.omitted > 0 {
            text.push_str(&format!(
                "\n{} later ones are not listed. Ask for a shorter period.\n",
                overview.omitted
            ));
        }
        text
    }

    fn acknowledge(&self, supersedes: &[Quotation]) -> String {
        let mut text = String::from("Noted. Memoir will remember this.\n");
        for quotation in supersedes {
            text.push_str(&format!(
                "\nIt supersedes ({}):\n> {}\n",
                describe_source(&quotation.source, &self.zone),
                quotation.text
            ));
        }
        text
    }
}

/// Returns the date, the speaker and the ids of a source.
fn describe_source(source: &Source, zone: &TimeZone) -> String {
    match source {
        Source::Message { conversation, exchange, title, speaker, created } => format!(
            "{}, {speaker}, \"{title}\", conversation {conversation}, exchange {exchange}",
            created.format_minute(zone)
        ),
        Source::Document { slug, title, date, headings } => {
            let path: Vec<&str> =
                headings.iter().map(String::as_str).filter(|heading| heading != title).collect();
            let path = if path.is_empty() { String::new() } else { format!(", {}", path.join(" > ")) };
            format!("{date}, \"{title}\"{path}, document {slug}")
        }
        Source::CoreMemory(block) => format!("core memory, {block}"),
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

/// Returns the passages of conversations to quote, each text once.
fn select_passages(memory: &Recollection) -> impl Iterator<Item = &Passage> {
    let mut seen = HashSet::new();
    memory.passages.iter().filter(move |passage| seen.insert(passage.text.trim())).take(MAX_PASSAGES)
}

/// Returns the date, the speaker and the ids of a passage.
fn describe_passage(passage: &Passage, zone: &TimeZone) -> String {
    let speaker = passage.speaker("you");
    let superseded = passage
        .superseded
        .map(|correction| format!(", superseded on {}", correction.created.format_minute(zone)))
        .unwrap_or_default();
    format!(
        "{}, {speaker} (conversation {}, exchange {}{superseded})",
        passage.created.format_minute(zone),
        passage.conversation_id,
        passage.exchange_id,
    )
}

/// Returns the date, the title and the name of a document.
fn describe_document(Document { title, slug, date, .. }: &Document) -> String {
    format!("{date}, \"{title}\" (document {slug})")
}

/// Appends a passage of a document with its source.
fn quote_document(answer: &mut String, passage: &DocumentPassage) {
    let source = describe_document(&passage.document);
    answer.push_str(&format!("\n{source}:\n{}\n", quote_lines(&passage.text)));
}

/// Appends a passage of a conversation with its source. An answer follows the question it answers.
fn quote(answer: &mut String, passage: &Passage, zone: &TimeZone) {
    answer.push_str(&format!("\n{}:\n", describe_passage(passage, zone)));
    let text = passage.text.trim();
    let quotation = quote_part(passage);
    let question = passage.user_excerpt.trim();
    if passage.role == Role::Assistant && passage.author.is_none() && !question.is_empty() {
        answer.push_str(&format!("> {}\n>\n", shorten(question)));
    }
    answer.push_str(&format!("{}\n", quote_lines(&quotation)));
    let reply = passage.assistant_excerpt.trim();
    if passage.role == Role::User && text.ends_with('?') && !reply.is_empty() {
        answer.push_str(&format!(">\n{}\n", quote_lines(reply)));
    }
}

/// Returns the text of a passage, or the beginning of the best part of a long one.
fn quote_part(passage: &Passage) -> String {
    let text = passage.text.trim();
    if text.char_indices().nth(MAX_QUOTE_CHARS).is_none() {
        return text.to_owned();
    }
    let start = passage.part.as_ref().map_or(0, |part| part.start);
    let (before, rest) = match passage.text.get(start..) {
        Some(rest) if start > 0 => ("…", rest.trim()),
        _ => ("", text),
    };
    match rest.char_indices().nth(MAX_QUOTE_CHARS) {
        Some((end, _)) => format!("{before}{}…", &rest[..end]),
        None => format!("{before}{rest}"),
    }
}

/// Returns the beginning of a text, on one line.
fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn quote_lines(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, Correction, ExchangeId, MessageId};

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
            part: None,
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
            "From memory:\n\n2023-11-14 22:13, you (conversation 3, exchange 2):\n> The key\n> is here"
        );
        assert_eq!(answer(&[]), "Nothing in memory about this.");
        let memory = Recollection { pending_embeddings: 2, ..Recollection::default() };
        let answer = RecallModel::new(TimeZone::UTC).answer(&memory);
        assert!(answer.contains("\n2 texts have not been embedded yet "), "{answer}");
    }

    #[test]
    fn other_passages_follow_an_answer_in_a_line_each() {
        let source = |exchange| Source::Message {
            conversation: ConversationId::new(3),
            exchange: ExchangeId::new(exchange),
            title: "t".into(),
            speaker: "you".into(),
            created: Timestamp::from_millis(1_700_000_000_000),
        };
        let text = "The key is here.";
        let quotation = Quotation { text: text.into(), source: source(2), answers_with_date: false };
        let answer = |passages: Vec<Passage>| {
            let answer = Some(Answer::Quotation(quotation.clone()));
            RecallModel::new(TimeZone::UTC).answer(&Recollection {
                passages,
                answer,
                ..Recollection::default()
            })
        };
        assert!(!answer(vec![passage(text)]).contains("From memory"), "there is nothing else to say");
        let correction = Correction { created: Timestamp::from_millis(1_700_000_060_000), exchange_id: None };
        let outdated = Passage { superseded: Some(correction), ..passage(text) };
        assert!(answer(vec![outdated]).contains("superseded on 2023-11-14 22:14"));
        let other = Passage { exchange_id: ExchangeId::new(9), ..passage(&"long\n".repeat(60)) };
        let answer = answer(vec![passage("We met. The key is here."), other]);
        assert!(answer.contains("exchange 2):\n> We met. The key is here.\n"), "{answer}");
        let last = answer.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("- 2023-11-14 22:13, you (conversation 3, exchange 9): long long"),
            "{answer}"
        );
        assert!(last.ends_with('…') && last.chars().count() < 180, "{answer}");
    }

    #[test]
    fn long_passages_are_truncated_at_a_character_boundary() {
        let answer = answer(&[passage(&"é".repeat(2 * MAX_QUOTE_CHARS))]);
        assert!(answer.ends_with("é…") && answer.chars().count() < MAX_QUOTE_CHARS + 200, "{answer}");
    }
}
