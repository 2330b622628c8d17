//! Loads the graph for approximate searches from its file or builds it, in the background. Until then, searches scan
//! all embeddings.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use memoir_core::lock;
use memoir_index::{Codes, Graph, QuantizedVectors, checksum};
use memoir_store::{Accuracy, Result};
use sqlx::{AssertSqlSafe, Row as _, SqlitePool};

use super::vector_bytes::decode_vector;
use crate::{error::SqlResultExt as _, files::remove_derived_file};

/// Maximum number of embeddings that a scan searches without a noticeable delay.
const MAX_SCANNED: usize = 4_000_000;

/// A graph is rebuilt when more than one row in this many is missing from it.
const STALE_RATIO: usize = 5;

/// The codes of embeddings, and the table that contains the embeddings.
pub(crate) struct CodedVectors<'a> {
    pub(super) table: &'static str,
    pub(super) model: &'a str,
    pub(super) codes: &'a Codes,
    pub(super) ids: &'a [i64],
}

impl CodedVectors<'_> {
    fn key(&self) -> String {
        format!("{}#{}", self.model, self.codes.dimensions())
    }
}

/// The graph of the embeddings in use, if there is one, and the state of its construction.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    current: Mutex<Option<LoadedGraph>>,
    building: AtomicBool,
    stop: AtomicBool,
}

#[derive(Debug, Clone)]
struct LoadedGraph {
    key: String,
    /// Number of deletions when the graph was built. A deletion renumbers the rows.
    deletions: i64,
    graph: Arc<Graph>,
}

/// The data from which a graph is built, apart from the embeddings themselves.
pub(crate) struct BuildPlan {
    table: &'static str,
    key: String,
    model: String,
    deletions: i64,
    codes: Codes,
    ids: Vec<i64>,
}

impl Graphs {
    /// Returns the graph for these embeddings, if there is one and the accuracy calls for it.
    pub(super) fn current(
        &self,
        vectors: &CodedVectors<'_>,
        accuracy: Accuracy,
        deletions: i64,
    ) -> Option<Arc<Graph>> {
        if !needs_graph(vectors, accuracy) {
            return None;
        }
        let current = lock(&self.current).clone()?;
        (current.key == vectors.key() && current.deletions == deletions).then_some(current.graph)
    }

    /// Returns whether there is a graph for these embeddings.
    pub(crate) fn is_available(&self, vectors: &CodedVectors<'_>, deletions: i64) -> bool {
        self.current(vectors, Accuracy::Approximate, deletions).is_some()
    }

    /// Returns a plan for a graph, if one is needed, none is up to date, and none is being built. The caller must pass
    /// the plan to [`make`](Self::make).
    pub(crate) fn plan(
        &self,
        vectors: &CodedVectors<'_>,
        accuracy: Accuracy,
        deletions: i64,
    ) -> Option<BuildPlan> {
        if !needs_graph(vectors, accuracy) || vectors.ids.is_empty() {
            return None;
        }
        let covered = self.current(vectors, accuracy, deletions).map_or(0, |graph| graph.len());
        let is_fresh =
            covered > 0 && vectors.ids.len().saturating_sub(covered) * STALE_RATIO <= vectors.ids.len();
        if is_fresh || self.building.swap(true, Ordering::SeqCst) {
            return None;
        }
        Some(BuildPlan {
            table: vectors.table,
            key: vectors.key(),
            model: vectors.model.to_owned(),
            deletions,
            codes: vectors.codes.clone(),
            ids: vectors.ids.to_vec(),
        })
    }

    /// Loads the graph from `file`, or builds it and saves it there.
    pub(crate) async fn make(&self, plan: BuildPlan, readers: &SqlitePool, file: &Path) {
        let (key, deletions) = (plan.key.clone(), plan.deletions);
        match self.load_or_build(plan, readers, file).await {
            Ok(Some(graph)) => {
                *lock(&self.current) = Some(LoadedGraph { key, deletions, graph: Arc::new(graph) })
            }
            Ok(None) => {}
            // Without the graph, searches are exact but slower.
            Err(error) => {
                tracing::warn!(%error, "could not build the embedding graph; searches scan all embeddings instead")
            }
        }
        self.building.store(false, Ordering::SeqCst);
    }

    async fn load_or_build(
        &self,
        plan: BuildPlan,
        readers: &SqlitePool,
        file: &Path,
    ) -> Result<Option<Graph>> {
        let BuildPlan { table, key, model, codes, ids, .. } = plan;
        let fingerprint = |rows: usize| fingerprint(&key, ids.get(..rows)?);
        let saved = fs::read(file).ok().and_then(|bytes| Graph::from_bytes(&bytes, &codes, fingerprint).ok());
        let is_fresh = |graph: &Graph| ids.len().saturating_sub(graph.len()) * STALE_RATIO <= ids.len();
        if let Some(graph) = saved.filter(is_fresh) {
            return Ok(Some(graph));
        }
        let Some(bytes) = read_vectors(table, &model, &ids, codes.dimensions(), readers, &self.stop).await?
        else {
            return Ok(None);
        };
        let Some(graph) = Graph::build(&codes, &bytes, &self.stop) else { return Ok(None) };
        if let Some(fingerprint) = fingerprint(ids.len())
            && let Err(error) = write_atomically(file, &graph.to_bytes(fingerprint))
        {
            tracing::warn!(%error, "could not save the embedding graph; it is rebuilt at the next start");
        }
        Ok(Some(graph))
    }

    /// Returns the flag that is set when the store is closed.
    pub(crate) fn stopping(&self) -> &AtomicBool {
        &self.stop
    }

    /// Stops building graphs, because the store is being closed.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

/// Returns the embeddings in 8-bit precision, in order, or `None` if one of them has been deleted or `stop` is set.
pub(crate) async fn read_vectors(
    table: &'static str,
    model: &str,
    ids: &[i64],
    dimensions: usize,
    readers: &SqlitePool,
    stop: &AtomicBool,
) -> Result<Option<QuantizedVectors>> {
    let mut bytes = QuantizedVectors::new(dimensions);
    for part in ids.chunks(10_000) {
        let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT id, vector FROM {table} WHERE id BETWEEN ? AND ? AND model = ? AND dimensions = ? ORDER BY id"
        )))
        .bind(first)
        .bind(last)
        .bind(model)
        .bind(i64::try_from(dimensions).unwrap_or(i64::MAX))
        .fetch_all(readers)
        .await
        .or_store_error()?;
        if stop.load(Ordering::Relaxed) || rows.len() != part.len() {
            return Ok(None);
        }
        for row in rows {
            bytes.push(&decode_vector(row.try_get("vector").or_store_error()?));
        }
    }
    Ok(Some(bytes))
}

fn needs_graph(vectors: &CodedVectors<'_>, accuracy: Accuracy) -> bool {
    match accuracy {
        Accuracy::Auto => vectors.ids.len() > MAX_SCANNED,
        Accuracy::Exact => false,
        Accuracy::Approximate => true,
    }
}

/// Returns a fingerprint of the rows that a graph was built for.
fn fingerprint(key: &str, ids: &[i64]) -> Option<u64> {
    let mut bytes = key.as_bytes().to_vec();
    bytes.extend(ids.iter().flat_map(|id| id.to_le_bytes()));
    Some(checksum(&bytes))
}

/// Writes a temporary file and renames it, so that the file is never incomplete.
fn write_atomically(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let temporary = PathBuf::from(format!("{}.{}", file.display(), std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, file))
        .inspect_err(|_| remove_derived_file(&temporary))
}
