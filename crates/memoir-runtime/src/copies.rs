//! Copies of the memory in the data directory: daily backups, and what a restore or a repair replaced.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::civil::Date;
use memoir_core::{
    Clock as _, ConversationId, Document, DocumentId, DocumentKind, ExchangeId, SystemClock, TimeZone,
};
use memoir_store::{Exchanges, Forget, Store, StoreError, Upkeep};

use crate::{
    config::Config,
    failure::Failure,
    files::{create_private_directory, write_private},
    home::Home,
    operations::{
        backup::{BackupRequest, DATABASE, back_up},
        database,
    },
};

/// Number of backups that are kept for the latest days.
const DAILY: usize = 7;

/// Number of backups that are kept for the weeks before.
const WEEKLY: usize = 4;

/// File that holds the day of the last check.
const CHECKED: &str = "checked";

/// Prefixes of the directories in which a restore and a repair keep the previous memory.
pub(crate) const REPLACED_PREFIXES: [&str; 2] = ["before-restore", "before-repair"];

/// A daily backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DailyBackup {
    pub day: Date,
    pub directory: PathBuf,
}

/// Returns the daily backups, newest first.
pub(crate) fn list(home: &Home) -> Vec<DailyBackup> {
    let mut backups: Vec<DailyBackup> = subdirectories(&home.backups())
        .filter_map(|directory| {
            let day = directory.file_name()?.to_str()?.parse().ok()?;
            Some(DailyBackup { day, directory })
        })
        .collect();
    backups.sort_by_key(|backup| std::cmp::Reverse(backup.day));
    backups
}

/// Age from which a memory is worth a backup by a program that answers one prompt and exits.
const ESTABLISHED: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns whether the memory exists for a while.
pub(crate) fn is_established(home: &Home) -> bool {
    // The lock file is created with the database and never written.
    let created = fs::metadata(home.database().with_extension("db.lock")).and_then(|file| file.modified());
    created.is_ok_and(|created| created.elapsed().is_ok_and(|age| age >= ESTABLISHED))
}

/// Checks the memory and backs it up, each unless that was done today. Dropping the future stops both.
///
/// # Errors
///
/// Fails with [`StoreError::Damaged`] if the memory is damaged. Then it is not backed up.
pub(crate) async fn care_for(
    store: &dyn Store,
    home: &Home,
    zone: &TimeZone,
    config: &Config,
) -> Result<(), Failure> {
    let today = today(zone);
    let stamp = home.backups().join(CHECKED);
    create_private_directory(&home.backups())?;
    if fs::read_to_string(&stamp).is_ok_and(|day| day == today.to_string()) {
        return Ok(());
    }
    if let Some(fault) = store.check_quickly().await?.into_iter().next()
        && let Some(reason) = store.damage()
    {
        tracing::warn!(%fault, "the memory is damaged");
        return Err(StoreError::Damaged { reason }.into());
    }
    let result = back_up_today(store, home, zone, config).await;
    // A backup that failed is tried again tomorrow: what prevents it, such as a full disk, seldom goes away by itself.
    write_private(&stamp, &today.to_string())?;
    result
}

fn today(zone: &TimeZone) -> Date {
    jiff::Timestamp::from_millisecond(SystemClock.now().as_millis())
        .map_or_else(|_| Date::default(), |now| now.to_zoned(zone.clone()).date())
}

async fn back_up_today(
    store: &dyn Upkeep,
    home: &Home,
    zone: &TimeZone,
    config: &Config,
) -> Result<(), Failure> {
    let max_bytes = config.backups.max_bytes();
    let bytes = store.size().await?;
    let today = today(zone);
    let directory = home.backups().join(today.to_string());
    if bytes > max_bytes || directory.exists() {
        return Ok(());
    }
    let request = BackupRequest { directory: Some(directory) };
    back_up(&request, store, home, zone, &mut |_| {}).await?;
    rotate(home, max_bytes, today);
    Ok(())
}

/// Returns the directories of backups that are being made, or whose process was killed.
fn partial_backups(home: &Home) -> impl Iterator<Item = PathBuf> + use<> {
    subdirectories(&home.backups()).filter(|path| path.extension().is_some())
}

/// Deletes backups that are too old, and the oldest ones until the others take up no more than `max_bytes`. The newest
/// one is always kept.
fn rotate(home: &Home, max_bytes: u64, today: Date) {
    let is_left_over =
        |path: &PathBuf| path.file_stem().is_some_and(|day| *day != *today.to_string().as_str());
    for partial in partial_backups(home).filter(is_left_over) {
        if let Err(error) = fs::remove_dir_all(&partial) {
            tracing::warn!(%error, directory = %partial.display(), "could not delete an incomplete backup");
        }
    }
    let backups = list(home);
    let kept = days_to_keep(backups.iter().map(|backup| backup.day));
    let mut bytes = 0;
    for (index, DailyBackup { day, directory }) in backups.into_iter().enumerate() {
        if kept.contains(&day) {
            bytes += directory_size(&directory);
            if index == 0 || bytes <= max_bytes {
                continue;
            }
        }
        if let Err(error) = fs::remove_dir_all(&directory) {
            tracing::warn!(%error, directory = %directory.display(), "could not delete an old backup");
        }
    }
}

