//! Searching, and the conversations that were last continued.

use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use memoir_core::{DocumentPassage, Passage, TokenScope};
use memoir_runtime::view::{Citation, LookUp};
use serde::Deserialize;

use super::{
    conversations::list_conversations,
    navigation::Section,
    text::{Terms, plain},
    visitor::Visitor,
};
use crate::{extract::Parameters, problem::Problem};

/// Maximum number of results.
const MAX_RESULTS: usize = 30;

/// Maximum number of tokens of all results. Only excerpts of them are shown.
const MAX_TOKENS: u64 = 60_000;

/// Number of conversations on the page before anything is searched for.
const RECENT: u32 = 12;

/// What is searched for.
#[derive(Deserialize, Default)]
pub(super) struct SearchParameters {
    #[serde(default)]
    q: String,
    #[serde(default)]
    in_project: String,
    #[serde(default)]
    program: String,
    #[serde(default)]
    person: String,
    #[serde(default)]
    since: String,
    #[serde(default)]
    until: String,
    /// Whether the script of the page only wants the results.
    #[serde(default)]
    fragment: bool,
}

/// What the filters offer.
struct Choices {
    projects: Vec<String>,
    programs: Vec<String>,
    people: Vec<String>,
}

pub(super) async fn show(
    visitor: Visitor,
    Parameters(parameters): Parameters<SearchParameters>,
) -> Result<Response, Problem> {
    let results = match parameters.q.trim() {
        "" => recent(&visitor).await?,
        query => match results(&visitor, query, &parameters).await {
            Ok(results) => results,
            // A date that is being typed, for example.
            Err(problem) => html! { p.problem role="alert" { (plain(&problem.sentence())) } },
        },
    };
    if parameters.fragment {
        return Ok(results.into_response());
    }
    let choices = choices(&visitor).await?;
    let content = html! {
        h1 { "Search" }
        (form(&parameters, &choices))
        div #results aria-live="polite" { (results) }
    };
    Ok(visitor.page(Section::Search, "Search", &content))
}

fn form(parameters: &SearchParameters, choices: &Choices) -> Markup {
    let has_filter = [
        &parameters.in_project,
        &parameters.program,
        &parameters.person,
        &parameters.since,
        &parameters.until,
    ]
    .into_iter()
    .any(|value| !value.is_empty());
    html! {
        form #search role="search" action="/" method="get" {
            label.hidden for="q" { "Search your memory" }
            div.row {
                input #q name="q" type="search" value=(parameters.q) placeholder="What was said about…" autocomplete="off";
                button type="submit" { "Search" }
            }
            details.filters open[has_filter] {
                summary { "Filters" }
                div.fields {
                    (select("in_project", "Project", "All projects", &choices.projects, &parameters.in_project))
                    (select("program", "Program", "All programs", &choices.programs, &parameters.program))
                    (select("person", "Person", "Everybody", &choices.people, &parameters.person))
                    div {
                        label for="since" { "Since" }
                        input #since name="since" value=(parameters.since) placeholder="2026-05-01 or last week";
                    }
                    div {
                        label for="until" { "Until" }
                        input #until name="until" value=(parameters.until) placeholder="2026-06-30 or yesterday";
                    }
                }
            }
        }
    }
}

/// Shows a list to choose from, unless there is nothing to choose.
fn select(name: &str, label: &str, all: &str, choices: &[String], chosen: &str) -> Markup {
    html! {
        @if !choices.is_empty() {
            div {
                label for=(name) { (label) }
                select id=(name) name=(name) {
                    option value="" { (all) }
                    @for choice in choices {
                        option value=(choice) selected[choice == chosen] { (plain(choice)) }
                    }
                }
            }
        }
    }
}

/// Returns what the filters offer. A token for some projects offers only these, because the names of others are private.
async fn choices(visitor: &Visitor) -> Result<Choices, Problem> {
    let nothing = || Choices { projects: Vec::new(), programs: Vec::new(), people: Vec::new() };
    if visitor.view.limited_to().is_some() || *visitor.scope() != TokenScope::All {
        return Ok(nothing());
    }
    let store = visitor.state.runtime.store();
    let read = async {
        let mut programs = store.programs().await?;
        programs.insert(0, memoir_core::OWN_PROGRAM.to_owned());
        let (projects, people) = (store.projects().await?, store.authors().await?);
        Ok::<_, memoir_store::StoreError>(Choices { projects, programs, people })
    };
    Ok(read.await.map_err(memoir_runtime::Failure::from)?)
}

