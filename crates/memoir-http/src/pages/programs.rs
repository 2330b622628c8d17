//! Programs that are connected to this memory, and what was added to their prompts.

use axum::response::Response;
use maud::{Markup, html};
use memoir_runtime::operations::connect::{ConnectionState, Connector, HostStatus};

use super::{
    navigation::Section,
    text::{Terms, plain},
    visitor::Visitor,
};
use crate::problem::Problem;

/// Number of prompts that are shown.
const MAX_INJECTIONS: u32 = 20;

pub(super) async fn show(visitor: Visitor) -> Result<Response, Problem> {
    let runtime = &visitor.state.runtime;
    let connector = Connector::new(runtime.home(), &runtime.models().environment)?;
    let injections = visitor.view.explain_injections(MAX_INJECTIONS).await?;
    let content = html! {
        h1 { "Programs" }
        ol.items { @for host in connector.list() { li.line data-item { (show_host(&host)) } } }
        h2 { "Added to their prompts" }
        @if injections.is_empty() { p { "Nothing has been added yet." } }
        ol.items {
            @for report in &injections {
                li.card data-item {
                    h3 { (plain(&report.source.program)) " · " (visitor.time(report.created)) }
                    p.meta { (plain(&report.event)) " · session " (plain(&report.source.session)) }
                    @if report.items.is_empty() { p { "Nothing, or it has been forgotten since." } }
                    ul {
                        @for item in &report.items {
                            li {
                                (Terms::new("").excerpt(&item.text))
                                p.meta { (plain(&item.title)) " · " (item.date) " · " (item.reason) " · " (item.tokens) " tokens" }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(visitor.page(Section::Programs, "Programs", &content))
}

fn show_host(host: &HostStatus) -> Markup {
    html! {
        strong { (host.name) }
        p.meta {
            @match &host.state {
                ConnectionState::Connected => { "connected" }
                ConnectionState::Outdated => { "connected to another Memoir: run " code { "memoir connect " (host.host) } }
                ConnectionState::NotConnected if host.is_installed => {
                    "not connected: run " code { "memoir connect " (host.host) }
                }
                ConnectionState::NotConnected => { "not installed" }
                ConnectionState::Unreadable(reason) => { "its configuration cannot be read: " (plain(reason)) }
            }
        }
    }
}
