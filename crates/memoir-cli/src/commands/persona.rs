//! `/persona`: how the model is to be, under a name.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    files::edit_file,
    personas,
    printable::printable,
};

pub(super) struct Persona;

#[async_trait]
impl Command for Persona {
    fn name(&self) -> &'static str {
        "persona"
    }

    fn arguments(&self) -> &'static str {
        "[list | show PERSONA | create NAME [TEXT] | edit PERSONA | delete PERSONA | use PERSONA | off]"
    }

    fn summary(&self) -> &'static str {
        "How the model is to be: texts with names, one in use."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        match (word, rest.trim()) {
            ("" | "list", "") => list(app).await?,
            ("show", name) if !name.is_empty() => {
                println!("{}", printable(&personas::read(name, &app.home)?))
            }
            ("create", rest) if !rest.is_empty() => create(rest, app).await?,
            ("edit", name) if !name.is_empty() => edit(name, app).await?,
            ("delete", name) if !name.is_empty() => delete(name, app).await?,
            ("use", name) if !name.is_empty() => switch(name, app).await?,
            ("off", "") => off(app).await?,
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/persona {arguments} is not understood"))
                    .hint("/help persona shows how it is used."));
            }
        }
        Ok(Next::Prompt)
    }
}

async fn in_use(app: &App) -> Result<Option<String>, Failure> {
    Ok(app.agent.store.setting(personas::KEY).await?)
}

async fn list(app: &App) -> Result<(), Failure> {
    let (names, used) = (personas::list(&app.home), in_use(app).await?);
    if names.is_empty() {
        println!("There is no persona yet. /persona create NAME TEXT makes one.");
    }
    for name in names {
        println!("{name}{}", if Some(&name) == used.as_ref() { " (in use)" } else { "" });
    }
    Ok(())
}

async fn create(arguments: &str, app: &mut App) -> Result<(), Failure> {
    let (name, text) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    if personas::file(name, &app.home)?.exists() {
        return Err(Failure::new(Kind::Usage, format!("there is a persona \"{name}\" already"))
            .hint(format!("/persona edit {name} changes it.")));
    }
    match text.trim() {
        "" => {
            personas::write(name, "Say here how you want to be answered.", &app.home)?;
            if let Err(failure) = edit(name, app).await {
                // It says nothing of the user's yet.
                let _ = std::fs::remove_file(personas::file(name, &app.home)?);
                return Err(failure);
            }
        }
        text => personas::write(name, text, &app.home)?,
    }
    println!("The persona {name} is there. /persona use {name} takes it.");
    Ok(())
}

async fn edit(name: &str, app: &mut App) -> Result<(), Failure> {
    let before = personas::read(name, &app.home)?;
    let path = personas::file(name, &app.home)?;
    edit_file(&path).await?;
    let after = match personas::read(name, &app.home) {
        Ok(after) => after,
        Err(failure) => {
            let draft = path.with_extension("draft.txt");
            std::fs::rename(&path, &draft)?;
            personas::write(name, &before, &app.home)?;
            return Err(failure.hint(format!("Your text is in {}; {name} is as it was.", draft.display())));
        }
    };
    if in_use(app).await?.as_deref() == Some(name) {
        app.state.persona = Some(after);
    }
    Ok(())
}

async fn delete(name: &str, app: &mut App) -> Result<(), Failure> {
    let path = personas::file(name, &app.home)?;
    if !path.exists() {
        // Says that there is none.
        personas::read(name, &app.home)?;
    }
    std::fs::remove_file(path)?;
    if in_use(app).await?.as_deref() == Some(name) {
        off(app).await?;
    }
    println!("The persona {name} is gone.");
    Ok(())
}

async fn switch(name: &str, app: &mut App) -> Result<(), Failure> {
    let text = personas::read(name, &app.home)?;
    app.agent.store.set_setting(personas::KEY, Some(name), app.agent.clock.now()).await?;
    app.state.persona = Some(text);
    println!("{name} from now on. /persona off goes back.");
    Ok(())
}

async fn off(app: &mut App) -> Result<(), Failure> {
    app.agent.store.set_setting(personas::KEY, None, app.agent.clock.now()).await?;
    app.state.persona = None;
    println!("No persona is in use.");
    Ok(())
}
