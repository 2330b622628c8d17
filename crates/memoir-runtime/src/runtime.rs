//! The runtime: an open memory with its configuration. Sessions and operations start from it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_core::{Clock as _, SystemClock, TimeZone};
use memoir_recall::{Recall, Supplier};
use memoir_store::{Store, StoreError};
use memoir_workers::{WorkerContext, WorkerSettings};

use crate::{
    config::{Config, read_project_servers},
    demo,
    environment::Environment,
    failure::Failure,
    home::Home,
    hub::{HubAddress, HubMemory},
    import_settings::ImportSettings,
    memory::connect_recall,
    models::Models,
    operations::forgetting::{self, ForgetReport, ForgetTarget},
    permissions,
    persistence::Persistence,
    scope, settings, stores,
    tasks::TaskEngine,
    terminal_settings::TerminalSettings,
    trust::{self, Trust},
};

/// Options that a front end passes to [`Runtime::open`].
#[derive(Clone)]
pub struct RuntimeOptions {
    /// Directories for data, configuration and logs.
    pub home: Home,
    /// The process that Memoir runs in.
    pub environment: Environment,
    /// Directory in which the program was started. Conversations are grouped by its project.
    pub directory: PathBuf,
    /// Whether conversations are stored permanently.
    pub persistence: Persistence,
    /// The machine whose memory is used, with [`Persistence::Hub`].
    pub hub: Option<HubAddress>,
    /// A prompt to add to the command history as soon as the memory is open, so that a later failure does not lose it.
    pub prompt: Option<String>,
    /// Whether an invalid config is a failure. Otherwise the defaults are used, and the failure becomes a problem of
    /// the config, so that a mistake in it does not keep the user from the memory.
    pub needs_config: bool,
    /// Whether nothing will be written, so that a memory on a full or read-only disk will do.
    pub only_reads: bool,
    /// Tells the user what takes long. By default, nobody does.
    pub report: fn(&str),
}

impl RuntimeOptions {
    /// Returns options for the user's permanent memory.
    pub fn new(home: Home, environment: Environment, directory: impl Into<PathBuf>) -> Self {
        Self {
            home,
            environment,
            directory: directory.into(),
            persistence: Persistence::default(),
            hub: None,
            prompt: None,
            needs_config: true,
            only_reads: false,
            report: |_| (),
        }
    }
}

/// An open memory with its configuration. Cloning is cheap and shares both.
#[derive(Clone)]
pub struct Runtime(Arc<Shared>);

struct Shared {
    store: Arc<dyn Store>,
    hub: Option<HubMemory>,
    models: Arc<Models>,
    home: Home,
    directory: PathBuf,
    project: PathBuf,
    zone: TimeZone,
    persistence: Persistence,
    trust: Trust,
}

/// Adds the MCP servers of a trusted project, unless they have changed since.
async fn add_servers(
    config: &mut Config,
    store: &dyn Store,
    environment: &Environment,
    project: &Path,
) -> Result<(), Failure> {
    match read_project_servers(project) {
        Ok(text) if text.is_empty() => {}
        Ok(text) if trust::trusts_servers(store, environment, project, &text).await? => {
            config.add_project_servers(&text);
        }
        Ok(_) => config.problems.push(
            "The MCP servers in .mcp.json are not used, because they are new or have changed since you trusted this project. Read the file, then run `memoir trust` to use them."
                .to_owned(),
        ),
        Err(fault) => config.problems.push(format!(".mcp.json is not used: {fault}.")),
    }
    Ok(())
}

