//! `memoir docs` and `memoir write`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::completion_source::ValueSource;

/// What can be done with documents.
#[derive(Debug, Subcommand)]
pub(crate) enum DocsCommand {
    /// Add files, or the .md and .txt files of folders; what has not changed is not read again
    Add {
        /// Files and folders
        #[arg(required = true, add = ValueSource::Files)]
        paths: Vec<PathBuf>,
    },
    /// List all documents
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one document
    Show {
        /// Its name or number
        #[arg(add = ValueSource::DOCUMENTS)]
        name: String,
        /// Print JSON, with its chunks
        #[arg(long)]
        json: bool,
    },
    /// Forget documents with everything derived from them; files are left alone, but for posts
    Remove {
        /// Their names or numbers
        #[arg(required = true, add = ValueSource::DOCUMENTS)]
        names: Vec<String>,
    },
    /// Read documents anew: cut them as is set now, and make their vectors again
    Reindex {
        /// Their names or numbers; all if left out
        #[arg(add = ValueSource::DOCUMENTS)]
        names: Vec<String>,
    },
}

/// What a post is written from, and by whom.
#[derive(Debug, clap::Args)]
pub(crate) struct WriteArgs {
    /// The conversation; the last of this project if neither this nor a time is given
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<i64>,
    #[command(flatten)]
    pub(crate) post: PostArgs,
    /// Who writes, as provider/model or a bare name
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Tell how related posts are looked for
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Which part of what was said a post is written from.
#[derive(Debug, clap::Args)]
pub(crate) struct PostArgs {
    /// Only what was said from this day on: 2026-05-01, yesterday, "last week", "in May"
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Only what was said up to the end of this day
    #[arg(long, value_name = "DATE")]
    pub(crate) until: Option<String>,
    /// Say what would be sent, and neither send nor save anything
    #[arg(long)]
    pub(crate) dry_run: bool,
}
