//! Asking the user whether a tool may do something: the very command, or the change, and one key.

use std::{
    io::{BufRead as _, Write as _, stdin, stdout},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anstream::println;
use async_trait::async_trait;
use memoir_agent::{Answer, Asker, Question};

use super::quiet::Echo;
use crate::printable::printable;

/// Asks on the terminal.
pub(super) struct TerminalAsker;

#[async_trait]
impl Asker for TerminalAsker {
    async fn ask(&self, question: &Question) -> Answer {
        // What was typed before the question is no answer to it.
        let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
        println!("\n{} wants to do this:\n{}", question.tool, plain(question.preview.trim_end()));
        let always =
            question.always.as_ref().map(|rule| format!(", a to always allow {rule} in this project"));
        loop {
            let _ = write!(stdout(), "Allow it? y or n{}: ", always.as_deref().unwrap_or_default());
            let _ = stdout().flush();
            let given_up = GivenUp::default();
            let flag = Arc::clone(&given_up.0);
            let _echo = Echo::begin();
            let line = tokio::task::spawn_blocking(move || read_line(&flag)).await.ok().flatten();
            match line.as_deref().map(str::trim) {
                Some("y" | "yes") => return Answer::Yes,
                Some("a" | "always") if question.always.is_some() => return Answer::Always,
                // Nothing typed, or nobody there, is no.
                Some("n" | "no" | "") | None => return Answer::No,
                Some(_) => println!("Type y or n."),
            }
        }
    }
}

/// A preview in which nothing is drawn in another order than it stands.
fn plain(preview: &str) -> String {
    let turns = |letter: char| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    printable(preview).chars().map(|letter| if turns(letter) { '\u{fffd}' } else { letter }).collect()
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
