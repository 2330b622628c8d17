//! Selects and reads rows of the `documents` table.

use memoir_core::{Document, DocumentId, DocumentKind, Timestamp};
use memoir_store::Result;
use sqlx::{Row as _, sqlite::SqliteRow};

/// Selects documents with their chunk and token counts. Append a condition.
pub(super) const DOCUMENTS: &str = "SELECT documents.*,
        (SELECT count(*) FROM chunks WHERE document_id = documents.id) AS chunks,
        (SELECT coalesce(sum(tokens), 0) FROM chunks WHERE document_id = documents.id) AS tokens
     FROM documents";

/// Condition on a document that a program that works for the project `?1` may see.
pub(super) const IS_VISIBLE: &str = "(shared OR CASE kind
        WHEN 'file' THEN coalesce(project = ?1, FALSE)
        ELSE (SELECT count(*) > 0 AND min(conversations.shared OR conversations.scope = ?1)
              FROM post_sources JOIN conversations ON conversations.id = conversation_id
              WHERE document_id = documents.id) END)";

/// Reads a row of [`DOCUMENTS`].
pub(super) fn read_document(row: SqliteRow) -> Result<Document, sqlx::Error> {
    Ok(Document {
        id: DocumentId::new(row.try_get("id")?),
        slug: row.try_get("slug")?,
        title: row.try_get("title")?,
        date: row.try_get("date")?,
        tags: serde_json::from_str(row.try_get("tags")?)
            .map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
        kind: match row.try_get("kind")? {
            "post" => DocumentKind::Post,
            _ => DocumentKind::File,
        },
        source: row.try_get("source")?,
        hash: row.try_get("hash")?,
        chunks: row.try_get("chunks")?,
        tokens: row.try_get("tokens")?,
        updated: Timestamp::from_millis(row.try_get("updated")?),
        is_shared: row.try_get("shared")?,
        project: row.try_get("project")?,
    })
}
