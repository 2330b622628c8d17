//! Attaches what a prompt names.

use memoir_core::{InputPart, TurnInput};
use memoir_runtime::{
    Session,
    attachments::{
        AttachedContent, Attachment, AttachmentContext, MAX_TEXT_BYTES, attach, find_attachments,
        find_missing, find_resources,
    },
    printable,
};

use crate::{question, render::pluralize, screen::print_dimmed_note};

/// What happens to files outside the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutsideFiles {
    /// The user is asked.
    Ask,
    /// They are not attached, because nobody can be asked.
    Skip,
}

/// Adds the files and the resources of servers that `prompt` names to `input`.
pub(crate) async fn attach_named(
    session: &Session,
    prompt: &str,
    input: &mut TurnInput,
    outside: OutsideFiles,
) {
    let directory = std::env::current_dir().unwrap_or_default();
    let context = AttachmentContext {
        directory: &directory,
        project: session.agent.workspace.project(),
        user_home: session.runtime.models().environment.user_home(),
    };
    for name in find_missing(prompt, context) {
        note!("The file {0} does not exist, so @{0} is sent as text.", printable(&name));
    }
    for file in find_attachments(prompt, context) {
        // Without a terminal, nothing was dropped onto it.
        if !file.has_mark && outside == OutsideFiles::Skip {
            continue;
        }
        if accept(&file, outside).await {
            attach(input, file);
        }
    }
    for name in find_resources(prompt, &session.server_offers()).await {
        match attach_resource(session, &name, input).await {
            Ok(()) => print_dimmed_note(&format!("Attached @{}.", printable(&name))),
            Err(reason) => note!("Could not attach @{}: {reason}", printable(&name)),
        }
    }
}

async fn attach_resource(session: &Session, name: &str, input: &mut TurnInput) -> Result<(), String> {
    let content = session.server_offers().resource(name).await.map_err(|failure| failure.sentence())?;
    let text = content.text();
    if text.len() > MAX_TEXT_BYTES {
        return Err(format!("It is larger than {MAX_TEXT_BYTES} bytes."));
    }
    input.parts.push(InputPart::file(name, text));
    input.images.extend(content.images);
    Ok(())
}

/// Reports what becomes of a file. Returns whether it is attached.
async fn accept(file: &Attachment, outside: OutsideFiles) -> bool {
    let name = printable(&file.name);
    let size = match &file.content {
        Err(reason) => {
            note!("Could not attach @{name}: {reason}.");
            return false;
        }
        Ok(AttachedContent::Text(text)) => pluralize(text.chars().count() as u64, "character", "characters"),
        Ok(AttachedContent::Image(image)) => image.to_string(),
    };
    match outside {
        OutsideFiles::Ask if !file.is_inside => {
            let answer = question::ask(&format!("@{name} is outside the project. Attach it? [y/N] ")).await;
            return matches!(answer.as_deref().map(str::trim), Some("y" | "yes"));
        }
        OutsideFiles::Skip if !file.is_inside => {
            note!("Could not attach @{name}: it is outside the project.");
            return false;
        }
        OutsideFiles::Ask => print_dimmed_note(&format!("Attached @{name} ({size}).")),
        OutsideFiles::Skip => {}
    }
    true
}
