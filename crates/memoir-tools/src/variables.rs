//! The environment variables of commands.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    sync::{Arc, OnceLock},
};

use memoir_redact::redact;

/// The environment variables of commands, without API keys. Detecting keys takes a few milliseconds, so it is done when
/// the first command runs.
#[derive(Clone, Default)]
pub struct Variables(Arc<LazyVariables>);

#[derive(Default)]
struct LazyVariables {
    all: Vec<(OsString, OsString)>,
    known_keys: Vec<String>,
    without_keys: OnceLock<Vec<(OsString, OsString)>>,
}

/// Omits the values, because some of them are keys and debug output may end up in a log.
impl fmt::Debug for Variables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Variables({} in all)", self.0.all.len())
    }
}

impl Variables {
    /// Creates the environment from `all`, except `known_keys` and variables that look like a key by name or value.
    pub fn without_keys(all: impl Iterator<Item = (OsString, OsString)>, known_keys: Vec<String>) -> Self {
        Self(Arc::new(LazyVariables { all: all.collect(), known_keys, without_keys: OnceLock::new() }))
    }

    /// Returns the variables without keys.
    pub fn get(&self) -> &[(OsString, OsString)] {
        let LazyVariables { all, known_keys, without_keys } = self.0.as_ref();
        without_keys.get_or_init(|| {
            let is_known_key = |name: &OsStr| known_keys.iter().any(|key| name == OsStr::new(key));
            let is_harmless =
                |(name, value): &&(OsString, OsString)| !is_known_key(name) && !looks_like_a_key(name, value);
            all.iter().filter(is_harmless).cloned().collect()
        })
    }
}

fn looks_like_a_key(name: &OsStr, value: &OsStr) -> bool {
    const SENSITIVE: [&str; 11] = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASS",
        "_PWD",
        "_PAT",
        "CREDENTIAL",
        "AUTH",
        "COOKIE",
        "SESSION",
        "PRIVATE",
    ];
    // These hold locations or ids that commands need, not secrets.
    const HARMLESS: [&str; 4] = ["SSH_AUTH_SOCK", "XDG_SESSION_ID", "XDG_SESSION_TYPE", "DESKTOP_SESSION"];
    let upper = name.to_string_lossy().to_uppercase();
    let has_sensitive_name =
        SENSITIVE.iter().any(|word| upper.contains(word)) && !HARMLESS.contains(&upper.as_str());
    // Some secrets are recognized only by name and value together.
    let assignment = format!("{}={}", name.to_string_lossy(), value.to_string_lossy());
    has_sensitive_name || !redact(&assignment).findings.is_empty()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn keys_are_removed_from_the_environment() {
        let variables = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "x"),
            ("MY_TOKEN", "x"),
            ("DB_PASSWORD", "x"),
            ("HARMLESS", "sk-ant-api03-aB3dE6gH9jKmN2pQ5rSt"),
            ("HOME", "/home/me"),
            ("DATABASE_URL", "postgres://me:pw@db/x"),
            ("SSH_AUTH_SOCK", "/run/s"),
            ("MY_LLM", "x"),
            ("MYSQL_PWD", "x"),
            ("SMTP_PASS", "x"),
            ("GITHUB_PAT", "x"),
        ];
        let known_keys = vec!["MY_LLM".to_owned()];
        let all = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let variables = Variables::without_keys(all, known_keys);
        assert_eq!(format!("{variables:?}"), "Variables(12 in all)");
        let names: Vec<&str> = variables.get().iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["PATH", "HOME", "SSH_AUTH_SOCK"]);
    }
}
