//! An exchange, and why its answer is what it is: what was added from memory, and what memory says now.

use axum::response::Response;
use maud::{Markup, html};
use memoir_core::{Correction, ExchangeId, Passage};
use memoir_runtime::view::{InjectedQuotation, ItemId, LookUp};

use super::{
    conversation::article,
    navigation::Section,
    search::{document_path, reasons},
    text::{Terms, plain},
    visitor::Visitor,
};
use crate::{extract::Segment, problem::Problem};

/// Number of passages that memory says now.
const MAX_PASSAGES: usize = 8;

/// Maximum number of tokens of these passages.
const MAX_TOKENS: u64 = 8_000;

/// Maximum length of a prompt that is looked up, in bytes.
const MAX_PROMPT_BYTES: usize = 4_000;

pub(super) async fn show(visitor: Visitor, Segment(id): Segment<i64>) -> Result<Response, Problem> {
    let found = visitor.view.exchange(ExchangeId::new(id)).await?;
    let (conversation, exchange) = found.ok_or_else(|| Problem::missing(format!("exchange {id}")))?;
    let messages = visitor.view.messages(&exchange).await?;
    let added = visitor.view.explain_exchange(exchange.id).await?;
    let prompt = &exchange.user_message;
    let question = prompt[..prompt.floor_char_boundary(MAX_PROMPT_BYTES)].to_owned();
    let look_up = LookUp { question: question.clone(), ..LookUp::default() };
    let now = visitor.view.search(&look_up, MAX_PASSAGES + 1, MAX_TOKENS).await?;
    let own = now.passages.iter().find(|passage| passage.exchange_id == exchange.id);
    let correction = own.and_then(|passage| passage.superseded);
    let others: Vec<&Passage> =
        now.passages.iter().filter(|passage| passage.exchange_id != exchange.id).take(MAX_PASSAGES).collect();
    let terms = Terms::new(&question);
    let content = html! {
        h1 { "Exchange " (id) }
        p { "In " a href={ "/conversations/" (conversation.id) "#e" (id) } { (plain(&conversation.title)) } "." }
        @if let Some(correction) = correction { (superseded(&visitor, correction)) }
        (article(&visitor, &exchange, &messages))
        h2 { "Added from memory to this prompt" }
        @if added.is_empty() {
            p { "Nothing, or it has been forgotten since." }
        } @else {
            ol.items { @for quotation in &added { li.card data-item { (show_quotation(quotation, &terms)) } } }
        }
        h2 { "What memory finds for this prompt now" }
        @if others.is_empty() { p { "Nothing else." } }
        ol.items {
            @for passage in others { li.card data-item { (show_passage(&visitor, passage, &terms)) } }
        }
    };
    Ok(visitor.page(Section::Conversations, &format!("Exchange {id}"), &content))
}

fn superseded(visitor: &Visitor, correction: Correction) -> Markup {
    html! {
        p.superseded {
            "Superseded on " (visitor.time(correction.created))
            @if let Some(newer) = correction.exchange_id { " by " a href={ "/exchanges/" (newer) } { "exchange " (newer) } }
            "."
        }
    }
}

fn show_quotation(quotation: &InjectedQuotation, terms: &Terms) -> Markup {
    let path = match quotation.id.parse() {
        Ok(ItemId::Exchange(id)) => format!("/exchanges/{id}"),
        Ok(ItemId::Conversation(id)) => format!("/conversations/{id}"),
        Ok(ItemId::Document(name)) => document_path(&name),
        Err(_) => "/".to_owned(),
    };
    html! {
        h3 { a href=(path) { (plain(&quotation.title)) } }
        p.meta { (quotation.date) " · " (quotation.reason) " · " (quotation.tokens) " tokens" }
        p.excerpt dir="auto" { (terms.excerpt(&quotation.text)) }
    }
}

fn show_passage(visitor: &Visitor, passage: &Passage, terms: &Terms) -> Markup {
    html! {
        h3 { a href={ "/exchanges/" (passage.exchange_id) } { (plain(&passage.title)) } }
        p.meta { (visitor.time(passage.created)) " · " (plain(passage.speaker("you"))) }
        @if let Some(correction) = passage.superseded { (superseded(visitor, correction)) }
        p.excerpt dir="auto" { (terms.excerpt(&passage.text)) }
        (reasons(terms, &passage.text, passage.similarity, passage.score))
    }
}
