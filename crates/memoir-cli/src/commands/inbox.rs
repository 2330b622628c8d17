//! `/inbox`: what tasks have reported.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    scheduling,
};

pub(super) struct Inbox;

#[async_trait]
impl Command for Inbox {
    fn name(&self) -> &'static str {
        "inbox"
    }

    fn arguments(&self) -> &'static str {
        "[all]"
    }

    fn summary(&self) -> &'static str {
        "Show what tasks have reported since you last looked."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let all = match arguments {
            "" => false,
            "all" => true,
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/inbox {arguments} is not understood"))
                    .hint("Use /inbox or /inbox all."));
            }
        };
        println!("{}", scheduling::inbox(all, app.agent.store.as_ref(), &app.zone).await?);
        Ok(Next::Prompt)
    }
}
