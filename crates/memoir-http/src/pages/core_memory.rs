//! Core memory: what is part of every request.

use axum::response::Response;
use maud::{Markup, html};
use memoir_core::{Clock as _, CoreBlock, CoreEntry, SystemClock};
use memoir_runtime::operations::core_memory::{self, CoreEditOutcome, CoreEditRequest};
use serde::Deserialize;

use super::{navigation::Section, visitor::Visitor};
use crate::{extract::Fields, problem::Problem};

/// The fields of the form.
#[derive(Deserialize)]
pub(super) struct EditFields {
    block: String,
    version: u64,
    text: String,
}

pub(super) async fn show(visitor: Visitor) -> Result<Response, Problem> {
    render(&visitor, &html! {}).await
}

pub(super) async fn change(
    visitor: Visitor,
    Fields(fields): Fields<EditFields>,
) -> Result<Response, Problem> {
    let block: CoreBlock = fields.block.parse().map_err(|_| Problem::missing("such block"))?;
    let store = visitor.state.runtime.store().as_ref();
    let previous = core_memory::read(block, visitor.view.project(), store).await?;
    // Forms end lines with two characters.
    let text = fields.text.replace("\r\n", "\n");
    let outcome = if previous.version == fields.version {
        let request =
            CoreEditRequest { project: visitor.view.project().to_owned(), previous, text: text.clone() };
        let home = visitor.state.runtime.home();
        core_memory::edit(&request, store, home, SystemClock.now()).await?.outcome
    } else {
        CoreEditOutcome::Conflict
    };
    let notice = match outcome {
        CoreEditOutcome::Changed => html! { p.notice role="status" { "Saved." } },
        CoreEditOutcome::Unchanged => html! { p.notice role="status" { "Nothing was changed." } },
        CoreEditOutcome::Conflict => {
            rejected("It has been changed elsewhere since you opened this page. Your text:", &text)
        }
        CoreEditOutcome::TooLong { .. } => {
            let limit = CoreBlock::MAX_CHARS;
            rejected(
                &format!("It was not saved, because it is longer than {limit} characters. Your text:"),
                &text,
            )
        }
    };
    render(&visitor, &notice).await
}

/// Shows why a text was not saved. The text itself is not lost.
fn rejected(reason: &str, text: &str) -> Markup {
    html! {
        div.problem role="alert" { p { (reason) } textarea readonly rows="6" aria-label="Your text" { (text) } }
    }
}

async fn render(visitor: &Visitor, notice: &Markup) -> Result<Response, Problem> {
    let store = visitor.state.runtime.store().as_ref();
    let mut entries = Vec::new();
    for block in CoreBlock::ALL {
        entries.push(core_memory::read(block, visitor.view.project(), store).await?);
    }
    let content = html! {
        h1 { "Core memory" }
        p { "These texts are part of every request. The model may change them, too." }
        (notice)
        @for entry in &entries { (editor(entry)) }
    };
    Ok(visitor.page(Section::CoreMemory, "Core memory", &content))
}

fn editor(entry: &CoreEntry) -> Markup {
    let name = entry.block.as_str();
    let label = match entry.block {
        CoreBlock::User => "About you",
        CoreBlock::Project => "About the project",
        CoreBlock::Instructions => "Instructions",
    };
    html! {
        form.card method="post" action="/core-memory" {
            label for=(name) { (label) }
            input type="hidden" name="block" value=(name);
            input type="hidden" name="version" value=(entry.version);
            textarea id=(name) name="text" rows="6" maxlength=(CoreBlock::MAX_CHARS) dir="auto" { "\n" (entry.text) }
            button type="submit" { "Save " (label.to_lowercase()) }
        }
    }
}
