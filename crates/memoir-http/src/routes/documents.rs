//! Listing and reading documents.

use axum::Json;
use memoir_core::Document;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    extract::{Segment, View},
    problem::Problem,
};

/// A document.
#[derive(Serialize, ToSchema)]
pub(super) struct DocumentBody {
    /// Name, by which it is read and forgotten.
    name: String,
    /// Title.
    title: String,
    /// Date of the document.
    date: String,
    /// Whether programs that work for other projects may see it.
    shared: bool,
}

impl From<Document> for DocumentBody {
    fn from(document: Document) -> Self {
        Self { name: document.slug, title: document.title, date: document.date, shared: document.is_shared }
    }
}

/// A list of documents.
#[derive(Serialize, ToSchema)]
pub(super) struct DocumentList {
    /// Documents, newest first.
    documents: Vec<DocumentBody>,
}

/// A document and its text.
#[derive(Serialize, ToSchema)]
pub(super) struct DocumentTextBody {
    /// The document.
    #[serde(flatten)]
    document: DocumentBody,
    /// Its whole text.
    text: String,
}

/// List documents
#[utoipa::path(get, path = "/documents", tag = "documents", operation_id = "list_documents",
    responses((status = OK, body = DocumentList)))]
pub(super) async fn list(View(view): View) -> Result<Json<DocumentList>, Problem> {
    let documents = view.documents().await?.into_iter().map(DocumentBody::from).collect();
    Ok(Json(DocumentList { documents }))
}

/// Show a document
#[utoipa::path(get, path = "/documents/{name}", tag = "documents", operation_id = "show_document",
    params(("name" = String, Path, description = "Name of the document")),
    responses((status = OK, body = DocumentTextBody)))]
pub(super) async fn show(
    View(view): View,
    Segment(name): Segment<String>,
) -> Result<Json<DocumentTextBody>, Problem> {
    let document = view.document(&name).await?.ok_or_else(|| Problem::missing("such document"))?;
    Ok(Json(DocumentTextBody { document: document.document.into(), text: document.text }))
}
