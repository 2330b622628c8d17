//! The size of the terminal.

/// Width of a terminal that does not report its size.
const USUAL_WIDTH: usize = 80;

/// Returns the number of columns of the terminal.
pub(crate) fn screen_width() -> usize {
    match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => USUAL_WIDTH,
    }
}
