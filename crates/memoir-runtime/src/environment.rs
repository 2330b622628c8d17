//! Every environment variable that Memoir reads, in one place. `docs/environment.md` is made from this list.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use memoir_models::Provider;
use secrecy::SecretString;

/// A variable and what it does.
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it changes, in one sentence.
    pub meaning: &'static str,
}

const fn variable(name: &'static str, meaning: &'static str) -> Variable {
    Variable { name, meaning }
}

/// All of them. The last ones are read by the libraries that act on them.
pub const ALL: &[Variable] = &[
    variable(
        "MEMOIR_HOME",
        "Where Memoir keeps everything, instead of your system's data and config directories.",
    ),
    variable("MEMOIR_MODEL", "The model that answers, unless `--model` names another."),
    variable(
        "MEMOIR_LOCAL_SERVERS",
        "Addresses of local model servers to look for, separated by commas, instead of the usual ones; `none` for none.",
    ),
    variable(
        "MEMOIR_LOG",
        "How much is written to the log file: `off`, `error`, `warn`, `info`, `debug` or `trace`; `warn` if not set.",
    ),
    variable("ANTHROPIC_API_KEY", "The key for Anthropic."),
    variable("ANTHROPIC_BASE_URL", "Another address for Anthropic, such as a gateway's."),
    variable("GEMINI_API_KEY", "The key for Google's Gemini."),
    variable("GOOGLE_API_KEY", "The same, where `GEMINI_API_KEY` is not set."),
    variable("GEMINI_BASE_URL", "Another address for Google's Gemini."),
    variable("OPENAI_API_KEY", "The key for OpenAI, or for the server at `OPENAI_BASE_URL`."),
    variable(
        "OPENAI_BASE_URL",
        "Another address for OpenAI, or that of any server that speaks its protocol.",
    ),
    variable("XAI_API_KEY", "The key for xAI."),
    variable("XAI_BASE_URL", "Another address for xAI."),
    variable("OLLAMA_HOST", "Where Ollama is, as its own programs take it."),
    variable("OLLAMA_API_KEY", "The key for an Ollama server that wants one."),
    variable("XDG_DATA_HOME", "Your data directory; Memoir uses the folder `memoir` in it."),
    variable("XDG_CONFIG_HOME", "Your config directory; Memoir reads `memoir/config.toml` in it."),
    variable("XDG_STATE_HOME", "Your state directory; Memoir writes its log to `memoir/memoir.log` in it."),
    variable(
        "HTTPS_PROXY",
        "A proxy for calls to providers; `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` hold too.",
    ),
    variable("TZ", "The time zone in which dates are shown."),
    variable("NO_COLOR", "When set, nothing is coloured."),
    variable("EDITOR", "Your editor, for core memory and personas; `VISUAL` goes before it."),
    variable("SHELL", "The shell that runs what you type behind `!`."),
    variable("CLAUDE_CONFIG_DIR", "Where Claude Code keeps its sessions, if not in `~/.claude`."),
    variable("CODEX_HOME", "Where Codex keeps its sessions, if not in `~/.codex`."),
];

/// The process that Memoir runs in, captured once by the front end. It holds keys, so it cannot be printed.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
    program: Option<PathBuf>,
    temporary: PathBuf,
    user_home: Option<PathBuf>,
}

impl Environment {
    /// Captures the given variables. Without a program, commands that tools run cannot be confined.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { variables: variables.into_iter().collect(), ..Self::default() }
    }

    /// Sets the executable that is started again to confine commands: this program.
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

    /// Sets the user's home directory, where other agents keep their histories.
    #[must_use]
    pub fn with_user_home(mut self, directory: Option<PathBuf>) -> Self {
        self.user_home = directory;
        self
    }

    /// Returns every captured variable.
    pub fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.variables.iter().cloned()
    }

    /// Returns the executable that confines commands, if known.
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

    /// Returns the trimmed value of any variable. An empty value, or one that is not text, counts as not set.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let (_, value) = self.variables.iter().find(|(known, _)| known == name)?;
        value.to_str().map(str::trim).filter(|value| !value.is_empty())
    }

    fn get(&self, name: &str) -> Option<&str> {
        debug_assert!(ALL.iter().any(|variable| variable.name == name), "{name} is missing from the list");
        self.variable(name)
    }

    /// Whether a variable is set.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the directory that holds everything, if one is set.
    pub fn memoir_home(&self) -> Option<PathBuf> {
        self.get("MEMOIR_HOME").map(PathBuf::from)
    }

    /// Returns the level of the log that is set, as it is written.
    pub fn log_level(&self) -> Option<&str> {
        self.get("MEMOIR_LOG")
    }

    /// Returns the model that is set for chat, if any.
    pub fn model(&self) -> Option<&str> {
        self.get("MEMOIR_MODEL")
    }

    /// The local servers to look for, if the user says which.
    pub fn local_servers(&self) -> Option<Vec<&str>> {
        let named = self.get("MEMOIR_LOCAL_SERVERS")?;
        Some(named.split(',').map(str::trim).filter(|url| !url.is_empty() && *url != "none").collect())
    }

    /// The variables that may hold a provider's key, the usual one first.
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

    /// The variable that may hold a provider's address.
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

    /// Returns a provider's key, if one is set.
    pub fn key(&self, provider: Provider) -> Option<SecretString> {
        Self::key_variables(provider).iter().find_map(|name| self.get(name)).map(SecretString::from)
    }

    /// Returns the address that is set for a provider, if any.
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
        let set = |value: &str| Environment::new([("MEMOIR_LOCAL_SERVERS".into(), value.into())]);
        assert_eq!(set("none").local_servers(), Some(vec![]));
        assert_eq!(set("http://a, http://b").local_servers(), Some(vec!["http://a", "http://b"]));
    }
}
