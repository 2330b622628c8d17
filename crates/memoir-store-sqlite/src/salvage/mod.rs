//! Salvages the rows of a damaged database into a new one.
//!
//! Every page of the file is read on its own, so damage to one page loses only the rows on it. The schema names the tree of
//! each table; a page that no readable tree reaches is assigned by the shape of its rows. Indexes are rebuilt, and the
//! old ones show which rows are missing.

mod nodes;
mod pages;
mod schema;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    io,
    path::Path,
};

use memoir_store::{Result, Salvage, SalvagedTable, StoreError};
use sqlx::{
    AssertSqlSafe, Connection as _, SqliteConnection,
    migrate::MigrateError,
    sqlite::{SqliteConnectOptions, SqliteSynchronous},
};

use crate::{
    error::{SqlResultExt as _, file_error, open_error, store_error},
    files::with_suffix,
    migrations::{SCHEMA_VERSION, migrator_to},
    open::{open_private_file, run_migrations},
    upkeep::recreate_exchanges,
};
pub(super) use nodes::ZEROED_BYTES;
use nodes::{Node, Row, Tree, Value, parse_node};
use pages::PageFile;
use schema::{Shape, read_shapes};

/// Rows of these tables show that a file is a Memoir database.
const TELLING_TABLES: [&str; 3] = ["conversations", "exchanges", "messages"];

/// Returns whether a file that SQLite does not recognize contains rows of a memory.
pub(super) async fn contains_memory(path: &Path) -> Result<bool> {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.or_store_error()?;
    migrator_to(SCHEMA_VERSION).run_direct(None, &mut connection, false).await.map_err(migrate_error)?;
    let shapes = read_shapes(&mut connection).await?;
    let mut file = open_pages(path)?;
    let is_telling = |shape: &&Shape| TELLING_TABLES.contains(&shape.name.as_str());
    Ok((1..=file.count()).any(|number| {
        let rows =
            parse_node(&mut file, number).filter(|node| node.tree == Tree::Table).map(|node| node.rows);
        rows.is_some_and(|rows| {
            !rows.is_empty()
                && shapes.iter().filter(is_telling).any(|shape| rows.iter().all(|row| shape.fits(row)))
        })
    }))
}

/// Writes every readable row of the database at `path` to a new database at `to`, which must not exist. The damaged
/// file is not changed.
pub(super) async fn salvage(path: &Path, to: &Path) -> Result<Salvage> {
    let mut file = open_pages(path)?;
    // Rows have the layout of the version that wrote them.
    let version = file.schema_version().filter(|version| (1..=SCHEMA_VERSION).contains(version));
    open_private_file(to).map_err(|error| file_error(to, &error))?;
    let options = SqliteConnectOptions::new()
        .filename(to)
        .foreign_keys(false)
        // The file is complete or worthless, so it is synced once, at the end.
        .synchronous(SqliteSynchronous::Off);
    let mut connection =
        SqliteConnection::connect_with(&options).await.map_err(|error| open_error(to, error))?;
    let result = fill(&mut connection, &mut file, version.unwrap_or(SCHEMA_VERSION)).await;
    let closed = connection.close().await.or_store_error();
    let synced = std::fs::File::open(to).and_then(|file| file.sync_all());
    let report = result.and_then(|report| closed.map(|()| report))?;
    synced.map_err(|error| file_error(to, &error))?;
    Ok(report)
}

fn migrate_error(error: MigrateError) -> StoreError {
    StoreError::Other(Box::new(error))
}

fn open_pages(path: &Path) -> Result<PageFile> {
    PageFile::open(path, &with_suffix(path, "-wal")).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::Foreign { path: path.to_owned() },
        _ => StoreError::DiskFailed { reason: error.to_string() },
    })
}

