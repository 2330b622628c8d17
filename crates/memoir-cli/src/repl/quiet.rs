//! A terminal that does not echo while a turn runs: keys typed ahead would tear the screen. They are kept for
//! the next prompt, and Ctrl-C works as ever.

/// The terminal is quiet until this is dropped.
pub(super) struct Quiet {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Quiet {
    #[cfg(unix)]
    pub(super) fn begin() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let input = std::io::stdin();
        // Where there is no terminal there is nothing to quieten.
        let before = tcgetattr(&input).ok();
        if let Some(before) = &before {
            let mut quiet = before.clone();
            quiet.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(&input, OptionalActions::Now, &quiet);
        }
        Self { before }
    }

    #[cfg(not(unix))]
    pub(super) fn begin() -> Self {
        Self {}
    }
}

/// The terminal echoes again until this is dropped: a question was asked in the middle of a turn.
pub(super) struct Echo {
    before: Option<rustix::termios::Termios>,
}

impl Echo {
    pub(super) fn begin() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let input = std::io::stdin();
        let before = tcgetattr(&input).ok();
        if let Some(before) = &before {
            let mut echoing = before.clone();
            echoing.local_modes.insert(LocalModes::ECHO | LocalModes::ICANON);
            let _ = tcsetattr(&input, OptionalActions::Now, &echoing);
        }
        Self { before }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

#[cfg(unix)]
impl Drop for Quiet {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}
