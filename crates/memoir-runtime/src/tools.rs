//! Putting together what tools work with.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_agent::{Agent, AgentState, CurrentConversation};
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

/// Returns an agent in a project and the state of a session with it: tools as the config says, and nobody to ask.
pub(crate) fn agent(
    store: Arc<dyn Store>,
    model: Arc<dyn ChatModel>,
    recall: Recall,
    (project, further): (&Path, &[PathBuf]),
    models: &Models,
) -> Result<(Arc<Agent>, AgentState), Failure> {
    let mut context = ToolContext::new(project, further, store.clone(), recall.clone())?;
    context.sandbox = sandbox(models);
    context.search = search(&models.config.search, &models.environment)?;
    let conversation = CurrentConversation::begin(recall.scope.clone().unwrap_or_default());
    let tools = ToolSet::all().for_store(store.as_ref());
    let state = AgentState::new(model, tools, recall, conversation);
    Ok((Arc::new(Agent::new(store, context)), state))
}

/// How commands are run: by this program, which confines itself first.
fn sandbox(models: &Models) -> Sandbox {
    let environment = &models.environment;
    Sandbox {
        helper: environment.program().map(Path::to_owned),
        variables: Variables::without_keys(environment.variables(), models.config.key_variables()),
        temporary: Some(environment.temporary().to_owned()),
    }
}

/// Who searches the internet, if the config says so.
fn search(config: &SearchConfig, environment: &Environment) -> Result<Option<Search>, Failure> {
    let wrong = |reason: String| {
        Failure::failed(format!("the config's [search] has a mistake: {reason}"))
            .hint("docs/config.md shows how it is written.")
    };
    let Some(service) = config.service else { return Ok(None) };
    let search = match service {
        SearchService::Searxng => {
            let url = config.url.as_deref().ok_or_else(|| wrong("searxng needs a url".into()))?;
            Search::searxng(url)
        }
        SearchService::Brave => {
            let variable = config.key_variable.as_deref().unwrap_or("BRAVE_API_KEY");
            let key = environment.variable(variable);
            let key = key.ok_or_else(|| wrong(format!("brave needs its key in {variable}")))?;
            let url = config.url.as_deref().unwrap_or("https://api.search.brave.com");
            Search::brave(url, SecretString::from(key))
        }
    };
    search.map(Some).map_err(|error| wrong(error.to_string()))
}

/// The skills of a project, and the user's own.
pub(crate) fn skills(project: &Path, home: &Home) -> Skills {
    let user: PathBuf = home.config_file().with_file_name("skills");
    Skills::find(&project.join(".memoir/skills"), &user)
}