/// Returns which of these days to keep, given newest first: the latest ones, and one per week before them.
fn days_to_keep(days: impl Iterator<Item = Date>) -> HashSet<Date> {
    let mut kept = HashSet::new();
    let mut weeks = Vec::new();
    for (index, day) in days.enumerate() {
        let week = day.iso_week_date();
        let week = (week.year(), week.week());
        if index < DAILY {
            kept.insert(day);
        } else if !weeks.contains(&week) && weeks.len() < WEEKLY {
            weeks.push(week);
            kept.insert(day);
        }
    }
    kept
}

fn directory_size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => directory_size(&entry.path()),
            _ => entry.metadata().map_or(0, |file| file.len()),
        })
        .sum()
}

fn subdirectories(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

/// Moves the backups that are later than the restored one to `previous`. They belong to the memory that was replaced: the
/// new one will give their ids to something else.
pub(crate) fn set_later_aside(home: &Home, restored: &Path, previous: &Path) -> io::Result<()> {
    let restored = restored.canonicalize()?;
    let backups = list(home);
    let is_restored =
        |backup: &&DailyBackup| backup.directory.canonicalize().is_ok_and(|path| path == restored);
    let day = backups.iter().find(is_restored).map(|backup| backup.day);
    for backup in backups.iter().filter(|backup| day.is_none_or(|day| backup.day > day)) {
        fs::rename(&backup.directory, previous.join(format!("backup-{}", backup.day)))?;
    }
    Ok(())
}

/// What to delete from every copy.
pub(crate) enum CopyDeletion {
    Content {
        content: Forget,
        /// The conversation of an exchange, and all its exchanges in the memory. What a copy has besides them was
        /// replaced (`/retry`) and may say the same.
        conversation: Option<(ConversationId, HashSet<ExchangeId>)>,
    },
    Document(DocumentId),
}

impl CopyDeletion {
    /// Returns the deletion of content from copies of a memory.
    pub(crate) async fn of(content: Forget, store: &(impl Exchanges + ?Sized)) -> Result<Self, Failure> {
        let id = match content {
            Forget::Exchange(id) => store.exchange(id).await?.map(|exchange| exchange.conversation_id),
            Forget::Message(id) => store.message(id).await?.map(|message| message.conversation_id),
            Forget::Conversation(_) | Forget::Span { .. } => None,
        };
        let conversation = match id {
            Some(id) => {
                let exchanges = store.exchanges(id, u32::MAX).await?;
                Some((id, exchanges.into_iter().map(|exchange| exchange.id).collect()))
            }
            None => None,
        };
        Ok(Self::Content { content, conversation })
    }
}

/// Deletes content from every daily backup, then from the memory with `delete`, and then from backups that were made in
/// the meantime. A failure before `delete` can be retried. Returns the other copies, which may still contain it: their
/// ids may stand for something else.
pub(crate) async fn forget<T>(
    home: &Home,
    deletion: &CopyDeletion,
    delete: impl Future<Output = Result<T, Failure>>,
) -> Result<(T, Vec<PathBuf>), Failure> {
    let cleaned = forget_in_backups(home, deletion, &HashSet::new()).await?;
    let deleted = delete.await?;
    forget_in_backups(home, deletion, &cleaned).await?;
    let is_replaced = |directory: &PathBuf| {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        REPLACED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    Ok((deleted, subdirectories(&home.data()).filter(is_replaced).collect()))
}

/// Deletes content from every daily backup but those in `cleaned`. One from which it cannot be deleted is deleted as a
/// whole. Returns the directories of the backups.
async fn forget_in_backups(
    home: &Home,
    deletion: &CopyDeletion,
    cleaned: &HashSet<PathBuf>,
) -> Result<HashSet<PathBuf>, Failure> {
    let mut failure = None;
    // A backup that is being made may contain it. It fails, and the next one is made tomorrow.
    for partial in partial_backups(home) {
        failure = failure.or(fs::remove_dir_all(&partial).err());
    }
    let backups: HashSet<PathBuf> = list(home).into_iter().map(|backup| backup.directory).collect();
    for directory in backups.difference(cleaned) {
        if let Err(reason) = forget_in(directory, deletion).await {
            tracing::warn!(
                reason = reason.message,
                directory = %directory.display(),
                "a backup cannot be changed and is deleted, because it may contain what was forgotten"
            );
            failure = failure.or(fs::remove_dir_all(directory).err());
        }
    }
    failure.map_or(Ok(backups), |error| Err(error.into()))
}

async fn forget_in(directory: &Path, deletion: &CopyDeletion) -> Result<(), Failure> {
    let path = directory.join(DATABASE);
    if !path.exists() {
        return Ok(());
    }
    let store = database::open(&path).await?;
    let result = delete_from(store.as_ref(), &directory.join("posts"), deletion).await;
    store.close().await;
    result
}

async fn delete_from(store: &dyn Store, posts: &Path, deletion: &CopyDeletion) -> Result<(), Failure> {
    match deletion {
        CopyDeletion::Content { content, conversation } => {
            let mut selections = vec![*content];
            if let Some((id, kept)) = conversation {
                let exchanges = store.exchanges(*id, u32::MAX).await?.into_iter().map(|exchange| exchange.id);
                selections.extend(exchanges.filter(|id| !kept.contains(id)).map(Forget::Exchange));
            }
            for selection in selections {
                let deleted = store.forget(selection).await?;
                for post in &deleted.posts {
                    remove_copied_post(post, posts)?;
                }
                if deleted.traces_remain {
                    return Err(Failure::failed("another process reads the copy"));
                }
            }
            Ok(())
        }
        CopyDeletion::Document(id) => {
            for document in store.documents_by_id(&[*id]).await? {
                store.delete_document(*id).await?;
                remove_copied_post(&document, posts)?;
            }
            Ok(())
        }
    }
}

/// Deletes the copy of the file of a post. It has the name of the original.
fn remove_copied_post(document: &Document, posts: &Path) -> io::Result<()> {
    let name = Path::new(&document.source).file_name().filter(|_| document.kind == DocumentKind::Post);
    let Some(name) = name else { return Ok(()) };
    match fs::remove_file(posts.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use jiff::ToSpan as _;

    use super::*;
    use crate::operations::test_support;

    #[test]
    fn the_newest_backup_is_kept_whatever_its_size() {
        let directory = tempfile::TempDir::new().unwrap();
        let home = Home::in_directory(directory.path());
        for name in ["2026-11-15", "2026-11-16", "2026-11-17", "2026-11-16.part-1", "2026-11-17.part-2"] {
            fs::create_dir_all(home.backups().join(name)).unwrap();
            fs::write(home.backups().join(name).join(DATABASE), [0; 100]).unwrap();
        }
        let today = "2026-11-17".parse().unwrap();
        rotate(&home, 250, today);
        assert_eq!(list(&home).len(), 2);
        let partial: Vec<PathBuf> = partial_backups(&home).collect();
        assert_eq!(partial, [home.backups().join("2026-11-17.part-2")], "it may still be in progress");
        rotate(&home, 50, today);
        assert_eq!(list(&home)[0].day, today);
        assert_eq!(list(&home).len(), 1);
    }

    #[tokio::test]
    async fn backups_made_during_a_deletion_and_replaced_exchanges_are_cleaned() {
        let directory = tempfile::TempDir::new().unwrap();
        let home = Home::in_directory(directory.path());
        let store = database::open(&home.database()).await.unwrap();
        let exchanges = test_support::converse(store.as_ref(), &["first", "replaced"]).await;
        create_private_directory(&home.backups()).unwrap();
        let back_up_to = async |day: &str| {
            let request = BackupRequest { directory: Some(home.backups().join(day)) };
            back_up(&request, store.as_ref(), &home, &TimeZone::UTC, &mut |_| {}).await.map(drop)
        };
        back_up_to("2026-11-15").await.unwrap();
        let replaced = Forget::Exchange(exchanges[1]);
        store.forget(replaced).await.unwrap();
        let first = Forget::Exchange(exchanges[0]);
        let deletion = CopyDeletion::of(first, store.as_ref()).await.unwrap();
        let delete = async {
            // A daily backup comes in between.
            back_up_to("2026-11-16").await?;
            Ok(store.forget(first).await?)
        };
        forget(&home, &deletion, delete).await.unwrap();
        store.close().await;
        for day in ["2026-11-15", "2026-11-16"] {
            let copy = database::open(&home.backups().join(day).join(DATABASE)).await.unwrap();
            for id in &exchanges {
                assert_eq!(copy.exchange(*id).await.unwrap(), None, "{day}");
            }
            copy.close().await;
        }
    }

    #[test]
    fn seven_days_and_four_weeks_are_kept() {
        let newest: Date = "2026-11-17".parse().unwrap();
        let days: Vec<Date> = (0..60).map(|days| newest - days.days()).collect();
        let mut kept: Vec<String> =
            days_to_keep(days.into_iter()).into_iter().map(|day| day.to_string()).collect();
        kept.sort();
        let expected = [
            // Sundays, because they are the newest of their weeks, and the day before the daily ones.
            "2026-10-25",
            "2026-11-01",
            "2026-11-08",
            "2026-11-10",
            "2026-11-11",
            "2026-11-12",
            "2026-11-13",
            "2026-11-14",
            "2026-11-15",
            "2026-11-16",
            "2026-11-17",
        ];
        assert_eq!(kept, expected);
    }
}