async fn recent(visitor: &Visitor) -> Result<Markup, Problem> {
    let conversations = visitor.view.conversations(None, false, None, RECENT).await?;
    Ok(html! {
        h2 { "Recent conversations" }
        @if conversations.is_empty() {
            p {
                "Nothing is stored yet. Ask something with " code { "memoir" }
                ", or bring your history with " code { "memoir import" } "."
            }
        } @else {
            (list_conversations(visitor, &conversations))
        }
    })
}

async fn results(visitor: &Visitor, query: &str, parameters: &SearchParameters) -> Result<Markup, Problem> {
    let chosen = |value: &str| Some(value.trim()).filter(|value| !value.is_empty()).map(str::to_owned);
    let look_up = LookUp {
        question: query.to_owned(),
        project: chosen(&parameters.in_project),
        program: chosen(&parameters.program),
        person: chosen(&parameters.person),
        since: chosen(&parameters.since),
        until: chosen(&parameters.until),
        only_project: false,
    };
    let recollection = visitor.view.search(&look_up, MAX_RESULTS, MAX_TOKENS).await?;
    let citations = visitor.view.cite(&recollection).await?;
    let terms = Terms::new(query);
    let count = citations.len();
    Ok(html! {
        p.meta role="status" {
            @match count {
                0 => { "Nothing in memory about this." }
                1 => { "1 result" }
                count => { (count) " results" }
            }
        }
        @for notice in &recollection.notices { p.notice { (plain(notice)) } }
        ol.items {
            @for (passage, citation) in recollection.passages.iter().zip(&citations) {
                li.card data-item { (show_passage(visitor, passage, citation, &terms)) }
            }
            @for passage in &recollection.documents {
                li.card data-item { (show_document(passage, &terms)) }
            }
        }
    })
}

fn show_passage(visitor: &Visitor, passage: &Passage, citation: &Citation, terms: &Terms) -> Markup {
    let text = passage.part.clone().and_then(|part| passage.text.get(part)).unwrap_or(&passage.text);
    html! {
        h3 { a href={ "/exchanges/" (passage.exchange_id) } { (plain(&passage.title)) } }
        p.meta {
            (visitor.time(passage.created))
            " · " (plain(passage.speaker("you")))
            @if let Some(program) = &citation.program { " · " (plain(program)) }
            @if let Some(project) = &citation.project { " · " (plain(project)) }
        }
        @if let Some(correction) = passage.superseded {
            p.superseded {
                "Superseded on " (visitor.time(correction.created))
                @if let Some(newer) = correction.exchange_id { " by " a href={ "/exchanges/" (newer) } { "a newer statement" } }
                "."
            }
        }
        p.excerpt dir="auto" { (terms.excerpt(text)) }
        (reasons(terms, text, passage.similarity, passage.score))
    }
}

fn show_document(passage: &DocumentPassage, terms: &Terms) -> Markup {
    html! {
        h3 { a href=(document_path(&passage.document.slug)) { (plain(&passage.document.title)) } }
        p.meta { (passage.document.date) " · document" }
        p.excerpt dir="auto" { (terms.excerpt(&passage.text)) }
        (reasons(terms, &passage.text, passage.similarity, passage.score))
    }
}

/// Explains why something was found.
pub(super) fn reasons(terms: &Terms, text: &str, similarity: f64, score: f64) -> Markup {
    let words = terms.in_text(text);
    html! {
        details.why {
            summary { "Why" }
            dl {
                dt { "Words" }
                dd { @if words.is_empty() { "none" } @else { (words.join(", ")) } }
                dt { "Similarity" }
                dd { (format!("{similarity:.2}")) }
                dt { "Score" }
                dd { (format!("{score:.2}")) }
            }
        }
    }
}

/// Returns the path of the page of a document.
pub(super) fn document_path(name: &str) -> String {
    format!(
        "/documents/{}",
        form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
    )
}
