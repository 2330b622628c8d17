//! The line editor: reedline with Memoir's key bindings and history.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use memoir_runtime::{Failure, KeyStyle};
use reedline::{
    ColumnarMenu, Completer, EditCommand, EditMode, Emacs, ExternalPrinter, FileBackedHistory, Hinter,
    History, HistoryItem, KeyCode, KeyModifiers, Keybindings, MenuBuilder as _, Reedline, ReedlineEvent,
    ReedlineMenu, Signal, Vi, default_emacs_keybindings, default_vi_insert_keybindings,
    default_vi_normal_keybindings, default_vi_visual_keybindings,
};

use super::{keys::MemoirKeys, pastes::Pastes, prompt::MemoirPrompt};
use crate::{screen::terminal_style, text_editor::edit_text};

/// Number of earlier lines available to the arrow keys and Ctrl-R. The store keeps all of them.
pub(super) const HISTORY_LINES: u32 = 1000;

const COMPLETION_MENU: &str = "completions";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    Empty,
    Quit,
}

/// What is in the input line.
#[derive(Default)]
pub(super) struct LineState {
    pub(super) has_text: AtomicBool,
    /// Whether the line is a command for the shell.
    pub(super) is_shell: AtomicBool,
    /// Whether a key other than Ctrl-C was pressed since the line began.
    pub(super) has_other_keys: AtomicBool,
}

/// A hinter without hints. It observes the input line, because reedline shows hinters every change.
struct LineWatcher(Arc<LineState>);

impl Hinter for LineWatcher {
    fn handle(&mut self, line: &str, _: usize, _: &dyn History, _: bool, _: &str) -> String {
        self.0.has_text.store(!line.is_empty(), Ordering::Relaxed);
        self.0.is_shell.store(line.trim_start().starts_with('!'), Ordering::Relaxed);
        String::new()
    }

    fn complete_hint(&self) -> String {
        String::new()
    }

    fn next_hint_token(&self) -> String {
        String::new()
    }
}

/// The parts of the line editor.
pub(super) struct EditorOptions<'a> {
    /// Earlier lines, for the arrow keys and Ctrl-R. Reedline only keeps them in memory; the REPL saves new lines to
    /// the store, where it can report a failure.
    pub(super) earlier: &'a [String],
    pub(super) completer: Box<dyn Completer + Send>,
    pub(super) printer: Option<ExternalPrinter<String>>,
    pub(super) keys: KeyStyle,
    /// Private directory for the file that the user's editor opens.
    pub(super) directory: PathBuf,
}

pub(super) struct Editor {
    reedline: Reedline,
    line_state: Arc<LineState>,
    pastes: Pastes,
    directory: PathBuf,
    /// Whether the last input was Ctrl-C. A second Ctrl-C exits.
    was_interrupted: bool,
}

impl Editor {
    pub(super) fn new(options: EditorOptions<'_>) -> Self {
        let EditorOptions { earlier, completer, printer, keys, directory } = options;
        let mut history = FileBackedHistory::new(HISTORY_LINES as usize).unwrap_or_default();
        for line in earlier {
            // Saving to an in-memory history cannot fail.
            let _ = history.save(HistoryItem::from_command_line(line));
        }
        let pastes = Pastes::default();
        let menu = ColumnarMenu::default().with_name(COMPLETION_MENU).with_columns(1).with_marker("> ");
        let line_state = Arc::new(LineState::default());
        let mut reedline = Reedline::create()
            .with_hinter(Box::new(LineWatcher(Arc::clone(&line_state))))
            .with_completer(completer)
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_ansi_colors(terminal_style().color)
            .with_history(Box::new(history))
            .with_transient_prompt(Box::new(MemoirPrompt::default()))
            .with_edit_mode(Box::new(MemoirKeys::new(keys, pastes.clone(), Arc::clone(&line_state))))
            .use_kitty_keyboard_enhancement(reports_all_keys())
            .use_bracketed_paste(true);
        if let Some(printer) = printer {
            reedline = reedline.with_external_printer(printer);
        }
        Self { reedline, line_state, pastes, directory, was_interrupted: false }
    }

    /// Reads a line on a separate thread, because reading from the terminal blocks.
    pub(super) async fn read(self, prompt: MemoirPrompt) -> Result<(Self, Line), Failure> {
        tokio::task::spawn_blocking(move || self.read_blocking(&prompt))
            .await
            .map_err(|error| Failure::failed(format!("the line editor failed: {error}")))?
    }

    fn read_blocking(mut self, prompt: &MemoirPrompt) -> Result<(Self, Line), Failure> {
        self.line_state.has_other_keys.store(false, Ordering::Relaxed);
        let mut signal = self.reedline.read_line(prompt)?;
        while let Signal::HostCommand(_) = signal {
            self.open_editor();
            signal = self.reedline.read_line(prompt)?;
        }
        let is_interrupt = matches!(signal, Signal::CtrlC);
        let line = match signal {
            Signal::Success(text) if text.trim().is_empty() => Line::Empty,
            Signal::Success(text) => Line::Text(self.pastes.expand(&text)),
            // The first Ctrl-C clears the line or ends a search. The second exits, if it follows immediately.
            Signal::CtrlC
                if self.was_interrupted && !self.line_state.has_other_keys.load(Ordering::Relaxed) =>
            {
                Line::Quit
            }
            Signal::CtrlC => {
                say!("Press Ctrl-C again to exit.");
                Line::Empty
            }
            _ => Line::Quit,
        };
        self.was_interrupted = is_interrupt;
        Ok((self, line))
    }

    /// Lets the user edit the input line in another editor.
    fn open_editor(&mut self) {
        let text = self.pastes.expand(self.reedline.current_buffer_contents());
        match edit_text(&text, &self.directory) {
            Ok(text) => self.reedline.run_edit_commands(&[
                EditCommand::Clear,
                EditCommand::InsertString(text.trim_end().to_owned()),
            ]),
            Err(failure) => note!("error: {}", failure.sentence()),
        }
    }
}

/// Returns the keys of a style, with those that Memoir adds to all.
pub(super) fn edit_mode(style: KeyStyle) -> Box<dyn EditMode> {
    match style {
        KeyStyle::Emacs => {
            let mut keys = default_emacs_keybindings();
            add_keys(&mut keys);
            Box::new(Emacs::new(keys))
        }
        KeyStyle::Vi => {
            let (mut insert, mut normal) = (default_vi_insert_keybindings(), default_vi_normal_keybindings());
            add_keys(&mut insert);
            add_keys(&mut normal);
            Box::new(Vi::new(insert, normal, default_vi_visual_keybindings()))
        }
    }
}

fn add_keys(keys: &mut Keybindings) {
    for modifier in [KeyModifiers::ALT, KeyModifiers::SHIFT] {
        let new_line = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        keys.add_binding(modifier, KeyCode::Enter, new_line);
    }
    let complete = vec![ReedlineEvent::Menu(COMPLETION_MENU.into()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
}

/// Returns whether the terminal is known to report keys such as Shift-Enter if it is asked to. Others may leave the
/// question unanswered, which would delay the start.
fn reports_all_keys() -> bool {
    ["KITTY_WINDOW_ID", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR"]
        .into_iter()
        .any(|name| std::env::var_os(name).is_some())
}
