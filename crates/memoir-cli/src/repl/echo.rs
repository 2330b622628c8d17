//! Whether the terminal shows what is typed. While a turn runs it does not: keys typed ahead would tear the screen. They are
//! kept for the next prompt, and Ctrl-C works as ever.

use std::io::stdin;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// A mode of the terminal that lasts until this is dropped.
pub(super) struct EchoMode {
    before: Option<Termios>,
}

impl EchoMode {
    /// Shows nothing that is typed.
    pub(super) fn off() -> Self {
        Self::set(|modes| modes.remove(LocalModes::ECHO))
    }

    /// Shows what is typed, a line at a time: a question was asked in the middle of a turn.
    pub(super) fn on() -> Self {
        Self::set(|modes| modes.insert(LocalModes::ECHO | LocalModes::ICANON))
    }

    fn set(change: impl FnOnce(&mut LocalModes)) -> Self {
        // Without a terminal there is nothing to change.
        let before = tcgetattr(stdin()).ok();
        if let Some(before) = &before {
            let mut changed = before.clone();
            change(&mut changed.local_modes);
            apply(&changed);
        }
        Self { before }
    }
}

impl Drop for EchoMode {
    fn drop(&mut self) {
        self.before.as_ref().inspect(|before| apply(before));
    }
}

fn apply(modes: &Termios) {
    if let Err(error) = tcsetattr(stdin(), OptionalActions::Now, modes) {
        // Only the look of the screen suffers.
        tracing::debug!(%error, "the mode of the terminal was not changed");
    }
}
