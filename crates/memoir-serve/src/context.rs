//! The texts that quote memory to other programs: in replies to hooks, and in prompts of the server.

use memoir_core::{Exchange, InjectedItem, OWN_PROGRAM};
use memoir_runtime::view::{
    Citation, ItemId, ProjectBrief, QuotedSentence, SessionDigest, injected_exchange,
};

use crate::quote::{NOTICE, cut, fence, shorten, title};

/// Maximum length of a text, in characters. Claude Code, Codex and Cursor cut off what is longer than 10,000.
const MAX_CHARS: usize = 9_000;

/// Maximum length of a quoted prompt or answer in a brief, in characters.
const MAX_BRIEF_CHARS: usize = 400;

/// Maximum length of a quoted prompt or answer of a session that was compacted, in characters.
const MAX_RESTORED_CHARS: usize = 1_200;

/// A text to add, and what it quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuotedContext {
    pub(crate) text: String,
    pub(crate) items: Vec<InjectedItem>,
}

/// Collects quotations as long as they fit, the most important ones first.
struct ContextBuilder {
    lines: Vec<String>,
    items: Vec<InjectedItem>,
    remaining: usize,
}

impl ContextBuilder {
    fn new() -> Self {
        Self { lines: Vec::new(), items: Vec::new(), remaining: MAX_CHARS }
    }

    /// Adds a section with its quotations. A quotation that does not fit is left out as a whole.
    fn add(&mut self, heading: &str, quotations: impl IntoIterator<Item = (String, InjectedItem)>) {
        let mut heading = Some(heading);
        for (text, item) in quotations {
            let length = text.chars().count() + heading.map_or(0, |heading| heading.chars().count() + 1) + 1;
            if length > self.remaining {
                continue;
            }
            self.remaining -= length;
            self.lines.extend(heading.take().map(str::to_owned));
            self.lines.push(text);
            self.items.push(item);
        }
    }

    fn finish(self, heading: &str) -> Option<QuotedContext> {
        let text = wrap(heading, &self.lines.join("\n"));
        (!self.items.is_empty()).then_some(QuotedContext { text, items: self.items })
    }
}

/// Quotes what was recalled for a prompt, or returns `None` if nothing was.
pub(crate) fn quote_recalled(citations: &[Citation], items: Vec<InjectedItem>) -> Option<QuotedContext> {
    let mut builder = ContextBuilder::new();
    let quotations = citations.iter().map(|citation| quote_citation(citation) + "\n").zip(items);
    builder.add("", quotations);
    builder.finish("Memoir recalled this for the prompt.")
}

/// Quotes a passage below a line with its source.
pub(crate) fn quote_citation(citation: &Citation) -> String {
    let program = citation.program.as_ref().map(|program| format!(", {program}")).unwrap_or_default();
    let superseded = citation.superseded.map(|correction| {
        let by = correction.exchange_id.map(|id| format!(" by {}", ItemId::Exchange(id))).unwrap_or_default();
        format!(", superseded on {}{by}", correction.created)
    });
    let source = format!("[{}, {}{program}{}]", citation.id, citation.date, superseded.unwrap_or_default());
    match &citation.answer {
        Some(answer) => format!("{source}\nUser: {}\nAssistant: {answer}", citation.text),
        None if citation.is_by_program => format!("{source}\nRemembered by a program: {}", citation.text),
        None => format!("{source}\n{}", citation.text),
    }
}

/// Describes where the work on a project stands, or returns `None` if there is nothing about it.
pub(crate) fn describe_project(brief: &ProjectBrief) -> Option<QuotedContext> {
    let mut builder = ContextBuilder::new();
    let latest = brief.latest.iter().map(|(conversation, last)| {
        let program = last.source.as_ref().map_or(OWN_PROGRAM, |source| &source.program);
        let lines = format!(
            "- {} ({}, {}, {program})\n{}",
            title(&conversation.title),
            ItemId::Conversation(conversation.id),
            conversation.updated,
            quote_exchange(last, |text| shorten(text, MAX_BRIEF_CHARS))
        );
        let item = injected_exchange(last.id, "latest exchange", &lines);
        (lines, item)
    });
    builder.add("Latest conversations about this project:", latest);
    builder.add("Decisions and instructions of the user:", quote_sentences("decision", &brief.decisions));
    builder.add("Possibly open:", quote_sentences("open point", &brief.open));
    builder.finish("Memoir knows this about earlier work.")
}

