//! Chatting with the configured model, as in the terminal.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    response::{IntoResponse as _, Response},
};
use futures::{
    StreamExt as _,
    channel::mpsc::{self, UnboundedSender},
};
use http::{StatusCode, header};
use maud::html;
use memoir_agent::{TurnEvent, TurnReport};
use memoir_core::{Conversation, ConversationId, TokenScope};
use memoir_runtime::{Failure, Resume, Session, SessionOptions};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{conversation::article, markdown, navigation::Section, text::plain, visitor::Visitor};
use crate::{
    extract::{Body as JsonBody, Parameters},
    problem::Problem,
    state::AppState,
};

/// Number of earlier exchanges that the page shows.
const SHOWN_EXCHANGES: u32 = 10;

/// Maximum length of a prompt in bytes.
const MAX_PROMPT_BYTES: usize = 1 << 20;

#[derive(Deserialize)]
pub(super) struct ChatParameters {
    conversation: Option<i64>,
}

/// A prompt.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompt {
    /// Conversation to continue.
    conversation: Option<i64>,
    text: String,
}

pub(super) async fn show(
    visitor: Visitor,
    Parameters(parameters): Parameters<ChatParameters>,
) -> Result<Response, Problem> {
    let conversation = find(&visitor, parameters.conversation).await?;
    let mut articles = Vec::new();
    if let Some(conversation) = &conversation {
        for exchange in visitor.view.latest_exchanges(conversation, None, SHOWN_EXCHANGES).await? {
            let messages = visitor.view.messages(&exchange).await?;
            articles.push(article(&visitor, &exchange, &messages));
        }
    }
    let content = html! {
        h1 { "Chat" }
        @if let Some(conversation) = &conversation {
            p.meta { "Continues " a href={ "/conversations/" (conversation.id) } { (plain(&conversation.title)) } }
        }
        div #turns .items aria-live="polite" { @for article in articles { (article) } }
        form.card #chat data-conversation=[conversation.map(|conversation| conversation.id)] {
            label for="prompt" { "Your message" }
            textarea #prompt rows="3" required dir="auto" {}
            div.row {
                button type="submit" { "Send" }
                button #stop type="button" hidden { "Stop" }
                span.meta { "Ctrl+Enter sends. Tools that need approval are not allowed here." }
            }
            noscript { p { "The chat needs JavaScript." } }
        }
    };
    Ok(visitor.page(Section::Chat, "Chat", &content))
}

/// Returns the conversation to continue, if there is one.
async fn find(visitor: &Visitor, id: Option<i64>) -> Result<Option<Conversation>, Problem> {
    let Some(id) = id else { return Ok(None) };
    let conversation = visitor.view.conversation(ConversationId::new(id)).await?;
    conversation.map(Some).ok_or_else(|| Problem::missing(format!("conversation {id}")))
}

/// Answers a prompt, a line of JSON for each event.
pub(super) async fn answer(
    visitor: Visitor,
    State(state): State<Arc<AppState>>,
    JsonBody(prompt): JsonBody<Prompt>,
) -> Result<Response, Problem> {
    if *visitor.scope() != TokenScope::All {
        return Err(Problem::new(StatusCode::FORBIDDEN, "the chat uses the whole memory")
            .hint("Log in with a token that is not limited to projects."));
    }
    if prompt.text.trim().is_empty() || prompt.text.len() > MAX_PROMPT_BYTES {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "the message must have between 1 byte and 1 MB"));
    }
    let conversation = find(&visitor, prompt.conversation).await?;
    let conversation = conversation.map_or(Resume::New, |found| Resume::Conversation(found.id));
    let options = SessionOptions { conversation, ..SessionOptions::default() };
    let session = state.runtime.session(options).await?;
    let (sender, receiver) = mpsc::unbounded();
    tokio::spawn(run(session, prompt.text, sender, state.shutdown.clone()));
    let lines = receiver.map(|line: Value| Ok::<_, std::io::Error>(format!("{line}\n")));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response())
}

/// Runs a turn. It is cancelled when the browser goes away or the server stops.
async fn run(
    mut session: Session,
    prompt: String,
    sender: UnboundedSender<Value>,
    shutdown: CancellationToken,
) {
    let cancel = shutdown.child_token();
    for notice in std::mem::take(&mut session.notices) {
        send(&sender, json!({"notice": notice}), &cancel);
    }
    let mut observe = |event: TurnEvent| {
        if let Some(line) = describe(event) {
            send(&sender, line, &cancel);
        }
    };
    let last = match session.turn(prompt, &mut observe, &cancel).await {
        Ok(report) => json!({"done": finish(&report)}),
        Err(error) => json!({"failed": Failure::from(error).sentence()}),
    };
    send(&sender, last, &cancel);
    drop(sender);
    session.finish_turn().await;
    session.close().await;
}

fn send(sender: &UnboundedSender<Value>, line: Value, cancel: &CancellationToken) {
    if sender.unbounded_send(line).is_err() {
        cancel.cancel();
    }
}

/// Returns what the page shows of an event.
fn describe(event: TurnEvent) -> Option<Value> {
    match event {
        TurnEvent::Text(text) => Some(json!({"text": text})),
        TurnEvent::ToolStarted(call) => Some(json!({"tool": call.name})),
        TurnEvent::Notice(text) => Some(json!({"notice": text})),
        TurnEvent::Retrying { reason, wait } => {
            Some(json!({"notice": format!("{reason}; retrying in {:.1} s", wait.as_secs_f64())}))
        }
        TurnEvent::RequestSent(_)
        | TurnEvent::Thinking(_)
        | TurnEvent::ApprovalRequested
        | TurnEvent::ToolProgress { .. }
        | TurnEvent::ToolPrinted { .. }
        | TurnEvent::ToolFinished { .. }
        | TurnEvent::Detail(_) => None,
    }
}

/// Returns the complete answer, and where it is stored.
fn finish(report: &TurnReport) -> Value {
    json!({
        "html": markdown::render(&report.text).into_string(),
        "conversation": report.conversation_id,
        "exchange": report.exchange_id,
    })
}
