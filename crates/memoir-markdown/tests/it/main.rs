//! Tests the renderer through its public API.

mod hostile;
mod layout;
mod pieces;
mod style;

use memoir_markdown::{Renderer, TerminalStyle};

fn plain(width: usize) -> TerminalStyle {
    TerminalStyle { width, color: false, links: false }
}

fn colored(width: usize) -> TerminalStyle {
    TerminalStyle { width, color: true, links: false }
}

/// Renders a whole text at once.
fn render(text: &str, terminal: TerminalStyle) -> String {
    let mut renderer = Renderer::new(terminal);
    let mut out = renderer.push(text);
    out.push_str(&renderer.finish());
    out
}
