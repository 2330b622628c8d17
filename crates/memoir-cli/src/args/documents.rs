//! Arguments of `memoir docs` and `memoir write`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::completion_source::ValueSource;

#[derive(Debug, Subcommand)]
pub(crate) enum DocsCommand {
    /// Add files, or the Markdown, text, HTML and PDF files in directories; unchanged files are skipped
    Add {
        /// Files and directories to add
        #[arg(required = true, add = ValueSource::Files)]
        paths: Vec<PathBuf>,
    },
    /// List all documents
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a document
    Show {
        /// Name or ID of the document
        #[arg(add = ValueSource::DOCUMENTS)]
        name: String,
        /// Print JSON, including the chunks
        #[arg(long)]
        json: bool,
    },
    /// Delete documents and everything derived from them; files on disk are kept, except those of posts
    Remove {
        /// Names or IDs of the documents
        #[arg(required = true, add = ValueSource::DOCUMENTS)]
        names: Vec<String>,
    },
    /// Let programs that work for any project see a document
    Share {
        /// Name or ID of the document
        #[arg(add = ValueSource::DOCUMENTS)]
        name: String,
    },
    /// Show a document only to programs that work for its project
    Unshare {
        /// Name or ID of the document
        #[arg(add = ValueSource::DOCUMENTS)]
        name: String,
    },
    /// Re-read documents: split them with the current settings and embed them again
    Reindex {
        /// Names or IDs of the documents; defaults to all
        #[arg(add = ValueSource::DOCUMENTS)]
        names: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct WriteArgs {
    /// Conversation to write about; defaults to the latest in this project unless a period is given
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<i64>,
    #[command(flatten)]
    pub(crate) post: PostArgs,
    /// Model that writes the post, as `provider/model` or a bare model name
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Show how related posts are searched for
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PostArgs {
    /// Only messages from this date on: 2026-05-01, yesterday, "last week", "in May"
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Only messages up to and including this date
    #[arg(long, value_name = "DATE")]
    pub(crate) until: Option<String>,
    /// Show what would be sent, without sending or saving anything
    #[arg(long)]
    pub(crate) dry_run: bool,
}
