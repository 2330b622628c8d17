//! The memory of another machine, which `MEMOIR_URL` names.

use memoir_runtime::{Failure, Runtime, environment::Environment, hub::HubAddress, printable};

use crate::args::{Args, Command};

/// Returns the machine whose memory a conversation uses, if that is another one.
pub(crate) fn of_conversation(args: &Args, environment: &Environment) -> Result<Option<HubAddress>, Failure> {
    let is_conversation = matches!(args.command, None | Some(Command::Chat(_))) && !args.chat.incognito;
    match environment.hub_url().filter(|_| is_conversation) {
        Some(url) => HubAddress::with_token_of(environment, url, None).map(Some),
        None => Ok(None),
    }
}

/// Fails if a command would use the memory of this machine although the user works with that of another.
pub(crate) fn refuse_other_memory(command: &Command, environment: &Environment) -> Result<(), Failure> {
    let Some(url) = environment.hub_url() else { return Ok(()) };
    let uses_memory = match command {
        Command::Backup { .. }
        | Command::Conversations { .. }
        | Command::Cost { .. }
        | Command::Daemon { .. }
        | Command::Docs(_)
        | Command::Export(_)
        | Command::Import { .. }
        | Command::Memory { .. }
        | Command::Open(_)
        | Command::Schedule(_)
        | Command::Search(_)
        | Command::Serve { .. }
        | Command::Why { .. }
        | Command::Worker(_)
        | Command::Write(_) => true,
        Command::Chat(_)
        | Command::Completions { .. }
        | Command::Config { .. }
        | Command::Connect(_)
        | Command::Demo { .. }
        | Command::Doctor { .. }
        | Command::Eval(_)
        | Command::Hook(_)
        | Command::Mcp(_)
        | Command::Models(_)
        | Command::Repair { .. }
        | Command::Restore(_)
        | Command::Trust { .. } => false,
    };
    match uses_memory {
        true => Err(Failure::usage(
            "this command works with the memory of this machine, but `MEMOIR_URL` names another",
        )
        .hint(format!("Unset `MEMOIR_URL`, or open {url} in a browser."))),
        false => Ok(()),
    }
}

/// Sends what waits for the hub, and says if something still does.
pub(crate) async fn finish(runtime: &Runtime) {
    if let Some(hub) = runtime.hub() {
        hub.finish().await.iter().for_each(|sentence| note!("{}", printable(sentence)));
    }
}
