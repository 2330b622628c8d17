//! The width of the terminal.

/// Width assumed if the terminal does not report its size.
const DEFAULT_WIDTH: usize = 80;

/// Returns the width of the terminal in columns.
pub(crate) fn screen_width() -> usize {
    match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => DEFAULT_WIDTH,
    }
}
