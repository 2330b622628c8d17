//! The persona of a session.

use serde::Serialize;

use super::Session;
use crate::{failure::Failure, personas};

/// The personas that exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonaList {
    /// Their names, sorted.
    pub names: Vec<String>,
    /// The one in use.
    pub in_use: Option<String>,
}

impl Session {
    /// Lists all personas.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
    pub async fn personas(&self) -> Result<PersonaList, Failure> {
        let in_use = self.store().setting(personas::KEY).await?;
        Ok(PersonaList { names: personas::list(self.runtime.home()), in_use })
    }

    /// Uses the persona of this name from now on, or none.
    ///
    /// # Errors
    ///
    /// Fails if there is no such persona, or if its text does not fit.
    pub async fn use_persona(&mut self, name: Option<&str>) -> Result<(), Failure> {
        let text = name.map(|name| personas::read(name, self.runtime.home())).transpose()?;
        self.store().set_setting(personas::KEY, name, self.agent.clock.now()).await?;
        self.state.persona = text;
        Ok(())
    }

    /// Checks a persona after it was edited, and uses the new text if it is in use. A text that does not fit is saved beside
    /// it as a draft, and the persona is `before` again.
    ///
    /// # Errors
    ///
    /// Fails if the text does not fit. The failure says where the draft is.
    pub async fn finish_persona(&mut self, name: &str, before: &str) -> Result<(), Failure> {
        let home = self.runtime.home();
        let text = personas::read(name, home).or_else(|failure| {
            let path = personas::file(name, home)?;
            let draft = path.with_extension("draft.txt");
            std::fs::rename(&path, &draft)?;
            personas::write(name, before, home)?;
            Err(failure.hint(format!("Your text is in {}; {name} is as it was.", draft.display())))
        })?;
        if self.personas().await?.in_use.as_deref() == Some(name) {
            self.state.persona = Some(text);
        }
        Ok(())
    }

    /// Deletes a persona. If it is in use, none is in use afterwards, and the result is true.
    ///
    /// # Errors
    ///
    /// Fails if there is no such persona, or if its file cannot be deleted.
    pub async fn delete_persona(&mut self, name: &str) -> Result<bool, Failure> {
        personas::delete(name, self.runtime.home())?;
        let was_in_use = self.personas().await?.in_use.as_deref() == Some(name);
        if was_in_use {
            self.use_persona(None).await?;
        }
        Ok(was_in_use)
    }
}
