//! What all pages have in common.

use axum::response::{IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};

use super::{assets, navigation::Section, text::plain};
use crate::{access::Caller, problem::Problem};

/// Returns a whole page. The navigation lists what the caller may see.
pub(super) fn page(
    title: &str,
    section: Option<Section>,
    caller: Option<&Caller>,
    content: &Markup,
) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (plain(title)) " · Memoir" }
                link rel="icon" href=(assets::ICON) type="image/svg+xml";
                link rel="stylesheet" href=(assets::STYLE);
                script src=(assets::SCRIPT) defer {}
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header.top {
                    a.brand href="/" { "Memoir" }
                    @if let Some(caller) = caller { (navigation(section, caller)) }
                }
                main #content tabindex="-1" { (content) }
                @if caller.is_some() { (help()) }
            }
        }
    }
}

fn navigation(current: Option<Section>, caller: &Caller) -> Markup {
    let sections = Section::ALL.into_iter().filter(|section| caller.0.allows(section.right()));
    html! {
        nav aria-label="Pages" {
            ul {
                @for section in sections {
                    li {
                        a href=(section.path()) aria-current=[(current == Some(section)).then_some("page")] {
                            (section.title())
                        }
                    }
                }
            }
        }
        form.logout method="post" action="/logout" { button.link type="submit" { "Log out" } }
    }
}

/// Explains the keys.
fn help() -> Markup {
    let keys = [
        ("/", "Search"),
        ("j", "Next item"),
        ("k", "Previous item"),
        ("Enter", "Open the item"),
        ("?", "Show these keys"),
        ("Esc", "Close"),
    ];
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl.keys {
                @for (key, meaning) in keys {
                    dt { kbd { (key) } }
                    dd { (meaning) }
                }
            }
            form method="dialog" { button type="submit" { "Close" } }
        }
    }
}

/// Returns the page that shows why a request failed.
pub(super) fn problem(problem: &Problem) -> Response {
    let content = html! {
        h1 { (problem.title()) }
        p.problem role="alert" { (plain(&problem.sentence())) }
        p { a href="/" { "Back to the search" } }
    };
    (problem.status(), page(problem.title(), None, None, &content)).into_response()
}
