//! The list of conversations.

use axum::response::Response;
use maud::{Markup, html};
use memoir_core::Conversation;
use memoir_store::ListPosition;
use serde::Deserialize;

use super::{navigation::Section, text::plain, visitor::Visitor};
use crate::{extract::Parameters, problem::Problem, routes::Cursor as _};

/// Number of conversations on a page.
const PAGE_SIZE: u32 = 50;

#[derive(Deserialize)]
pub(super) struct ListParameters {
    #[serde(default)]
    matching: String,
    cursor: Option<String>,
}

pub(super) async fn show(
    visitor: Visitor,
    Parameters(parameters): Parameters<ListParameters>,
) -> Result<Response, Problem> {
    let matching = Some(parameters.matching.trim()).filter(|text| !text.is_empty());
    let after = parameters.cursor.as_deref().map(ListPosition::decode).transpose()?;
    let conversations = visitor.view.conversations(matching, false, after, PAGE_SIZE).await?;
    let is_full = conversations.len() == PAGE_SIZE as usize;
    let last = conversations.last().filter(|_| is_full);
    let next = last.map(|last| ListPosition { updated: last.updated, id: last.id }.encode());
    let content = html! {
        h1 { "Conversations" }
        form.row role="search" action="/conversations" method="get" {
            label.hidden for="matching" { "Part of the title" }
            input #matching name="matching" type="search" value=(parameters.matching) placeholder="Part of the title";
            button type="submit" { "Filter" }
        }
        @if conversations.is_empty() { p { "There are no such conversations." } }
        (list_conversations(&visitor, &conversations))
        @if let Some(next) = next {
            form action="/conversations" method="get" {
                input type="hidden" name="matching" value=(parameters.matching);
                input type="hidden" name="cursor" value=(next);
                button type="submit" { "Older conversations" }
            }
        }
    };
    Ok(visitor.page(Section::Conversations, "Conversations", &content))
}

/// Shows a list of conversations.
pub(super) fn list_conversations(visitor: &Visitor, conversations: &[Conversation]) -> Markup {
    html! {
        ol.items {
            @for conversation in conversations {
                li.line data-item {
                    a href={ "/conversations/" (conversation.id) } { (plain(&conversation.title)) }
                    p.meta {
                        (visitor.time(conversation.updated))
                        " · " (count(conversation.exchange_count, "exchange"))
                        " · " (plain(&conversation.scope))
                        @if conversation.forked_from.is_some() { " · fork" }
                        @if conversation.is_shared { " · shared" }
                    }
                }
            }
        }
    }
}

/// Returns a number with its noun.
pub(super) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
