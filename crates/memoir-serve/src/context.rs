//! The texts that quote memory to other programs: in replies to hooks, and in prompts of the server.

use memoir_core::{Exchange, InjectedItem, OWN_PROGRAM};
use memoir_runtime::view::{
    Citation, ItemId, ProjectBrief, QuotedSentence, SessionDigest, injected_exchange,
};

use crate::quote::{NOTICE, fence, shorten, title};

/// Maximum length of a text. Claude Code, Codex and Cursor cut off what is longer than 10,000 characters.
const MAX_BYTES: usize = 9_000;

/// Maximum length of a quoted prompt or answer in a brief, in characters.
const MAX_BRIEF_CHARS: usize = 400;

/// Maximum length of a quoted prompt or answer of a session that was compacted, in characters.
const MAX_RESTORED_CHARS: usize = 1_200;

/// A text to add, and what it quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) text: String,
    pub(crate) items: Vec<InjectedItem>,
}

/// Quotes what was recalled for a prompt, or returns `None` if nothing was.
pub(crate) fn quote_recalled(citations: &[Citation], items: Vec<InjectedItem>) -> Option<Context> {
    if citations.is_empty() {
        return None;
    }
    let passages: Vec<String> = citations.iter().map(quote_citation).collect();
    Some(Context { text: wrap("Memoir recalled this for the prompt.", &passages.join("\n\n")), items })
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
        None => format!("{source}\n{}", citation.text),
    }
}

/// Describes where the work on a project stands, or returns `None` if there is nothing about it.
pub(crate) fn describe_project(brief: &ProjectBrief) -> Option<Context> {
    if brief.latest.is_empty() {
        return None;
    }
    let mut items = Vec::new();
    let mut sections = vec!["Latest conversations about this project:".to_owned()];
    for (conversation, last) in &brief.latest {
        let program = last.source.as_ref().map_or(OWN_PROGRAM, |source| &source.program);
        let lines = format!(
            "- {} ({}, {}, {program})\n{}",
            title(&conversation.title),
            ItemId::Conversation(conversation.id),
            conversation.updated,
            quote_exchange(last, MAX_BRIEF_CHARS)
        );
        items.push(injected_exchange(last.id, "latest exchange", &lines));
        sections.push(lines);
    }
    add_sentences(
        "Decisions and instructions of the user:",
        "decision",
        &brief.decisions,
        &mut sections,
        &mut items,
    );
    add_sentences("Possibly open:", "open point", &brief.open, &mut sections, &mut items);
    Some(Context { text: wrap("Memoir knows this about earlier work.", &sections.join("\n")), items })
}

/// Quotes what matters of a session that was compacted, or returns `None` if nothing of it is stored.
pub(crate) fn restore_session(digest: &SessionDigest) -> Option<Context> {
    let first = digest.first.as_ref()?;
    let mut items = Vec::new();
    let mut sections = vec!["How this session began:".to_owned()];
    let mut add = |exchange: &Exchange, reason: &str, sections: &mut Vec<String>| {
        let lines = format!("- {}", quote_exchange(exchange, MAX_RESTORED_CHARS).trim_start());
        items.push(injected_exchange(exchange.id, reason, &lines));
        sections.push(lines);
    };
    add(first, "beginning of the session", &mut sections);
    if !digest.latest.is_empty() {
        sections.push("Its latest exchanges:".to_owned());
        digest.latest.iter().for_each(|exchange| add(exchange, "latest exchange", &mut sections));
    }
    let heading = "Decisions and instructions of the user in this session:";
    add_sentences(heading, "decision", &digest.decisions, &mut sections, &mut items);
    Some(Context { text: wrap("Memoir kept this of the session, verbatim.", &sections.join("\n")), items })
}

fn quote_exchange(exchange: &Exchange, max_chars: usize) -> String {
    let Exchange { id, user_message, assistant_message, .. } = exchange;
    format!(
        "  [{}] User: {}\n  Assistant: {}",
        ItemId::Exchange(*id),
        shorten(user_message, max_chars),
        shorten(assistant_message, max_chars)
    )
}

fn add_sentences(
    heading: &str,
    reason: &str,
    sentences: &[QuotedSentence],
    sections: &mut Vec<String>,
    items: &mut Vec<InjectedItem>,
) {
    if sentences.is_empty() {
        return;
    }
    sections.push(heading.to_owned());
    for QuotedSentence { exchange, date, text } in sentences {
        sections.push(format!("- [{}, {date}] {text}", ItemId::Exchange(*exchange)));
        items.push(injected_exchange(*exchange, reason, text));
    }
}

/// Puts quoted text into a fence, below a line that says what it is.
fn wrap(heading: &str, text: &str) -> String {
    format!("{heading} {NOTICE} Memoir's tool fetch returns more by id.\n{}", fence(text, MAX_BYTES))
}
