//! The schema, as numbered files compiled into the program.

use std::borrow::Cow;

use sqlx::{
    SqlSafeStr as _,
    migrate::{Migration, MigrationType, Migrator},
};

/// Every migration, oldest first. To change the schema, add a file and a line.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "conversations", include_str!("../../migrations/0001_conversations.sql")),
    (2, "embeddings", include_str!("../../migrations/0002_embeddings.sql")),
    (3, "index", include_str!("../../migrations/0003_index.sql")),
    (4, "context", include_str!("../../migrations/0004_context.sql")),
    (5, "summaries", include_str!("../../migrations/0005_summaries.sql")),
    (6, "work", include_str!("../../migrations/0006_work.sql")),
];

/// The schema version that this program writes.
pub const SCHEMA_VERSION: i64 = MIGRATIONS[MIGRATIONS.len() - 1].0;

/// All migrations, for running those that a file lacks.
pub(super) fn migrator() -> Migrator {
    let migrations = MIGRATIONS
        .iter()
        .map(|&(version, name, sql)| {
            Migration::new(version, Cow::Borrowed(name), MigrationType::Simple, sql.into_sql_str(), false)
        })
        .collect();
    Migrator::with_migrations(migrations)
}
