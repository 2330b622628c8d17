//! Keys that are more than one key press, and pastes.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use memoir_runtime::KeyStyle;
use reedline::{EditCommand, EditMode, PromptEditMode, ReedlineEvent, ReedlineRawEvent};

use super::{
    editor::{LineState, edit_mode},
    pastes::Pastes,
};

/// The request to open the input line in the user's editor.
pub(super) const OPEN_EDITOR: &str = "open the editor";

/// Maximum time between two presses of Esc that belong together.
const DOUBLE_PRESS: Duration = Duration::from_millis(800);

/// Adds Ctrl-X Ctrl-E, Esc Esc, a backslash before Enter and long pastes to an edit mode.
pub(super) struct MemoirKeys {
    style: KeyStyle,
    inner: Box<dyn EditMode>,
    pastes: Pastes,
    line_state: Arc<LineState>,
    is_after_control_x: bool,
    /// When Esc was pressed, if it was the last key.
    esc_time: Option<Instant>,
    /// Number of backslashes that were typed last.
    backslashes: usize,
}

impl MemoirKeys {
    pub(super) fn new(style: KeyStyle, pastes: Pastes, line_state: Arc<LineState>) -> Self {
        Self {
            style,
            inner: edit_mode(style),
            pastes,
            line_state,
            is_after_control_x: false,
            esc_time: None,
            backslashes: 0,
        }
    }

    fn parse(&mut self, event: &Event) -> Option<ReedlineEvent> {
        let is_interrupt =
            |key: &KeyEvent| key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        if matches!(event, Event::Key(key) if !is_interrupt(key)) || matches!(event, Event::Paste(_)) {
            self.line_state.has_other_keys.store(true, Ordering::Relaxed);
        }
        let is_after_control_x = std::mem::take(&mut self.is_after_control_x);
        let esc_time = self.esc_time.take();
        let backslashes = std::mem::take(&mut self.backslashes);
        match event {
            Event::Paste(text) => {
                let mark = self.pastes.collapse(&text.replace("\r\n", "\n").replace('\r', "\n"))?;
                Some(ReedlineEvent::Edit(vec![EditCommand::InsertString(mark)]))
            }
            Event::Key(KeyEvent { code: KeyCode::Char('x'), modifiers: KeyModifiers::CONTROL, .. }) => {
                self.is_after_control_x = true;
                Some(ReedlineEvent::None)
            }
            Event::Key(KeyEvent { code: KeyCode::Char('e'), modifiers: KeyModifiers::CONTROL, .. })
                if is_after_control_x =>
            {
                Some(ReedlineEvent::ExecuteHostCommand(OPEN_EDITOR.to_owned()))
            }
            // In vi, Esc only makes sure that the mode is normal.
            Event::Key(KeyEvent { code: KeyCode::Esc, .. }) if self.style == KeyStyle::Emacs => {
                match esc_time {
                    Some(first) if first.elapsed() <= DOUBLE_PRESS => Some(ReedlineEvent::PreviousHistory),
                    _ => {
                        self.esc_time = Some(Instant::now());
                        None
                    }
                }
            }
            Event::Key(KeyEvent { code: KeyCode::Char('\\'), .. }) => {
                self.backslashes = backslashes + 1;
                None
            }
            // Two backslashes are one that ends the line.
            Event::Key(KeyEvent { code: KeyCode::Enter, modifiers: KeyModifiers::NONE, .. })
                if backslashes % 2 == 1 =>
            {
                let new_line = EditCommand::InsertNewline;
                // The shell needs the backslash.
                Some(ReedlineEvent::Edit(match self.line_state.is_shell.load(Ordering::Relaxed) {
                    true => vec![new_line],
                    false => vec![EditCommand::Backspace, new_line],
                }))
            }
            _ => None,
        }
    }
}

impl EditMode for MemoirKeys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event: Event = event.into();
        if let Some(parsed) = self.parse(&event) {
            return parsed;
        }
        match ReedlineRawEvent::try_from(event) {
            Ok(event) => self.inner.parse_event(event),
            Err(()) => ReedlineEvent::None,
        }
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.inner.edit_mode()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(keys: &mut MemoirKeys, code: KeyCode, modifiers: KeyModifiers) -> Option<ReedlineEvent> {
        keys.parse(&Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn combinations_of_keys_are_recognized() {
        let line_state = Arc::new(LineState::default());
        let mut keys = MemoirKeys::new(KeyStyle::Emacs, Pastes::default(), Arc::clone(&line_state));
        let none = KeyModifiers::NONE;
        press(&mut keys, KeyCode::Char('x'), KeyModifiers::CONTROL);
        let event = press(&mut keys, KeyCode::Char('e'), KeyModifiers::CONTROL);
        assert_eq!(event, Some(ReedlineEvent::ExecuteHostCommand(OPEN_EDITOR.into())));
        assert_eq!(press(&mut keys, KeyCode::Char('e'), KeyModifiers::CONTROL), None);
        assert_eq!(press(&mut keys, KeyCode::Esc, none), None);
        assert_eq!(press(&mut keys, KeyCode::Esc, none), Some(ReedlineEvent::PreviousHistory));
        press(&mut keys, KeyCode::Char('\\'), none);
        let continued = ReedlineEvent::Edit(vec![EditCommand::Backspace, EditCommand::InsertNewline]);
        assert_eq!(press(&mut keys, KeyCode::Enter, none), Some(continued));
        line_state.is_shell.store(true, Ordering::Relaxed);
        press(&mut keys, KeyCode::Char('\\'), none);
        let continued = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        assert_eq!(press(&mut keys, KeyCode::Enter, none), Some(continued));
        press(&mut keys, KeyCode::Char('\\'), none);
        press(&mut keys, KeyCode::Char('\\'), none);
        assert_eq!(press(&mut keys, KeyCode::Enter, none), None);
        let mut vi = MemoirKeys::new(KeyStyle::Vi, Pastes::default(), line_state);
        press(&mut vi, KeyCode::Esc, none);
        assert_eq!(press(&mut vi, KeyCode::Esc, none), None);
    }
}
