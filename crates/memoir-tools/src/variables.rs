//! The environment of commands: everything but keys.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    sync::{Arc, OnceLock},
};

use memoir_redact::redact;

/// The environment of commands: everything but keys. Looking for keys takes a few milliseconds, so it is done when the first
/// command runs.
#[derive(Clone, Default)]
pub struct Variables(Arc<Unscrubbed>);

#[derive(Default)]
struct Unscrubbed {
    all: Vec<(OsString, OsString)>,
    known_keys: Vec<String>,
    without_keys: OnceLock<Vec<(OsString, OsString)>>,
}

/// Shows no values: some of them are keys, and a debug representation may end up in a log.
impl fmt::Debug for Variables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Variables({} in all)", self.0.all.len())
    }
}

impl Variables {
    /// Keeps the variables of `all` that do not look like a key by name or by value and are not among `known_keys`.
    pub fn without_keys(all: impl Iterator<Item = (OsString, OsString)>, known_keys: Vec<String>) -> Self {
        Self(Arc::new(Unscrubbed { all: all.collect(), known_keys, without_keys: OnceLock::new() }))
    }

    /// Returns the variables without keys.
    pub fn get(&self) -> &[(OsString, OsString)] {
        let Unscrubbed { all, known_keys, without_keys } = self.0.as_ref();
        without_keys.get_or_init(|| {
            let is_key = |name: &OsStr| known_keys.iter().any(|known| name == OsStr::new(known));
            let harmless =
                |(name, value): &&(OsString, OsString)| !is_key(name) && !looks_like_a_key(name, value);
            all.iter().filter(harmless).cloned().collect()
        })
    }
}

fn looks_like_a_key(name: &OsStr, value: &OsStr) -> bool {
    const TELLING: [&str; 11] = [
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
    // These tell where something is, and are of use to commands.
    const HARMLESS: [&str; 4] = ["SSH_AUTH_SOCK", "XDG_SESSION_ID", "XDG_SESSION_TYPE", "DESKTOP_SESSION"];
    let upper = name.to_string_lossy().to_uppercase();
    let telling = TELLING.iter().any(|word| upper.contains(word)) && !HARMLESS.contains(&upper.as_str());
    // Some are told by what they are called together with what they are.
    let whole = format!("{}={}", name.to_string_lossy(), value.to_string_lossy());
    telling || !redact(&whole).findings.is_empty()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn keys_do_not_reach_commands() {
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
        let named = vec!["MY_LLM".to_owned()];
        let all = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let variables = Variables::without_keys(all, named);
        assert_eq!(format!("{variables:?}"), "Variables(12 in all)");
        let kept: Vec<&str> = variables.get().iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(kept, ["PATH", "HOME", "SSH_AUTH_SOCK"]);
    }
}