/// Creates the schema and fills it with what the file contains.
async fn fill(connection: &mut SqliteConnection, file: &mut PageFile, version: i64) -> Result<Salvage> {
    let mut transaction = connection.begin().await.or_store_error()?;
    migrator_to(version).run_direct(None, &mut *transaction, false).await.map_err(migrate_error)?;
    let shapes = read_shapes(&mut transaction).await?;
    let triggers = drop_triggers(&mut transaction).await?;
    let mut salvager = Salvager { shapes, found: Found::default() };
    salvager.copy_rows(&mut transaction, file).await?;
    let Salvager { shapes, found } = salvager;
    for trigger in triggers {
        sqlx::query(AssertSqlSafe(trigger)).execute(&mut *transaction).await.or_store_error()?;
    }
    restore_sequences(&mut transaction, &found).await?;
    run_migrations(&mut transaction).await.map_err(store_error)?;
    let mut report = Salvage { unreadable_pages: found.unreadable_pages, ..Salvage::default() };
    for shape in shapes.iter().filter(|shape| shape.is_kept) {
        let salvaged = found.ids.get(&shape.name).map_or(0, HashSet::len) + found.unnumbered(&shape.name);
        let lost =
            found.missing(&shape.name).len().max(found.rejected.get(&shape.name).copied().unwrap_or(0));
        let table = SalvagedTable { name: shape.name.clone(), salvaged: salvaged as u64, lost: lost as u64 };
        report.tables.push(table);
    }
    report.tables.sort_by(|first, second| first.name.cmp(&second.name));
    report.recreated_exchanges = recreate_exchanges(&mut transaction).await?;
    report.recreated_messages = recreate_messages(&mut transaction, &found).await?;
    report.dropped_rows = drop_orphans(&mut transaction).await?;
    transaction.commit().await.or_store_error()?;
    Ok(report)
}

/// Drops the triggers that keep derived rows up to date, except those that fill the full-text indexes. Returns the
/// statements that create them again.
async fn drop_triggers(connection: &mut SqliteConnection) -> Result<Vec<String>> {
    let triggers: Vec<(String, String)> = sqlx::query_as(
        "SELECT name, sql FROM sqlite_schema
         WHERE type = 'trigger' AND name NOT IN ('messages_text_insert', 'chunks_text_insert', 'costs_add_up')",
    )
    .fetch_all(&mut *connection)
    .await
    .or_store_error()?;
    for (name, _) in &triggers {
        sqlx::query(AssertSqlSafe(format!("DROP TRIGGER {name}")))
            .execute(&mut *connection)
            .await
            .or_store_error()?;
    }
    Ok(triggers.into_iter().map(|(_, sql)| sql).collect())
}

/// What was found in the file.
#[derive(Default)]
struct Found {
    /// Ids of the rows that were copied, by table.
    ids: HashMap<String, HashSet<i64>>,
    /// Number of copied rows of tables without row ids.
    unnumbered: HashMap<String, usize>,
    /// Number of rows that could not be read or do not fit, by table.
    rejected: HashMap<String, usize>,
    /// Ids that indexes refer to, by table.
    indexed: HashMap<String, HashSet<i64>>,
    /// Ids of the messages of each exchange, according to the index.
    messages: HashMap<i64, BTreeSet<i64>>,
    /// The highest ids ever used, by table.
    sequences: Vec<(String, i64)>,
    unreadable_pages: u64,
}

impl Found {
    /// Returns the ids of rows to which an index refers and that were not copied.
    fn missing(&self, table: &str) -> Vec<i64> {
        let copied = self.ids.get(table);
        let is_missing = |id: &&i64| copied.is_none_or(|copied| !copied.contains(id));
        self.indexed.get(table).into_iter().flatten().filter(is_missing).copied().collect()
    }

    fn unnumbered(&self, table: &str) -> usize {
        self.unnumbered.get(table).copied().unwrap_or(0)
    }
}

struct Salvager {
    shapes: Vec<Shape>,
    found: Found,
}

impl Salvager {
    async fn copy_rows(&mut self, connection: &mut SqliteConnection, file: &mut PageFile) -> Result<()> {
        let owners = self.find_owners(file);
        // Rows that a tree reaches come first: an unreachable page may be an outdated copy.
        for number in 1..=file.count() {
            if let Some(&owner) = owners.get(&number)
                && let Some(node) = parse_node(file, number)
            {
                self.copy_owned(connection, owner, node).await?;
            }
        }
        for number in 2..=file.count() {
            if !owners.contains_key(&number)
                && let Some(node) = parse_node(file, number)
            {
                self.copy_unowned(connection, node).await?;
            }
        }
        Ok(())
    }

    /// Returns which table or index each page belongs to, as far as the trees can be followed.
    fn find_owners(&mut self, file: &mut PageFile) -> HashMap<u32, usize> {
        let mut owners = HashMap::new();
        let mut schema_pages = vec![1];
        let mut visited = HashSet::new();
        let mut roots = Vec::new();
        while let Some(number) = schema_pages.pop() {
            if number > file.count() || !visited.insert(number) {
                continue;
            }
            let Some(node) = parse_node(file, number).filter(|node| node.tree == Tree::Table) else {
                self.found.unreadable_pages += 1;
                continue;
            };
            schema_pages.extend(node.children);
            for row in node.rows {
                if let [_, Value::Text(name), _, Value::Integer(root), ..] = row.values.as_slice()
                    && let Some(shape) = self.shapes.iter().position(|shape| shape.name == *name)
                    && let Ok(root) = u32::try_from(*root)
                {
                    roots.push((root, shape));
                }
            }
        }
        for (root, shape) in roots {
            self.claim_tree(file, root, shape, &mut owners);
        }
        owners
    }

