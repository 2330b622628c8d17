//! The graph's life: taken from its file or built, in the background, while the scan serves.

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
use memoir_index::{Bytes, Codes, Graph, checksum};
use memoir_store::{Accuracy, Result};
use sqlx::{AssertSqlSafe, Row as _, SqlitePool};

use super::vector_bytes::numbers;
use crate::{error::SqlResultExt as _, files::remove_derived_file};

/// From how many vectors on a scan takes longer than people notice.
const SCAN_SERVES: usize = 4_000_000;

/// A graph is built anew when more than one row in this many is not in it.
const STALE: usize = 5;

/// Vectors as they are in memory, and where they are kept.
pub(crate) struct Coded<'a> {
    pub(super) table: &'static str,
    pub(super) model: &'a str,
    pub(super) codes: &'a Codes,
    pub(super) ids: &'a [i64],
}

impl Coded<'_> {
    fn key(&self) -> String {
        format!("{}#{}", self.model, self.codes.dimensions())
    }
}

/// The graph of the vectors in use, if there is one, and whoever builds it.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    current: Mutex<Option<Made>>,
    building: AtomicBool,
    stop: AtomicBool,
}

#[derive(Debug, Clone)]
struct Made {
    key: String,
    /// What had been deleted when it was made: rows have other numbers after that.
    deletions: i64,
    graph: Arc<Graph>,
}

/// What a graph is built from, apart from the vectors themselves.
pub(crate) struct BuildPlan {
    table: &'static str,
    key: String,
    model: String,
    deletions: i64,
    codes: Codes,
    ids: Vec<i64>,
}

impl Graphs {
    /// The graph to search along, if there is one for these vectors and it is wanted.
    pub(super) fn current(
        &self,
        vectors: &Coded<'_>,
        accuracy: Accuracy,
        deletions: i64,
    ) -> Option<Arc<Graph>> {
        if !is_wanted(vectors, accuracy) {
            return None;
        }
        let made = lock(&self.current).clone()?;
        (made.key == vectors.key() && made.deletions == deletions).then_some(made.graph)
    }

    /// Whether there is a graph for these vectors.
    pub(crate) fn is_there(&self, vectors: &Coded<'_>, deletions: i64) -> bool {
        self.current(vectors, Accuracy::Approximate, deletions).is_some()
    }

    /// What to build, when a graph is wanted, there is none that will do, and no one is building it.
    pub(crate) fn plan(&self, vectors: &Coded<'_>, accuracy: Accuracy, deletions: i64) -> Option<BuildPlan> {
        if !is_wanted(vectors, accuracy) || vectors.ids.is_empty() {
            return None;
        }
        let covered = self.current(vectors, accuracy, deletions).map_or(0, |graph| graph.len());
        let fresh = covered > 0 && vectors.ids.len().saturating_sub(covered) * STALE <= vectors.ids.len();
        if fresh || self.building.swap(true, Ordering::SeqCst) {
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

    /// Takes the graph from `file`, or builds it and keeps it there.
    pub(crate) async fn make(&self, plan: BuildPlan, readers: &SqlitePool, file: &Path) {
        let (key, deletions) = (plan.key.clone(), plan.deletions);
        match self.load_or_build(plan, readers, file).await {
            Ok(Some(graph)) => *lock(&self.current) = Some(Made { key, deletions, graph: Arc::new(graph) }),
            Ok(None) => {}
            // Searches stay exact and complete without the graph, only slower.
            Err(error) => {
                tracing::warn!(%error, "could not build the graph of vectors; searches scan instead")
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
        let kept = fs::read(file).ok().and_then(|bytes| Graph::from_bytes(&bytes, &codes, fingerprint).ok());
        if let Some(graph) = kept.filter(|graph| ids.len().saturating_sub(graph.len()) * STALE <= ids.len()) {
            return Ok(Some(graph));
        }
        let Some(bytes) = read_vectors(table, &model, &ids, codes.dimensions(), readers, &self.stop).await?
        else {
            return Ok(None);
        };
        let Some(graph) = Graph::build(&codes, &bytes, &self.stop) else { return Ok(None) };
        if let Some(fingerprint) = fingerprint(ids.len())
            && let Err(error) = keep(file, &graph.to_bytes(fingerprint))
        {
            tracing::warn!(%error, "could not save the graph of vectors; it is built again at the next start");
        }
        Ok(Some(graph))
    }

    /// Raised when the store is closed.
    pub(crate) fn stopping(&self) -> &AtomicBool {
        &self.stop
    }

    /// Stops whoever is building.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

/// The vectors in 8 bits, in order; nothing when one of them has gone meanwhile.
pub(crate) async fn read_vectors(
    table: &'static str,
    model: &str,
    ids: &[i64],
    dimensions: usize,
    readers: &SqlitePool,
    stop: &AtomicBool,
) -> Result<Option<Bytes>> {
    let mut bytes = Bytes::new(dimensions);
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
            bytes.push(&numbers(row.try_get("vector").or_store_error()?));
        }
    }
    Ok(Some(bytes))
}

fn is_wanted(vectors: &Coded<'_>, accuracy: Accuracy) -> bool {
    match accuracy {
        Accuracy::Auto => vectors.ids.len() > SCAN_SERVES,
        Accuracy::Exact => false,
        Accuracy::Approximate => true,
    }
}

/// Tells which rows a graph was made for.
fn fingerprint(key: &str, ids: &[i64]) -> Option<u64> {
    let mut bytes = key.as_bytes().to_vec();
    bytes.extend(ids.iter().flat_map(|id| id.to_le_bytes()));
    Some(checksum(&bytes))
}

/// Writes beside and renames: a file is whole or not there.
fn keep(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = PathBuf::from(format!("{}.{}", file.display(), std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&beside).and_then(|mut file| file.write_all(bytes));
    written.and_then(|()| fs::rename(&beside, file)).inspect_err(|_| {
        remove_derived_file(&beside);
    })
}
