//! Runs the binary in a real pseudo-terminal whose screen can be read.
//!
//! Every wait is for a change of the screen, never for a fixed time. [`Terminal::submit`] types a line only
//! while the line editor is reading, because before that the terminal is in another mode, in which Enter has
//! a different meaning.

use std::{
    io::{Read as _, Write},
    sync::{Arc, Condvar, Mutex},
    thread,
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::{ScriptedProvider, TestHome, WAIT_TIMEOUT};

/// The line editor's query for the cursor position, which a terminal must answer.
const CURSOR_QUERY: &[u8] = b"\x1b[6n";

/// Queries for the background color, the text color and the type of terminal, with the answers of a dark one. Some
/// programs wait for them.
const OTHER_QUERIES: [(&[u8], &str); 3] = [
    (b"\x1b]11;?", "\x1b]11;rgb:0000/0000/0000\x1b\\"),
    (b"\x1b]10;?", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    (b"\x1b[c", "\x1b[?62;22c"),
];

/// Enables bracketed paste. The line editor sends this when it starts to read a line, just before it draws the prompt.
const READ_START: &[u8] = b"\x1b[?2004h";

struct Screen {
    parser: vt100::Parser,
    /// Number of bytes received.
    received: usize,
    /// Everything received.
    output: Vec<u8>,
    /// Number of times the line editor started to read a line.
    prompts: usize,
    /// Value of `prompts` when the last line was entered. That prompt is still visible but no longer waits for input.
    answered_prompts: usize,
    has_ended: bool,
}

impl Screen {
    /// Returns whether the last non-empty line is a prompt that waits for input.
    fn is_at_prompt(&self) -> bool {
        let contents = self.parser.screen().contents();
        let last = contents.trim_end().lines().last().unwrap_or_default();
        self.prompts > self.answered_prompts && last.trim_end() == ">"
    }
}

/// A terminal with the program running in it.
pub struct Terminal {
    screen: Arc<(Mutex<Screen>, Condvar)>,
    keyboard: Arc<Mutex<Box<dyn Write + Send>>>,
    child: Box<dyn Child + Send + Sync>,
    // Must stay open, because closing it sends a hangup signal to the program.
    master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Opens a terminal of `rows` by `columns` and runs the binary of `home` in it.
    pub fn open(
        home: &TestHome,
        provider: Option<&ScriptedProvider>,
        size: (u16, u16),
        arguments: &[&str],
    ) -> Self {
        Self::open_with(home, provider, size, arguments, &[])
    }

    /// Like [`Terminal::open`], with additional environment variables.
    pub fn open_with(
        home: &TestHome,
        provider: Option<&ScriptedProvider>,
        (rows, columns): (u16, u16),
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(home.binary());
        command.args(arguments);
        command.env_clear();
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        if let Some(provider) = provider {
            command.env("OPENAI_BASE_URL", provider.base_url());
            command.env("OPENAI_API_KEY", "sk-test");
        }
        for (name, value) in variables {
            command.env(name, value);
        }
        command.cwd(home.workspace());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);

        let keyboard = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let parser = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 1000);
        let screen = Screen {
            parser,
            received: 0,
            output: Vec::new(),
            prompts: 0,
            answered_prompts: 0,
            has_ended: false,
        };
        let screen = Arc::new((Mutex::new(screen), Condvar::new()));
        let output = pair.master.try_clone_reader().unwrap();
        let (shared_screen, shared_keyboard) = (Arc::clone(&screen), Arc::clone(&keyboard));
        thread::spawn(move || process_output(output, &shared_screen, &shared_keyboard));
        Self { screen, keyboard, child, master: pair.master }
    }

    /// Waits for the prompt, types `line` and presses Enter.
    pub fn submit(&self, line: &str) {
        self.wait_for_prompt();
        self.type_keys(&format!("{line}\r"));
    }

    /// Types `keys` immediately; `\r` is Enter, `\x03` Ctrl-C, `\x04` Ctrl-D. For a whole line at the prompt, use
    /// [`Terminal::submit`].
    pub fn type_keys(&self, keys: &str) {
        if keys.contains(['\r', '\x03']) {
            let mut screen = self.screen.0.lock().unwrap();
            screen.answered_prompts = screen.prompts;
        }
        let mut keyboard = self.keyboard.lock().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    /// Resizes the terminal. The program may read further keys before it notices.
    pub fn set_size(&self, rows: u16, columns: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let mut screen = self.screen.0.lock().unwrap();
        screen.parser.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        drop(screen);
        self.master.resize(size).unwrap();
    }

    /// Resizes the terminal and waits until something is redrawn.
    pub fn resize(&self, rows: u16, columns: u16) {
        let (screen, changed) = &*self.screen;
        let received_before = screen.lock().unwrap().received;
        self.set_size(rows, columns);
        let is_unchanged = |screen: &mut Screen| !screen.has_ended && screen.received == received_before;
        let (screen, wait) =
            changed.wait_timeout_while(screen.lock().unwrap(), WAIT_TIMEOUT, is_unchanged).unwrap();
        assert!(!wait.timed_out(), "nothing was redrawn:\n{}", screen.parser.screen().contents());
    }

    /// Returns the screen with its colors.
    pub fn screen(&self) -> vt100::Screen {
        self.screen.0.lock().unwrap().parser.screen().clone()
    }

    /// Returns everything that the program has written, including escape sequences.
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&self.screen.0.lock().unwrap().output).into_owned()
    }

    /// Returns the lines of the screen without trailing spaces.
    pub fn rows(&self) -> Vec<String> {
        let (screen, _) = &*self.screen;
        let screen = screen.lock().unwrap();
        let (_, columns) = screen.parser.screen().size();
        screen.parser.screen().rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
    }

    /// Returns the text on the screen, with durations replaced so that it is the same in every run.
    pub fn stable_text(&self) -> String {
        let (screen, _) = &*self.screen;
        let contents = screen.lock().unwrap().parser.screen().contents();
        let line = |line: &str| match line.trim_end().rsplit_once(" · ") {
            Some((before, last)) if last.ends_with(" s") => format!("{before} · N s"),
            _ => line.trim_end().to_owned(),
        };
        contents.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Waits until the text on the screen satisfies `condition`, and returns the text. The condition is
    /// checked when the screen changes, so it must depend only on the screen; for other conditions, use
    /// [`wait_until`](crate::wait_until).
    pub fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        self.wait_while(what, |screen| !condition(&screen.parser.screen().contents()))
    }

    /// Waits until the screen contains `text`, which may be wrapped, and returns the text on the screen.
    pub fn wait_for(&self, text: &str) -> String {
        let is_shown = |screen: &str| screen.contains(text) || unwrap_lines(screen).contains(text);
        self.wait_until(&format!("{text:?}"), is_shown)
    }

    /// Waits until an empty prompt waits for input. A prompt at which a line was already entered does not count.
    pub fn wait_for_prompt(&self) -> String {
        self.wait_while("the prompt", |screen| !screen.is_at_prompt())
    }

    fn wait_while(&self, what: &str, is_missing: impl Fn(&Screen) -> bool) -> String {
        let (screen, changed) = &*self.screen;
        let must_wait = |screen: &mut Screen| !screen.has_ended && is_missing(screen);
        let (screen, _) =
            changed.wait_timeout_while(screen.lock().unwrap(), WAIT_TIMEOUT, must_wait).unwrap();
        let contents = screen.parser.screen().contents();
        assert!(!is_missing(&screen), "the screen never showed {what}; it shows:\n{contents}");
        contents
    }

    /// Returns the program's resident memory on Linux, and 0 on other systems.
    pub fn resident_kilobytes(&self) -> u64 {
        let status = self.child.process_id().map(|id| std::fs::read_to_string(format!("/proc/{id}/status")));
        let status = status.and_then(Result::ok).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
    }

    /// Waits until the program ends, and returns its exit code.
    pub fn wait_for_exit(&mut self) -> u32 {
        let (screen, changed) = &*self.screen;
        let guard = screen.lock().unwrap();
        let (guard, _) = changed.wait_timeout_while(guard, WAIT_TIMEOUT, |screen| !screen.has_ended).unwrap();
        assert!(
            guard.has_ended,
            "the program did not end; the screen shows:\n{}",
            guard.parser.screen().contents()
        );
        drop(guard);
        self.child.wait().unwrap().exit_code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ = self.child.kill();
    }
}

