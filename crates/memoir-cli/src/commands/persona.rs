//! `/persona`: how the model is to be, under a name.

use anstream::println;
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
    /// Show one persona
    Show {
        /// Persona to show
        #[arg(value_name = "PERSONA", add = ValueSource::PERSONAS)]
        name: String,
    },
    /// Create a persona, with its text or in your editor
    Create {
        /// Name of the new persona
        #[arg(value_name = "NAME")]
        name: String,
        /// How the model should answer
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
    /// Use no persona
    Off,
}

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        match self.action.unwrap_or(Action::List) {
            Action::List => list(&session.personas().await?),
            Action::Show { name } => {
                println!("{}", printable(&personas::read(&name, session.runtime.home())?));
            }
            Action::Create { name, text } => create(&name, &text.join(" "), session).await?,
            Action::Edit { name } => edit(&name, session).await?,
            Action::Delete { name } => {
                if session.delete_persona(&name).await? {
                    println!("No persona is in use.");
                }
                println!("The persona {name} is gone.");
            }
            Action::Use { name } => {
                session.use_persona(Some(&name)).await?;
                println!("{name} from now on. /persona off goes back.");
            }
            Action::Off => {
                session.use_persona(None).await?;
                println!("No persona is in use.");
            }
        }
        Ok(Next::Prompt)
    }
}

fn list(PersonaList { names, in_use }: &PersonaList) {
    if names.is_empty() {
        println!("There is no persona yet. /persona create NAME TEXT makes one.");
    }
    for name in names {
        println!("{name}{}", if Some(name) == in_use.as_ref() { " (in use)" } else { "" });
    }
}

async fn create(name: &str, text: &str, session: &mut Session) -> Result<(), Failure> {
    let home = session.runtime.home().clone();
    if personas::file(name, &home)?.exists() {
        return Err(Failure::usage(format!("there is a persona \"{name}\" already"))
            .hint(format!("/persona edit {name} changes it.")));
    }
    match text.trim() {
        "" => {
            personas::write(name, "Say here how you want to be answered.", &home)?;
            if let Err(failure) = edit(name, session).await {
                if let Err(gone) = personas::delete(name, &home) {
                    // It says nothing of the user's yet, and why editing failed matters more.
                    tracing::debug!(reason = gone.message, "an empty persona was not deleted");
                }
                return Err(failure);
            }
        }
        text => personas::write(name, text, &home)?,
    }
    println!("The persona {name} is there. /persona use {name} takes it.");
    Ok(())
}

async fn edit(name: &str, session: &mut Session) -> Result<(), Failure> {
    let before = personas::read(name, session.runtime.home())?;
    edit_file(&personas::file(name, session.runtime.home())?).await?;
    session.finish_persona(name, &before).await
}
