//! Asks the user questions on the terminal.

use std::{
    io::{BufRead as _, IsTerminal as _, Write as _, stdin, stdout},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use memoir_runtime::Failure;

use crate::{echo::EchoMode, screen::wrap_text};

/// Prints a question and returns the line that the user types, or `None` at the end of input. If this future is
/// dropped, the next line is left for other readers of stdin.
pub(crate) async fn ask(question: &str) -> Option<String> {
    // If stdout is closed, there will be no answer either.
    let question = wrap_text(question.trim_end());
    let _ = write!(stdout(), "{question} ").and_then(|()| stdout().flush());
    let _echo = EchoMode::on();
    let mut guard = CancelOnDrop::default();
    let is_cancelled = Arc::clone(&guard.is_cancelled);
    let line = tokio::task::spawn_blocking(move || read_line(&is_cancelled)).await.ok().flatten();
    guard.is_answered = true;
    line
}

/// Asks the user to confirm something that cannot be undone. Returns `true` without asking if `is_confirmed`.
pub(crate) async fn confirm(question: &str, is_confirmed: bool) -> Result<bool, Failure> {
    if is_confirmed {
        return Ok(true);
    }
    if !stdin().is_terminal() {
        return Err(
            Failure::usage("this needs confirmation, but stdin is not a terminal").hint("Add `--yes`.")
        );
    }
    let answer = ask(&format!("{question} [y/N] ")).await;
    let is_yes = matches!(answer.as_deref().map(str::trim), Some("y" | "yes"));
    if !is_yes {
        writeln!(stdout(), "Nothing was changed.")?;
    }
    Ok(is_yes)
}

/// Stops the reading thread when the question is dropped, and ends the line if it was not answered.
#[derive(Default)]
struct CancelOnDrop {
    is_cancelled: Arc<AtomicBool>,
    is_answered: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if !self.is_answered {
            // If stdout is closed, nothing is on the line.
            let _ = writeln!(stdout());
        }
    }
}

/// Returns a line of stdin, or `None` at the end of input or once the question is cancelled.
fn read_line(is_cancelled: &AtomicBool) -> Option<String> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let input = stdin();
    let poll_interval = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    while !is_cancelled.load(Ordering::Relaxed) {
        let mut polled = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut polled, Some(&poll_interval)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            // This input is for the next reader. It may be the terminal's reply to the line editor.
            Ok(_) if is_cancelled.load(Ordering::Relaxed) => return None,
            Ok(_) => {
                let mut line = String::new();
                return match input.lock().read_line(&mut line) {
                    Ok(1..) => Some(line),
                    _ => None,
                };
            }
            Err(_) => return None,
        }
    }
    None
}
