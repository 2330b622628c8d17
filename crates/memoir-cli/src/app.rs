//! Putting the program together: store, model, tools, conversation; then the REPL or one answer.

use std::{
    io::{IsTerminal as _, Read as _, stdin},
    path::PathBuf,
    sync::Arc,
};

use memoir_agent::{Agent, CurrentConversation, Limits};
use memoir_core::{ConversationId, SystemClock};
use memoir_store::{ConversationList, Conversations as _, sqlite::SqliteStore};
use memoir_tools::{ToolContext, ToolSet};

use crate::{
    args::Args,
    environment::Environment,
    failure::{Failure, Kind},
    headless,
    home::Home,
    model_choice, repl, scope,
};

/// A program that is ready to talk.
pub(crate) struct App {
    pub(crate) agent: Agent,
    pub(crate) conversation: CurrentConversation,
    pub(crate) home: Home,
    pub(crate) model_reason: String,
}

/// Runs what the command line asks for.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let prompt = given_prompt(&args)?;
    let environment = Environment::read();
    let home = Home::find(&environment)?;
    let store = SqliteStore::open(&home.database()).await?;
    let outcome = talk(args, prompt, &environment, home, store.clone()).await;
    store.close().await;
    outcome
}

async fn talk(
    args: Args,
    prompt: Option<String>,
    environment: &Environment,
    home: Home,
    store: SqliteStore,
) -> Result<(), Failure> {
    let project = scope::project_of(&std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")));
    let choice = model_choice::choose(args.model.as_deref(), environment, Arc::new(store.clone()))?;
    let conversation = conversation(&args, prompt.is_some(), &project.to_string_lossy(), &store).await?;
    let app = App {
        agent: Agent {
            store: Arc::new(store.clone()),
            model: choice.model,
            tools: Arc::new(ToolSet::all()),
            tool_context: ToolContext::new(&project, Arc::new(store))?,
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
        },
        conversation,
        home,
        model_reason: choice.reason,
    };
    match prompt {
        Some(prompt) => headless::answer(app, &prompt, args.output_format).await,
        None => repl::run(app).await,
    }
}

/// The prompt from `-p` or from stdin; none when a terminal is there to type into.
fn given_prompt(args: &Args) -> Result<Option<String>, Failure> {
    let prompt = match &args.prompt {
        Some(prompt) => prompt.clone(),
        None if stdin().is_terminal() => return Ok(None),
        None => {
            let mut bytes = Vec::new();
            stdin().read_to_end(&mut bytes)?;
            if bytes.is_empty() {
                return Err(
                    Failure::new(Kind::Usage, "There is no terminal and nothing on stdin")
                        .hint("\nAsk with: memoir -p \"your question\", or pipe the question in."),
                );
            }
            String::from_utf8(bytes).map_err(|_| {
                Failure::new(Kind::Usage, "the text on stdin is not valid UTF-8")
                    .hint("Convert it first, for example with iconv -t UTF-8.")
            })?
        }
    };
    if prompt.trim().is_empty() {
        return Err(Failure::new(Kind::Usage, "the prompt is empty").hint("Write what you want to ask."));
    }
    Ok(Some(prompt))
}

/// The conversation that `-c` or `-r` asks for, or a new one.
async fn conversation(
    args: &Args,
    headless: bool,
    scope: &str,
    store: &SqliteStore,
) -> Result<CurrentConversation, Failure> {
    let resumed = match (args.continue_last, args.resume) {
        (true, _) => return last_conversation(scope, store).await,
        (_, None) => return Ok(CurrentConversation::begin(scope)),
        (_, Some(Some(id))) => ConversationId::new(id),
        (_, Some(None)) if headless => {
            return Err(
                Failure::new(Kind::Usage, "-r needs the id of a conversation here").hint("Use -r ID, or -c."),
            );
        }
        (_, Some(None)) => match repl::pick_conversation(store).await? {
            Some(id) => id,
            None => return Ok(CurrentConversation::begin(scope)),
        },
    };
    match store.conversation(resumed).await? {
        Some(found) => Ok(CurrentConversation::resume(found.id, found.scope)),
        None => Err(
            Failure::new(Kind::Failed, format!("there is no conversation {resumed}"))
                .hint("Use -r without an id to choose one, or -c for the last."),
        ),
    }
}

/// The last conversation of this project, or of any when it has none; a new one when there is none at all.
async fn last_conversation(scope: &str, store: &SqliteStore) -> Result<CurrentConversation, Failure> {
    let here = ConversationList {
        scope: Some(scope.to_owned()),
        limit: 1,
    };
    let anywhere = ConversationList {
        scope: None,
        limit: 1,
    };
    if let Some(found) = store.conversations(&here).await?.first() {
        return Ok(CurrentConversation::resume(found.id, scope));
    }
    Ok(match store.conversations(&anywhere).await?.first() {
        Some(found) => {
            anstream::eprintln!(
                "Going on with conversation {} of {}: \"{}\".",
                found.id,
                found.scope,
                found.title
            );
            CurrentConversation::resume(found.id, found.scope.clone())
        }
        None => {
            anstream::eprintln!("There is no conversation to go on with yet; this is the first.");
            CurrentConversation::begin(scope)
        }
    })
}
