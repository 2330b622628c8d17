//! The schema migrations, as numbered files compiled into the program.

use std::borrow::Cow;

use sqlx::{
    SqlSafeStr as _,
    migrate::{Migration, MigrationType, Migrator},
};

/// Every migration, oldest first. To change the schema, add a file and a line.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "conversations", include_str!("../migrations/0001_conversations.sql")),
    (2, "embeddings", include_str!("../migrations/0002_embeddings.sql")),
    (3, "index", include_str!("../migrations/0003_index.sql")),
    (4, "context", include_str!("../migrations/0004_context.sql")),
    (5, "summaries", include_str!("../migrations/0005_summaries.sql")),
    (6, "work", include_str!("../migrations/0006_work.sql")),
    (7, "tools", include_str!("../migrations/0007_tools.sql")),
    (8, "documents", include_str!("../migrations/0008_documents.sql")),
    (9, "tasks", include_str!("../migrations/0009_tasks.sql")),
    (10, "ownership", include_str!("../migrations/0010_ownership.sql")),
    (11, "sums_and_traces", include_str!("../migrations/0011_sums_and_traces.sql")),
    (12, "origin", include_str!("../migrations/0012_origin.sql")),
    (13, "parts", include_str!("../migrations/0013_parts.sql")),
    (14, "repeated", include_str!("../migrations/0014_repeated.sql")),
    (15, "undo", include_str!("../migrations/0015_undo.sql")),
    (16, "compaction", include_str!("../migrations/0016_compaction.sql")),
    (17, "sharing", include_str!("../migrations/0017_sharing.sql")),
    (18, "source", include_str!("../migrations/0018_source.sql")),
    (19, "injections", include_str!("../migrations/0019_injections.sql")),
    (20, "copies", include_str!("../migrations/0020_copies.sql")),
    (21, "tokens", include_str!("../migrations/0021_tokens.sql")),
    (22, "continuations", include_str!("../migrations/0022_continuations.sql")),
];

/// The schema version that this program writes.
pub const SCHEMA_VERSION: i64 = MIGRATIONS[MIGRATIONS.len() - 1].0;

/// Returns a migrator with all migrations. It runs those that a database lacks.
pub(super) fn migrator() -> Migrator {
    migrator_to(SCHEMA_VERSION)
}

/// Returns a migrator with the migrations up to a version.
pub(super) fn migrator_to(last: i64) -> Migrator {
    let migrations = MIGRATIONS
        .iter()
        .filter(|(version, ..)| *version <= last)
        .map(|&(version, name, sql)| {
            Migration::new(version, Cow::Borrowed(name), MigrationType::Simple, sql.into_sql_str(), false)
        })
        .collect();
    Migrator::with_migrations(migrations)
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection as _, SqliteConnection};

    use super::*;

    #[tokio::test]
    async fn migration_keeps_data_of_an_earlier_version() -> Result<(), sqlx::Error> {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await?;
        migrator_to(5).run_direct(None, &mut connection, false).await?;
        sqlx::raw_sql(
            "INSERT INTO conversations (id, title, scope, model, created, updated, summary, summary_by, summary_through)
             VALUES (1, 'grew', '/p', 'm', 1, 1, 's', 'm', 1), (2, 'told', '/p', 'm', 1, 1, 's', 'm', 3),
                    (3, 'new', '/p', 'm', 1, 1, NULL, NULL, NULL);
             INSERT INTO exchanges (id, conversation_id, status, started, completed, user_message, assistant_message, model,
                 input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, tool_call_count, request_count)
             SELECT value, CASE value WHEN 3 THEN 2 WHEN 4 THEN 3 ELSE 1 END, 'completed', 1, 1, 'q', 'a', 'm', 0, 0, 0, 0, 0, 0, 1
             FROM json_each('[1, 2, 3, 4]');
             INSERT INTO jobs (worker, subject_id, state, attempts, due, updated)
             VALUES ('exchange_summarizer', 4, 'failed', 7, 1, 1), ('conversation_summarizer', 3, 'waiting', 2, 1, 1);
             INSERT INTO messages (exchange_id, conversation_id, role, content, redacted, derived, tokens, created, tool_call_id, tool_name)
             VALUES (2, 1, 'user', 'typed <file path=\"a\">', 0, 0, 1, 1, NULL, NULL),
                    (2, 1, 'user', 'read' || char(10, 10) || '<file path=\"a\">', 0, 0, 1, 1, NULL, NULL),
                    (2, 1, 'assistant', char(10) || '<file path=\"a\">', 0, 0, 1, 1, NULL, NULL),
                    (2, 1, 'tool', 'x', 1, 0, 1, 1, 'c', 'file_read'), (2, 1, 'tool', 'x', 1, 0, 1, 1, 'd', 'core_memory');
             UPDATE messages SET tokens = 500 WHERE id = 3;
             INSERT INTO embeddings (subject_kind, subject_id, conversation_id, model, dimensions, vector)
             VALUES ('message', 1, 1, 'm', 2, x'0000'), ('message', 3, 1, 'm', 2, x'0000');
             INSERT INTO _index_segments (kind, model, first_id, last_id, count, checksum, data)
             VALUES ('messages', '', 1, 2, 2, 0, x'00'), ('vectors', 'm#2', 1, 2, 2, 0, x'00');",
        )
        .execute(&mut connection)
        .await?;
        migrator().run_direct(None, &mut connection, false).await?;
        let due: Vec<(i64, i64)> = sqlx::query_as("SELECT id, summary_due FROM conversations ORDER BY id")
            .fetch_all(&mut connection)
            .await?;
        assert_eq!(due, [(1, 1), (2, 0), (3, 1)]);
        let jobs: Vec<(String, i64, i64)> =
            sqlx::query_as("SELECT subject_kind, subject_id, attempts FROM jobs ORDER BY id")
                .fetch_all(&mut connection)
                .await?;
        assert_eq!(jobs, [("exchange".into(), 4, 7), ("conversation".into(), 3, 2)]);
        let by_others: Vec<bool> = sqlx::query_scalar("SELECT by_others FROM messages ORDER BY id")
            .fetch_all(&mut connection)
            .await?;
        assert_eq!(by_others, [false, true, true, true, false]);
        let embeddings: Vec<(i64, i64, i64, i64)> =
            sqlx::query_as("SELECT subject_id, part, first, past FROM embeddings")
                .fetch_all(&mut connection)
                .await?;
        assert_eq!(embeddings, [(1, 0, 0, 21)], "a long message is embedded again");
        // Deletions still cascade.
        sqlx::raw_sql("PRAGMA foreign_keys = ON; DELETE FROM exchanges WHERE id IN (1, 4)")
            .execute(&mut connection)
            .await?;
        let (jobs, due, segments): (i64, i64, i64) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM jobs), (SELECT sum(summary_due) FROM conversations),
                    (SELECT count(*) FROM _index_segments)",
        )
        .fetch_one(&mut connection)
        .await?;
        assert_eq!((jobs, due, segments), (1, 1, 1), "the third conversation no longer needs a summary");
        Ok(())
    }
}
