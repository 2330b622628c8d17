//! A terminal to run the binary in: a real pseudo-terminal, and a screen that can be read.
//!
//! Every wait is for something on the screen, never for a time. A line is typed only while the line editor reads
//! ([`Terminal::submit`] sees to that): before, the terminal is in another mode, in which Enter means something else.

use std::{
    io::{Read as _, Write},
    sync::{Arc, Condvar, Mutex},
    thread,
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::{PATIENCE, ScriptedProvider, TestHome};

/// The question "where is the cursor?", which the line editor asks and a terminal must answer.
const CURSOR_QUERY: &[u8] = b"\x1b[6n";

/// What the line editor sends when it begins to read a line: it has set up the terminal, and draws the prompt next.
const READING: &[u8] = b"\x1b[?2004h";

struct Screen {
    parser: vt100::Parser,
    /// Number of bytes received.
    received: usize,
    /// Number of times the line editor began to read a line.
    prompts: usize,
    /// The value of `prompts` when a line was last entered: what is drawn of that prompt is no longer waiting for input.
    entered: usize,
    ended: bool,
}

impl Screen {
    /// Returns whether the prompt is on the last line that is not empty, and waits for input.
    fn is_at_prompt(&self) -> bool {
        let contents = self.parser.screen().contents();
        let last = contents.trim_end().lines().last().unwrap_or_default();
        self.prompts > self.entered && last.trim_end() == ">"
    }
}

/// A terminal with the program running in it.
pub struct Terminal {
    screen: Arc<(Mutex<Screen>, Condvar)>,
    keyboard: Arc<Mutex<Box<dyn Write + Send>>>,
    child: Box<dyn Child + Send + Sync>,
    // Kept open: closing it hangs up on the program.
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

    /// The same with variables of one's own.
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
        let screen = Screen { parser, received: 0, prompts: 0, entered: 0, ended: false };
        let screen = Arc::new((Mutex::new(screen), Condvar::new()));
        let reader = pair.master.try_clone_reader().unwrap();
        let (shown, answers) = (Arc::clone(&screen), Arc::clone(&keyboard));
        thread::spawn(move || watch(reader, &shown, &answers));
        Self { screen, keyboard, child, master: pair.master }
    }

    /// Waits for the prompt, types `line` and presses Enter.
    pub fn submit(&self, line: &str) {
        self.wait_for_prompt();
        self.type_keys(&format!("{line}\r"));
    }

    /// Types `keys` at once; `\r` is Enter, `\x03` Ctrl-C, `\x04` Ctrl-D. For a whole line at the prompt, use [`Terminal::submit`].
    pub fn type_keys(&self, keys: &str) {
        if keys.contains(['\r', '\x03']) {
            let mut screen = self.screen.0.lock().unwrap();
            screen.entered = screen.prompts;
        }
        let mut keyboard = self.keyboard.lock().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    /// Resizes the terminal, as dragging its corner does, and waits until the prompt is redrawn: what is typed at the same moment may
    /// be read before the new size is.
    pub fn resize(&self, rows: u16, columns: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let (screen, _) = &*self.screen;
        let mut screen = screen.lock().unwrap();
        screen.parser.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        let before = screen.received;
        drop(screen);
        self.master.resize(size).unwrap();
        let (screen, changed) = &*self.screen;
        let waiting = |screen: &mut Screen| !screen.ended && screen.received == before;
        let (screen, late) = changed.wait_timeout_while(screen.lock().unwrap(), PATIENCE, waiting).unwrap();
        assert!(!late.timed_out(), "nothing is redrawn:\n{}", screen.parser.screen().contents());
    }

    /// The screen with its colours.
    pub fn screen(&self) -> vt100::Screen {
        self.screen.0.lock().unwrap().parser.screen().clone()
    }

    /// The screen line by line, as wide as it is.
    pub fn rows(&self) -> Vec<String> {
        let (screen, _) = &*self.screen;
        let screen = screen.lock().unwrap();
        let (_, columns) = screen.parser.screen().size();
        screen.parser.screen().rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
    }

    /// The screen as it is, with what differs from run to run made the same: how long something took.
    pub fn picture(&self) -> String {
        let (screen, _) = &*self.screen;
        let contents = screen.lock().unwrap().parser.screen().contents();
        let line = |line: &str| match line.trim_end().rsplit_once(" · ") {
            Some((before, last)) if last.ends_with(" s") => format!("{before} · N s"),
            _ => line.trim_end().to_owned(),
        };
        contents.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Waits until the text on the screen satisfies `condition`, and returns it. The condition is checked when the screen changes, so it
    /// must depend on the screen alone; for anything else there is [`wait_until`](crate::wait_until).
    pub fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        self.wait_while(what, |screen| !condition(&screen.parser.screen().contents()))
    }

    /// Waits until the screen shows `text`.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("{text:?}"), |screen| screen.contains(text))
    }

    /// Waits until an empty prompt waits for input: a new one, if a line was entered at the last.
    pub fn wait_for_prompt(&self) -> String {
        self.wait_while("the prompt", |screen| !screen.is_at_prompt())
    }

    fn wait_while(&self, what: &str, lacks: impl Fn(&Screen) -> bool) -> String {
        let (screen, changed) = &*self.screen;
        let waits = |screen: &mut Screen| !screen.ended && lacks(screen);
        let (screen, _) = changed.wait_timeout_while(screen.lock().unwrap(), PATIENCE, waits).unwrap();
        let contents = screen.parser.screen().contents();
        assert!(!lacks(&screen), "never saw {what}; the screen is:\n{contents}");
        contents
    }

    /// How much memory the program holds, as Linux counts it; zero elsewhere.
    pub fn resident_kilobytes(&self) -> u64 {
        let status = self.child.process_id().map(|id| std::fs::read_to_string(format!("/proc/{id}/status")));
        let status = status.and_then(Result::ok).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
    }

    /// Waits until the program ends, and gives its exit code.
    pub fn wait_for_exit(&mut self) -> u32 {
        let (screen, changed) = &*self.screen;
        let guard = screen.lock().unwrap();
        let (guard, _) = changed.wait_timeout_while(guard, PATIENCE, |screen| !screen.ended).unwrap();
        assert!(
            guard.ended,
            "the program does not end; the screen is:\n{}",
            guard.parser.screen().contents()
        );
        drop(guard);
        self.child.wait().unwrap().exit_code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
    }
}

