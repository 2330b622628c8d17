//! SQL of segments: reading what is packed and what is not, in order of ids, and packing.

use futures::TryStreamExt as _;
use memoir_index::checksum;
use memoir_store::Result;
use sqlx::{AssertSqlSafe, Row as _, Sqlite, SqliteConnection, Transaction, sqlite::SqliteRow};

use crate::error::SqlResultExt as _;

/// How many rows a segment has: so few that what is not packed yet is read quickly, so many that there are not too many.
pub(super) const ROWS: usize = 1024;

/// What is left between two segments after deletions is packed again when it is at least this many rows; fewer are read
/// as quickly from where they are.
pub(super) const FEWEST: usize = 128;

/// How many segments are read at a time.
const AT_A_TIME: u32 = 64;

/// Whose segments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind<'a> {
    pub(super) name: &'a str,
    pub(super) model: &'a str,
}

/// What rows are read into.
pub(super) trait SegmentTarget {
    /// How many rows there are.
    fn rows(&self) -> usize;
    /// Adds a row that was read from its table; gives its id.
    fn push(&mut self, row: &SqliteRow) -> std::result::Result<i64, sqlx::Error>;
    /// Adds a segment; says whether it was sound.
    fn unpack(&mut self, data: &[u8], count: usize) -> bool;
    /// The statement for rows with ids in between.
    fn unpacked(&self) -> &'static str;
    /// Values for the statement beside the two ids.
    fn model(&self) -> &str;
    fn dimensions(&self) -> i64;
}

/// How far reading has come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The last id that was read.
    pub(super) last_id: i64,
    /// Whether all segments were. Reading may be given up in its middle, and goes on from there the next time.
    segments_read: bool,
    /// Rows that are in no segment, as ranges; the last one grows.
    pub(super) unpacked: Vec<std::ops::Range<usize>>,
    /// Segments that were found damaged.
    pub(super) damaged: Vec<i64>,
}

/// Reads everything after `progress.last_id`.
pub(super) async fn read(
    connection: &mut SqliteConnection,
    kind: Kind<'_>,
    progress: &mut Progress,
    target: &mut impl SegmentTarget,
) -> Result<()> {
    // Only at first. Later there are few new rows, and whether someone has packed them does not matter.
    let mut seen = progress.last_id;
    while !progress.segments_read {
        let packed = sqlx::query(
            "SELECT id, first_id, last_id, count, checksum, data FROM _index_segments
             WHERE kind = ? AND model = ? AND first_id > ? ORDER BY first_id LIMIT ?",
        )
        .bind(kind.name)
        .bind(kind.model)
        .bind(seen)
        .bind(AT_A_TIME)
        .fetch_all(&mut *connection)
        .await
        .or_store_error()?;
        let last = packed.len() < AT_A_TIME as usize;
        for row in packed {
            seen = row.try_get("first_id").or_store_error()?;
            take(connection, progress, &row, target).await?;
        }
        progress.segments_read = last;
    }
    between(connection, progress, i64::MAX, target).await
}

/// Takes a segment, and what lies before it.
async fn take(
    connection: &mut SqliteConnection,
    progress: &mut Progress,
    row: &SqliteRow,
    target: &mut impl SegmentTarget,
) -> Result<()> {
    let place = |name| row.try_get::<i64, _>(name).or_store_error();
    let (id, first, last) = (place("id")?, place("first_id")?, place("last_id")?);
    // Two that overlap cannot be; if they do, one of them is wrong.
    let mut sound = first > progress.last_id && is_whole(row).or_store_error()?;
    if sound {
        // Rows stay in order of their ids.
        if first > progress.last_id + 1 {
            between(connection, progress, first, target).await?;
        }
        let count = usize::try_from(place("count")?).unwrap_or(0);
        sound = target.unpack(row.try_get("data").or_store_error()?, count);
    }
    if sound {
        progress.last_id = last;
    } else {
        progress.damaged.push(id);
    }
    Ok(())
}

fn is_whole(row: &SqliteRow) -> std::result::Result<bool, sqlx::Error> {
    let sum =
        seal(row.try_get("data")?, row.try_get("first_id")?, row.try_get("last_id")?, row.try_get("count")?);
    Ok(sum == row.try_get::<i64, _>("checksum")?)
}

/// A sum over the data and over what is said about it.
fn seal(data: &[u8], first_id: i64, last_id: i64, count: i64) -> i64 {
    let numbers = [checksum(data).cast_signed(), first_id, last_id, count];
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    checksum(&bytes).cast_signed()
}

/// Reads rows one by one up to `end`.
async fn between(
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
        let place = target.rows();
        progress.last_id = target.push(&row).or_store_error()?;
        let end = target.rows();
        match progress.unpacked.last_mut() {
            Some(last) if last.end == place => last.end = end,
            _ => progress.unpacked.push(place..end),
        }
    }
    Ok(())
}

/// The next rows that are worth packing. `rows` is how many there are.
pub(super) fn next_to_pack(progress: &Progress, rows: usize) -> Option<std::ops::Range<usize>> {
    progress.unpacked.iter().find_map(|range| {
        let enough = if range.end == rows { ROWS } else { FEWEST };
        (range.len() >= enough).then(|| range.start..range.end.min(range.start + ROWS))
    })
}

/// Notes that the next rows are packed.
pub(super) fn packed(progress: &mut Progress, rows: &std::ops::Range<usize>) {
    for range in &mut progress.unpacked {
        if range.start == rows.start {
            range.start = rows.end;
        }
    }
    progress.unpacked.retain(|range| !range.is_empty());
}

/// A segment to be written. It covers all ids from the first to the last: those that are not in it take no part.
pub(crate) struct Segment {
    pub(super) kind: &'static str,
    pub(super) model: String,
    pub(super) first_id: i64,
    pub(super) last_id: i64,
    pub(super) count: usize,
    pub(super) data: Vec<u8>,
    /// Damaged ones that it takes the place of.
    pub(super) instead_of: Vec<i64>,
    /// How many deletions there had been when its rows were read.
    pub(super) deletions: i64,
}

/// Writes a segment, unless something was deleted since its rows were read: it would bring them back.
pub(crate) async fn write(transaction: &mut Transaction<'_, Sqlite>, segment: &Segment) -> Result<()> {
    for id in &segment.instead_of {
        sqlx::query("DELETE FROM _index_segments WHERE id = ?")
            .bind(id)
            .execute(&mut **transaction)
            .await
            .or_store_error()?;
    }
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
    .bind(seal(&segment.data, segment.first_id, segment.last_id, count))
    .bind(&segment.data)
    .bind(segment.deletions)
    .execute(&mut **transaction)
    .await
    .or_store_error()?;
    Ok(())
}
