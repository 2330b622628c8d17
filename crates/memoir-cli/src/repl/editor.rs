//! The line editor: reedline with our keys and our history.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use anstream::println;
use reedline::{
    ColumnarMenu, Completer, EditCommand, Emacs, ExternalPrinter, FileBackedHistory, Hinter, History,
    HistoryItem, KeyCode, KeyModifiers, MenuBuilder as _, Reedline, ReedlineEvent, ReedlineMenu, Signal,
    default_emacs_keybindings,
};

use super::prompt::MemoirPrompt;
use memoir_runtime::Failure;

/// How many earlier lines the arrow keys and Ctrl-R reach. All of them stay in the store.
pub(super) const REMEMBERED_LINES: u32 = 1000;

/// What Tab opens.
const MENU: &str = "proposals";

/// What the user did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Typed(String),
    Nothing,
    Quit,
}

/// Sees every line that is drawn, and has nothing to add: whether something stands in it.
struct Watch(Arc<AtomicBool>);

impl Hinter for Watch {
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
    /// Whether something stands in the line.
    has_text: Arc<AtomicBool>,
    /// Whether the last thing at the prompt was a Ctrl-C: a second one leaves.
    interrupted: bool,
}

impl Editor {
    /// An editor that remembers `earlier` lines. Reedline keeps them in memory; the REPL writes new ones to
    /// the store, where a failure can be told.
    pub(super) fn new(
        earlier: &[String],
        completer: Box<dyn Completer + Send>,
        told: Option<ExternalPrinter<String>>,
    ) -> Self {
        let mut history = FileBackedHistory::new(REMEMBERED_LINES as usize).unwrap_or_default();
        for line in earlier {
            // An in-memory history takes every line.
            let _ = history.save(HistoryItem::from_command_line(line));
        }
        let mut keys = default_emacs_keybindings();
        let new_line = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, new_line);
        let propose = vec![ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext];
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(propose));
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        let menu = ColumnarMenu::default().with_name(MENU).with_columns(1).with_marker("> ");
        let has_text = Arc::new(AtomicBool::new(false));
        let mut reedline = Reedline::create()
            .with_hinter(Box::new(Watch(Arc::clone(&has_text))))
            .with_completer(completer)
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_ansi_colors(std::env::var_os("NO_COLOR").is_none())
            .with_history(Box::new(history))
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .use_bracketed_paste(true);
        if let Some(printer) = told {
            reedline = reedline.with_external_printer(printer);
        }
        Self { reedline, has_text, interrupted: false }
    }

    /// Reads a line. The terminal blocks, so that a thread of its own does the waiting.
    pub(super) async fn read(self) -> Result<(Self, Line), Failure> {
        tokio::task::spawn_blocking(move || self.read_blocking())
            .await
            .map_err(|error| Failure::failed(format!("the line editor failed: {error}")))?
    }

    fn read_blocking(mut self) -> Result<(Self, Line), Failure> {
        let signal = self.reedline.read_line(&MemoirPrompt)?;
        let interrupted = matches!(signal, Signal::CtrlC);
        let line = match signal {
            Signal::Success(text) if text.trim().is_empty() => Line::Nothing,
            Signal::Success(text) => Line::Typed(text),
            // The first clears the line or ends a search; on what is then an empty line, the second leaves.
            Signal::CtrlC if self.interrupted && !self.has_text.load(Ordering::Relaxed) => Line::Quit,
            Signal::CtrlC => {
                println!("Ctrl-C again leaves.");
                Line::Nothing
            }
            _ => Line::Quit,
        };
        self.interrupted = interrupted;
        Ok((self, line))
    }
}
