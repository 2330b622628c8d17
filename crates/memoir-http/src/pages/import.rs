//! Importing the history of other programs from files that the user drops.

use std::{path::Path, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use futures::{StreamExt as _, channel::mpsc};
use http::{StatusCode, header};
use maud::html;
use memoir_runtime::{
    Failure, TemporaryFile,
    operations::{
        Progress,
        import::{self, HistoryFormat, ImportReport, ImportRequest},
    },
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::{conversations::count, navigation::Section, visitor::Visitor};
use crate::{
    extract::{Parameters, View},
    problem::Problem,
    state::AppState,
};

/// Maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 4 << 30;

/// How long what was imported is embedded. Later sessions embed the rest.
const MAX_EMBEDDING_TIME: Duration = Duration::from_secs(30 * 60);

#[derive(Deserialize)]
pub(super) struct ImportParameters {
    format: HistoryFormat,
    /// Name of the file.
    name: String,
}

pub(super) async fn show(visitor: Visitor) -> Result<Response, Problem> {
    let content = html! {
        h1 { "Import" }
        p {
            "Bring your conversations from other programs: the file that they let you download, or a session file. What is "
            "there already is not added twice."
        }
        form.drop.card #upload-import data-upload="/import/files" data-method="POST" {
            label for="import-format" { "Program" }
            select #import-format name="format" {
                @for format in HistoryFormat::ALL { option value=(format.tag()) { (format.name()) } }
            }
            label for="import-files" { "Choose files, or drop them here." }
            input #import-files type="file" multiple;
            ul.uploads aria-live="polite" {}
            noscript { p { "Importing here needs JavaScript. " code { "memoir import" } " does the same." } }
        }
    };
    Ok(visitor.page(Section::Import, "Import", &content))
}

/// Receives a file, imports it and reports how far it is, a line of JSON each.
pub(super) async fn receive(
    State(state): State<Arc<AppState>>,
    View(view): View,
    Parameters(parameters): Parameters<ImportParameters>,
    request: Request,
) -> Result<Response, Problem> {
    let file = TemporaryFile::create(state.runtime.home(), &parameters.name)?;
    store_body(request.into_body(), file.path()).await?;
    let (sender, receiver) = mpsc::unbounded();
    tokio::spawn(async move {
        let send = |line: Value| {
            // The user may have left the page. The import goes on.
            let _ = sender.unbounded_send(line);
        };
        let request = ImportRequest::new(parameters.format, vec![file.path().to_owned()]);
        let mut progress = |progress: Progress| send(json!({"progress": progress}));
        let runtime = &state.runtime;
        let store = runtime.store().as_ref();
        let imported =
            import::import(&request, &runtime.models().environment, store, runtime.zone(), &mut progress);
        match imported.await {
            Ok(report) => send(describe(&report, file.path())),
            Err(failure) => send(json!({"failed": failure.sentence()})),
        }
        drop((file, sender));
        if let Err(failure) = view.embed_captured(MAX_EMBEDDING_TIME).await {
            tracing::warn!(reason = failure.message, "could not embed what was imported");
        }
    });
    let lines = receiver.map(|line| Ok::<_, std::io::Error>(format!("{line}\n")));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response())
}

async fn store_body(body: Body, path: &Path) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::from(Failure::from(error));
    let mut file = tokio::fs::OpenOptions::new().write(true).open(path).await.map_err(failed)?;
    let (mut stream, mut size) = (body.into_data_stream(), 0);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| {
            Problem::new(StatusCode::BAD_REQUEST, format!("the file was not received in full: {error}"))
        })?;
        size += chunk.len() as u64;
        if size > MAX_FILE_BYTES {
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "the file is larger than 4 GB")
                .hint("Use `memoir import` in a terminal."));
        }
        file.write_all(&chunk).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)
}

/// Returns what was imported. The user knows the file by its name, not by its path on the server.
fn describe(report: &ImportReport, file: &Path) -> Value {
    if let Some(unreadable) = report.unreadable.first() {
        let directory = format!("{}/", file.parent().unwrap_or(file).display());
        return json!({"failed": Failure::from(unreadable).sentence().replace(&directory, "")});
    }
    if report.conversations + report.unchanged == 0 && report.different.is_empty() {
        return json!({"failed": "The file contains no conversations of this program."});
    }
    let unchanged = match report.unchanged {
        0 => String::new(),
        1 => " 1 was there already.".to_owned(),
        others => format!(" {others} were there already."),
    };
    let different = match report.different.len() {
        0 => String::new(),
        1 => " 1 was left out, because what is stored differs from it.".to_owned(),
        others => format!(" {others} were left out, because what is stored differs from them."),
    };
    let messages = count(report.messages, "message");
    let conversations = count(report.conversations, "conversation");
    json!({"done": format!("Added {messages} in {conversations}.{unchanged}{different}")})
}
