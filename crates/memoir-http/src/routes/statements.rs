//! Remembering a statement.

use axum::{Extension, Json};
use http::{HeaderMap, StatusCode};
use memoir_core::{Clock as _, ExchangeSource, Right, SystemClock};
use memoir_runtime::view::NewStatement;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::passage::QuotationBody;
use crate::{
    access::Caller,
    extract::{Body, View},
    problem::Problem,
};

/// Header that identifies a request, so that it can be sent again.
const KEY_HEADER: &str = "idempotency-key";

/// Maximum length of a key, in bytes.
const MAX_KEY_BYTES: usize = 200;

/// Maximum length of the name of a program, in bytes.
const MAX_PROGRAM_BYTES: usize = 100;

/// A statement to remember.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatementRequest {
    /// The statement, as a sentence that makes sense later.
    #[schema(example = "The staging server listens on port 9443.")]
    statement: String,
    /// Whether programs that work for any project may see it. Needs a token for everything.
    #[serde(default)]
    shared: bool,
    /// Name of the program that sends it; that of the token if it is left out.
    program: Option<String>,
}

/// A statement that was stored.
#[derive(Serialize, ToSchema)]
pub(super) struct StatementReply {
    /// Id of the exchange that holds it.
    exchange: i64,
    /// Earlier statements that it contradicts, if the token may read. They are still stored, and are returned as
    /// superseded.
    supersedes: Vec<QuotationBody>,
}

/// Remember
///
/// Stores a statement verbatim. When the answer arrives, it is on disk. A request that is sent again with the same
/// `Idempotency-Key` stores nothing twice.
#[utoipa::path(post, path = "/statements", tag = "changes", operation_id = "remember",
    params(("Idempotency-Key" = Option<String>, Header, description = "Up to 200 visible ASCII characters that the program chooses",
            min_length = 1, max_length = 200, pattern = "^[!-~]+$")),
    request_body = StatementRequest, responses((status = CREATED, body = StatementReply)))]
pub(super) async fn remember(
    View(view): View,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Body(request): Body<StatementRequest>,
) -> Result<(StatusCode, Json<StatementReply>), Problem> {
    let program = request.program.unwrap_or_else(|| caller.0.name.clone());
    if program.is_empty() || program.len() > MAX_PROGRAM_BYTES || program.chars().any(char::is_control) {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            format!("`program` must be a line of up to {MAX_PROGRAM_BYTES} bytes"),
        ));
    }
    let source = ExchangeSource { program, session: SystemClock.now().to_string() };
    let key = key(&headers)?.map(|key| format!("{}/{key}", caller.0.name));
    let statement = NewStatement { text: request.statement, is_shared: request.shared, source, key };
    let report = view.remember(&statement).await.map_err(Problem::not_stored)?;
    let reply = StatementReply {
        exchange: report.exchange.get(),
        supersedes: report
            .supersedes
            .into_iter()
            .filter(|_| caller.0.allows(Right::Read))
            .map(QuotationBody::from)
            .collect(),
    };
    Ok((StatusCode::CREATED, Json(reply)))
}

/// Returns the key of a request, if it has one.
fn key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(KEY_HEADER) else { return Ok(None) };
    let is_valid = |key: &&str| {
        (1..=MAX_KEY_BYTES).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let key = value.to_str().ok().filter(is_valid);
    let wrong = || format!("`Idempotency-Key` must have 1 to {MAX_KEY_BYTES} visible ASCII characters");
    key.map(Some).ok_or_else(|| Problem::new(StatusCode::BAD_REQUEST, wrong()))
}
