//! The renderer as its users see it.

mod hostile;
mod layout;
mod pieces;
mod style;

use memoir_markdown::{Look, Renderer};

/// Everything plain.
fn plain(width: usize) -> Look {
    Look { width, color: false, links: false }
}

/// With colours.
fn colored(width: usize) -> Look {
    Look { width, color: true, links: false }
}

/// A whole text at once.
fn render(text: &str, look: Look) -> String {
    let mut renderer = Renderer::new(look);
    let mut out = renderer.push(text);
    out.push_str(&renderer.finish());
    out
}
