//! Copies of the whole memory, and putting one back: `memoir backup`, `/backup`, `memoir restore`.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use anstream::println;
use memoir_core::{Clock as _, SystemClock, TimeZone};
use memoir_store::{Store, StoreError};

use memoir_runtime::{
    failure::{Failure, FailureKind},
    files::{Partial, fresh_folder, private_folder},
    home::Home,
    stores,
};

use crate::{args::RestoreArgs, progress, question};

/// What the memory is called in a backup.
const DATABASE: &str = "memoir.db";

/// Folders beside the memory that belong to it: posts, and what tasks remember.
const BESIDE: [&str; 2] = ["posts", "conversations"];

/// Makes a backup in a folder that is not there yet, and checks it.
pub(crate) async fn back_up(
    folder: Option<&Path>,
    store: &dyn Store,
    home: &Home,
    zone: &TimeZone,
) -> Result<(), Failure> {
    let folder = match folder {
        Some(folder) => folder.to_owned(),
        None => PathBuf::from(named("memoir-backup", zone)),
    };
    if folder.exists() {
        return Err(Failure::new(FailureKind::Usage, format!("{} is there already", folder.display()))
            .hint("Name a folder that is not."));
    }
    // It has its name only when it is whole: what is cut off is not taken for a backup.
    let failed = |error: io::Error| {
        Failure::new(FailureKind::Failed, format!("{} cannot be written: {error}", folder.display()))
            .hint("Name another place.")
    };
    let partial = Partial::folder(&folder).map_err(failed)?;
    fill(partial.path(), store, home).await?;
    partial.finish(&folder).map_err(failed)?;
    let size = std::fs::metadata(folder.join(DATABASE)).map_or(0, |file| file.len());
    println!(
        "The memory is in {} ({}), and was checked. memoir restore puts it back.",
        folder.display(),
        indicatif::HumanBytes(size)
    );
    Ok(())
}

async fn fill(folder: &Path, store: &dyn Store, home: &Home) -> Result<(), Failure> {
    let copy = folder.join(DATABASE);
    let bar = progress::bytes(store.size().await?);
    let watched = async {
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            bar.set_position(std::fs::metadata(&copy).map_or(0, |file| file.len()));
        }
    };
    let made = tokio::select! {
        made = store.back_up(&copy) => made,
        () = watched => Ok(()),
    };
    bar.finish_and_clear();
    made?;
    for name in BESIDE {
        copy_folder(&home.data().join(name), &folder.join(name))?;
    }
    Ok(())
}

/// Puts a backup in the place of the memory, which is kept beside it.
pub(crate) async fn restore(wanted: &RestoreArgs, home: &Home, zone: &TimeZone) -> Result<(), Failure> {
    let backup = match wanted.folder.join(DATABASE) {
        file if file.is_file() => file,
        _ => {
            return Err(Failure::new(
                FailureKind::Usage,
                format!("{} is no backup", wanted.folder.display()),
            )
            .hint("Name a folder that memoir backup made."));
        }
    };
    let (factory, url) = (stores::factory(), stores::url(home));
    let faults = factory.verify_backup(&url, &backup).await?;
    if let Some(fault) = faults.first() {
        return Err(Failure::new(FailureKind::Failed, format!("the backup is damaged: {fault}"))
            .hint("Nothing was changed. Try an older one."));
    }
    println!("The memory at {} would be replaced, and kept beside it.", home.database().display());
    if !question::confirm("Restore it?", wanted.yes).await? {
        return Ok(());
    }
    private_folder(&home.data())?;
    let aside = fresh_folder(&home.data().join(named("before-restore", zone)))?;
    let restored = factory.restore(&url, &backup, &aside.join(DATABASE)).await;
    if restored.is_err() {
        let _ = std::fs::remove_dir(&aside);
    }
    restored.map_err(|error| match error {
        StoreError::Busy => Failure::new(FailureKind::Failed, "another program has this memory open")
            .hint("Close every memoir, the daemon too, and try again."),
        error => error.into(),
    })?;
    for folder in BESIDE {
        let (here, copy) = (home.data().join(folder), wanted.folder.join(folder));
        if here.exists() {
            std::fs::rename(&here, aside.join(folder))?;
        }
        copy_folder(&copy, &here)?;
    }
    println!("The memory is as it was then. What was here is in {}.", aside.display());
    Ok(())
}

/// A name with the moment in it.
fn named(what: &str, zone: &TimeZone) -> String {
    let moment = SystemClock.now().minute_in(zone).replace(':', "").replace(' ', "-");
    format!("{what}-{moment}")
}

/// Copies a folder with what is in it; one that is not there is nothing to copy.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let entries = match std::fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    private_folder(to)?;
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
