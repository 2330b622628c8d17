//! Formats the state of MCP servers.

use memoir_runtime::{
    operations::servers::{ServerList, ServerReport},
    printable,
};

use super::pluralize;

/// Returns one line per server, followed by its tools or what is wrong with it.
pub(crate) fn list(list: &ServerList) -> String {
    if list.servers.is_empty() {
        return "There are no MCP servers. Add one with `memoir mcp add NAME -- COMMAND`, or with `memoir mcp add NAME --url URL`."
            .to_owned();
    }
    list.servers.iter().map(server).collect::<Vec<_>>().join("\n")
}

fn server(server: &ServerReport) -> String {
    let (state, detail) = match (&server.problem, &server.revision) {
        (Some(problem), _) => ("not connected".to_owned(), format!("{problem}.")),
        (None, revision) => {
            let tools = pluralize(server.tools.len() as u64, "tool", "tools");
            let revision = revision.as_deref().unwrap_or("unknown");
            (format!("{tools}, revision {revision}"), server.tools.join(", "))
        }
    };
    let text = format!("{}: {state} ({})\n    {detail}", server.name, server.address);
    printable(&text).into_owned()
}
