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

/// Maximum number of prompts or resources that are named.
const MAX_NAMES: usize = 20;

fn server(server: &ServerReport) -> String {
    let (state, detail) = match (&server.problem, &server.revision) {
        (Some(problem), _) => ("not connected".to_owned(), format!("{problem}.")),
        (None, revision) => {
            let tools = pluralize(server.tools.len() as u64, "tool", "tools");
            let revision = revision.as_deref().unwrap_or("unknown");
            let names = |mark: &str, names: &[String]| -> Vec<String> {
                let shown = names.iter().take(MAX_NAMES).map(|name| format!("{mark}{}:{name}", server.name));
                let rest = names.len().saturating_sub(MAX_NAMES);
                shown.chain((rest > 0).then(|| format!("and {rest} more"))).collect()
            };
            let lists = [server.tools.clone(), names("/", &server.prompts), names("@", &server.resources)];
            let lines: Vec<String> =
                lists.iter().filter(|list| !list.is_empty()).map(|list| list.join(", ")).collect();
            (format!("{tools}, revision {revision}"), lines.join("\n    "))
        }
    };
    let text = format!("{}: {state} ({})\n    {detail}", server.name, server.address);
    printable(&text).into_owned()
}
