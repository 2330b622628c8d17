//! The recordings in the documentation: sessions with the real program, as animated pictures.

mod picture;
mod sessions;

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use memoir_testkit::{ScriptedProvider, Terminal, TestHome};
use vt100::Screen;

use crate::{ChoreError, ChoreResult};

/// Rows and columns of the terminal.
const SIZE: (u16, u16) = (22, 92);

/// Pause between two keys.
const KEY_PAUSE: Duration = Duration::from_millis(40);

/// Longest time for which a screen is shown while the program works, so that nobody waits for a recording.
const LONGEST_WAIT: Duration = Duration::from_millis(400);

/// Records all sessions with the program at `binary`, and writes the pictures to `directory`.
pub(crate) fn record(binary: &Path, directory: &Path) -> ChoreResult {
    fs::create_dir_all(directory).map_err(|error| ChoreError::file(directory, error))?;
    let mut sizes = Vec::new();
    for session in sessions::SESSIONS {
        let picture = picture::draw(&(session.record)(binary)?, session.title);
        let path = directory.join(session.name).with_extension("svg");
        fs::write(&path, &picture).map_err(|error| ChoreError::file(&path, error))?;
        sizes.push(format!("{} ({} kB)", session.name, picture.len() / 1024));
    }
    Ok(format!("{}.", sizes.join(", ")))
}

/// A screen, and for how long it is shown.
struct RecordedFrame {
    screen: Screen,
    duration: Duration,
}

/// Types like a person and records what the terminal shows.
struct Recorder {
    terminal: Terminal,
    frames: Vec<RecordedFrame>,
}

impl Recorder {
    /// Starts the program with these arguments and waits for the prompt.
    fn start(home: &TestHome, provider: Option<&ScriptedProvider>, arguments: &[&str]) -> Self {
        let terminal = Terminal::open(home, provider, SIZE, arguments);
        terminal.wait_for_prompt();
        let mut recorder = Self { terminal, frames: Vec::new() };
        recorder.pause(2);
        recorder
    }

    /// Types `line` at the prompt, waits until `shown` and the next prompt appear, and leaves time to read.
    fn ask(&mut self, line: &str, shown: &str, seconds: u64) {
        self.enter(line, shown);
        self.terminal.wait_for_prompt();
        self.pause(seconds);
    }

    /// Types `line` and waits until `shown` appears.
    fn enter(&mut self, line: &str, shown: &str) {
        let mut typed = String::new();
        for key in line.chars() {
            typed.push(key);
            self.terminal.type_keys(key.encode_utf8(&mut [0; 4]));
            // A line that is longer than the terminal is wrapped, so only its end is compared.
            let end: String = typed.chars().skip(typed.chars().count().saturating_sub(3)).collect();
            self.terminal.wait_until("the letters", |screen| screen.contains(end.trim()));
            thread::sleep(KEY_PAUSE);
            self.capture(KEY_PAUSE);
        }
        self.terminal.type_keys("\r");
        let mut before = Instant::now();
        memoir_testkit::wait_until(shown, || {
            self.capture(before.elapsed().min(LONGEST_WAIT));
            before = Instant::now();
            self.terminal.screen().contents().contains(shown)
        });
    }

    /// Shows the screen for some seconds.
    fn pause(&mut self, seconds: u64) {
        self.capture(Duration::from_secs(seconds));
    }

    /// Adds the screen, or shows the previous one longer if nothing has changed.
    fn capture(&mut self, duration: Duration) {
        let screen = self.terminal.screen();
        match self.frames.last_mut() {
            Some(last) if last.screen.contents_formatted() == screen.contents_formatted() => {
                last.duration += duration;
            }
            _ => self.frames.push(RecordedFrame { screen, duration }),
        }
    }
}
