//! Putting together what tools work with.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use memoir_agent::Agent;
use memoir_core::WorkerKind;
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_tools::{Sandbox, Search, Skills, Summarizing, ToolContext, ToolError, Variables};
use memoir_workers::{WorkerContext, run_until_idle};
use secrecy::SecretString;

use crate::{
    config::{Config, SearchConfig, SearchService},
    failure::{Failure, Kind},
    home::Home,
    settings, worker_view,
};

/// An agent in a project, with its tools set up as the config says and nobody to ask.
pub(crate) async fn agent(
    model: Arc<dyn ChatModel>,
    recall: Recall,
    (project, further): (&Path, &[PathBuf]),
    config: &Config,
) -> Result<Agent, Failure> {
    let mut context = ToolContext::new(project, further, recall)?;
    context.sandbox = sandbox(config);
    context.search = search(&config.search)?;
    let mut agent = Agent::new(model, context);
    agent.context = settings::read(config, "context", agent.store.as_ref()).await?;
    Ok(agent)
}

/// How commands are run: by this program, which confines itself first.
fn sandbox(config: &Config) -> Sandbox {
    Sandbox {
        helper: std::env::current_exe().ok(),
        variables: Variables::without_keys(std::env::vars_os(), config.key_variables()),
        temporary: Some(std::env::temp_dir()),
    }
}

/// Who searches the internet, if the config says so.
fn search(config: &SearchConfig) -> Result<Option<Search>, Failure> {
    let wrong = |reason: String| {
        Failure::new(Kind::Failed, format!("the config's [search] has a mistake: {reason}"))
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
            let key =
                std::env::var(variable).map_err(|_| wrong(format!("brave needs its key in {variable}")))?;
            let url = config.url.as_deref().unwrap_or("https://api.search.brave.com");
            Search::brave(url, SecretString::from(key.trim()))
        }
    };
    search.map(Some).map_err(|error| wrong(error.to_string()))
}

/// The skills of a project, and the user's own.
pub(crate) fn skills(project: &Path, home: &Home) -> Skills {
    let user: PathBuf = home.config_file().with_file_name("skills");
    Skills::find(&project.join(".memoir/skills"), &user)
}

/// The summaries of the office that there is now, for the model.
#[derive(Clone)]
pub(crate) struct Summaries(Arc<Mutex<WorkerContext>>);

impl Summaries {
    pub(crate) fn of(office: WorkerContext) -> Self {
        Self(Arc::new(Mutex::new(office)))
    }

    /// Has another office make them from now on.
    pub(crate) fn set(&self, office: WorkerContext) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = office;
    }

    fn office(&self) -> WorkerContext {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

const SUMMARIZERS: [WorkerKind; 2] = [WorkerKind::ExchangeSummarizer, WorkerKind::ConversationSummarizer];

#[async_trait]
impl Summarizing for Summaries {
    async fn report(&self) -> Result<String, ToolError> {
        let office = self.office();
        let mut text = String::new();
        for kind in SUMMARIZERS {
            let pending = office.store.pending(&office.claim(kind)).await?;
            text.push_str(&format!("{}: {pending} to do\n", kind.as_str()));
        }
        let failed = office.store.failed_count().await?;
        let by = office.summarizer.as_ref().map_or("quotation", |model| model.name());
        text.push_str(&format!("failed for good: {failed}\nsummaries are made by {by}\n"));
        Ok(text)
    }

    async fn run(&self) -> Result<String, ToolError> {
        let office = self.office();
        let mut told = Vec::new();
        let mut tell = |kind, progress: &memoir_workers::WorkerProgress| {
            told.extend(worker_view::progress(kind, progress))
        };
        run_until_idle(&office, &SUMMARIZERS, &mut tell).await?;
        match told.is_empty() {
            true => Ok("Nothing was due.".into()),
            false => Ok(memoir_tools::cap(&told.join("\n"), memoir_tools::LONGEST_OUTPUT)),
        }
    }
}
