//! Listing and reading documents.

use std::time::Duration;

use axum::{Json, extract::Request};
use http::StatusCode;
use memoir_core::Document;
use memoir_runtime::view::DocumentText;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    extract::{Parameters, Segment, View},
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
    /// Number of parts that are found only by keyword yet, because they have not been embedded.
    pending: u64,
}

/// How long a new document is embedded. Later sessions embed the rest.
const MAX_EMBEDDING_TIME: Duration = Duration::from_secs(10 * 60);

/// Maximum size of a file in bytes.
const MAX_FILE_BYTES: usize = 32 << 20;

/// A document that was added or updated.
#[derive(Serialize, ToSchema)]
pub(super) struct UploadReply {
    /// Name of the document.
    name: String,
    /// `added`, `changed` or `unchanged`.
    outcome: &'static str,
    /// What the file contains and the document does not, such as images.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct UploadParameters {
    /// Name of the file, whose extension says what it is: text, Markdown, HTML or PDF.
    #[serde(rename = "name")]
    #[param(rename = "name", example = "packing-list.md")]
    file_name: String,
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
    let DocumentText { document, text, unembedded } = document;
    Ok(Json(DocumentTextBody { document: document.into(), text, pending: unembedded }))
}

/// Add a document
///
/// Stores the text of a file of up to 32 MB. A file with the name of an earlier one replaces it. It is found by keyword at once,
/// and by meaning when it has been embedded in the background.
#[utoipa::path(put, path = "/documents", tag = "documents", operation_id = "add_document",
    params(UploadParameters),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = OK, body = UploadReply)))]
pub(super) async fn upload(
    View(view): View,
    Parameters(parameters): Parameters<UploadParameters>,
    request: Request,
) -> Result<Json<UploadReply>, Problem> {
    let too_large = |error: axum::Error| {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the file could not be received: {error}"))
            .hint("Documents have at most 32 MB.")
    };
    let bytes = axum::body::to_bytes(request.into_body(), MAX_FILE_BYTES).await.map_err(too_large)?;
    let added = view.add_document(&parameters.file_name, &bytes).await?;
    tokio::spawn(async move {
        if let Err(failure) = view.embed_captured(MAX_EMBEDDING_TIME).await {
            tracing::warn!(reason = failure.message, "could not embed a document");
        }
    });
    Ok(Json(UploadReply { name: added.name, outcome: added.outcome.as_str(), lost: added.lost }))
}
