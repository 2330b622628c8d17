//! Facts that changed, as a timeline.

use axum::response::Response;
use maud::{Markup, html};
use memoir_runtime::view::StatedFact;
use memoir_store::ListPosition;
use serde::Deserialize;

use super::{
    navigation::Section,
    text::{Terms, plain},
    visitor::Visitor,
};
use crate::{extract::Parameters, problem::Problem, routes::Cursor as _};

#[derive(Deserialize)]
pub(super) struct FactParameters {
    cursor: Option<String>,
}

pub(super) async fn show(
    visitor: Visitor,
    Parameters(parameters): Parameters<FactParameters>,
) -> Result<Response, Problem> {
    let after = parameters.cursor.as_deref().map(ListPosition::decode).transpose()?;
    let page = visitor.view.changed_facts(after).await?;
    let content = html! {
        h1 { "Changed facts" }
        p { "What you stated and later corrected. Recall prefers the newest statement." }
        @if page.facts.is_empty() { p { "There are none in these conversations." } }
        @for fact in &page.facts {
            ol.timeline data-item {
                (statement(&visitor, &fact.newest, true))
                @for earlier in &fact.earlier { (statement(&visitor, earlier, false)) }
            }
        }
        @if let Some(next) = page.next {
            p { a href={ "/facts?cursor=" (next.encode()) } { "Look further back" } }
        }
    };
    Ok(visitor.page(Section::Facts, "Changed facts", &content))
}

fn statement(visitor: &Visitor, fact: &StatedFact, is_current: bool) -> Markup {
    html! {
        li .current[is_current] {
            p.meta {
                (visitor.time(fact.created))
                @if is_current { " · now" } @else { " · before" }
                " · " a href={ "/exchanges/" (fact.exchange) } { (plain(&fact.title)) }
            }
            p.excerpt dir="auto" { (Terms::new("").excerpt(&fact.text)) }
        }
    }
}
