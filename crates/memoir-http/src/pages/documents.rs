//! Documents: the list, and the text of one.

use axum::response::Response;
use maud::html;
use memoir_core::Right;

use super::{markdown, navigation::Section, search::document_path, text::plain, visitor::Visitor};
use crate::{extract::Segment, problem::Problem};

pub(super) async fn list(visitor: Visitor) -> Result<Response, Problem> {
    let documents = visitor.view.documents().await?;
    let content = html! {
        h1 { "Documents" }
        @if visitor.may(Right::Write) {
            form.drop #upload-documents data-upload="/api/v1/documents" data-method="PUT" {
                label for="document-files" { "Add text, Markdown, HTML or PDF files. Choose them, or drop them here." }
                input #document-files type="file" multiple accept=".md,.markdown,.txt,.text,.html,.htm,.pdf";
                ul.uploads aria-live="polite" {}
                noscript { p { "Adding files here needs JavaScript. " code { "memoir docs add FILE" } " adds them, too." } }
            }
        }
        @if documents.is_empty() { p { "There are no documents yet." } }
        ol.items {
            @for document in &documents {
                li.line data-item {
                    a href=(document_path(&document.slug)) { (plain(&document.title)) }
                    p.meta {
                        (plain(&document.date)) " · " (plain(&document.slug))
                        @if let Some(project) = &document.project { " · " (plain(project)) }
                        @if document.is_shared { " · shared" }
                    }
                }
            }
        }
    };
    Ok(visitor.page(Section::Documents, "Documents", &content))
}

pub(super) async fn show(visitor: Visitor, Segment(name): Segment<String>) -> Result<Response, Problem> {
    let document = visitor.view.document(&name).await?.ok_or_else(|| Problem::missing("such document"))?;
    let (document, text) = (document.document, document.text);
    let query: String = form_urlencoded::byte_serialize(document.slug.as_bytes()).collect();
    let content = html! {
        h1 dir="auto" { (plain(&document.title)) }
        p.meta {
            (plain(&document.date)) " · " (plain(&document.slug)) " · " (plain(&document.source))
            @if !document.tags.is_empty() { " · " (plain(&document.tags.join(", "))) }
        }
        @if visitor.may(Right::Forget) {
            p.actions { a href={ "/forget?document=" (query) } { "Forget this document…" } }
        }
        div.card { (markdown::render(&text)) }
    };
    Ok(visitor.page(Section::Documents, &document.title, &content))
}
