//! Sets up the agent and the environment of its tools: sandbox, web search and skills.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_agent::{Agent, AgentState, CurrentConversation, Limits};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::Store;
use memoir_tools::{Sandbox, Search, Skills, ToolContext, ToolSet, Variables};
use secrecy::SecretString;

use crate::{
    config::{SearchConfig, SearchService},
    environment::Environment,
    failure::Failure,
    home::Home,
    models::Models,
};

/// Returns an agent for a project and the initial state of a session. Without a prompter, calls that need approval are
/// denied.
pub(crate) fn create_agent(
    store: Arc<dyn Store>,
    model: Arc<dyn ChatModel>,
    recall: Recall,
    (project, extra_directories): (&Path, &[PathBuf]),
    limits: Limits,
    models: &Models,
) -> Result<(Arc<Agent>, AgentState), Failure> {
    let mut context = ToolContext::new(project, extra_directories, store.clone(), recall.clone())?;
    context.sandbox = create_sandbox(models);
    context.search = create_search(&models.config.search, &models.environment)?;
    let conversation = CurrentConversation::new(recall.scope.clone().unwrap_or_default());
    let tools = ToolSet::all().for_store(store.as_ref());
    let state = AgentState::new(model, tools, recall, conversation);
    Ok((Arc::new(Agent { limits, ..Agent::new(store, context) }), state))
}

/// Returns the sandbox for commands: this program is started again, restricts itself and runs the command.
fn create_sandbox(models: &Models) -> Sandbox {
    let environment = &models.environment;
    Sandbox {
        // Not its path, at which a command may put another program.
        helper: environment.program().map(|_| "/proc/self/exe".into()),
        variables: command_variables(models),
        temp_dir: Some(environment.temporary().to_owned()),
        is_approved: false,
        own_directories: Vec::new(),
    }
}

/// Returns the environment variables of programs that Memoir starts: all but those with keys.
pub(crate) fn command_variables(models: &Models) -> Variables {
    Variables::without_keys(models.environment.variables(), models.config.key_variables())
}

/// Returns the web search service, or `None` if the config does not set one.
fn create_search(config: &SearchConfig, environment: &Environment) -> Result<Option<Search>, Failure> {
    let invalid = |reason: String| {
        Failure::failed(format!("the [search] section of the config is invalid: {reason}"))
            .hint("See docs/config.md for an example.")
    };
    let Some(service) = config.service else { return Ok(None) };
    let search = match service {
        SearchService::Searxng => {
            let url = config.url.as_deref().ok_or_else(|| invalid("searxng needs a url".into()))?;
            Search::searxng(url)
        }
        SearchService::Brave => {
            let variable = config.key_variable.as_deref().unwrap_or("BRAVE_API_KEY");
            let key = environment.variable(variable);
            let key = key.ok_or_else(|| invalid(format!("brave needs an API key in {variable}")))?;
            let url = config.url.as_deref().unwrap_or("https://api.search.brave.com");
            Search::brave(url, SecretString::from(key))
        }
    };
    search.map(Some).map_err(|error| invalid(error.to_string()))
}

/// Reads the skills of a project that the user trusts, and those of the user.
pub(crate) fn read_skills(project: Option<&Path>, home: &Home) -> Skills {
    let user_skills: PathBuf = home.config_file().with_file_name("skills");
    Skills::find(project, &user_skills)
}
