//! The line editor: reedline with our keys and our history.

use reedline::{
    EditCommand, Emacs, FileBackedHistory, History as _, HistoryItem, KeyCode, KeyModifiers, Reedline,
    ReedlineEvent, Signal, default_emacs_keybindings,
};

use super::prompt::MemoirPrompt;
use crate::failure::{Failure, Kind};

/// How many earlier lines the arrow keys and Ctrl-R reach. All of them stay in the store.
pub(super) const REMEMBERED_LINES: u32 = 1000;

/// What Ctrl-C means at the prompt; the name never leaves this file.
const INTERRUPT: &str = "interrupt";

/// What the user did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Typed(String),
    Nothing,
    Quit,
}

pub(super) struct Editor(Reedline);

impl Editor {
    /// An editor that remembers `earlier` lines. Reedline keeps them in memory; the REPL writes new ones to
    /// the store, where a failure can be told.
    pub(super) fn new(earlier: &[String]) -> Self {
        let mut history = FileBackedHistory::new(REMEMBERED_LINES as usize).unwrap_or_default();
        for line in earlier {
            // An in-memory history takes every line.
            let _ = history.save(HistoryItem::from_command_line(line));
        }
        let mut keys = default_emacs_keybindings();
        let interrupt = ReedlineEvent::ExecuteHostCommand(INTERRUPT.into());
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('c'), interrupt);
        let new_line = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, new_line);
        let editor = Reedline::create()
            .with_history(Box::new(history))
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .use_bracketed_paste(true);
        Self(editor)
    }

    /// Puts `text` on the next line, as if it had been typed.
    pub(super) fn prefill(&mut self, text: &str) {
        self.0
            .run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(text.to_owned())]);
    }

    /// Reads a line. The terminal blocks, so that a thread of its own does the waiting.
    pub(super) async fn read(self) -> Result<(Self, Line), Failure> {
        tokio::task::spawn_blocking(move || self.read_blocking())
            .await
            .map_err(|error| Failure::new(Kind::Failed, format!("the line editor failed: {error}")))?
    }

    fn read_blocking(mut self) -> Result<(Self, Line), Failure> {
        let line = match self.0.read_line(&MemoirPrompt)? {
            Signal::Success(text) if text.trim().is_empty() => Line::Nothing,
            Signal::Success(text) => Line::Typed(text),
            Signal::CtrlD => Line::Quit,
            // Ctrl-C clears a line, and quits on an empty one.
            Signal::HostCommand(_) if self.0.current_buffer_contents().is_empty() => Line::Quit,
            _ => {
                self.0.run_edit_commands(&[EditCommand::Clear]);
                Line::Nothing
            }
        };
        Ok((self, line))
    }
}
