//! Opening the pages of a server in the user's browser.
//!
//! A server announces its address in a file that it keeps locked. A link that logs the user in contains a code, whose hash
//! is the name of a file: whoever can write to the data directory may log in, and nothing is sent to a server that may
//! be somebody else's. The server deletes the file when the code is used.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use super::tokens::{hash, random_text};
use crate::{
    failure::Failure,
    files::{create_private_directory, write_private},
    home::Home,
};

/// How long a code can be used.
const CODE_LIFETIME: Duration = Duration::from_secs(120);

/// Maximum length of a code in bytes.
const MAX_CODE_BYTES: usize = 100;

/// Maximum length of an address in bytes.
const MAX_URL_BYTES: u64 = 1024;

/// The address of a running server, which other processes can find until this is dropped.
pub struct Announcement {
    /// Holds the lock for as long as it is open.
    _file: File,
}

impl Announcement {
    /// Announces a server. Returns `None` if another server of this memory is running.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn publish(url: &str, home: &Home) -> Result<Option<Self>, Failure> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(lock_file(home))?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                file.write_all(url.as_bytes())?;
                Ok(Some(Self { _file: file }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

/// Returns the address of the running server, or `None` if there is none.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn find_server(home: &Home) -> Result<Option<String>, Failure> {
    let file = match File::open(lock_file(home)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let mut url = String::new();
            file.take(MAX_URL_BYTES).read_to_string(&mut url)?;
            Ok(Some(url).filter(|url| !url.is_empty()))
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Returns a code that logs its bearer in once, within two minutes.
///
/// # Errors
///
/// Fails if the data directory cannot be written.
pub fn issue_code(home: &Home) -> Result<String, Failure> {
    let directory = code_directory(home);
    create_private_directory(&directory)?;
    remove_old_codes(&directory);
    let code = random_text()?;
    write_private(&directory.join(hash(&code)), "")?;
    Ok(code)
}

/// Uses up a code. Returns whether it was valid.
pub fn redeem_code(code: &str, home: &Home) -> bool {
    if code.len() > MAX_CODE_BYTES {
        return false;
    }
    let path = code_directory(home).join(hash(code));
    let is_fresh = is_fresh(&path);
    // Only one of several attempts can remove the file.
    fs::remove_file(&path).is_ok() && is_fresh
}

fn is_fresh(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age <= CODE_LIFETIME)
}

/// Removes codes that nobody has used in time.
fn remove_old_codes(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten().filter(|entry| !is_fresh(&entry.path())) {
        if let Err(error) = fs::remove_file(entry.path()) {
            // It is of no use to anybody.
            tracing::debug!(%error, "could not remove an old code");
        }
    }
}

fn lock_file(home: &Home) -> PathBuf {
    home.data().join("serve.lock")
}

fn code_directory(home: &Home) -> PathBuf {
    home.data().join("serve.codes")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_code_is_valid_once_and_for_two_minutes() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::in_directory(directory.path());
        let (code, late) = (issue_code(&home).unwrap(), issue_code(&home).unwrap());
        assert!(!redeem_code("", &home) && !redeem_code("../serve.lock", &home));
        assert!(!redeem_code(&format!("{code}x"), &home));
        assert_eq!((redeem_code(&code, &home), redeem_code(&code, &home)), (true, false));
        let file = OpenOptions::new().write(true).open(code_directory(&home).join(hash(&late))).unwrap();
        file.set_modified(SystemTime::now() - CODE_LIFETIME - Duration::from_secs(1)).unwrap();
        assert!(!redeem_code(&late, &home));
        assert_eq!(fs::read_dir(code_directory(&home)).unwrap().count(), 0);
    }

    #[test]
    fn a_server_is_found_while_it_runs() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::in_directory(directory.path());
        assert_eq!(find_server(&home).unwrap(), None);
        let announcement = Announcement::publish("http://127.0.0.1:7373", &home).unwrap().unwrap();
        assert!(Announcement::publish("http://127.0.0.1:8", &home).unwrap().is_none());
        assert_eq!(find_server(&home).unwrap().as_deref(), Some("http://127.0.0.1:7373"));
        drop(announcement);
        assert_eq!(find_server(&home).unwrap(), None);
    }
}
