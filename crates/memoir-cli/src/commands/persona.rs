//! `/persona`: manages personas, which are named instructions.

use memoir_runtime::{Failure, PersonaList, Session, personas, printable};

use super::{Next, RunCommand};
use crate::{app::App, completion_source::ValueSource, text_editor::edit_file};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List all personas
    List,
    /// Show a persona
    Show {
        /// Persona to show
        #[arg(value_name = "PERSONA", add = ValueSource::PERSONAS)]
        name: String,
    },
    /// Create a persona; without text, your editor opens
    Create {
        /// Name of the new persona
        #[arg(value_name = "NAME")]
        name: String,
        /// Instructions for the model
        #[arg(value_name = "TEXT", num_args = 0.., add = ValueSource::FreeText)]
        text: Vec<String>,
    },
    /// Edit a persona in your editor
    Edit {
        /// Persona to edit
        #[arg(value_name = "PERSONA", add = ValueSource::PERSONAS)]
        name: String,
    },
    /// Delete a persona
    Delete {
        /// Persona to delete
        #[arg(value_name = "PERSONA", add = ValueSource::PERSONAS)]
        name: String,
    },
    /// Use a persona from now on
    Use {
        /// Persona to use
        #[arg(value_name = "PERSONA", add = ValueSource::PERSONAS)]
        name: String,
    },
    /// Stop using a persona
    Off,
}

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        match self.action.unwrap_or(Action::List) {
            Action::List => list(&session.personas().await?),
            Action::Show { name } => {
                say!("{}", printable(&personas::read(&name, session.runtime.home())?));
            }
            Action::Create { name, text } => create(&name, &text.join(" "), session).await?,
            Action::Edit { name } => edit(&name, session).await?,
            Action::Delete { name } => {
                if session.delete_persona(&name).await? {
                    say!("No persona is in use.");
                }
                say!("Deleted the persona {name}.");
            }
            Action::Use { name } => {
                session.use_persona(Some(&name)).await?;
                say!("Using the persona {name}. Stop with `/persona off`.");
            }
            Action::Off => {
                session.use_persona(None).await?;
                say!("No persona is in use.");
            }
        }
        Ok(Next::Prompt)
    }
}

fn list(PersonaList { names, in_use }: &PersonaList) {
    if names.is_empty() {
        say!("There are no personas yet. Create one with `/persona create NAME TEXT`.");
    }
    for name in names {
        say!("{name}{}", if Some(name) == in_use.as_ref() { " (in use)" } else { "" });
    }
}

async fn create(name: &str, text: &str, session: &mut Session) -> Result<(), Failure> {
    let home = session.runtime.home().clone();
    if personas::persona_path(name, &home)?.exists() {
        return Err(Failure::usage(format!("the persona \"{name}\" already exists"))
            .hint(format!("Edit it with `/persona edit {name}`.")));
    }
    match text.trim() {
        "" => {
            personas::write(name, "Describe here how the model should answer.", &home)?;
            if let Err(failure) = edit(name, session).await {
                if let Err(error) = personas::delete(name, &home) {
                    // The file contains only the placeholder, and the failed edit is the error to report.
                    tracing::debug!(reason = error.message, "could not delete an empty persona");
                }
                return Err(failure);
            }
        }
        text => personas::write(name, text, &home)?,
    }
    say!("Created the persona {name}. Use it with `/persona use {name}`.");
    Ok(())
}

async fn edit(name: &str, session: &mut Session) -> Result<(), Failure> {
    let before = personas::read(name, session.runtime.home())?;
    edit_file(&personas::persona_path(name, session.runtime.home())?).await?;
    session.finish_persona_edit(name, &before).await
}
