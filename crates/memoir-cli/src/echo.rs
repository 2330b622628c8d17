//! Switches the echo of the terminal. It is off while a turn or a command runs, because keys typed ahead would garble the output.
//! The keys stay queued for the next prompt, and Ctrl-C still works.

use std::io::stdin;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// A terminal mode that is restored on drop.
pub(crate) struct EchoMode {
    previous: Option<Termios>,
}

impl EchoMode {
    pub(crate) fn off() -> Self {
        Self::set(|modes| modes.remove(LocalModes::ECHO))
    }

    /// Enables echo and line input, for a question during a turn.
    pub(crate) fn on() -> Self {
        Self::set(|modes| modes.insert(LocalModes::ECHO | LocalModes::ICANON))
    }

    fn set(change: impl FnOnce(&mut LocalModes)) -> Self {
        // Without a terminal there is nothing to change.
        let previous = tcgetattr(stdin()).ok();
        if let Some(previous) = &previous {
            let mut changed = previous.clone();
            change(&mut changed.local_modes);
            apply(&changed);
        }
        Self { previous }
    }
}

impl Drop for EchoMode {
    fn drop(&mut self) {
        self.previous.as_ref().inspect(|previous| apply(previous));
    }
}

fn apply(modes: &Termios) {
    if let Err(error) = tcsetattr(stdin(), OptionalActions::Now, modes) {
        // Without the change, the output may look garbled but everything works.
        tracing::debug!(%error, "could not change the terminal mode");
    }
}
