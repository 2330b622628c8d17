//! The persona of a session.

use serde::Serialize;

use super::Session;
use crate::{failure::Failure, personas};

/// The existing personas and the one in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonaList {
    /// The names of all personas, sorted.
    pub names: Vec<String>,
    /// Name of the persona in use.
    pub in_use: Option<String>,
}

impl Session {
    /// Returns all personas and the one in use.
    pub async fn personas(&self) -> Result<PersonaList, Failure> {
        let in_use = self.store().setting(personas::KEY).await?;
        Ok(PersonaList { names: personas::list(self.runtime.home()), in_use })
    }

    /// Uses a persona in this and later sessions, or none if `name` is `None`.
    ///
    /// # Errors
    ///
    /// Fails if there is no such persona, or if its text is not valid.
    pub async fn use_persona(&mut self, name: Option<&str>) -> Result<(), Failure> {
        let text = name.map(|name| personas::read(name, self.runtime.home())).transpose()?;
        self.store().set_setting(personas::KEY, name, self.agent.clock.now()).await?;
        self.state.persona = text;
        Ok(())
    }

    /// Checks an edited persona and applies the new text if the persona is in use. An invalid text is moved to a draft
    /// file and replaced with `old_text`.
    ///
    /// # Errors
    ///
    /// Fails if the text is not valid. The hint contains the path of the draft.
    pub async fn finish_persona_edit(&mut self, name: &str, old_text: &str) -> Result<(), Failure> {
        let home = self.runtime.home();
        let text = personas::read(name, home).or_else(|failure| {
            let path = personas::persona_path(name, home)?;
            let draft = path.with_extension("draft.txt");
            std::fs::rename(&path, &draft)?;
            personas::write(name, old_text, home)?;
            Err(failure.hint(format!(
                "Your text was saved to {}. The persona {name} was not changed.",
                draft.display()
            )))
        })?;
        if self.personas().await?.in_use.as_deref() == Some(name) {
            self.state.persona = Some(text);
        }
        Ok(())
    }

    /// Deletes a persona. Returns `true` if it was in use, in which case no persona is in use afterwards.
    pub async fn delete_persona(&mut self, name: &str) -> Result<bool, Failure> {
        personas::delete(name, self.runtime.home())?;
        let was_in_use = self.personas().await?.in_use.as_deref() == Some(name);
        if was_in_use {
            self.use_persona(None).await?;
        }
        Ok(was_in_use)
    }
}