    fn claim_tree(&mut self, file: &mut PageFile, root: u32, shape: usize, owners: &mut HashMap<u32, usize>) {
        let mut pages = vec![root];
        while let Some(number) = pages.pop() {
            if number < 2 || number > file.count() || owners.contains_key(&number) {
                self.found.unreadable_pages += 1;
                continue;
            }
            match parse_node(file, number).filter(|node| node.tree == self.shapes[shape].tree) {
                Some(node) => {
                    owners.insert(number, shape);
                    pages.extend(node.children);
                }
                None => self.found.unreadable_pages += 1,
            }
        }
    }

    async fn copy_owned(
        &mut self,
        connection: &mut SqliteConnection,
        owner: usize,
        node: Node,
    ) -> Result<()> {
        let Self { shapes, found } = self;
        let Some(shape) = shapes.get(owner) else { return Ok(()) };
        if shape.is_index {
            note_index_entries(shape, &node.rows, found);
        } else if shape.name == "sqlite_sequence" {
            for row in node.rows {
                if let [Value::Text(table), Value::Integer(last)] = row.values.as_slice() {
                    found.sequences.push((table.clone(), *last));
                }
            }
        } else if shape.is_kept {
            *found.rejected.entry(shape.name.clone()).or_default() += node.lost;
            for row in &node.rows {
                if !shape.fits(row) || !insert(connection, shape, row, found).await? {
                    *found.rejected.entry(shape.name.clone()).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    /// Copies the rows of a page that no tree reaches, if they fit a table.
    async fn copy_unowned(&mut self, connection: &mut SqliteConnection, node: Node) -> Result<()> {
        let Self { shapes, found } = self;
        if node.rows.is_empty() {
            return Ok(());
        }
        let fits = |shape: &&Shape| shape.tree == node.tree && node.rows.iter().all(|row| shape.fits(row));
        let candidates: Vec<&Shape> = shapes.iter().filter(fits).collect();
        if let Some(index) = candidates.iter().find(|shape| shape.is_index) {
            // An entry of an index may look like a row of a table. Both interpretations are not safe to copy.
            if candidates.len() == 1 {
                note_index_entries(index, &node.rows, found);
            }
            return Ok(());
        }
        for row in &node.rows {
            for shape in &candidates {
                if !shape.is_kept || insert(connection, shape, row, found).await? {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn note_index_entries(index: &Shape, rows: &[Row], found: &mut Found) {
    for row in rows.iter().filter(|row| index.fits(row)) {
        let Some(Value::Integer(id)) = row.values.last() else { continue };
        found.indexed.entry(index.table.clone()).or_default().insert(*id);
        if index.name == "messages_by_exchange"
            && let Some(Value::Integer(exchange)) = row.values.first()
        {
            found.messages.entry(*exchange).or_default().insert(*id);
        }
    }
}

/// Inserts a row. Returns `false` if the table does not accept it.
async fn insert(
    connection: &mut SqliteConnection,
    shape: &Shape,
    row: &Row,
    found: &mut Found,
) -> Result<bool> {
    let columns = &shape.columns[..row.values.len()];
    let names: Vec<String> = columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
    let places = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT OR IGNORE INTO \"{}\" ({}) VALUES ({places})", shape.name, names.join(", "));
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for (value, column) in row.values.iter().zip(columns) {
        query = match value {
            _ if column.is_row_id => query.bind(row.id),
            Value::Null => query.bind(None::<i64>),
            Value::Integer(value) => query.bind(*value),
            Value::Real(value) => query.bind(*value),
            Value::Text(value) => query.bind(value.clone()),
            Value::Blob(value) => query.bind(value.clone()),
        };
    }
    match query.execute(connection).await {
        Ok(done) if done.rows_affected() > 0 => {
            match row.id {
                Some(id) => drop(found.ids.entry(shape.name.clone()).or_default().insert(id)),
                None => *found.unnumbered.entry(shape.name.clone()).or_default() += 1,
            }
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(sqlx::Error::Database(error)) if error.message().contains("constraint") => Ok(false),
        Err(error) => Err(store_error(error)),
    }
}

/// Recreates lost questions and answers from their exchanges, which repeat them. Returns their number.
async fn recreate_messages(connection: &mut SqliteConnection, found: &Found) -> Result<u64> {
    let mut recreated = 0;
    for (role, column, time) in
        [("user", "user_message", "started"), ("assistant", "assistant_message", "completed")]
    {
        let without: Vec<(i64,)> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT id FROM exchanges WHERE {column} <> '' AND NOT EXISTS (
                 SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = '{role}')"
        )))
        .fetch_all(&mut *connection)
        .await
        .or_store_error()?;
        for (exchange,) in without {
            let copied = found.ids.get("messages");
            let is_lost = |id: &&i64| copied.is_none_or(|copied| !copied.contains(id));
            let mut lost = found.messages.get(&exchange).into_iter().flatten().filter(is_lost);
            // The question comes first and the answer last.
            let id = if role == "user" { lost.next() } else { lost.next_back() };
            let done = sqlx::query(AssertSqlSafe(format!(
                "INSERT OR IGNORE INTO messages
                     (id, exchange_id, conversation_id, role, content, redacted, derived, tokens, created, by_others)
                 SELECT ?1, id, conversation_id, '{role}', {column}, 0, '{role}' = 'assistant' AND model = 'memoir/recall',
                        length({column}) / 4, {time}, '{role}' = 'assistant'
                 FROM exchanges WHERE id = ?2"
            )))
            .bind(id)
            .bind(exchange)
            .execute(&mut *connection)
            .await
            .or_store_error()?;
            recreated += done.rows_affected();
        }
    }
    Ok(recreated)
}

/// Deletes rows that refer to lost rows, or their references where these are optional. Returns the number of rows.
async fn drop_orphans(connection: &mut SqliteConnection) -> Result<u64> {
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
            .fetch_all(&mut *connection)
            .await
            .or_store_error()?;
    let mut dropped = 0;
    loop {
        let mut changed = 0;
        for table in &tables {
            let references: Vec<(String, String, String, String)> = sqlx::query_as(AssertSqlSafe(format!(
                "SELECT \"table\", \"from\", coalesce(\"to\", 'id'), on_delete FROM pragma_foreign_key_list('{table}')"
            )))
            .fetch_all(&mut *connection)
            .await
            .or_store_error()?;
            for (parent, from, to, on_delete) in references {
                let condition = format!(
                    "\"{from}\" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \"{parent}\" AS parent WHERE parent.\"{to}\" = \"{table}\".\"{from}\")"
                );
                let statement = match on_delete.as_str() {
                    "SET NULL" => format!("UPDATE \"{table}\" SET \"{from}\" = NULL WHERE {condition}"),
                    _ => format!("DELETE FROM \"{table}\" WHERE {condition}"),
                };
                changed += sqlx::query(AssertSqlSafe(statement))
                    .execute(&mut *connection)
                    .await
                    .or_store_error()?
                    .rows_affected();
            }
        }
        // Embeddings refer to several tables, so no foreign key covers them.
        for statement in [
            "DELETE FROM embeddings WHERE subject_kind = 'message' AND subject_id NOT IN (SELECT id FROM messages)",
            "DELETE FROM summary_embeddings WHERE subject_kind = 'exchange' AND subject_id NOT IN (SELECT id FROM exchanges WHERE summary IS NOT NULL)",
            "DELETE FROM summary_embeddings WHERE subject_kind = 'conversation' AND subject_id NOT IN (SELECT id FROM conversations WHERE summary IS NOT NULL)",
        ] {
            changed +=
                sqlx::query(statement).execute(&mut *connection).await.or_store_error()?.rows_affected();
        }
        dropped += changed;
        if changed == 0 {
            return Ok(dropped);
        }
    }
}

/// Continues the numbering of rows, so that no id is used for a second row.
async fn restore_sequences(connection: &mut SqliteConnection, found: &Found) -> Result<()> {
    let mut highest: BTreeMap<&str, i64> = BTreeMap::new();
    let sequences = found.sequences.iter().map(|(table, last)| (table.as_str(), *last));
    let indexed = found.indexed.iter().filter_map(|(table, ids)| Some((table.as_str(), *ids.iter().max()?)));
    for (table, last) in sequences.chain(indexed) {
        let known = highest.entry(table).or_default();
        *known = last.max(*known);
    }
    for (table, last) in highest {
        // Only tables that had rows have a sequence.
        for statement in [
            "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
            "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2
             WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)
               AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%')",
        ] {
            sqlx::query(statement).bind(table).bind(last).execute(&mut *connection).await.or_store_error()?;
        }
    }
    Ok(())
}
