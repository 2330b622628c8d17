//! Reference pages made from the program's own lists.

pub(crate) mod commands;
pub(crate) mod models;

use std::fmt::Write as _;

use memoir_core::setting::HasSettings;
use memoir_runtime::environment;

/// `docs/settings.md`.
pub(crate) fn settings() -> String {
    let mut page = String::from(
        "# Settings\n\nMade by `cargo xtask docs`; do not edit.\n\n\
         The tables `[rag]`, `[context]` and `[workers]` of the config file take these names without what stands before the dot. What was \
         set in the program wins over the file.\n\n\
         ## How memory is asked\n\n`/rag config` shows these, and `/rag set KEY VALUE` changes one for good.\n\n",
    );
    setting_rows::<memoir_recall::RecallSettings>(&mut page);
    page.push_str(
        "\n## How much is sent\n\n`/context config` shows these, and `/context set KEY VALUE` changes one for good.\n\n",
    );
    setting_rows::<memoir_agent::ContextSettings>(&mut page);
    page.push_str("\n## Who works in the background\n\n");
    setting_rows::<memoir_workers::WorkerSettings>(&mut page);
    page
}

fn setting_rows<S: HasSettings>(page: &mut String) {
    page.push_str(
        "| key | also called | takes | by default | what it does |\n| --- | --- | --- | --- | --- |\n",
    );
    for setting in S::ALL {
        let aliases: Vec<String> = setting.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let default = setting.show(&S::default()).replace(',', ", ");
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {default} | {} |",
            setting.key,
            aliases.join(", "),
            setting.takes,
            setting.summary
        );
    }
}

/// `docs/tools.md`.
pub(crate) fn tools() -> String {
    let mut page = String::from(
        "# Tools\n\nMade by `cargo xtask docs`; do not edit.\n\n\
         What a model may ask for, and what it gives back. Approvals decide who may do what: `read-only`, `ask` (the default: reading in \
         the workspace is free, writing and running are asked about, and what core memory is to keep, once anything but your own words \
         is before the model), `auto-edit` and `full`; rules allow or deny (`/approval`). Paths are \
         confined to the workspace (`--add-dir` widens it), commands to what [how tools are confined](confinement.md) tells, in every mode.\n\n\
         Beside these there are `agent_summarizer` (how summaries are getting on), `skill` (where skills were found: folders with a \
         `SKILL.md` in the project's `.memoir/skills` and in `skills` beside the config) and what servers of the config offer.\n",
    );
    for spec in memoir_tools::ToolSet::all().specs() {
        let _ = writeln!(page, "\n## `{}`\n\n{}\n", spec.name, spec.description);
        let required: Vec<&str> = spec.parameters["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(serde_json::Value::as_str)
            .collect();
        let Some(properties) =
            spec.parameters["properties"].as_object().filter(|properties| !properties.is_empty())
        else {
            page.push_str("It takes nothing.\n");
            continue;
        };
        page.push_str("| parameter | type | |\n| --- | --- | --- |\n");
        for (name, property) in properties {
            let mut what = property["description"].as_str().unwrap_or_default().to_owned();
            if let Some(words) = property["enum"].as_array() {
                let words: Vec<&str> = words.iter().filter_map(serde_json::Value::as_str).collect();
                what = format!("{what} {}", words.join(", ")).trim().to_owned();
            }
            let needed = if required.contains(&name.as_str()) { "" } else { ", optional" };
            let kind = property["type"].as_str().unwrap_or_default();
            let _ = writeln!(page, "| `{name}` | {kind}{needed} | {} |", what.replace('|', "\\|"));
        }
    }
    page
}

/// `docs/environment.md`.
pub(crate) fn environment() -> String {
    let mut page = String::from(
        "# Environment variables\n\nMade by `cargo xtask docs`; do not edit.\n\n| variable | what it does |\n| --- | --- |\n",
    );
    for variable in environment::ALL {
        let _ = writeln!(page, "| `{}` | {} |", variable.name, variable.meaning.trim());
    }
    page
}
