//! A conversation with its tools, costs and forks.

use axum::response::Response;
use maud::{Markup, html};
use memoir_core::{
    Conversation, ConversationId, Exchange, ExchangeId, Message, MessageBody, OWN_PROGRAM, Right, Visibility,
};
use serde::Deserialize;

use super::{conversations::count, markdown, navigation::Section, text::plain, visitor::Visitor};
use crate::{
    extract::{Parameters, Segment},
    problem::Problem,
    routes::Cursor as _,
};

/// Number of exchanges on a page.
const PAGE_SIZE: u32 = 30;

/// Maximum number of bytes of the result of a tool that are shown.
const MAX_RESULT_BYTES: usize = 20_000;

#[derive(Deserialize)]
pub(super) struct PageParameters {
    cursor: Option<String>,
}

pub(super) async fn show(
    visitor: Visitor,
    Segment(id): Segment<i64>,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Response, Problem> {
    let conversation = visitor.view.conversation(ConversationId::new(id)).await?;
    let conversation = conversation.ok_or_else(|| Problem::missing(format!("conversation {id}")))?;
    let before = parameters.cursor.as_deref().map(ExchangeId::decode).transpose()?;
    let exchanges = visitor.view.latest_exchanges(&conversation, before, PAGE_SIZE).await?;
    let earlier = exchanges.first().filter(|_| exchanges.len() == PAGE_SIZE as usize);
    let earlier = earlier.map(|first| first.id.encode());
    let forks = visitor.view.forks(&conversation).await?;
    let mut articles = Vec::new();
    for exchange in &exchanges {
        let messages = visitor.view.messages(exchange).await?;
        articles.push(article(&visitor, exchange, &messages));
    }
    let content = html! {
        h1 dir="auto" { (plain(&conversation.title)) }
        (about(&visitor, &conversation, &forks))
        @if let Some(summary) = &conversation.summary {
            details { summary { "Summary" } (markdown::render(summary)) }
        }
        @if let Some(earlier) = earlier {
            p { a href={ "/conversations/" (id) "?cursor=" (earlier) } { "Earlier exchanges" } }
        }
        div.items { @for article in articles { (article) } }
        @if before.is_some() { p { a href={ "/conversations/" (id) } { "Latest exchanges" } } }
    };
    Ok(visitor.page(Section::Conversations, &conversation.title, &content))
}

fn about(visitor: &Visitor, conversation: &Conversation, forks: &[Conversation]) -> Markup {
    html! {
        p.meta {
            (visitor.time(conversation.created)) " to " (visitor.time(conversation.updated))
            " · " (count(conversation.exchange_count, "exchange"))
            " · " (plain(&conversation.scope))
            " · " (plain(&conversation.model))
        }
        @if let Some(parent) = conversation.forked_from {
            p { "Forked from " a href={ "/conversations/" (parent) } { "conversation " (parent) } "." }
        }
        @if !forks.is_empty() {
            p {
                "Forks: "
                @for (index, fork) in forks.iter().enumerate() {
                    @if index > 0 { ", " }
                    a href={ "/conversations/" (fork.id) } { (plain(&fork.title)) " (" (fork.id) ")" }
                }
            }
        }
        p.actions {
            @if visitor.may(Right::Admin) {
                a href={ "/chat?conversation=" (conversation.id) } { "Continue in the chat" }
            }
            @if visitor.may(Right::Forget) {
                a href={ "/forget?conversation=" (conversation.id) } { "Forget this conversation…" }
            }
        }
    }
}

/// Shows an exchange with the calls of tools.
pub(super) fn article(visitor: &Visitor, exchange: &Exchange, messages: &[Message]) -> Markup {
    let program = exchange.source.as_ref().map_or(OWN_PROGRAM, |source| source.program.as_str());
    html! {
        article.card #{ "e" (exchange.id) } data-item aria-label={ "Exchange " (exchange.id) } {
            @for message in messages { (show_message(message)) }
            footer.meta {
                a href={ "/exchanges/" (exchange.id) } { "Exchange " (exchange.id) ": why" }
                " · " (visitor.time(exchange.started))
                " · " (plain(program))
                " · " (plain(&exchange.model))
                @let tokens = exchange.usage.input_tokens + exchange.usage.output_tokens;
                @if tokens > 0 { " · " (count(tokens, "token")) }
                @if let Some(cost) = exchange.cost.filter(|cost| cost.as_nanos() > 0) { " · " (cost) }
                @if let Some(error) = &exchange.error { " · stopped: " (plain(error)) }
                @if visitor.may(Right::Forget) { " · " a href={ "/forget?exchange=" (exchange.id) } { "Forget…" } }
            }
        }
    }
}

fn show_message(message: &Message) -> Markup {
    let is_hidden = message.visibility == Visibility::Hidden;
    html! {
        @match &message.body {
            MessageBody::User { text } => {
                section.prompt {
                    h2.speaker { (plain(message.author.as_deref().unwrap_or("You"))) }
                    (markdown::render(text))
                }
            }
            MessageBody::Assistant { text, tool_calls } => {
                @if !text.trim().is_empty() {
                    section.answer .interim[is_hidden] {
                        h2.speaker { (plain(message.author.as_deref().unwrap_or("Assistant"))) }
                        (markdown::render(text))
                    }
                }
                @for call in tool_calls {
                    details.tool {
                        summary { "Tool call: " code { (plain(&call.name)) } }
                        pre.raw { (plain(&call.arguments.to_string())) }
                    }
                }
            }
            MessageBody::Tool { tool_name, text, .. } => {
                details.tool {
                    summary { "Result of " code { (plain(tool_name)) } }
                    pre.raw dir="auto" {
                        (plain(&text[..text.floor_char_boundary(MAX_RESULT_BYTES)]))
                        @if text.len() > MAX_RESULT_BYTES { "\n…" }
                    }
                }
            }
        }
    }
}
