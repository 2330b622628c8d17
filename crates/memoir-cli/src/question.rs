//! Asking the user something in the middle of work, on the terminal.

use std::{
    io::{BufRead as _, IsTerminal as _, Write as _, stdin, stdout},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use memoir_runtime::Failure;

/// Asks, and waits for a line. None when nobody answers. Whoever stops waiting leaves the next line to others.
pub(crate) async fn ask(question: &str) -> Option<String> {
    // A reader that went away gives no answer either.
    let _ = write!(stdout(), "{question}").and_then(|()| stdout().flush());
    let given_up = GivenUp::default();
    let flag = Arc::clone(&given_up.0);
    tokio::task::spawn_blocking(move || read_line(&flag)).await.ok().flatten()
}

/// Whether something that cannot be undone is to be done. `sure` says that it was confirmed beforehand.
pub(crate) async fn confirm(question: &str, sure: bool) -> Result<bool, Failure> {
    if sure {
        return Ok(true);
    }
    if !stdin().is_terminal() {
        return Err(Failure::usage("nobody is there to confirm it").hint("Add --yes."));
    }
    let answer = ask(&format!("{question} [y/N] ")).await;
    let yes = matches!(answer.as_deref().map(str::trim), Some("y" | "yes"));
    if !yes {
        writeln!(stdout(), "Nothing was changed.")?;
    }
    Ok(yes)
}

/// Says that nobody waits for the line any more: it belongs to whoever reads next.
#[derive(Default)]
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A line, unless nobody waits for it any more. None at the end of input.
fn read_line(given_up: &AtomicBool) -> Option<String> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let input = stdin();
    let a_moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    while !given_up.load(Ordering::Relaxed) {
        let mut waiting = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut waiting, Some(&a_moment)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            // What came belongs to whoever reads next: it may be the terminal's answer to the line editor.
            Ok(_) if given_up.load(Ordering::Relaxed) => return None,
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