/// Quotes what matters of a session that was compacted, or returns `None` if nothing of it is stored.
pub(crate) fn restore_session(digest: &SessionDigest) -> Option<QuotedContext> {
    let mut builder = ContextBuilder::new();
    let heading = "Decisions and instructions of the user in this session:";
    builder.add(heading, quote_sentences("decision", &digest.decisions));
    let quote = |exchange: &Exchange, reason: &str| {
        let lines = quote_exchange(exchange, |text| cut(text, MAX_RESTORED_CHARS));
        let item = injected_exchange(exchange.id, reason, &lines);
        (lines, item)
    };
    // The latest one first, because it matters most if space is short.
    builder.add(
        "Its latest exchanges, newest first:",
        digest.latest.iter().rev().map(|exchange| quote(exchange, "latest exchange")),
    );
    builder.add(
        "How the session began:",
        digest.first.iter().map(|exchange| quote(exchange, "beginning of the session")),
    );
    builder.finish("Memoir kept this of the session, verbatim.")
}

fn quote_exchange(exchange: &Exchange, limit: impl Fn(&str) -> String) -> String {
    let Exchange { id, user_message, assistant_message, .. } = exchange;
    format!(
        "  [{}] User: {}\n  Assistant: {}",
        ItemId::Exchange(*id),
        limit(user_message),
        limit(assistant_message)
    )
}

fn quote_sentences<'a>(
    reason: &'a str,
    sentences: &'a [QuotedSentence],
) -> impl Iterator<Item = (String, InjectedItem)> + 'a {
    sentences.iter().map(move |QuotedSentence { exchange, date, text }| {
        let line = format!("- [{}, {date}] {text}", ItemId::Exchange(*exchange));
        let item = injected_exchange(*exchange, reason, text);
        (line, item)
    })
}

/// Puts quoted text into a fence, below a line that says what it is.
fn wrap(heading: &str, text: &str) -> String {
    let fenced = fence(text.trim_matches('\n'), usize::MAX);
    format!("{heading} {NOTICE} Memoir's tool fetch returns more by id.\n{fenced}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::{ConversationId, ExchangeId, ExchangeStatus, Timestamp, Usage};

    use super::*;

    fn exchange(id: i64, text: &str) -> Exchange {
        Exchange {
            id: ExchangeId::new(id),
            conversation_id: ConversationId::new(1),
            status: ExchangeStatus::Completed,
            started: Timestamp::from_millis(0),
            completed: Timestamp::from_millis(0),
            user_message: format!("BEGIN{id} {text}"),
            assistant_message: format!("ANSWER{id} {text}"),
            model: "m".to_owned(),
            usage: Usage::default(),
            cost: None,
            tool_call_count: 0,
            request_count: 0,
            error: None,
            source: None,
        }
    }

    #[test]
    fn decisions_and_the_latest_exchanges_come_first_if_space_is_short() {
        let long = "日本語のとても長い文。".repeat(400);
        let decision = QuotedSentence {
            exchange: ExchangeId::new(2),
            date: Timestamp::from_millis(0),
            text: "Use pnpm.".into(),
        };
        let digest = SessionDigest {
            first: Some(exchange(1, &long)),
            decisions: vec![decision],
            latest: (5..9).map(|id| exchange(id, &long)).collect(),
        };
        let context = restore_session(&digest).unwrap();
        assert!(context.text.chars().count() < 10_000, "{}", context.text.chars().count());
        assert!(context.text.contains("Use pnpm.") && context.text.contains("ANSWER8"), "{}", context.text);
        // What does not fit is neither shown in part nor recorded.
        for item in &context.items {
            let memoir_core::InjectedSubject::Exchange(id) = item.subject else { panic!("{item:?}") };
            assert!(context.text.contains(&format!("exchange-{id}")), "{id}");
        }
        assert!(context.items.len() < 6 && !context.text.contains("BEGIN1 "), "{}", context.items.len());
        let code = exchange(3, "fn main() {\n    run();\n}");
        let digest = SessionDigest { first: Some(code), ..SessionDigest::default() };
        assert!(restore_session(&digest).unwrap().text.contains("fn main() {\n    run();\n}"), "verbatim");
    }
}
