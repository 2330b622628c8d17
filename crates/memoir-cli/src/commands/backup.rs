//! `/backup`: a copy of the whole memory.

use async_trait::async_trait;

use super::{Command, Next};
use crate::{
    app::{App, Kept},
    backup,
    failure::{Failure, Kind},
    paths::expand_home,
};

pub(super) struct Backup;

#[async_trait]
impl Command for Backup {
    fn name(&self) -> &'static str {
        "backup"
    }

    fn arguments(&self) -> &'static str {
        "[FOLDER]"
    }

    fn summary(&self) -> &'static str {
        "Copy the whole memory into a folder, and check the copy."
    }

    fn needs_memory(&self) -> bool {
        true
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        if app.kept == Kept::Demo {
            return Err(Failure::new(Kind::Usage, "the memory of the demo is thrown away")
                .hint("/export writes down what was said."));
        }
        let folder = Some(arguments).filter(|folder| !folder.is_empty()).map(expand_home);
        backup::back_up(folder.as_deref(), app.agent.store.as_ref(), &app.home, &app.zone).await?;
        Ok(Next::Prompt)
    }
}
