//! Formats tokens.

use memoir_core::{AccessToken, Right, TokenScope};
use memoir_runtime::{operations::tokens::TokenList, printable};

/// Returns one line per token.
pub(crate) fn list(list: &TokenList) -> String {
    if list.tokens.is_empty() {
        return "There are no tokens. `memoir serve token` creates the one for this machine.".to_owned();
    }
    list.tokens.iter().map(token).collect::<Vec<_>>().join("\n")
}

fn token(token: &AccessToken) -> String {
    let rights: Vec<&str> = token.rights.iter().copied().map(Right::as_str).collect();
    let scope = match &token.scope {
        TokenScope::All => "everything".to_owned(),
        TokenScope::Projects(projects) => projects.join(", "),
    };
    let text = format!("{}: {} ({}), created {}", token.name, scope, rights.join(", "), token.created);
    printable(&text).into_owned()
}
