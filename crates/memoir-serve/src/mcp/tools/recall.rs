//! `recall`: what memory says about a question.

use memoir_core::{Answer, Overview};
use memoir_runtime::{
    Failure,
    view::{ItemId, LookUp, MemoryView},
};
use rmcp::{
    model::Tool,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

use super::{super::results::RecallResult, MemoryServer, definition, read_only};

/// Maximum number of tokens of all passages.
const MAX_TOKENS: u64 = 4000;

/// Which projects to look in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    /// Only the current project.
    Project,
    /// Everything that this server may see.
    #[default]
    All,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A question or a few keywords, such as "Which port does the staging server use?".
    question: String,
    /// Where to look: "project" for the current project, "all" for everything that this server may see.
    #[serde(default)]
    scope: Scope,
    /// Only what was said from this day on: 2026-05-01, yesterday, last week, in May.
    since: Option<String>,
    /// Only what was said up to this day.
    until: Option<String>,
}

pub(super) fn define(name: &'static str) -> Tool {
    definition::<Arguments, RecallResult>(
        name,
        "Recall from memory",
        "Find what the user and their agents said earlier, in any program: decisions, preferences, names, dates, fixes. \
         Returns verbatim passages with ids, dates and programs, or none if memory has nothing on the question. Call it \
         before you ask the user for something that they may have said already.",
    )
    .with_annotations(read_only())
}

pub(super) async fn run(arguments: Arguments, server: &MemoryServer) -> Result<RecallResult, Failure> {
    let Arguments { question, scope, since, until } = arguments;
    let request =
        LookUp { question, only_project: scope == Scope::Project, since, until, ..LookUp::default() };
    let recollection = server.view.look_up(&request, MAX_TOKENS).await?;
    let answer = match &recollection.answer {
        Some(Answer::Quotation(quotation)) => Some(quotation.text.clone()),
        Some(Answer::Overview(overview)) => Some(list_conversations(overview, &server.view)),
        Some(Answer::Absent { .. } | Answer::Noted { .. }) | None => None,
    };
    let citations = match recollection.answer {
        // The overview already lists the conversations.
        Some(Answer::Overview(_)) => Vec::new(),
        _ => server.view.cite(&recollection).await?,
    };
    Ok(RecallResult::new(answer, citations, recollection.notices))
}

/// Lists the conversations of a period with the ids that `fetch` reads.
fn list_conversations(overview: &Overview, view: &MemoryView) -> String {
    let mut lines = Vec::new();
    for day in &overview.days {
        lines.push(day.day.format_date(&view.recall().zone));
        let conversations = day.conversations.iter();
        lines.extend(conversations.map(|(id, title)| format!("- {}: {title}", ItemId::Conversation(*id))));
    }
    match overview.omitted {
        0 if lines.is_empty() => "There are no conversations from this period.".to_owned(),
        0 => lines.join("\n"),
        omitted => {
            format!("{}\n{omitted} later ones are not listed. Ask for a shorter period.", lines.join("\n"))
        }
    }
}
