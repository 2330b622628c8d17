//! The log file, which records ignored and retried errors for troubleshooting.
//!
//! Only Memoir's own crates are logged, so that no HTTP library can leak a key, and secrets are redacted from every
//! line.

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

use crate::{
    environment::Environment, failure::Failure, files::create_private_directory, persistence::Persistence,
};

/// Size in bytes at which the log is rotated.
const MAX_SIZE: u64 = 1 << 20;

/// Target of the lines about requests that a server answered.
const ACCESS_LOG: &str = "memoir::access";

/// Number of rotated files to keep.
const MAX_ROTATED_FILES: u32 = 3;

/// Starts logging to `path`. `MEMOIR_LOG` sets the level; otherwise it depends on the number of `--verbose` flags.
pub fn start(
    path: PathBuf,
    environment: &Environment,
    verbose: u8,
    persistence: Persistence,
) -> Result<(), Failure> {
    let mut level = match environment.log_level() {
        Some(text) => text.parse::<LevelFilter>().map_err(|_| {
            Failure::usage(format!("MEMOIR_LOG is \"{text}\", which is not a log level"))
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
        // Traces contain messages, which must not stay on disk in this mode.
        level = level.min(LevelFilter::DEBUG);
    }
    // Nobody else sees what a server answers. Its lines contain nothing that was said.
    let access_level = if environment.log_level().is_some() { level } else { LevelFilter::INFO };
    let lines = fmt::layer()
        .with_ansi(false)
        .with_writer(LogFile::new(path))
        .with_filter(Targets::new().with_target("memoir", level).with_target(ACCESS_LOG, access_level));
    if let Err(error) = tracing_subscriber::registry().with(lines).try_init() {
        // This only happens if logging is started twice in one process, as in tests.
        tracing::debug!(%error, "logging has already been started");
    }
    Ok(())
}

/// A log file that is created when the first line is written, and rotated by size.
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
        let redacted = without_secrets(&text);
        let mut open = lock(&self.open);
        if open.as_ref().is_some_and(|current| current.size >= MAX_SIZE) {
            *open = None;
        }
        let current = match open.as_mut() {
            Some(current) => current,
            None => open.insert(open_rotated(&self.path)?),
        };
        current.file.write_all(redacted.as_bytes())?;
        current.size += redacted.len() as u64;
        Ok(())
    }
}

/// Opens the file for appending. Rotates a full one first: `memoir.log` becomes `memoir.log.1`, and so on.
fn open_rotated(path: &Path) -> io::Result<OpenFile> {
    if let Some(directory) = path.parent() {
        create_private_directory(directory)?;
    }
    if fs::metadata(path).is_ok_and(|file| file.len() >= MAX_SIZE) {
        let rotated = |number: u32| path.with_extension(format!("log.{number}"));
        for number in (1..MAX_ROTATED_FILES).rev() {
            rename_if_exists(&rotated(number), &rotated(number + 1))?;
        }
        rename_if_exists(path, &rotated(1))?;
    }
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let size = file.metadata()?.len();
    Ok(OpenFile { file, size })
}

/// Renames a file. A missing file is not an error: another process may have rotated it at the same time.
fn rename_if_exists(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes one line of the log.
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
    fn a_full_file_is_rotated_and_the_oldest_is_deleted() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("state/memoir.log");
        for round in 0..MAX_ROTATED_FILES + 3 {
            let log = LogFile::new(path.clone());
            log.write_line(format!("round {round}\n").as_bytes()).unwrap();
            fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(MAX_SIZE).unwrap();
        }
        let mut names: Vec<String> = fs::read_dir(directory.path().join("state"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["memoir.log", "memoir.log.1", "memoir.log.2", "memoir.log.3"]);
        let latest = fs::read_to_string(&path).unwrap();
        assert!(latest.starts_with(&format!("round {}\n", MAX_ROTATED_FILES + 2)), "{}", &latest[..20]);
    }

    #[test]
    fn a_key_never_reaches_the_file() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("memoir.log");
        let key = format!("sk-ant-api03-{}", "a1B2".repeat(20));
        LogFile::new(path.clone()).write_line(format!("calling with {key}\n").as_bytes()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("calling with ") && !text.contains(&key), "{text}");
    }
}
