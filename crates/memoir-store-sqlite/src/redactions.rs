//! SQL that records redactions.

use memoir_core::{DocumentId, ExchangeId, Timestamp};
use memoir_store::{NewRedaction, Result};
use sqlx::SqliteConnection;

use super::error::SqlResultExt as _;

/// The content that contained a secret.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// A line of the command history, or a block of core memory.
    Line,
    Exchange(ExchangeId),
    Document(DocumentId),
}

/// Records redactions as part of the transaction that stores the content.
pub(super) async fn insert_redactions(
    connection: &mut SqliteConnection,
    source: Source,
    redactions: &[NewRedaction],
    now: Timestamp,
) -> Result<()> {
    let (exchange, document) = match source {
        Source::Line => (None, None),
        Source::Exchange(id) => (Some(id.get()), None),
        Source::Document(id) => (None, Some(id.get())),
    };
    for redaction in redactions {
        sqlx::query(
            "INSERT INTO redactions (exchange_id, document_id, place, kind, reason, created)
             VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(exchange)
        .bind(document)
        .bind(redaction.place)
        .bind(redaction.kind)
        .bind(redaction.reason)
        .bind(now.as_millis())
        .execute(&mut *connection)
        .await
        .or_store_error()?;
    }
    Ok(())
}
