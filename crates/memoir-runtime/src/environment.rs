//! Every environment variable that Memoir reads. `docs/environment.md` is generated from this list.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use memoir_models::Provider;
use secrecy::SecretString;

/// Time without calls after which an MCP server starts over if the user sets none.
const DEFAULT_IDLE_MS: u64 = 60_000;

/// Time after which a hook stops if the user sets none. People notice longer delays.
const DEFAULT_HOOK_LIMIT_MS: u64 = 300;

/// Documentation of an environment variable.
pub struct Variable {
    /// Name of the variable.
    pub name: &'static str,
    /// Description in one sentence.
    pub description: &'static str,
}

const fn variable(name: &'static str, description: &'static str) -> Variable {
    Variable { name, description }
}

/// All variables. Some of them, such as `HTTPS_PROXY`, are read by libraries.
pub const ALL: &[Variable] = &[
    variable(
        "MEMOIR_HOME",
        "Directory for all of Memoir's files, instead of your system's data, config and state directories.",
    ),
    variable("MEMOIR_MODEL", "Model to use for chat. `--model` overrides it."),
    variable(
        "MEMOIR_LOCAL_SERVERS",
        "Addresses of local model servers to look for, separated by commas, instead of the default ones. `none` disables the search.",
    ),
    variable(
        "MEMOIR_TRUST_PROJECT",
        "`1` uses the instructions, skills and config of the project in this run, as `memoir trust` does for good.",
    ),
    variable(
        "MEMOIR_LOG",
        "Level of the log file: `off`, `error`, `warn` (the default), `info`, `debug` or `trace`.",
    ),
    variable(
        "MEMOIR_HOOK_LIMIT_MS",
        "Time in milliseconds after which `memoir hook` stops, so that it does not delay another program; 300 if not set.",
    ),
    variable(
        "MEMOIR_MCP_IDLE_MS",
        "Time in milliseconds without calls after which `memoir mcp serve` starts over to free memory; 60000 if not set.",
    ),
    variable(
        "MEMOIR_URL",
        "Address of a server whose memory conversations and `memoir mcp serve` use instead of that of this machine.",
    ),
    variable(
        "MEMOIR_TOKEN",
        "Token of the server at `MEMOIR_URL` or `--url`, as `memoir serve token add` creates it there.",
    ),
    variable("ANTHROPIC_API_KEY", "API key for Anthropic."),
    variable("ANTHROPIC_BASE_URL", "Base URL of the Anthropic API, for example that of a gateway."),
    variable("GEMINI_API_KEY", "API key for Google Gemini."),
    variable("GOOGLE_API_KEY", "API key for Google Gemini, used if `GEMINI_API_KEY` is not set."),
    variable("GEMINI_BASE_URL", "Base URL of the Gemini API."),
    variable("OPENAI_API_KEY", "API key for OpenAI, or for the server at `OPENAI_BASE_URL`."),
    variable("OPENAI_BASE_URL", "Base URL of the OpenAI API, or of any server with a compatible API."),
    variable("XAI_API_KEY", "API key for xAI."),
    variable("XAI_BASE_URL", "Base URL of the xAI API."),
    variable("OLLAMA_HOST", "Address of the Ollama server, in the format that Ollama uses."),
    variable("OLLAMA_API_KEY", "API key for an Ollama server that requires one."),
    variable("XDG_DATA_HOME", "Your data directory. Memoir stores its data in `memoir` below it."),
    variable("XDG_CONFIG_HOME", "Your config directory. Memoir reads `memoir/config.toml` below it."),
    variable(
        "XDG_STATE_HOME",
        "Your state directory. Memoir writes its log to `memoir/memoir.log` below it.",
    ),
    variable(
        "HTTPS_PROXY",
        "Proxy for calls to providers. `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are also supported.",
    ),
    variable("TZ", "Time zone for dates."),
    variable("NO_COLOR", "Disables colors if set."),
    variable(
        "EDITOR",
        "Editor for core memory, personas and prompts. `VISUAL` takes precedence. Without either, an installed one is used.",
    ),
    variable("SHELL", "Shell that runs commands typed after `!`."),
    variable(
        "CLAUDE_CONFIG_DIR",
        "Directory of Claude Code, if not `~/.claude`. `memoir import` reads sessions from it.",
    ),
    variable("CODEX_HOME", "Directory of Codex, if not `~/.codex`. `memoir import` reads sessions from it."),
    variable(
        "COPILOT_HOME",
        "Directory of Copilot CLI, if not `~/.copilot`. `memoir import` reads sessions from it.",
    ),
    variable(
        "GEMINI_CLI_HOME",
        "Directory that contains Gemini CLI's `.gemini`, if not your home directory. `memoir import` reads sessions from it.",
    ),
    variable("LLM_USER_PATH", "Directory of llm, if not the default. `memoir import` reads its `logs.db`."),
    variable(
        "AICHAT_CONFIG_DIR",
        "Directory of aichat, if not the default. `memoir import` reads sessions and `messages.md` from it.",
    ),
];

/// The environment of the process, captured once by the front end. Does not implement `Debug` because it contains API
/// keys.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
    program: Option<PathBuf>,
    temporary: PathBuf,
    user_home: Option<PathBuf>,
}

