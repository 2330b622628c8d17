//! Asking the user whether a tool may do something: the very command, or the change, and one key.

use std::io::stdin;

use anstream::println;
use async_trait::async_trait;
use memoir_agent::{Answer, Asker, Question};

use memoir_runtime::printable;

use super::echo::EchoMode;
use crate::{answer_view::look, question};

/// Asks on the terminal.
pub(super) struct TerminalAsker;

#[async_trait]
impl Asker for TerminalAsker {
    async fn ask(&self, question: &Question) -> Answer {
        // What was typed before the question is no answer to it. If it stays, the question is asked again.
        let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
        let preview = plain(question.preview.trim_end());
        // A change is easier to judge in colours.
        let preview =
            if preview.starts_with("--- ") { memoir_markdown::diff(&preview, look()) } else { preview };
        println!("\n{} wants to do this:\n{}", question.tool, preview.trim_end());
        let always = question
            .always
            .as_ref()
            .map(|rule| format!(", a to always allow {} in this project", plain(&rule.to_string())));
        loop {
            let _echo = EchoMode::on();
            let wanted = format!("Allow it? y or n{}: ", always.as_deref().unwrap_or_default());
            let line = question::ask(&wanted).await;
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
