//! Checks for SQL queries, if the store supports them.

use std::sync::Arc;
use std::time::Duration;

use super::{exchange, new_conversation};
use crate::{QueryLimits, Store};

const LIMITS: QueryLimits = QueryLimits { rows: 2, time: Duration::from_secs(5) };

pub async fn tables_are_listed_with_row_counts(store: Arc<dyn Store>) {
    let Some(inspect) = store.inspect() else { return };
    assert!(!inspect.dialect().is_empty());
    let before = inspect.tables().await.unwrap();
    assert!(!before.is_empty() && before.iter().all(|table| table.rows == 0), "{before:?}");
    store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let after = inspect.tables().await.unwrap();
    let rows = |name: &str| after.iter().find(|table| table.name == name).map(|table| table.rows);
    assert_eq!((rows("conversations"), rows("exchanges"), rows("messages")), (Some(1), Some(1), Some(2)));
    for table in &after {
        let definitions = inspect.table_definitions(Some(&table.name)).await.unwrap();
        assert_eq!(definitions.len(), 1, "{}", table.name);
    }
    // A backend may have internal tables in addition to the listed ones.
    assert!(inspect.table_definitions(None).await.unwrap().len() >= after.len());
    assert!(inspect.table_definitions(Some("nothing")).await.unwrap().is_empty());
}

pub async fn queries_cannot_change_data(store: Arc<dyn Store>) {
    let Some(inspect) = store.inspect() else { return };
    for number in 0..3 {
        let draft = exchange(&format!("question {number}"), "answer", number);
        store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    }
    let result =
        inspect.query("SELECT started, user_message FROM exchanges ORDER BY started", LIMITS).await.unwrap();
    assert_eq!(result.columns, ["started", "user_message"]);
    assert_eq!((result.rows.len(), result.is_truncated), (2, true));
    assert_eq!(result.rows[1][1], "question 1");
    for sql in ["DELETE FROM exchanges", "SELECT 1; DELETE FROM exchanges", "", "SELEKT"] {
        assert!(inspect.query(sql, LIMITS).await.is_err(), "{sql}");
    }
    assert_eq!(store.titles().await.unwrap().len(), 3);
}
