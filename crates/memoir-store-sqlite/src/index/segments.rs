//! SQL that reads packed segments and unpacked rows in order of ids, and writes segments.

use futures::TryStreamExt as _;
use memoir_index::checksum;
use memoir_store::Result;
use sqlx::{AssertSqlSafe, Row as _, Sqlite, SqliteConnection, Transaction, sqlite::SqliteRow};

use crate::error::SqlResultExt as _;

/// Maximum number of rows in a segment. A compromise: with fewer rows, segments are more numerous; with more, deleting one
/// leaves more rows unpacked.
pub(super) const ROWS_PER_SEGMENT: usize = 2048;

/// Minimum number of unpacked rows to pack. Fewer are read as quickly one by one. Those at the end are added to the last
/// segment until it is full.
pub(super) const MIN_ROWS_TO_PACK: usize = 128;

/// Maximum number of rows to make room for at once.
const MAX_RESERVED: usize = 1 << 20;

/// The `kind` and `model` of the segments to read or write. `model` is empty for messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind<'a> {
    pub(super) name: &'a str,
    pub(super) model: &'a str,
}

/// An in-memory table that rows are read into.
pub(super) trait SegmentTarget {
    /// Returns the number of rows.
    fn rows(&self) -> usize;
    /// Makes room for more rows.
    fn reserve(&mut self, rows: usize);
    /// Adds an unpacked row. Returns its id.
    fn push(&mut self, row: &SqliteRow) -> std::result::Result<i64, sqlx::Error>;
    /// Adds the rows of a segment. Returns `false` if the segment is malformed.
    fn unpack(&mut self, data: &[u8], count: usize) -> bool;
    /// Returns the statement that selects unpacked rows. Its parameters are two ids, the model and the dimension.
    fn unpacked(&self) -> &'static str;
    /// Returns the model for the statement.
    fn model(&self) -> &str;
    /// Returns the dimension for the statement.
    fn dimensions(&self) -> i64;
}

/// The progress of reading.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Last id that was read.
    pub(super) last_id: i64,
    /// Whether all segments were read. Reading can be interrupted and resumes from `last_id`.
    segments_read: bool,
    /// Rows of the segment that was read or packed last.
    last_segment: std::ops::Range<usize>,
    /// Ranges of rows that are in no segment. The last range grows.
    pub(super) unpacked: Vec<std::ops::Range<usize>>,
    /// Ids of damaged segments.
    pub(super) damaged: Vec<i64>,
}

/// Reads everything after `progress.last_id`.
pub(super) async fn read(
    connection: &mut SqliteConnection,
    kind: Kind<'_>,
    progress: &mut Progress,
    target: &mut impl SegmentTarget,
) -> Result<()> {
    // Segments are read only once. Later there are few new rows, whether they are packed or not.
    let mut last_first_id = progress.last_id;
    if !progress.segments_read {
        let rows: i64 = sqlx::query_scalar(
            "SELECT coalesce(sum(count), 0) FROM _index_segments WHERE kind = ? AND model = ? AND first_id > ?",
        )
        .bind(kind.name)
        .bind(kind.model)
        .bind(last_first_id)
        .fetch_one(&mut *connection)
        .await
        .or_store_error()?;
        // A damaged count must not exhaust the memory.
        target.reserve(usize::try_from(rows).map_or(0, |rows| rows.min(MAX_RESERVED) + ROWS_PER_SEGMENT));
    }
    while !progress.segments_read {
        let mut segments = sqlx::query(
            "SELECT id, first_id, last_id, count, checksum, data FROM _index_segments
             WHERE kind = ? AND model = ? AND first_id > ? ORDER BY first_id",
        )
        .bind(kind.name)
        .bind(kind.model)
        .bind(last_first_id)
        .fetch(&mut *connection);
        // One segment is read while the previous one is unpacked.
        let after_gap = loop {
            let Some(segment) = segments.try_next().await.or_store_error()? else { break None };
            last_first_id = segment.try_get("first_id").or_store_error()?;
            if last_first_id > progress.last_id + 1 && has_valid_checksum(&segment).or_store_error()? {
                break Some(segment);
            }
            read_segment(progress, &segment, target)?;
        };
        drop(segments);
        // Rows must be added in order of their ids, and the connection does one query at a time.
        match after_gap {
            Some(segment) => {
                read_unpacked(connection, progress, last_first_id, target).await?;
                read_segment(progress, &segment, target)?;
            }
            None => progress.segments_read = true,
        }
    }
    read_unpacked(connection, progress, i64::MAX, target).await
}

/// Adds the rows of a segment that follows the rows read so far.
fn read_segment(progress: &mut Progress, row: &SqliteRow, target: &mut impl SegmentTarget) -> Result<()> {
    let number = |column| row.try_get::<i64, _>(column).or_store_error();
    let (id, first, last) = (number("id")?, number("first_id")?, number("last_id")?);
    let start = target.rows();
    // Segments never overlap. If two do, one of them is damaged.
    let is_intact = first > progress.last_id
        && has_valid_checksum(row).or_store_error()?
        && target
            .unpack(row.try_get("data").or_store_error()?, usize::try_from(number("count")?).unwrap_or(0));
    if is_intact {
        progress.last_id = last;
        progress.last_segment = start..target.rows();
    } else {
        progress.damaged.push(id);
    }
    Ok(())
}

