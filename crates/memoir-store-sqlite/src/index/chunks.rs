//! The vectors of documents' chunks, in memory: their codes, in order of their ids.
//!
//! They are kept apart from what was said: who has no documents reads nothing here, and adding many leaves the rest alone.

use std::{collections::HashSet, ops::Range};

use memoir_index::{Codes, Keep, Scan, VectorIndex};
use memoir_store::{ChunkSearch, Result};
use sqlx::{Connection as _, Row as _, SqliteConnection, SqlitePool, sqlite::SqliteRow};

use super::{
    Which, columns, first_covered,
    graph::{Coded, Graphs},
    segments::{self, Kind, Progress, Segment, SegmentTarget},
    vector_bytes::numbers,
};
use crate::error::SqlResultExt as _;

const KIND: &str = "chunks";

/// What the rows that are not packed yet are read with, for ids in between.
const UNPACKED: &str = "SELECT chunk_embeddings.id, document_id, vector
     FROM chunk_embeddings NOT INDEXED JOIN chunks ON chunks.id = chunk_id
     WHERE chunk_embeddings.id > ?1 AND chunk_embeddings.id < ?2 AND model = ?3 AND dimensions = ?4
     ORDER BY chunk_embeddings.id";

/// A chunk is found by the best of its parts; several of the nearest may be of one chunk.
const PARTS_OF_ONE: usize = 4;

/// What is known of all chunks.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// What the database was like when this was read.
    state: Option<State>,
    vectors: Option<Vectors>,
    read: Progress,
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
    /// Whether nothing was written since the last time.
    pub(crate) async fn is_current(&self, readers: &SqlitePool, which: Which<'_>) -> Result<bool> {
        if !self.is_of(which) {
            return Ok(false);
        }
        let mut connection = readers.acquire().await.or_store_error()?;
        Ok(self.state == Some(State::read(&mut connection).await?))
    }

    /// Whether the vectors here are those of a model.
    fn is_of(&self, which: Which<'_>) -> bool {
        let known = self.vectors.as_ref();
        known.is_some_and(|known| known.model == which.model && known.codes.dimensions() == which.dimensions)
    }

    /// Reads what was written since the last time.
    pub(crate) async fn refresh(&mut self, readers: &SqlitePool, which: Which<'_>) -> Result<()> {
        let mut connection = readers.acquire().await.or_store_error()?;
        let same = self.is_of(which);
        if same && self.state == Some(State::read(&mut connection).await?) {
            return Ok(());
        }
        // One moment for all that is read.
        let mut moment = connection.begin().await.or_store_error()?;
        let state = State::read(&mut moment).await?;
        if !same || self.state.is_none_or(|before| before.deletions != state.deletions) {
            self.vectors = Some(Vectors::new(which));
            self.read = Progress::default();
        }
        // Should reading fail in its middle, the next time goes on from there.
        self.state = Some(State { last: -1, ..state });
        if let Some(vectors) = &mut self.vectors {
            let key = vectors.key();
            segments::read(&mut moment, Kind { name: KIND, model: &key }, &mut self.read, vectors).await?;
        }
        self.state = Some(state);
        Ok(())
    }

    fn deletions(&self) -> i64 {
        self.state.map_or(0, |state| state.deletions)
    }

    /// The vectors with the highest estimates among what may be found, best first.
    pub(crate) fn nearest(
        &self,
        search: &ChunkSearch<'_>,
        allowed: Option<&HashSet<i64>>,
        graphs: &Graphs,
    ) -> Vec<i64> {
        let Some(vectors) = &self.vectors else { return Vec::new() };
        let keeps =
            |row: u32| allowed.is_none_or(|allowed| allowed.contains(&vectors.documents[row as usize]));
        let keep = allowed.is_some().then_some(&keeps as &dyn Keep);
        let graph = graphs.current(&vectors.coded(), search.effort.accuracy, self.deletions());
        let index: &dyn VectorIndex = match &graph {
            Some(graph) => graph.as_ref(),
            None => &Scan,
        };
        let candidates = search.limit * PARTS_OF_ONE * search.effort.candidates.max(1);
        let found = index.nearest(&vectors.codes, &vectors.codes.query(search.vector), keep, candidates);
        found.into_iter().map(|candidate| vectors.ids[candidate.row as usize]).collect()
    }

    /// What a graph would be built of, and after how many deletions.
    pub(crate) fn coded(&self) -> Option<(Coded<'_>, i64)> {
        Some((self.vectors.as_ref()?.coded(), self.deletions()))
    }

    /// Whether there is anything worth packing.
    pub(crate) fn is_worth_packing(&self) -> bool {
        let rows = self.vectors.as_ref().map_or(0, |vectors| vectors.ids.len());
        segments::next_to_pack(&self.read, rows).is_some()
    }

    /// The next segment to be written. It counts as written from now on.
    pub(crate) fn take_segment(&mut self) -> Option<Segment> {
        let deletions = self.deletions();
        let vectors = self.vectors.as_ref()?;
        let rows = segments::next_to_pack(&self.read, vectors.ids.len())?;
        segments::packed(&mut self.read, &rows);
        Some(Segment {
            kind: KIND,
            model: vectors.key(),
            first_id: first_covered(&vectors.ids, rows.start),
            last_id: vectors.ids[rows.end - 1],
            count: rows.len(),
            data: vectors.pack(rows),
            instead_of: std::mem::take(&mut self.read.damaged),
            deletions,
        })
    }
}

/// All vectors of one model.
#[derive(Debug)]
struct Vectors {
    model: String,
    codes: Codes,
    ids: Vec<i64>,
    /// The documents that they are of.
    documents: Vec<i64>,
}

impl Vectors {
    fn new(which: Which<'_>) -> Self {
        Self {
            model: which.model.to_owned(),
            codes: Codes::new(which.dimensions),
            ids: Vec::new(),
            documents: Vec::new(),
        }
    }

    fn key(&self) -> String {
        format!("{}#{}", self.model, self.codes.dimensions())
    }

    fn coded(&self) -> Coded<'_> {
        Coded { table: "chunk_embeddings", model: &self.model, codes: &self.codes, ids: &self.ids }
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

    fn push(&mut self, row: &SqliteRow) -> std::result::Result<i64, sqlx::Error> {
        let id = row.try_get("id")?;
        let vector = numbers(row.try_get("vector")?);
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
