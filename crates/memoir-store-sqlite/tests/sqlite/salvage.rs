//! Tests of damaged databases: the damage is noticed, and what is readable is salvaged.

use std::{fs, ops::Range, path::Path};

use memoir_core::Timestamp;
use memoir_store::{
    Backend as _, CommandHistory as _, Exchanges as _, Salvage, Settings as _, StoreError, Upkeep as _,
    contract,
};
use memoir_store_sqlite::{SCHEMA_VERSION, SqliteBackend, SqliteStore};
use tempfile::TempDir;

use super::{count, execute, open};

const PAGE: usize = 4096;

/// Number of exchanges in the database that is damaged.
const EXCHANGES: i64 = 150;

/// Creates a database like one after some months of use: short and long messages, embeddings, settings and commands.
async fn create(path: &Path) {
    let store = open(path).await;
    let words = ["harbor", "invoice", "kettle", "night train", "spare key", "garden", "battery", "license"];
    let text = |number: i64| {
        let length = if number % 17 == 0 { 1500 } else { 12 + number % 40 };
        (0..length).map(|index| words[((number * 7 + index * 3) % 8) as usize]).collect::<Vec<_>>().join(" ")
    };
    let mut target = contract::new_conversation("first", "/p");
    for number in 0..EXCHANGES {
        if number % 10 == 0 {
            target = contract::new_conversation(&format!("Conversation {number}"), "/p");
        }
        let draft = contract::exchange(&text(2 * number), &text(2 * number + 1), 1_700_000_000_000 + number);
        target = store.commit_exchange(&target, &draft).await.unwrap().to_target();
        let now = Timestamp::from_millis(1_700_000_000_000 + number);
        store.append_command(&format!("command {number}"), now).await.unwrap();
    }
    let now = Timestamp::from_millis(1_700_000_000_000);
    store.set_setting("rag.limit", Some("7"), now).await.unwrap();
    store
        .fill_vectors_for_benchmark("built-in", |id| {
            (0..384).map(|index| ((id * 31 + index * 17) % 97) as f32 / 97.0 + 0.001).collect()
        })
        .await
        .unwrap();
    store.close().await;
}

/// Repairs a database in place.
async fn repair(path: &Path) -> Salvage {
    SqliteBackend.repair(path.as_os_str(), &path.with_extension("aside")).await.unwrap()
}