impl Runtime {
    /// Opens the memory and reads the configuration.
    ///
    /// # Errors
    ///
    /// Fails if the memory cannot be opened, or if a config file is invalid.
    pub async fn open(options: RuntimeOptions) -> Result<Self, Failure> {
        let RuntimeOptions {
            home,
            environment,
            directory,
            persistence,
            hub,
            prompt,
            needs_config,
            only_reads,
            report,
        } = options;
        memoir_providers::install_tls_library();
        // The names of all zones are read from files.
        let zone = tokio::task::spawn_blocking(TimeZone::system);
        let project = scope::find_project(&directory, environment.user_home());
        let store = match persistence {
            Persistence::Permanent => {
                open_permanent(&home, only_reads.then_some(environment.temporary())).await?
            }
            Persistence::Incognito | Persistence::Demo | Persistence::Hub => {
                open_in_memory(&home, &project, persistence).await?
            }
        };
        let setup = async {
            if let Some(prompt) = &prompt {
                store.append_command(prompt, SystemClock.now()).await?;
            }
            let zone = zone.await.map_err(|error| Failure::failed(error.to_string()))?;
            let temporary = environment.temporary().to_owned();
            let trust = trust::read(store.as_ref(), &environment, &project).await?;
            let trusted = (trust == Trust::Trusted).then_some(project.as_path());
            let mut config = match Config::read(&home.config_file(), trusted) {
                Err(failure) if !needs_config => Config::with_problem(failure.sentence()),
                config => config?,
            };
            if let Some(project) = trusted {
                add_servers(&mut config, store.as_ref(), &environment, project).await?;
            }
            let models = Arc::new(Models::new(environment, config, zone.clone(), report)?);
            let hub = match hub {
                Some(address) => {
                    let project = project.to_string_lossy();
                    Some(HubMemory::open(address, &home, Arc::clone(&store), &project).await?)
                }
                None => None,
            };
            let home = if persistence == Persistence::Demo { home.disposable(&temporary) } else { home };
            Ok((models, hub, home, zone, trust))
        };
        match setup.await {
            Ok((models, hub, home, zone, trust)) => Ok(Self(Arc::new(Shared {
                store,
                hub,
                models,
                home,
                directory,
                project,
                zone,
                persistence,
                trust,
            }))),
            Err(failure) => {
                store.close().await;
                Err(failure)
            }
        }
    }

    /// Closes the memory. Close all sessions of this runtime first.
    pub async fn close(self) {
        self.0.store.close().await;
        if self.persistence() == Persistence::Demo {
            let data = self.home().data();
            if let Err(error) = std::fs::remove_dir_all(&data) {
                // In most cases, the directory was never created.
                tracing::debug!(%error, "could not remove the directory of the demo");
            }
        }
    }

    /// Returns the store that holds the memory.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// Returns the memory of another machine, if it is used.
    pub fn hub(&self) -> Option<&HubMemory> {
        self.0.hub.as_ref()
    }

    /// Deletes something that the user has agreed to, first at the hub if the memory is there.
    ///
    /// # Errors
    ///
    /// Fails if the memory cannot be written, or if the hub does not delete it. Nothing is deleted here then.
    pub async fn forget(&self, target: &ForgetTarget, recall: &Recall) -> Result<ForgetReport, Failure> {
        if let Some(hub) = self.hub() {
            hub.forget(target).await?;
        }
        // The ids of a memory without a file mean something else in copies of the user's memory.
        let home = match self.persistence() {
            Persistence::Permanent | Persistence::Demo => self.home().clone(),
            Persistence::Incognito | Persistence::Hub => {
                self.home().disposable(self.models().environment.temporary())
            }
        };
        forgetting::forget(target, self.store().as_ref(), recall, &home).await
    }

    /// Returns the models and the configuration.
    pub fn models(&self) -> &Arc<Models> {
        &self.0.models
    }

    /// Returns the directories for data, configuration and logs.
    pub fn home(&self) -> &Home {
        &self.0.home
    }

    /// Returns the directory in which the program was started.
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// Returns the root of the project that contains [`Self::directory`].
    pub fn project(&self) -> &Path {
        &self.0.project
    }

    /// Returns the project, if the user trusts it.
    pub fn trusted_project(&self) -> Option<&Path> {
        (self.0.trust == Trust::Trusted).then_some(self.project())
    }

    /// Returns the files of the project that the user has not yet decided about.
    pub fn undecided_files(&self) -> Vec<PathBuf> {
        match self.0.trust {
            Trust::Undecided => trust::find_files(self.project()),
            Trust::Trusted | Trust::Distrusted => Vec::new(),
        }
    }

    /// Returns the names of the MCP servers that the project starts if the user trusts it, with their commands or
    /// addresses.
    pub fn project_servers(&self) -> Vec<(String, String)> {
        trust::list_servers(self.project())
    }

    /// Stores whether the user trusts the project. It takes effect when the memory is next opened.
    ///
    /// # Errors
    ///
    /// Fails if the decision cannot be stored.
    pub async fn decide_trust(&self, is_trusted: bool) -> Result<(), Failure> {
        Ok(trust::write(self.store().as_ref(), self.project(), is_trusted).await?)
    }

    /// Trusts the project if the only file that needs trust is the AGENTS.md that Memoir has just written, whatever the
    /// user decided before it existed. Returns whether it is trusted.
    pub async fn trust_own_instructions(&self) -> Result<bool, Failure> {
        let is_own = trust::find_files(self.project()) == [self.project().join("AGENTS.md")];
        if is_own {
            self.decide_trust(true).await?;
        }
        Ok(is_own || self.trusted_project().is_some())
    }