impl Environment {
    /// Captures `variables`. Without [`Self::with_program`], commands cannot run in a sandbox.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { variables: variables.into_iter().collect(), ..Self::default() }
    }

    /// Sets the path of this program, which is started again to run commands in a sandbox.
    #[must_use]
    pub fn with_program(mut self, program: Option<PathBuf>) -> Self {
        self.program = program;
        self
    }

    /// Sets the directory for temporary files.
    #[must_use]
    pub fn with_temporary(mut self, directory: PathBuf) -> Self {
        self.temporary = directory;
        self
    }

    /// Sets the user's home directory. Histories of other agents are imported from there.
    #[must_use]
    pub fn with_user_home(mut self, directory: Option<PathBuf>) -> Self {
        self.user_home = directory;
        self
    }

    /// Returns every captured variable.
    pub fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.variables.iter().cloned()
    }

    /// Returns the path of this program, if known.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// Returns the directory for temporary files.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Returns the user's home directory, if known.
    pub fn user_home(&self) -> Option<&Path> {
        self.user_home.as_deref()
    }

    /// Returns the trimmed value of a variable, or `None` if it is not set, empty or not UTF-8.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let (_, value) = self.variables.iter().find(|(other, _)| other == name)?;
        value.to_str().map(str::trim).filter(|value| !value.is_empty())
    }

    fn get(&self, name: &str) -> Option<&str> {
        debug_assert!(
            ALL.iter().any(|variable| variable.name == name),
            "{name} is missing from the list of variables"
        );
        self.variable(name)
    }

    /// Returns whether a variable is set and not empty.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the value of `MEMOIR_HOME`.
    pub fn memoir_home(&self) -> Option<PathBuf> {
        self.get("MEMOIR_HOME").map(PathBuf::from)
    }

    /// Returns the value of `MEMOIR_LOG`.
    pub fn log_level(&self) -> Option<&str> {
        self.get("MEMOIR_LOG")
    }

    /// Returns the value of `MEMOIR_MODEL`.
    pub fn model(&self) -> Option<&str> {
        self.get("MEMOIR_MODEL")
    }

    /// Returns the time after which a hook stops: the value of `MEMOIR_HOOK_LIMIT_MS`, or 300 milliseconds.
    pub fn hook_limit(&self) -> Duration {
        let limit = self.get("MEMOIR_HOOK_LIMIT_MS").and_then(|limit| limit.parse().ok());
        Duration::from_millis(limit.unwrap_or(DEFAULT_HOOK_LIMIT_MS))
    }

    /// Returns the time without calls after which an MCP server starts over: the value of `MEMOIR_MCP_IDLE_MS`, or a minute.
    pub fn idle_time(&self) -> Duration {
        let time = self.get("MEMOIR_MCP_IDLE_MS").and_then(|time| time.parse().ok());
        Duration::from_millis(time.unwrap_or(DEFAULT_IDLE_MS))
    }

    /// Returns the value of `MEMOIR_URL`.
    pub fn hub_url(&self) -> Option<&str> {
        self.get("MEMOIR_URL")
    }

    /// Returns the value of `MEMOIR_TOKEN`.
    pub fn hub_token(&self) -> Option<&str> {
        self.get("MEMOIR_TOKEN")
    }

    /// Returns the addresses in `MEMOIR_LOCAL_SERVERS`.
    pub fn local_servers(&self) -> Option<Vec<&str>> {
        let list = self.get("MEMOIR_LOCAL_SERVERS")?;
        Some(list.split(',').map(str::trim).filter(|url| !url.is_empty() && *url != "none").collect())
    }

    /// Returns the variables that may hold the API key of a provider, in order of precedence.
    pub const fn key_variables(provider: Provider) -> &'static [&'static str] {
        match provider {
            Provider::Anthropic => &["ANTHROPIC_API_KEY"],
            Provider::Google => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Provider::OpenAi | Provider::OpenAiCompatible => &["OPENAI_API_KEY"],
            Provider::Xai => &["XAI_API_KEY"],
            Provider::Ollama => &["OLLAMA_API_KEY"],
            Provider::Memoir => &[],
        }
    }

    /// Returns the variable that may hold the base URL of a provider.
    pub const fn url_variable(provider: Provider) -> Option<&'static str> {
        match provider {
            Provider::Anthropic => Some("ANTHROPIC_BASE_URL"),
            Provider::Google => Some("GEMINI_BASE_URL"),
            Provider::OpenAi | Provider::OpenAiCompatible => Some("OPENAI_BASE_URL"),
            Provider::Xai => Some("XAI_BASE_URL"),
            Provider::Ollama => Some("OLLAMA_HOST"),
            Provider::Memoir => None,
        }
    }

    /// Returns the API key of a provider.
    pub fn key(&self, provider: Provider) -> Option<SecretString> {
        Self::key_variables(provider).iter().find_map(|name| self.get(name)).map(SecretString::from)
    }

    /// Returns the base URL that is set for a provider.
    pub fn base_url(&self, provider: Provider) -> Option<&str> {
        Self::url_variable(provider).and_then(|name| self.get(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_that_is_read_is_listed() {
        let environment = Environment::default();
        for provider in Provider::ALL {
            assert!(environment.key(provider).is_none());
            assert!(environment.base_url(provider).is_none());
        }
        assert!(environment.memoir_home().is_none() && environment.model().is_none());
        assert!(environment.local_servers().is_none());
    }

    #[test]
    fn local_servers_are_a_list_or_none() {
        let environment = |value: &str| Environment::new([("MEMOIR_LOCAL_SERVERS".into(), value.into())]);
        assert_eq!(environment("none").local_servers(), Some(vec![]));
        assert_eq!(environment("http://a, http://b").local_servers(), Some(vec!["http://a", "http://b"]));
    }
}
