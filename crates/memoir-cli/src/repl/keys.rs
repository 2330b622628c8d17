//! Keys that are more than one key press, and pastes.

use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use reedline::{EditCommand, EditMode, PromptEditMode, ReedlineEvent, ReedlineRawEvent};

use super::pastes::Pastes;

/// The request to open the input line in the user's editor.
pub(super) const OPEN_EDITOR: &str = "open the editor";

/// Maximum time between two presses of Esc that belong together.
const DOUBLE_PRESS: Duration = Duration::from_millis(800);

/// Adds Ctrl-X Ctrl-E, Esc Esc and long pastes to an edit mode.
pub(super) struct MemoirKeys {
    pub(super) inner: Box<dyn EditMode>,
    pub(super) pastes: Pastes,
    is_after_control_x: bool,
    escaped: Option<Instant>,
}

impl MemoirKeys {
    pub(super) fn new(inner: Box<dyn EditMode>, pastes: Pastes) -> Self {
        Self { inner, pastes, is_after_control_x: false, escaped: None }
    }

    fn parse(&mut self, event: &Event) -> Option<ReedlineEvent> {
        let is_after_control_x = std::mem::take(&mut self.is_after_control_x);
        let escaped = self.escaped.take();
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
            Event::Key(KeyEvent { code: KeyCode::Esc, .. }) => match escaped {
                Some(first) if first.elapsed() <= DOUBLE_PRESS => Some(ReedlineEvent::PreviousHistory),
                _ => {
                    self.escaped = Some(Instant::now());
                    None
                }
            },
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