fn has_valid_checksum(row: &SqliteRow) -> std::result::Result<bool, sqlx::Error> {
    let expected = segment_checksum(
        row.try_get("data")?,
        row.try_get("first_id")?,
        row.try_get("last_id")?,
        row.try_get("count")?,
    );
    Ok(expected == row.try_get::<i64, _>("checksum")?)
}

/// Returns a checksum of the data and its metadata.
fn segment_checksum(data: &[u8], first_id: i64, last_id: i64, count: i64) -> i64 {
    let numbers = [checksum(data).cast_signed(), first_id, last_id, count];
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    checksum(&bytes).cast_signed()
}

/// Reads unpacked rows one by one, up to the id `end`.
async fn read_unpacked(
    connection: &mut SqliteConnection,
    progress: &mut Progress,
    end: i64,
    target: &mut impl SegmentTarget,
) -> Result<()> {
    let statement = AssertSqlSafe(target.unpacked());
    let mut rows = sqlx::query(statement)
        .bind(progress.last_id)
        .bind(end)
        .bind(target.model())
        .bind(target.dimensions())
        .fetch(connection);
    while let Some(row) = rows.try_next().await.or_store_error()? {
        let start = target.rows();
        progress.last_id = target.push(&row).or_store_error()?;
        let end = target.rows();
        match progress.unpacked.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => progress.unpacked.push(start..end),
        }
    }
    Ok(())
}

/// Returns the next rows to pack, if there are enough. They begin with those of the last segment if it has room for more.
pub(super) fn next_to_pack(progress: &Progress) -> Option<std::ops::Range<usize>> {
    let unpacked = progress.unpacked.iter().find(|range| range.len() >= MIN_ROWS_TO_PACK)?;
    let last = &progress.last_segment;
    let has_room = last.end == unpacked.start && last.len() < ROWS_PER_SEGMENT;
    let start = if has_room { last.start } else { unpacked.start };
    Some(start..unpacked.end.min(start + ROWS_PER_SEGMENT))
}

/// Marks rows returned by [`next_to_pack`] as packed.
pub(super) fn mark_packed(progress: &mut Progress, rows: &std::ops::Range<usize>) {
    for range in &mut progress.unpacked {
        if range.contains(&(rows.end - 1)) {
            range.start = rows.end;
        }
    }
    progress.unpacked.retain(|range| !range.is_empty());
    progress.last_segment = rows.clone();
}

/// A segment to write. It covers all ids from the first to the last; rows with other ids in this range are not indexed.
pub(crate) struct Segment {
    pub(super) kind: &'static str,
    pub(super) model: String,
    pub(super) first_id: i64,
    pub(super) last_id: i64,
    pub(super) count: usize,
    pub(super) data: Vec<u8>,
    /// Ids of damaged segments that it replaces.
    pub(super) replaces: Vec<i64>,
    /// Number of deletions when its rows were read.
    pub(super) deletions: i64,
}

/// Writes a segment in place of those that it covers, unless rows have been deleted since it was read, because it would
/// bring them back.
pub(crate) async fn write_segment(
    transaction: &mut Transaction<'_, Sqlite>,
    segment: &Segment,
) -> Result<()> {
    for id in &segment.replaces {
        sqlx::query("DELETE FROM _index_segments WHERE id = ?")
            .bind(id)
            .execute(&mut **transaction)
            .await
            .or_store_error()?;
    }
    sqlx::query(
        "DELETE FROM _index_segments WHERE kind = ?1 AND model = ?2 AND first_id >= ?3 AND last_id <= ?4",
    )
    .bind(segment.kind)
    .bind(&segment.model)
    .bind(segment.first_id)
    .bind(segment.last_id)
    .execute(&mut **transaction)
    .await
    .or_store_error()?;
    let count = i64::try_from(segment.count).unwrap_or(i64::MAX);
    sqlx::query(
        "INSERT INTO _index_segments (kind, model, first_id, last_id, count, checksum, data)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
         WHERE (SELECT CASE ?1 WHEN 'summaries' THEN summaries WHEN 'chunks' THEN chunks ELSE count END
                FROM _deletions) = ?8
           AND NOT EXISTS (SELECT 1 FROM _index_segments
                           WHERE kind = ?1 AND model = ?2 AND first_id <= ?4 AND last_id >= ?3)",
    )
    .bind(segment.kind)
    .bind(&segment.model)
    .bind(segment.first_id)
    .bind(segment.last_id)
    .bind(count)
    .bind(segment_checksum(&segment.data, segment.first_id, segment.last_id, count))
    .bind(&segment.data)
    .bind(segment.deletions)
    .execute(&mut **transaction)
    .await
    .or_store_error()?;
    Ok(())
}
