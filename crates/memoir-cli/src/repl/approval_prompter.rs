//! Asks the user to approve a tool call, after showing the exact command or change.

use std::io::stdin;

use async_trait::async_trait;
use memoir_agent::{ApprovalAnswer, ApprovalPrompter, ApprovalRequest};
use memoir_core::{reveal, reveal_on_one_line};

use crate::{
    question,
    screen::{terminal_style, text_width},
};

/// Begins each line of a command or another call.
const MARK: &str = "| ";

/// Begins the rest of a line that is wider than the terminal.
const CONTINUATION_MARK: &str = ": ";

pub(super) struct TerminalPrompter;

#[async_trait]
impl ApprovalPrompter for TerminalPrompter {
    async fn ask(&self, request: &ApprovalRequest) -> ApprovalAnswer {
        // Discard input typed before the question. If this fails, invalid input only repeats the question.
        let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
        let preview = reveal(request.preview.trim_end());
        let network = if request.needs_network { " and access to the network" } else { "" };
        say!("\n{} needs your approval{network}:", request.tool);
        if request.is_diff {
            anstream::println!("{}", memoir_markdown::color_diff(&preview, terminal_style()).trim_end());
        } else {
            // The mark before each line shows that the line does not come from Memoir.
            let width = text_width().saturating_sub(MARK.len());
            for line in preview.lines() {
                let wrapped = memoir_markdown::wrap_prose(line, width);
                let marks = std::iter::once(MARK).chain(std::iter::repeat(CONTINUATION_MARK));
                let parts = wrapped.lines().chain(wrapped.is_empty().then_some(""));
                for (mark, part) in marks.zip(parts) {
                    anstream::println!("{mark}{part}");
                }
            }
        }
        let always_option = request.always_rule.as_ref().map(|rule| {
            format!(", or a to always allow {} in this project", reveal_on_one_line(&rule.to_string()))
        });
        loop {
            let text = format!("Allow? [y/N]{}: ", always_option.as_deref().unwrap_or_default());
            let line = question::ask(&text).await;
            match line.as_deref().map(str::trim) {
                Some("y" | "yes") => return ApprovalAnswer::Yes,
                Some("a" | "always") if request.always_rule.is_some() => return ApprovalAnswer::Always,
                // An empty line or the end of input denies the call.
                Some("n" | "no" | "") | None => return ApprovalAnswer::No,
                Some(_) if request.always_rule.is_some() => say!("Type y, n or a."),
                Some(_) => say!("Type y or n."),
            }
        }
    }
}