/// Passes the program's output to the screen, answers cursor queries, and counts prompts.
fn process_output(
    mut output: Box<dyn std::io::Read + Send>,
    screen: &(Mutex<Screen>, Condvar),
    keyboard: &Mutex<Box<dyn Write + Send>>,
) {
    let mut buffer = [0; 4096];
    let mut recent = Vec::new();
    loop {
        let count = output.read(&mut buffer).unwrap_or(0);
        let mut guard = screen.0.lock().unwrap();
        if count == 0 {
            guard.has_ended = true;
            screen.1.notify_all();
            return;
        }
        guard.parser.process(&buffer[..count]);
        guard.received += count;
        guard.output.extend_from_slice(&buffer[..count]);
        recent.extend_from_slice(&buffer[..count]);
        let queries = count_new(&recent, count, CURSOR_QUERY);
        let prompts = count_new(&recent, count, READ_START);
        guard.prompts += prompts;
        let (row, column) = guard.parser.screen().cursor_position();
        drop(guard);
        for _ in 0..queries {
            let mut keyboard = keyboard.lock().unwrap();
            // The write fails if the program has ended.
            let _ = write!(keyboard, "\x1b[{};{}R", row + 1, column + 1).and_then(|()| keyboard.flush());
        }
        for (query, answer) in OTHER_QUERIES {
            for _ in 0..count_new(&recent, count, query) {
                let mut keyboard = keyboard.lock().unwrap();
                let _ = keyboard.write_all(answer.as_bytes()).and_then(|()| keyboard.flush());
            }
        }
        // A sequence may be split between two reads.
        let start = recent.len().saturating_sub(CURSOR_QUERY.len().max(READ_START.len()) - 1);
        recent.drain(..start);
        screen.1.notify_all();
    }
}

/// Returns the number of occurrences of `sequence` that end within the last `new` bytes.
fn count_new(bytes: &[u8], new: usize, sequence: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(new + sequence.len() - 1);
    bytes[start..].windows(sequence.len()).filter(|window| *window == sequence).count()
}

/// Returns `text` with every run of white space as one space.
fn unwrap_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
