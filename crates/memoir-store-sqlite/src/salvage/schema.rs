//! The tables into which rows are salvaged, and the rows that fit them.

use std::collections::HashMap;

use memoir_store::Result;
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::nodes::{Row, Tree, Value};
use crate::error::SqlResultExt as _;

/// Row ids below this number are plausible. Times, in milliseconds, are above it.
const MAX_ROW_ID: i64 = 1 << 40;

/// Tables whose rows are derived from others, or state that is worthless after a repair.
const DERIVED: [&str; 1] = ["jobs"];

/// A table or an index.
#[derive(Debug)]
pub(super) struct Shape {
    pub name: String,
    /// The table itself, or that of the index.
    pub table: String,
    pub tree: Tree,
    /// Columns in the order in which they are stored.
    pub columns: Vec<Column>,
    /// Whether it is an index of another table.
    pub is_index: bool,
    /// Whether the rows are worth keeping.
    pub is_kept: bool,
    /// Number of constraints. A table with more of them is less likely to accept a row by mistake.
    pub constraints: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub name: String,
    kind: Kind,
    is_nullable: bool,
    has_default: bool,
    /// Whether the column is the row id, which the record does not repeat.
    pub is_row_id: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Real,
    Text,
    Blob,
    Any,
}

impl Shape {
    /// Returns whether a row can be one of this table or index.
    pub(super) fn fits(&self, row: &Row) -> bool {
        let missing = self.columns.get(row.values.len()..);
        // Rows that are older than a column lack it.
        missing.is_some_and(|columns| {
            columns.iter().all(|column| !self.is_index && (column.is_nullable || column.has_default))
        }) && row.values.iter().zip(&self.columns).all(|(value, column)| column.fits(value))
            && (!self.is_index || ends_with_row_id(row))
    }
}

/// Returns whether an entry of an index ends with a plausible row id.
fn ends_with_row_id(row: &Row) -> bool {
    matches!(row.values.last(), Some(Value::Integer(1..MAX_ROW_ID)))
}

impl Column {
    fn fits(&self, value: &Value) -> bool {
        match (value, self.kind) {
            (Value::Null, _) => self.is_nullable || self.is_row_id,
            _ if self.is_row_id => false,
            (_, Kind::Any) => true,
            (Value::Integer(_), kind) => matches!(kind, Kind::Integer | Kind::Real),
            (Value::Real(_), kind) => kind == Kind::Real,
            (Value::Text(_), kind) => kind == Kind::Text,
            (Value::Blob(_), kind) => kind == Kind::Blob,
        }
    }
}

/// A column as SQLite describes it: its name, type, whether it must have a value, whether it has a default, and its
/// position in the primary key, counted from 1.
type ColumnInfo = (String, String, bool, bool, i64);

/// Reads the tables and indexes of an intact database.
pub(super) async fn read_shapes(connection: &mut SqliteConnection) -> Result<Vec<Shape>> {
    let tables: Vec<(String, String, bool, String)> = sqlx::query_as(
        "SELECT list.name, list.type, list.wr, coalesce(master.sql, '')
         FROM pragma_table_list AS list LEFT JOIN sqlite_schema AS master ON master.name = list.name
         WHERE list.schema = 'main' AND list.type IN ('table', 'shadow')",
    )
    .fetch_all(&mut *connection)
    .await
    .or_store_error()?;
    let mut shapes = Vec::new();
    for (name, kind, has_no_row_id, sql) in tables {
        let infos: Vec<ColumnInfo> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk FROM pragma_table_info('{name}')"
        )))
        .fetch_all(&mut *connection)
        .await
        .or_store_error()?;
        shapes.extend(read_indexes(connection, &name, &infos, has_no_row_id).await?);
        let mut columns: Vec<(i64, Column)> =
            infos.iter().map(|info| (info.4, to_column(info, has_no_row_id))).collect();
        if has_no_row_id {
            // The columns of the primary key come first.
            columns.sort_by_key(|(key, _)| if *key == 0 { i64::MAX } else { *key });
        }
        shapes.push(Shape {
            tree: if has_no_row_id { Tree::Index } else { Tree::Table },
            columns: columns.into_iter().map(|(_, column)| column).collect(),
            is_index: false,
            is_kept: kind == "table"
                && !name.starts_with(['_'])
                && !name.starts_with("sqlite_")
                && !DERIVED.contains(&name.as_str()),
            constraints: sql.matches("CHECK").count(),
            table: name.clone(),
            name,
        });
    }
    // Try the stricter tables first.
    shapes.sort_by_key(|shape| std::cmp::Reverse(shape.constraints));
    Ok(shapes)
}

fn to_column((name, kind, is_required, has_default, key): &ColumnInfo, has_no_row_id: bool) -> Column {
    let kind = match kind.as_str() {
        "INTEGER" => Kind::Integer,
        "REAL" => Kind::Real,
        "TEXT" => Kind::Text,
        "BLOB" => Kind::Blob,
        _ => Kind::Any,
    };
    Column {
        name: name.clone(),
        kind,
        is_nullable: !is_required,
        has_default: *has_default,
        is_row_id: !has_no_row_id && *key == 1 && kind == Kind::Integer,
    }
}

/// Returns the indexes of a table. An entry consists of the indexed columns and the row id.
async fn read_indexes(
    connection: &mut SqliteConnection,
    table: &str,
    columns: &[ColumnInfo],
    has_no_row_id: bool,
) -> Result<Vec<Shape>> {
    let entries: Vec<(String, Option<String>)> = sqlx::query_as(AssertSqlSafe(format!(
        "SELECT list.name, info.name FROM pragma_index_list('{table}') AS list, pragma_index_xinfo(list.name) AS info
         WHERE NOT (list.origin = 'pk' AND {has_no_row_id}) ORDER BY list.name, info.seqno"
    )))
    .fetch_all(connection)
    .await
    .or_store_error()?;
    let row_id = Column {
        name: "rowid".into(),
        kind: Kind::Integer,
        is_nullable: false,
        has_default: false,
        is_row_id: false,
    };
    let mut indexes: HashMap<String, Vec<Column>> = HashMap::new();
    for (index, column) in entries {
        let info = column.and_then(|name| columns.iter().find(|info| info.0 == name));
        // In an index, the row id is stored like any other value.
        let column =
            info.map_or(row_id.clone(), |info| Column { is_row_id: false, ..to_column(info, has_no_row_id) });
        indexes.entry(index).or_default().push(column);
    }
    let to_shape = |(name, columns)| Shape {
        name,
        table: table.to_owned(),
        tree: Tree::Index,
        columns,
        is_index: true,
        is_kept: false,
        constraints: 0,
    };
    Ok(indexes.into_iter().map(to_shape).collect())
}