    /// Returns the scope of the conversations in a directory.
    pub fn find_scope(&self, directory: &Path) -> String {
        scope::find_scope(directory, self.models().environment.user_home())
    }

    /// Returns the scope of new conversations: the project, or [`demo::SCOPE`].
    pub fn scope(&self) -> String {
        match self.persistence() {
            Persistence::Demo => demo::SCOPE.to_owned(),
            Persistence::Permanent | Persistence::Incognito | Persistence::Hub => {
                self.project().to_string_lossy().into_owned()
            }
        }
    }

    /// Returns the time zone in which dates are shown.
    pub fn zone(&self) -> &TimeZone {
        &self.0.zone
    }

    /// Returns whether conversations are stored permanently.
    pub fn persistence(&self) -> Persistence {
        self.0.persistence
    }

    /// Returns recall set up for this project. Adds a notice if a feature is unavailable.
    pub async fn recall(&self, notices: &mut Vec<String>) -> Result<Recall, Failure> {
        let (store, scope) = (Arc::clone(self.store()), Some(self.scope()));
        let mut recall = connect_recall(store, self.models(), self.zone(), scope, notices).await?;
        recall.supplier = self.hub().map(|hub| Arc::new(hub.clone()) as Arc<dyn Supplier>);
        Ok(recall)
    }

    /// Returns the settings of the workers. Adds a notice for each stored setting that is ignored.
    pub async fn worker_settings(&self, notices: &mut Vec<String>) -> Result<WorkerSettings, Failure> {
        settings::read(&self.models().config, "workers", self.store().as_ref(), notices).await
    }

    /// Returns the settings of the terminal. Adds a notice for each stored setting that is ignored.
    pub async fn terminal_settings(&self, notices: &mut Vec<String>) -> Result<TerminalSettings, Failure> {
        settings::read(&self.models().config, "terminal", self.store().as_ref(), notices).await
    }

    /// Returns the settings of imports. Adds a notice for each stored setting that is ignored.
    pub async fn import_settings(&self, notices: &mut Vec<String>) -> Result<ImportSettings, Failure> {
        settings::read(&self.models().config, "import", self.store().as_ref(), notices).await
    }

    /// Returns the context for running workers. Adds a notice if a feature is unavailable.
    pub async fn worker_context(&self, notices: &mut Vec<String>) -> Result<WorkerContext, Failure> {
        let recall = self.recall(notices).await?;
        let summarizer = self.models().connect_summarizer(self.store().as_ref(), notices).await?;
        let budget = self.worker_settings(notices).await?.daily_budget();
        Ok(WorkerContext::new(self.store().clone(), recall, summarizer, budget))
    }

    /// Returns an engine that runs scheduled tasks.
    pub fn task_engine(&self) -> Arc<TaskEngine> {
        TaskEngine::new(
            Arc::clone(self.models()),
            Arc::clone(self.store()),
            self.home().clone(),
            self.zone().clone(),
        )
    }
}

/// Opens the user's memory. If its disk cannot be written and a directory for copies is given, opens it for reading.
async fn open_permanent(home: &Home, scratch: Option<&Path>) -> Result<Arc<dyn Store>, StoreError> {
    let (factory, url) = (stores::factory(), stores::url(home));
    match (factory.open(&url).await, scratch) {
        (
            Err(
                error @ (StoreError::NotWritable { .. }
                | StoreError::DiskFull
                | StoreError::DiskFailed { .. }),
            ),
            Some(scratch),
        ) if home.database().exists() => {
            tracing::debug!(%error, "the memory is opened for reading only");
            // If that fails too, the first error says more.
            factory.open_for_reading(&url, scratch).await.map_err(|_| error)
        }
        (result, _) => result,
    }
}

/// Opens a memory without a file. Settings, deny rules and trust are copied from the permanent memory; conversations are
/// not.
async fn open_in_memory(
    home: &Home,
    project: &Path,
    persistence: Persistence,
) -> Result<Arc<dyn Store>, Failure> {
    let empty = stores::factory().open_in_memory().await?;
    if home.database().exists() {
        let memory = stores::factory().open(&stores::url(home)).await?;
        let settings = settings::copy_all(memory.as_ref(), empty.as_ref()).await;
        let rules =
            permissions::copy_deny_rules(memory.as_ref(), empty.as_ref(), &project.to_string_lossy()).await;
        // The demo is about another project.
        let trust = match persistence {
            Persistence::Demo => Ok(()),
            _ => trust::copy(memory.as_ref(), empty.as_ref(), project).await,
        };
        memory.close().await;
        settings.and(rules)?;
        trust?;
    }
    Ok(empty)
}
