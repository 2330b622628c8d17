//! A terminal to run the binary in: a real pseudo-terminal, and a screen that can be read.

use std::{
    io::{Read as _, Write},
    sync::{Arc, Condvar, Mutex},
    thread,
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::{Home, PATIENCE, ScriptedProvider};

/// The question "where is the cursor?", which the line editor asks and a terminal must answer.
const CURSOR_QUERY: &[u8] = b"\x1b[6n";

struct Screen {
    parser: vt100::Parser,
    /// How many bytes have come.
    received: usize,
    ended: bool,
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
        home: &Home,
        provider: Option<&ScriptedProvider>,
        size: (u16, u16),
        arguments: &[&str],
    ) -> Self {
        Self::open_with(home, provider, size, arguments, &[])
    }

    /// The same with variables of one's own.
    pub fn open_with(
        home: &Home,
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
        let screen = Arc::new((Mutex::new(Screen { parser, received: 0, ended: false }), Condvar::new()));
        let reader = pair.master.try_clone_reader().unwrap();
        let (shown, answers) = (Arc::clone(&screen), Arc::clone(&keyboard));
        thread::spawn(move || watch(reader, &shown, &answers));
        Self { screen, keyboard, child, master: pair.master }
    }

    /// Types `keys`; `\r` is Enter, `\x03` Ctrl-C, `\x04` Ctrl-D.
    pub fn type_keys(&self, keys: &str) {
        let mut keyboard = self.keyboard.lock().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    /// Gives the terminal another size, as dragging its corner does, and waits until the prompt is drawn anew: what is typed at the same
    /// moment may be read before the new size is.
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
        assert!(!late.timed_out(), "nothing is drawn anew:\n{}", screen.parser.screen().contents());
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

    /// Waits until the screen satisfies `condition`, and gives its text.
    pub fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        let (screen, changed) = &*self.screen;
        let screen = screen.lock().unwrap();
        let unsatisfied =
            |screen: &mut Screen| !screen.ended && !condition(&screen.parser.screen().contents());
        let (screen, _) = changed.wait_timeout_while(screen, PATIENCE, unsatisfied).unwrap();
        let contents = screen.parser.screen().contents();
        assert!(condition(&contents), "never saw {what}; the screen is:\n{contents}");
        contents
    }

    /// Waits until the screen shows `text`.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("{text:?}"), |screen| screen.contains(text))
    }

    /// Waits until the prompt stands on the last line that has anything on it, ready for typing.
    pub fn wait_for_prompt(&self) -> String {
        self.wait_until("the prompt", |screen| {
            screen.trim_end().lines().last().is_some_and(|line| line.trim_end() == ">")
        })
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
        let _ = self.child.kill();
    }
}

/// Feeds what the program writes to the screen, and answers its questions about the cursor.
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
        let (row, column) = guard.parser.screen().cursor_position();
        drop(guard);
        while let Some(start) = unseen.windows(CURSOR_QUERY.len()).position(|window| window == CURSOR_QUERY) {
            unseen.drain(..start + CURSOR_QUERY.len());
            let mut keyboard = keyboard.lock().unwrap();
            let _ = write!(keyboard, "\x1b[{};{}R", row + 1, column + 1).and_then(|()| keyboard.flush());
        }
        // Keep only what may be the beginning of a question.
        let kept = unseen.len().saturating_sub(CURSOR_QUERY.len() - 1);
        unseen.drain(..kept);
        screen.1.notify_all();
    }
}
