//! `/docs`: documents that are remembered.

use std::path::PathBuf;

use anstream::println;
use async_trait::async_trait;
use memoir_core::WorkerKind;

use super::{Command, Next};
use crate::{
    app::App,
    documents::{self, Embedding},
    failure::{Failure, Kind},
};

pub(super) struct Docs;

#[async_trait]
impl Command for Docs {
    fn name(&self) -> &'static str {
        "docs"
    }

    fn arguments(&self) -> &'static str {
        "[list | add FILE… | show DOCUMENT | remove DOCUMENT… | reindex [DOCUMENT…]]"
    }

    fn needs_memory(&self) -> bool {
        true
    }

    fn summary(&self) -> &'static str {
        "Documents: files that are remembered, and posts."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (what, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        let names: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
        let recall = app.recall();
        let embedding = match app.worker_settings.is_on(WorkerKind::EmbeddingGenerator) {
            true => Embedding::InBackground,
            false => Embedding::Off,
        };
        match (what, names.as_slice()) {
            ("" | "list", []) => println!("{}", documents::list(recall.store.as_ref()).await?),
            ("add", [_, ..]) => {
                // One path may have spaces in it.
                let whole = PathBuf::from(rest.trim());
                let paths =
                    if whole.exists() { vec![whole] } else { names.iter().map(PathBuf::from).collect() };
                let added = documents::add(&paths, recall, embedding).await;
                app.workers.wake();
                added?;
            }
            ("show", [name]) => println!("{}", documents::show(name, recall).await?),
            ("remove", [_, ..]) => documents::remove(&names, recall, &app.home.posts()).await?,
            ("reindex", _) => {
                documents::reindex(&names, recall, embedding).await?;
                app.workers.wake();
            }
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/docs {arguments} is not understood"))
                    .hint("/help docs shows how it is used."));
            }
        }
        Ok(Next::Prompt)
    }
}
