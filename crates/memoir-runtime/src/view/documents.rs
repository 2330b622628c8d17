//! Documents that another program adds.

use memoir_docs::{AddOutcome, Library, LibraryError};

use super::MemoryView;
use crate::{failure::Failure, temporary::check_file_name};

/// A document that was added or updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedDocument {
    /// Name, by which it is read and forgotten.
    pub name: String,
    /// Whether it is new or changed.
    pub outcome: AddOutcome,
    /// What the file contains and the document does not, such as images.
    pub lost: Option<String>,
}

impl MemoryView {
    /// Adds a file to the project of the program, or updates the document of the file with the same name. It is embedded in
    /// the background.
    ///
    /// # Errors
    ///
    /// Fails if the name is not that of a file, or if the file has no text.
    pub async fn add_document(&self, file_name: &str, bytes: &[u8]) -> Result<AddedDocument, Failure> {
        check_file_name(file_name)?;
        // Files of different projects may have the same name.
        let source = format!("upload:{}/{file_name}", self.limited_to().unwrap_or_default());
        let added =
            (Library { recall: &self.recall }).add_upload(&source, bytes).await.map_err(
                |error| match error {
                    LibraryError::File { reason, .. } => {
                        Failure::usage(format!("could not add {file_name}: {reason}"))
                            .hint("Documents are text, Markdown, HTML and PDF files.")
                    }
                    error => error.into(),
                },
            )?;
        let store = self.runtime.store();
        if let Some(document) = store.document(&added.slug).await? {
            store.set_document_project(document.id, self.project()).await?;
        }
        Ok(AddedDocument { name: added.slug, outcome: added.outcome, lost: added.lost })
    }
}
