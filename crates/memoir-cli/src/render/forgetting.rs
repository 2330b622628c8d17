//! What is forgotten.

use memoir_runtime::{
    operations::forgetting::{ConversationDeletion, Deletion, ForgetPreview, ForgetReport},
    printable,
};

use super::count;

/// Returns what would be forgotten.
pub(crate) fn preview(preview: &ForgetPreview) -> String {
    match &preview.deletion {
        Deletion::Document { document, .. } => {
            format!("The document {} would be forgotten.", printable(&document.slug))
        }
        Deletion::Conversations(deletion) => conversations(deletion),
    }
}

fn conversations(deletion: &ConversationDeletion) -> String {
    let counts = [
        (deletion.conversations, "conversation", "conversations"),
        (deletion.exchanges, "exchange", "exchanges"),
        (deletion.messages, "message", "messages"),
        (deletion.summaries, "summary", "summaries"),
        (deletion.command_lines, "line of the command history", "lines of the command history"),
        (deletion.quoting_answers, "answer that quotes it", "answers that quote it"),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many)| count(number, one, many))
        .collect();
    let mut text = format!("Forgotten would be: {}, with their vectors and words.", parts.join(", "));
    if !deletion.prompted_exchanges.is_empty() {
        let exchanges: Vec<String> = deletion.prompted_exchanges.iter().map(ToString::to_string).collect();
        text.push_str(&format!(
            "\nIt stood in the prompts of exchanges {}, which stay: what was answered there may repeat it.",
            exchanges.join(", ")
        ));
    }
    for post in &deletion.posts {
        text.push_str(&format!("\nThe post {} too, which was written from it.", printable(&post.slug)));
    }
    text
}

/// Returns what was forgotten.
pub(crate) fn report(report: &ForgetReport) -> String {
    let mut text = match &report.deletion {
        Deletion::Document { document, file_deleted } => {
            let file = if *file_deleted { "its file too" } else { "its file is left alone" };
            let chunks = count(document.chunks, "chunk", "chunks");
            format!("{} is forgotten, with {chunks}; {file}.", printable(&document.slug))
        }
        Deletion::Conversations(_) => {
            "It is forgotten. What you spent stays on the bill, and core memory as it is.".to_owned()
        }
    };
    if report.traces_remain {
        text.push_str(
            "\nAnother program reads at this moment: traces stay in the file until Memoir is started again.",
        );
    }
    text
}
