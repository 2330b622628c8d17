//! Every environment variable that Memoir reads, in one place. `docs/environment.md` is made from this list.

use std::{ffi::OsString, path::PathBuf};

use secrecy::SecretString;

/// A variable and what it does.
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
}

/// All of them. `NO_COLOR` and `XDG_DATA_HOME` are read by the libraries that act on them.
pub(crate) const ALL: &[Variable] = &[
    Variable {
        name: "MEMOIR_HOME",
        meaning: "Where Memoir keeps everything, instead of the data directory of your system.",
    },
    Variable {
        name: "MEMOIR_MODEL",
        meaning: "The model that answers, unless `--model` names another.",
    },
    Variable {
        name: "XDG_DATA_HOME",
        meaning: "Your data directory; Memoir uses the folder `memoir` in it.",
    },
    Variable {
        name: "OPENAI_API_KEY",
        meaning: "The key for OpenAI, or for the server at `OPENAI_BASE_URL`.",
    },
    Variable {
        name: "OPENAI_BASE_URL",
        meaning: "The address of a server that speaks OpenAI's protocol.",
    },
    Variable {
        name: "NO_COLOR",
        meaning: "When set, nothing is coloured.",
    },
];

/// What the environment says, read once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    pub(crate) memoir_home: Option<PathBuf>,
    pub(crate) memoir_model: Option<String>,
    pub(crate) openai_api_key: Option<SecretString>,
    pub(crate) openai_base_url: Option<String>,
}

impl Environment {
    /// Reads the process's environment.
    pub(crate) fn read() -> Self {
        Self {
            memoir_home: variable("MEMOIR_HOME").map(PathBuf::from),
            memoir_model: text("MEMOIR_MODEL"),
            openai_api_key: text("OPENAI_API_KEY").map(SecretString::from),
            openai_base_url: text("OPENAI_BASE_URL"),
        }
    }
}

/// The variable's value. An empty one counts as not set.
fn variable(name: &str) -> Option<OsString> {
    debug_assert!(
        ALL.iter().any(|variable| variable.name == name),
        "{name} is missing from the list"
    );
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn text(name: &str) -> Option<String> {
    variable(name).and_then(|value| value.into_string().ok())
}
