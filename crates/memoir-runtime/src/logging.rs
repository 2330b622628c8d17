//! The log file: what libraries ignored or retried, for whoever looks into a problem later.
//!
//! Only Memoir's own crates are logged, so that no HTTP library can write a key, and every line passes through redaction.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use memoir_core::lock;
use memoir_redact::without_secrets;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    Layer as _,
    filter::Targets,
    fmt::{self, MakeWriter},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::{environment::Environment, failure::Failure, files::private_folder, persistence::Persistence};

/// Size at which the log starts a new file, in bytes.
const LARGEST: u64 = 1 << 20;

/// Number of earlier files that are kept.
const KEPT_FILES: u32 = 3;

/// Starts logging to `path`. `MEMOIR_LOG` sets the level; otherwise `--verbose` raises it from warnings to traces.
///
/// # Errors
///
/// Fails if `MEMOIR_LOG` is not a level.
pub fn start(
    path: PathBuf,
    environment: &Environment,
    verbose: u8,
    persistence: Persistence,
) -> Result<(), Failure> {
    let mut level = match environment.log_level() {
        Some(text) => text.parse::<LevelFilter>().map_err(|_| {
            Failure::usage(format!("MEMOIR_LOG has no level \"{text}\""))
                .hint("Use off, error, warn, info, debug or trace.")
        })?,
        None => match verbose {
            0 => LevelFilter::WARN,
            1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        },
    };
    if persistence != Persistence::Permanent {
        // Traces hold what was said, and nothing that is said there may stay on disk.
        level = level.min(LevelFilter::DEBUG);
    }
    let lines = fmt::layer()
        .with_ansi(false)
        .with_writer(LogFile::new(path))
        .with_filter(Targets::new().with_target("memoir", level));
    if let Err(error) = tracing_subscriber::registry().with(lines).try_init() {
        // Only a second start in one process, as in a test, comes here.
        tracing::debug!(%error, "logging was started before");
    }
    Ok(())
}

/// A log file that is created with its first line and rotated by size.
struct LogFile {
    path: PathBuf,
    open: Mutex<Option<OpenFile>>,
}

struct OpenFile {
    file: File,
    size: u64,
}

impl LogFile {
    fn new(path: PathBuf) -> Self {
        Self { path, open: Mutex::new(None) }
    }

    fn write_line(&self, line: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(line);
        let clean = without_secrets(&text);
        let mut open = lock(&self.open);
        if open.as_ref().is_some_and(|current| current.size >= LARGEST) {
            *open = None;
        }
        let current = match open.as_mut() {
            Some(current) => current,
            None => open.insert(open_rotated(&self.path)?),
        };
        current.file.write_all(clean.as_bytes())?;
        current.size += clean.len() as u64;
        Ok(())
    }
}

/// Opens the file for appending, after moving a full one aside: `memoir.log` becomes `memoir.log.1`, and so on.
fn open_rotated(path: &Path) -> io::Result<OpenFile> {
    if let Some(folder) = path.parent() {
        private_folder(folder)?;
    }
    if fs::metadata(path).is_ok_and(|file| file.len() >= LARGEST) {
        let numbered = |number: u32| path.with_extension(format!("log.{number}"));
        for number in (1..KEPT_FILES).rev() {
            rename_if_there(&numbered(number), &numbered(number + 1))?;
        }
        rename_if_there(path, &numbered(1))?;
    }
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let size = file.metadata()?.len();
    Ok(OpenFile { file, size })
}

/// Another process may have rotated the files at the same moment.
fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes one event.
struct LineWriter<'a>(&'a LogFile);

impl Write for LineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_line(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter(self)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn a_full_file_is_moved_aside_and_only_some_are_kept() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("state/memoir.log");
        for round in 0..KEPT_FILES + 3 {
            let log = LogFile::new(path.clone());
            log.write_line(format!("round {round}\n").as_bytes()).unwrap();
            fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(LARGEST).unwrap();
        }
        let mut names: Vec<String> = fs::read_dir(folder.path().join("state"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["memoir.log", "memoir.log.1", "memoir.log.2", "memoir.log.3"]);
        let latest = fs::read_to_string(&path).unwrap();
        assert!(latest.starts_with(&format!("round {}\n", KEPT_FILES + 2)), "{}", &latest[..20]);
    }

    #[test]
    fn a_key_never_reaches_the_file() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("memoir.log");
        let key = format!("sk-ant-api03-{}", "a1B2".repeat(20));
        LogFile::new(path.clone()).write_line(format!("calling with {key}\n").as_bytes()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("calling with ") && !text.contains(&key), "{text}");
    }
}
