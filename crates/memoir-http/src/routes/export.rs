//! Exporting conversations.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::header;
use memoir_core::ConversationId;
use memoir_runtime::{
    Failure, TemporaryFile,
    operations::export::{self, ExportFormat, ExportRequest},
};
use serde::Deserialize;
use tokio_util::io::ReaderStream;
use utoipa::{IntoParams, ToSchema};

use crate::{extract::Parameters, problem::Problem, state::AppState};

/// The format of an export.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ExportKind {
    /// Everything, one conversation per line, which `memoir import memoir` reads.
    #[default]
    Jsonl,
    /// For people.
    Markdown,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ExportParameters {
    /// Format of the export; `jsonl` if it is left out.
    #[serde(default)]
    #[param(inline)]
    format: ExportKind,
    /// Only this conversation.
    conversation: Option<i64>,
    /// Only conversations of this project.
    scope: Option<String>,
}

/// Export conversations
#[utoipa::path(get, path = "/export", tag = "administration", operation_id = "export",
    params(ExportParameters),
    responses((status = OK, body = String, content_type = "text/plain")))]
pub(super) async fn export(
    State(state): State<Arc<AppState>>,
    Parameters(parameters): Parameters<ExportParameters>,
) -> Result<Response, Problem> {
    let runtime = &state.runtime;
    let (format, name) = match parameters.format {
        ExportKind::Jsonl => (ExportFormat::Jsonl, "memoir.jsonl"),
        ExportKind::Markdown => (ExportFormat::Markdown, "memoir.md"),
    };
    let conversation = parameters.conversation.map(ConversationId::new);
    if let Some(id) = conversation
        && state.view.conversation(id).await?.is_none()
    {
        return Err(Problem::missing(format!("conversation {id}")));
    }
    let request = ExportRequest { format, conversation, scope: parameters.scope };
    // Memory may be larger than the memory of the machine.
    let file = TemporaryFile::create(runtime.home(), name)?;
    let store = runtime.store().as_ref();
    export::write_file(&request, file.path(), store, runtime.zone(), &mut |_| {}).await?;
    let reader = tokio::fs::File::open(file.path()).await.map_err(Failure::from)?;
    // On Unix, an open file can be read after it is deleted, so nothing is left if the client goes away.
    drop(file);
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename={name}")),
    ];
    Ok((headers, Body::from_stream(ReaderStream::new(reader))).into_response())
}