/// Feeds what the program writes to the screen, answers its questions about the cursor, and counts its prompts.
fn watch(
    mut output: Box<dyn std::io::Read + Send>,
    screen: &(Mutex<Screen>, Condvar),
    keyboard: &Mutex<Box<dyn Write + Send>>,
) {
    let mut buffer = [0; 4096];
    let mut unseen = Vec::new();
    loop {
        let read = output.read(&mut buffer).unwrap_or(0);
        let mut guard = screen.0.lock().unwrap();
        if read == 0 {
            guard.ended = true;
            screen.1.notify_all();
            return;
        }
        guard.parser.process(&buffer[..read]);
        guard.received += read;
        unseen.extend_from_slice(&buffer[..read]);
        let (queries, prompts) = (count_new(&unseen, read, CURSOR_QUERY), count_new(&unseen, read, READING));
        guard.prompts += prompts;
        let (row, column) = guard.parser.screen().cursor_position();
        drop(guard);
        for _ in 0..queries {
            let mut keyboard = keyboard.lock().unwrap();
            // The program may have ended meanwhile.
            let _ = write!(keyboard, "\x1b[{};{}R", row + 1, column + 1).and_then(|()| keyboard.flush());
        }
        // A sequence may be split between two reads.
        let start = unseen.len().saturating_sub(CURSOR_QUERY.len().max(READING.len()) - 1);
        unseen.drain(..start);
        screen.1.notify_all();
    }
}

/// Returns how often `sequence` ends within the last `new` bytes.
fn count_new(bytes: &[u8], new: usize, sequence: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(new + sequence.len() - 1);
    bytes[start..].windows(sequence.len()).filter(|window| *window == sequence).count()
}
