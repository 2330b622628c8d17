//! The in-memory index of chunk embeddings: their codes, sorted by id.
//!
//! It is separate from the index of messages, so that searching messages does not load documents, and adding documents
//! does not affect the index of messages.

use std::{collections::HashSet, ops::Range};

use memoir_index::{Codes, RowFilter, Scan, VectorIndex};
use memoir_store::{ChunkSearch, Result};
use sqlx::{Connection as _, Row as _, SqliteConnection, SqlitePool, sqlite::SqliteRow};

use super::{
    VectorSpace, columns, first_covered,
    graph::{CodedVectors, Graphs},
    segments::{self, Kind, Progress, Segment, SegmentTarget},
    vector_bytes::decode_vector,
};
use crate::error::SqlResultExt as _;

const KIND: &str = "chunks";

/// Selects the unpacked rows with ids between `?1` and `?2`.
const UNPACKED: &str = "SELECT chunk_embeddings.id, document_id, vector
     FROM chunk_embeddings NOT INDEXED JOIN chunks ON chunks.id = chunk_id
     WHERE chunk_embeddings.id > ?1 AND chunk_embeddings.id < ?2 AND model = ?3 AND dimensions = ?4
     ORDER BY chunk_embeddings.id";

/// Factor for the number of candidates, because several of the nearest embeddings may be parts of the same chunk.
const PARTS_PER_CHUNK: usize = 4;

/// The index of chunks.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// State of the database when the index was last updated.
    state: Option<State>,
    vectors: Option<Vectors>,
    progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    deletions: i64,
    last: i64,
}

impl State {
    async fn read(connection: &mut SqliteConnection) -> Result<Self> {
        let (deletions, last) = sqlx::query_as(
            "SELECT chunks, (SELECT coalesce(max(id), 0) FROM chunk_embeddings) FROM _deletions",
        )
        .fetch_one(connection)
        .await
        .or_store_error()?;
        Ok(Self { deletions, last })
    }
}

impl Chunks {
    /// Returns whether the index is up to date.
    pub(crate) async fn is_current(&self, readers: &SqlitePool, space: VectorSpace<'_>) -> Result<bool> {
        if !self.has(space) {
            return Ok(false);
        }
        let mut connection = readers.acquire().await.or_store_error()?;
        Ok(self.state == Some(State::read(&mut connection).await?))
    }

    /// Returns whether the indexed embeddings are those of this model and dimension.
    fn has(&self, space: VectorSpace<'_>) -> bool {
        self.vectors.as_ref().is_some_and(|vectors| {
            vectors.model == space.model && vectors.codes.dimensions() == space.dimensions
        })
    }

    /// Reads the rows written since the last refresh.
    pub(crate) async fn refresh(&mut self, readers: &SqlitePool, space: VectorSpace<'_>) -> Result<()> {
        let mut connection = readers.acquire().await.or_store_error()?;
        let is_same = self.has(space);
        if is_same && self.state == Some(State::read(&mut connection).await?) {
            return Ok(());
        }
        // Read everything from one snapshot.
        let mut snapshot = connection.begin().await.or_store_error()?;
        let state = State::read(&mut snapshot).await?;
        if !is_same || self.state.is_none_or(|previous| previous.deletions != state.deletions) {
            self.vectors = Some(Vectors::new(space));
            self.progress = Progress::default();
        }
        // If reading fails halfway, the next refresh resumes from there.
        self.state = Some(State { last: -1, ..state });
        if let Some(vectors) = &mut self.vectors {
            let key = vectors.key();
            let kind = Kind { name: KIND, model: &key };
            segments::read(&mut snapshot, kind, &mut self.progress, vectors).await?;
        }
        self.state = Some(state);
        Ok(())
    }

    fn deletions(&self) -> i64 {
        self.state.map_or(0, |state| state.deletions)
    }