/// The content of all tables that a repair keeps, in a form that can be compared.
async fn dump(path: &Path) -> Vec<String> {
    use sqlx::{Column as _, Connection as _, Row as _, ValueRef as _};
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).read_only(true);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        r"SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
          AND name NOT IN ('jobs', '_index_segments', '_deletions', '_sqlx_migrations', '_traces', 'sqlite_schema') ORDER BY name",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let mut lines = Vec::new();
    for table in tables {
        let sql = sqlx::AssertSqlSafe(format!("SELECT * FROM \"{table}\""));
        for row in sqlx::query(sql).fetch_all(&mut connection).await.unwrap() {
            let cells = row.columns().iter().map(|column| {
                let value = row.try_get_raw(column.ordinal()).unwrap();
                match value.is_null() {
                    true => "null".to_owned(),
                    false => format!("{:?}", row.get_unchecked::<Vec<u8>, _>(column.ordinal())),
                }
            });
            lines.push(format!("{table}: {}", cells.collect::<Vec<_>>().join(", ")));
        }
    }
    lines.sort();
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn repairing_an_intact_database_loses_nothing() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    create(&path).await;
    let before = dump(&path).await;
    let report = repair(&path).await;
    assert_eq!(dump(&path).await, before);
    assert_eq!(report.table("messages"), (2 * EXCHANGES as u64, 0));
    assert!(report.tables.iter().all(|table| table.lost == 0), "{report:?}");
    let others = (report.recreated_messages, report.recreated_exchanges, report.dropped_rows);
    assert_eq!((others, report.unreadable_pages), ((0, 0, 0), 0));
    let store = open(&path).await;
    assert!(store.check().await.unwrap().is_empty());
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_ends_with_a_null_character_is_no_damage() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let store = open(&path).await;
    store.append_command("find . -print0\n./a\0./b\0", Timestamp::from_millis(1)).await.unwrap();
    assert!(store.check().await.unwrap().is_empty());
    store.close().await;
    repair(&path).await;
    assert_eq!(open(&path).await.recent_commands(5).await.unwrap(), ["find . -print0\n./a\0./b\0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_a_replaced_database_is_not_applied_to_the_new_one() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    let (log, kept) = (path.with_extension("db-wal"), path.with_extension("db-wal-kept"));
    let backup = directory.path().join("backup.db");
    create(&path).await;
    let store = open(&path).await;
    store.back_up(&backup).await.unwrap();
    store.append_command("before", Timestamp::from_millis(1)).await.unwrap();
    let leftover = fs::read(&log).unwrap();
    store.close().await;
    // A process that was killed while it opened the database has left its link to the log.
    fs::write(&kept, &leftover).unwrap();
    repair(&path).await;
    assert!(!kept.exists());
    let store = open(&path).await;
    assert_eq!(store.recent_commands(1).await.unwrap(), ["before"]);
    store.append_command("after", Timestamp::from_millis(2)).await.unwrap();
    assert!(store.check().await.unwrap().is_empty());
    store.close().await;
    fs::write(&kept, &leftover).unwrap();
    SqliteBackend.restore(&backup, path.as_os_str(), &path.with_extension("aside-2")).await.unwrap();
    assert!(!kept.exists());
    let store = open(&path).await;
    assert_ne!(store.recent_commands(1).await.unwrap(), ["before"]);
    assert!(store.check().await.unwrap().is_empty());
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_not_copied_yet_is_salvaged() {
    let directory = TempDir::new().unwrap();
    let (path, crashed) = (directory.path().join("memoir.db"), directory.path().join("crashed.db"));
    let store = open(&path).await;
    store.append_command("only in the log", Timestamp::from_millis(1)).await.unwrap();
    // A process that is killed leaves its log behind.
    fs::copy(&path, &crashed).unwrap();
    fs::copy(directory.path().join("memoir.db-wal"), directory.path().join("crashed.db-wal")).unwrap();
    let busy = SqliteBackend.repair(path.as_os_str(), &directory.path().join("aside")).await;
    assert!(matches!(busy, Err(StoreError::Busy)), "the store is open: {busy:?}");
    assert!(!directory.path().join("aside").exists());
    store.close().await;
    let mut bytes = fs::read(&crashed).unwrap();
    bytes[..PAGE].fill(0);
    fs::write(&crashed, bytes).unwrap();
    repair(&crashed).await;
    assert_eq!(open(&crashed).await.recent_commands(5).await.unwrap(), ["only in the log"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_an_earlier_version_is_salvaged_and_migrated() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    create(&path).await;
    // What the last migration changed, undone.
    execute(
        &path,
        "PRAGMA user_version = 13; DELETE FROM _sqlx_migrations WHERE version = 14;
         UPDATE messages SET by_others = 0",
    )
    .await;
    let report = repair(&path).await;
    assert_eq!(report.table("messages"), (2 * EXCHANGES as u64, 0));
    assert_eq!(count(&path, "PRAGMA user_version").await, SCHEMA_VERSION);
    open(&path).await.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_another_kind_is_not_called_damaged() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    fs::write(&path, vec![b'x'; 3 * PAGE]).unwrap();
    assert!(matches!(SqliteStore::open(&path).await, Err(StoreError::Foreign { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_is_not_written_to() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    create(&path).await;
    let leaf =
        count(&path, "SELECT max(pageno) FROM dbstat WHERE name = 'messages' AND pagetype = 'leaf'").await;
    zero(&path, leaf as usize);
    let store = open(&path).await;
    assert!(!store.check_quickly().await.unwrap().is_empty());
    assert!(store.damage().is_some());
    let refused = store.append_command("not written", Timestamp::from_millis(1)).await;
    assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    assert_eq!(
        store.recent_commands(1).await.unwrap(),
        [format!("command {}", EXCHANGES - 1)],
        "reading works"
    );
    store.close().await;
    // The next process knows.
    let store = open(&path).await;
    assert!(store.append_command("not written", Timestamp::from_millis(1)).await.is_err());
    store.close().await;
    repair(&path).await;
    let store = open(&path).await;
    assert_eq!(store.damage(), None);
    store.append_command("written", Timestamp::from_millis(1)).await.unwrap();
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_fails_because_of_damage_causes_a_check() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("memoir.db");
    create(&path).await;
    let root = count(&path, "SELECT rootpage FROM sqlite_schema WHERE name = 'exchanges'").await;
    zero(&path, root as usize);
    let store = open(&path).await;
    assert!(store.exchange(memoir_core::ExchangeId::new(1)).await.is_err());
    assert_eq!(store.damage(), None, "not checked yet");
    assert!(store.append_command("not written", Timestamp::from_millis(1)).await.is_err());
    assert!(store.damage().is_some());
    store.close().await;
}

fn zero(path: &Path, page: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[(page - 1) * PAGE..page * PAGE].fill(0);
    fs::write(path, bytes).unwrap();
}

/// Damages the bytes of a database at random. Returns what was done.
fn damage(bytes: &mut Vec<u8>, random: &mut fastrand::Rng, used: &[usize]) -> String {
    let page = |random: &mut fastrand::Rng| -> Range<usize> {
        let number = used[random.usize(..used.len())];
        (number - 1) * PAGE..number * PAGE
    };
    match random.u8(..6) {
        0 | 1 => {
            let pages: Vec<_> = (0..random.usize(1..4)).map(|_| page(random)).collect();
            pages.iter().for_each(|page| bytes[page.clone()].fill(0));
            format!("zeroed {pages:?}")
        }
        2 => {
            let page = page(random);
            bytes[page.clone()].iter_mut().for_each(|byte| *byte = !*byte);
            format!("flipped {page:?}")
        }
        3 => {
            let length = random.usize(PAGE..bytes.len());
            bytes.truncate(length);
            format!("truncated to {length}")
        }
        4 => {
            bytes[..100].fill_with(|| random.u8(..));
            "random header".into()
        }
        _ => {
            bytes[..PAGE].fill(0);
            "zeroed header and schema".into()
        }
    }
}

#[expect(clippy::print_stdout, reason = "the figures are part of the result")]
#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_damaged_databases_are_noticed_and_salvaged() {
    use sqlx::Connection as _;
    let directory = TempDir::new().unwrap();
    let intact = directory.path().join("intact.db");
    create(&intact).await;
    let bytes = fs::read(&intact).unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&intact).read_only(true);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    let used: Vec<i64> =
        sqlx::query_scalar("SELECT pageno FROM dbstat").fetch_all(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let used: Vec<usize> = used.into_iter().map(|page| page as usize).collect();
    let mut unnoticed = Vec::new();
    let (mut salvaged, mut worst) = (0, 1.0_f64);
    let total = 2 * EXCHANGES as u64;
    for seed in 0..200 {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("memoir.db");
        let mut damaged = bytes.clone();
        let what = damage(&mut damaged, &mut fastrand::Rng::with_seed(seed), &used);
        fs::write(&path, &damaged).unwrap();
        let is_noticed = match SqliteStore::open(&path).await {
            Ok(store) => {
                let faults = store.check_quickly().await.unwrap();
                store.close().await;
                !faults.is_empty()
            }
            Err(StoreError::Damaged { .. }) => true,
            Err(error) => panic!("{seed}: {what}: {error}"),
        };
        if !is_noticed {
            unnoticed.push(format!("{seed}: {what}"));
        }
        fs::write(&path, &damaged).unwrap();
        let report = repair(&path).await;
        let store = open(&path).await;
        assert!(store.check().await.unwrap().is_empty(), "{seed}: {what}");
        store.close().await;
        let kept = count(&path, "SELECT count(*) FROM messages").await as u64;
        assert!(kept <= total, "{seed}: {what}: {report:?}");
        salvaged += kept;
        worst = worst.min(kept as f64 / total as f64);
    }
    let share = 100.0 * salvaged as f64 / (200 * total) as f64;
    println!(
        "{} of 200 noticed, {share:.1} % of messages salvaged, at worst {:.1} %",
        200 - unnoticed.len(),
        100.0 * worst
    );
    assert_eq!(unnoticed, Vec::<String>::new());
    assert!(share > 80.0, "{share}");
}
