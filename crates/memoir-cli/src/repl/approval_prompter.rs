//! Asks the user to approve a tool call, after showing the exact command or change.

use std::io::stdin;

use async_trait::async_trait;
use memoir_agent::{ApprovalAnswer, ApprovalPrompter, ApprovalRequest};
use memoir_runtime::printable;

use super::echo::EchoMode;
use crate::{answer_view::terminal_style, question, screen::text_width};

pub(super) struct TerminalPrompter;

#[async_trait]
impl ApprovalPrompter for TerminalPrompter {
    async fn ask(&self, request: &ApprovalRequest) -> ApprovalAnswer {
        // Discard input typed before the question. If this fails, invalid input only repeats the question.
        let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
        let preview = plain(request.preview.trim_end());
        let is_diff = preview.starts_with("--- ");
        say!("\n{} needs your approval:", request.tool);
        if is_diff {
            anstream::println!("{}", memoir_markdown::color_diff(&preview, terminal_style()).trim_end());
        } else {
            anstream::print!("{}", memoir_markdown::wrap_prose(&preview, text_width()));
        }
        let always_option = request
            .always_rule
            .as_ref()
            .map(|rule| format!(", or a to always allow {} in this project", plain(&rule.to_string())));
        loop {
            let _echo = EchoMode::on();
            let text = format!("Allow? y or n{}: ", always_option.as_deref().unwrap_or_default());
            let line = question::ask(&text).await;
            match line.as_deref().map(str::trim) {
                Some("y" | "yes") => return ApprovalAnswer::Yes,
                Some("a" | "always") if request.always_rule.is_some() => return ApprovalAnswer::Always,
                // An empty line or the end of input denies the call.
                Some("n" | "no" | "") | None => return ApprovalAnswer::No,
                Some(_) => say!("Type y or n."),
            }
        }
    }
}

/// Replaces bidirectional control characters, which could make a preview look different from what would run.
fn plain(preview: &str) -> String {
    let is_bidi_control = |letter: char| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    printable(preview)
        .chars()
        .map(|letter| if is_bidi_control(letter) { '\u{fffd}' } else { letter })
        .collect()
}
