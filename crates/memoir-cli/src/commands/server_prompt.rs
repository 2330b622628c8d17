//! `/SERVER:PROMPT`: sends a prompt of an MCP server.

use memoir_core::TurnInput;
use memoir_runtime::{Failure, printable};

use super::line;
use crate::{app::App, screen::print_dimmed};

/// Returns the prompt that `line` names, filled in by its server, or `None` if the line names no server.
pub(super) async fn expand(line: &str, app: &App) -> Result<Option<TurnInput>, Failure> {
    let offers = app.session.server_offers();
    let (name, rest) = line::first_word(line.trim().trim_start_matches('/'));
    if !offers.is_offer(name) {
        return Ok(None);
    }
    let input = offers.prompt(name, &line::split_like_a_shell(rest, "mcp")?).await?;
    // The user sees what others have written in the user's name.
    print_dimmed(&printable(&input.to_text()));
    Ok(Some(input))
}
