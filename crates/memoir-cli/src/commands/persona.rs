//! `/persona`: how the model is to be, under a name.

use anstream::println;

use super::{Next, RunCommand};
use memoir_runtime::{
    failure::{Failure, FailureKind},
    personas, printable,
};

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
        #[arg(value_name = "PERSONA", add = ValueSource::Personas)]
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
        #[arg(value_name = "PERSONA", add = ValueSource::Personas)]
        name: String,
    },
    /// Delete a persona
    Delete {
        /// Persona to delete
        #[arg(value_name = "PERSONA", add = ValueSource::Personas)]
        name: String,
    },
    /// Use a persona from now on
    Use {
        /// Persona to use
        #[arg(value_name = "PERSONA", add = ValueSource::Personas)]
        name: String,
    },
    /// Use no persona
    Off,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        match self.action.unwrap_or(Action::List) {
            Action::List => list(app).await?,
            Action::Show { name } => {
                println!("{}", printable(&personas::read(&name, app.session.runtime.home())?));
            }
            Action::Create { name, text } => create(&name, &text.join(" "), app).await?,
            Action::Edit { name } => edit(&name, app).await?,
            Action::Delete { name } => delete(&name, app).await?,
            Action::Use { name } => switch(&name, app).await?,
            Action::Off => off(app).await?,
        }
        Ok(Next::Prompt)
    }
}

async fn in_use(app: &App) -> Result<Option<String>, Failure> {
    Ok(app.session.agent.store.setting(personas::KEY).await?)
}

async fn list(app: &App) -> Result<(), Failure> {
    let (names, used) = (personas::list(app.session.runtime.home()), in_use(app).await?);
    if names.is_empty() {
        println!("There is no persona yet. /persona create NAME TEXT makes one.");
    }
    for name in names {
        println!("{name}{}", if Some(&name) == used.as_ref() { " (in use)" } else { "" });
    }
    Ok(())
}

async fn create(name: &str, text: &str, app: &mut App) -> Result<(), Failure> {
    if personas::file(name, app.session.runtime.home())?.exists() {
        return Err(Failure::new(FailureKind::Usage, format!("there is a persona \"{name}\" already"))
            .hint(format!("/persona edit {name} changes it.")));
    }
    match text.trim() {
        "" => {
            personas::write(name, "Say here how you want to be answered.", app.session.runtime.home())?;
            if let Err(failure) = edit(name, app).await {
                // It says nothing of the user's yet.
                let _ = std::fs::remove_file(personas::file(name, app.session.runtime.home())?);
                return Err(failure);
            }
        }
        text => personas::write(name, text, app.session.runtime.home())?,
    }
    println!("The persona {name} is there. /persona use {name} takes it.");
    Ok(())
}

async fn edit(name: &str, app: &mut App) -> Result<(), Failure> {
    let before = personas::read(name, app.session.runtime.home())?;
    let path = personas::file(name, app.session.runtime.home())?;
    edit_file(&path).await?;
    let after = match personas::read(name, app.session.runtime.home()) {
        Ok(after) => after,
        Err(failure) => {
            let draft = path.with_extension("draft.txt");
            std::fs::rename(&path, &draft)?;
            personas::write(name, &before, app.session.runtime.home())?;
            return Err(failure.hint(format!("Your text is in {}; {name} is as it was.", draft.display())));
        }
    };
    if in_use(app).await?.as_deref() == Some(name) {
        app.session.state.persona = Some(after);
    }
    Ok(())
}

async fn delete(name: &str, app: &mut App) -> Result<(), Failure> {
    let path = personas::file(name, app.session.runtime.home())?;
    if !path.exists() {
        // Says that there is none.
        personas::read(name, app.session.runtime.home())?;
    }
    std::fs::remove_file(path)?;
    if in_use(app).await?.as_deref() == Some(name) {
        off(app).await?;
    }
    println!("The persona {name} is gone.");
    Ok(())
}

async fn switch(name: &str, app: &mut App) -> Result<(), Failure> {
    let text = personas::read(name, app.session.runtime.home())?;
    app.session.agent.store.set_setting(personas::KEY, Some(name), app.session.agent.clock.now()).await?;
    app.session.state.persona = Some(text);
    println!("{name} from now on. /persona off goes back.");
    Ok(())
}

async fn off(app: &mut App) -> Result<(), Failure> {
    app.session.agent.store.set_setting(personas::KEY, None, app.session.agent.clock.now()).await?;
    app.session.state.persona = None;
    println!("No persona is in use.");
    Ok(())
}