    /// Returns the ids of the embeddings in allowed documents with the highest estimates, best first.
    pub(crate) fn nearest(
        &self,
        search: &ChunkSearch<'_>,
        allowed: Option<&HashSet<i64>>,
        graphs: &Graphs,
    ) -> Vec<i64> {
        let Some(vectors) = &self.vectors else { return Vec::new() };
        let accepts =
            |row: u32| allowed.is_none_or(|allowed| allowed.contains(&vectors.documents[row as usize]));
        let row_filter = allowed.is_some().then_some(&accepts as &dyn RowFilter);
        let graph = graphs.current(&vectors.coded_vectors(), search.effort.accuracy, self.deletions());
        let index: &dyn VectorIndex = match &graph {
            Some(graph) => graph.as_ref(),
            None => &Scan,
        };
        let limit = search.limit * PARTS_PER_CHUNK * search.effort.candidates.max(1);
        let candidates =
            index.nearest(&vectors.codes, &vectors.codes.query(search.vector), row_filter, limit);
        candidates.into_iter().map(|candidate| vectors.ids[candidate.row as usize]).collect()
    }

    /// Returns the data for a graph and the number of deletions so far.
    pub(crate) fn coded_vectors(&self) -> Option<(CodedVectors<'_>, i64)> {
        Some((self.vectors.as_ref()?.coded_vectors(), self.deletions()))
    }

    /// Returns whether there are enough unpacked rows for a segment.
    pub(crate) fn is_worth_packing(&self) -> bool {
        segments::next_to_pack(&self.progress).is_some()
    }

    /// Returns the next segment to write and marks its rows as packed.
    pub(crate) fn take_segment(&mut self) -> Option<Segment> {
        let deletions = self.deletions();
        let vectors = self.vectors.as_ref()?;
        let rows = segments::next_to_pack(&self.progress)?;
        segments::mark_packed(&mut self.progress, &rows);
        Some(Segment {
            kind: KIND,
            model: vectors.key(),
            first_id: first_covered(&vectors.ids, rows.start),
            last_id: vectors.ids[rows.end - 1],
            count: rows.len(),
            data: vectors.pack(rows),
            replaces: std::mem::take(&mut self.progress.damaged),
            deletions,
        })
    }
}

/// The chunk embeddings of one model.
#[derive(Debug)]
struct Vectors {
    model: String,
    codes: Codes,
    ids: Vec<i64>,
    /// Document of each embedding.
    documents: Vec<i64>,
}

impl Vectors {
    fn new(space: VectorSpace<'_>) -> Self {
        Self {
            model: space.model.to_owned(),
            codes: Codes::new(space.dimensions),
            ids: Vec::new(),
            documents: Vec::new(),
        }
    }

    fn key(&self) -> String {
        format!("{}#{}", self.model, self.codes.dimensions())
    }

    fn coded_vectors(&self) -> CodedVectors<'_> {
        CodedVectors { table: "chunk_embeddings", model: &self.model, codes: &self.codes, ids: &self.ids }
    }

    fn pack(&self, rows: Range<usize>) -> Vec<u8> {
        let mut bytes = Vec::new();
        columns::write(&mut bytes, &self.ids[rows.clone()]);
        columns::write(&mut bytes, &self.documents[rows.clone()]);
        self.codes.export(rows, &mut bytes);
        bytes
    }
}

impl SegmentTarget for Vectors {
    fn rows(&self) -> usize {
        self.ids.len()
    }

    fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
        self.ids.reserve(rows);
        self.documents.reserve(rows);
    }

    fn push(&mut self, row: &SqliteRow) -> std::result::Result<i64, sqlx::Error> {
        let id = row.try_get("id")?;
        let vector = decode_vector(row.try_get("vector")?);
        if vector.len() == self.codes.dimensions() {
            self.codes.push(&vector);
            self.ids.push(id);
            self.documents.push(row.try_get("document_id")?);
        }
        Ok(id)
    }

    fn unpack(&mut self, mut data: &[u8], count: usize) -> bool {
        let mut read = || {
            let ids = columns::read::<i64>(&mut data, count)?;
            let documents = columns::read::<i64>(&mut data, count)?;
            self.codes.import(data, count).then_some(())?;
            self.ids.extend(ids);
            self.documents.extend(documents);
            Some(())
        };
        read().is_some()
    }

    fn unpacked(&self) -> &'static str {
        UNPACKED
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> i64 {
        i64::try_from(self.codes.dimensions()).unwrap_or(i64::MAX)
    }
}
