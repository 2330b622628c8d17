//! Formats deletions from memory.

use std::path::PathBuf;

use memoir_runtime::{
    operations::forgetting::{ConversationDeletion, Deletion, ForgetPreview, ForgetReport},
    printable,
};

use super::{documents, pluralize};

/// Returns a description of the planned deletion.
pub(crate) fn preview(preview: &ForgetPreview) -> String {
    match &preview.deletion {
        Deletion::Document { document, .. } => {
            format!("This will delete the document {}.", printable(&document.slug))
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
        (deletion.command_lines, "command history line", "command history lines"),
        (deletion.quoting_answers, "answer that quotes the text", "answers that quote the text"),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, singular, plural)| pluralize(number, singular, plural))
        .collect();
    let parts = match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    };
    let mut text = format!("This will delete {parts}, including their embeddings and search index entries.");
    if !deletion.prompted_exchanges.is_empty() {
        let exchanges: Vec<String> = deletion.prompted_exchanges.iter().map(ToString::to_string).collect();
        text.push_str(&format!(
            "\nThe text was in the prompts of these exchanges, which are kept and may repeat it: {}.",
            exchanges.join(", ")
        ));
    }
    for post in &deletion.posts {
        text.push_str(&format!(
            "\nThis will also delete the post {}, which was written from it.",
            printable(&post.slug)
        ));
    }
    text
}

/// Returns a description of the completed deletion.
pub(crate) fn report(report: &ForgetReport) -> String {
    let text = match &report.deletion {
        Deletion::Document { document, file_deleted } => {
            documents::deletion(&printable(&document.slug), document.chunks, *file_deleted)
        }
        Deletion::Conversations(_) => "Deleted. Core memory and recorded costs are unchanged.".to_owned(),
    };
    text + &remaining(report)
}

/// Returns a line about each place where deleted text may remain, each after a line break.
pub(crate) fn remaining(report: &ForgetReport) -> String {
    let traces = match report.traces_remain {
        true => {
            "\nAnother process is reading the database, so some deleted text may remain on disk until Memoir next \
             starts."
        }
        false => "",
    };
    format!("{traces}{}", copies(&report.copies))
}

/// Returns a line about copies of the memory that may still contain what was deleted.
pub(super) fn copies(copies: &[PathBuf]) -> String {
    let remind = |copy: &PathBuf| {
        format!("\n{} may still contain it. Delete this directory if you no longer need it.", copy.display())
    };
    copies.iter().map(remind).collect()
}
