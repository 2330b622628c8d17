//! The line editor: reedline with Memoir's key bindings and history.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use reedline::{
    ColumnarMenu, Completer, EditCommand, Emacs, ExternalPrinter, FileBackedHistory, Hinter, History,
    HistoryItem, KeyCode, KeyModifiers, MenuBuilder as _, Reedline, ReedlineEvent, ReedlineMenu, Signal,
    default_emacs_keybindings,
};

use super::prompt::MemoirPrompt;
use crate::screen::terminal_style;
use memoir_runtime::Failure;

/// Number of earlier lines available to the arrow keys and Ctrl-R. The store keeps all of them.
pub(super) const HISTORY_LINES: u32 = 1000;

const COMPLETION_MENU: &str = "completions";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    Empty,
    Quit,
}

/// A hinter without hints. It records whether the input line has text, because reedline shows hinters every change.
struct LineWatcher(Arc<AtomicBool>);

impl Hinter for LineWatcher {
    fn handle(&mut self, line: &str, _: usize, _: &dyn History, _: bool, _: &str) -> String {
        self.0.store(!line.is_empty(), Ordering::Relaxed);
        String::new()
    }

    fn complete_hint(&self) -> String {
        String::new()
    }

    fn next_hint_token(&self) -> String {
        String::new()
    }
}

pub(super) struct Editor {
    reedline: Reedline,
    has_text: Arc<AtomicBool>,
    /// Whether the last input was Ctrl-C. A second Ctrl-C exits.
    was_interrupted: bool,
}

impl Editor {
    /// Creates an editor with `earlier` lines as its history. Reedline only keeps them in memory; the REPL saves new
    /// lines to the store, where it can report a failure.
    pub(super) fn new(
        earlier: &[String],
        completer: Box<dyn Completer + Send>,
        printer: Option<ExternalPrinter<String>>,
    ) -> Self {
        let mut history = FileBackedHistory::new(HISTORY_LINES as usize).unwrap_or_default();
        for line in earlier {
            // Saving to an in-memory history cannot fail.
            let _ = history.save(HistoryItem::from_command_line(line));
        }
        let mut keys = default_emacs_keybindings();
        let new_line = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, new_line);
        let complete = vec![ReedlineEvent::Menu(COMPLETION_MENU.into()), ReedlineEvent::MenuNext];
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        let menu = ColumnarMenu::default().with_name(COMPLETION_MENU).with_columns(1).with_marker("> ");
        let has_text = Arc::new(AtomicBool::new(false));
        let mut reedline = Reedline::create()
            .with_hinter(Box::new(LineWatcher(Arc::clone(&has_text))))
            .with_completer(completer)
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_ansi_colors(terminal_style().color)
            .with_history(Box::new(history))
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .use_bracketed_paste(true);
        if let Some(printer) = printer {
            reedline = reedline.with_external_printer(printer);
        }
        Self { reedline, has_text, was_interrupted: false }
    }

    /// Reads a line on a separate thread, because reading from the terminal blocks.
    pub(super) async fn read(self) -> Result<(Self, Line), Failure> {
        tokio::task::spawn_blocking(move || self.read_blocking())
            .await
            .map_err(|error| Failure::failed(format!("the line editor failed: {error}")))?
    }

    fn read_blocking(mut self) -> Result<(Self, Line), Failure> {
        let signal = self.reedline.read_line(&MemoirPrompt)?;
        let is_interrupt = matches!(signal, Signal::CtrlC);
        let line = match signal {
            Signal::Success(text) if text.trim().is_empty() => Line::Empty,
            Signal::Success(text) => Line::Text(text),
            // The first Ctrl-C clears the line or ends a search. The second exits if the line is empty.
            Signal::CtrlC if self.was_interrupted && !self.has_text.load(Ordering::Relaxed) => Line::Quit,
            Signal::CtrlC => {
                say!("Press Ctrl-C again to exit.");
                Line::Empty
            }
            _ => Line::Quit,
        };
        self.was_interrupted = is_interrupt;
        Ok((self, line))
    }
}
