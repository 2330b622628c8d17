//! An open memory with its configuration, from which sessions and operations start.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_core::{Clock as _, SystemClock, TimeZone};
use memoir_recall::Recall;
use memoir_store::Store;
use memoir_workers::{WorkerContext, WorkerSettings};

use crate::{
    config::{self, Config},
    demo,
    environment::Environment,
    failure::Failure,
    home::Home,
    memory::connect_recall,
    models::Models,
    permissions,
    persistence::Persistence,
    scope, settings, stores,
    tasks::TaskEngine,
};

/// What a runtime needs to know from the front end that starts it.
#[derive(Clone)]
pub struct RuntimeOptions {
    /// Where Memoir stores its data and configuration.
    pub home: Home,
    /// The process that Memoir runs in.
    pub environment: Environment,
    /// The directory the program was started in. Its project decides which conversations belong together.
    pub directory: PathBuf,
    /// How long what is said lives.
    pub persistence: Persistence,
    /// A prompt to add to the command history as soon as the memory is open, so that a later failure cannot lose it.
    pub prompt: Option<String>,
}

impl RuntimeOptions {
    /// Options for the user's permanent memory.
    pub fn new(home: Home, environment: Environment, directory: impl Into<PathBuf>) -> Self {
        Self {
            home,
            environment,
            directory: directory.into(),
            persistence: Persistence::default(),
            prompt: None,
        }
    }
}

/// An open memory with its configuration. Clones share it.
#[derive(Clone)]
pub struct Runtime(Arc<Shared>);

struct Shared {
    store: Arc<dyn Store>,
    models: Arc<Models>,
    home: Home,
    directory: PathBuf,
    project: PathBuf,
    zone: TimeZone,
    persistence: Persistence,
}

impl Runtime {
    /// Opens the memory and reads the configuration.
    ///
    /// # Errors
    ///
    /// Fails if the memory cannot be opened, or if a configuration file has a mistake.
    pub async fn open(options: RuntimeOptions) -> Result<Self, Failure> {
        let RuntimeOptions { home, environment, directory, persistence, prompt } = options;
        let project = scope::project_of(&directory);
        let store = match persistence {
            Persistence::Permanent => stores::factory().open(&stores::url(&home)).await?,
            Persistence::Incognito | Persistence::Demo => open_in_memory(&home, &project).await?,
        };
        let opened = async {
            if let Some(prompt) = &prompt {
                store.append_command(prompt, SystemClock.now()).await?;
            }
            let config = Config::read(&home.config_file(), &project.join(config::IN_PROJECT))?;
            let zone = TimeZone::system();
            let temporary = environment.temporary().to_owned();
            let models = Arc::new(Models::new(environment, config, zone.clone())?);
            let home = if persistence == Persistence::Demo { home.disposable(&temporary) } else { home };
            Ok((models, home, zone))
        };
        match opened.await {
            Ok((models, home, zone)) => {
                Ok(Self(Arc::new(Shared { store, models, home, directory, project, zone, persistence })))
            }
            Err(failure) => {
                store.close().await;
                Err(failure)
            }
        }
    }

    /// Closes the memory. Sessions of this runtime must have ended.
    pub async fn close(self) {
        self.0.store.close().await;
        if self.persistence() == Persistence::Demo {
            let data = self.home().data();
            if let Err(error) = std::fs::remove_dir_all(&data) {
                // Usually it was never created.
                tracing::debug!(%error, "the demo's directory was not removed");
            }
        }
    }

    /// Returns the memory.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// Returns the models and the configuration.
    pub fn models(&self) -> &Arc<Models> {
        &self.0.models
    }

    /// Returns where data and configuration are stored.
    pub fn home(&self) -> &Home {
        &self.0.home
    }

    /// Returns the directory the program was started in.
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// Returns the root of the project that contains [`Self::directory`].
    pub fn project(&self) -> &Path {
        &self.0.project
    }

    /// Returns the scope of conversations that are started here: the project, or the demo's own.
    pub fn scope(&self) -> String {
        match self.persistence() {
            Persistence::Demo => demo::SCOPE.to_owned(),
            Persistence::Permanent | Persistence::Incognito => self.project().to_string_lossy().into_owned(),
        }
    }

    /// Returns the time zone in which dates are shown.
    pub fn zone(&self) -> &TimeZone {
        &self.0.zone
    }

    /// Returns how long what is said lives.
    pub fn persistence(&self) -> Persistence {
        self.0.persistence
    }

    /// Returns memory, set up to be searched from this project. Degradations are added to `notices`.
    ///
    /// # Errors
    ///
    /// Fails if a setting of recall or of the embedding model cannot be read.
    pub async fn recall(&self, notices: &mut Vec<String>) -> Result<Recall, Failure> {
        let mut recall = connect_recall(
            Arc::clone(self.store()),
            self.models(),
            self.zone(),
            Some(self.directory()),
            notices,
        )
        .await?;
        recall.scope = Some(self.scope());
        Ok(recall)
    }

    /// Returns the settings of the background workers. Those that are ignored are added to `notices`.
    ///
    /// # Errors
    ///
    /// Fails if the configuration has a mistake there.
    pub async fn worker_settings(&self, notices: &mut Vec<String>) -> Result<WorkerSettings, Failure> {
        settings::read(&self.models().config, "workers", self.store().as_ref(), notices).await
    }

    /// Returns what background workers need, with the summarizer that is set. Degradations are added to `notices`.
    ///
    /// # Errors
    ///
    /// Fails if a setting cannot be read.
    pub async fn worker_context(&self, notices: &mut Vec<String>) -> Result<WorkerContext, Failure> {
        let recall = self.recall(notices).await?;
        let summarizer = self.models().connect_summarizer(self.store().as_ref(), notices).await?;
        let budget = self.worker_settings(notices).await?.daily_budget();
        Ok(WorkerContext::new(self.store().clone(), recall, summarizer, budget))
    }

    /// Returns what runs scheduled tasks.
    pub fn task_engine(&self) -> Arc<TaskEngine> {
        TaskEngine::new(
            Arc::clone(self.models()),
            Arc::clone(self.store()),
            self.home().clone(),
            self.zone().clone(),
        )
    }
}

/// A memory without a file. Settings and denied tools are copied into it; conversations are not.
async fn open_in_memory(home: &Home, project: &Path) -> Result<Arc<dyn Store>, Failure> {
    let empty = stores::factory().open_in_memory().await?;
    if home.database().exists() {
        let memory = stores::factory().open(&stores::url(home)).await?;
        let settings = settings::copy_all(memory.as_ref(), empty.as_ref()).await;
        let denied =
            permissions::copy_denied(memory.as_ref(), empty.as_ref(), &project.to_string_lossy()).await;
        memory.close().await;
        settings.and(denied)?;
    }
    Ok(empty)
}
