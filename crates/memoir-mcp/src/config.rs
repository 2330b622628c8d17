//! Servers in the config.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::Deserialize;

/// Time limit for a call if the config sets none.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);

/// A server in the config: either a command to start or a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    pub(crate) command: Option<String>,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Directory in which the command is started, instead of the project.
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) url: Option<String>,
    /// How to talk to a URL.
    #[serde(default)]
    pub(crate) transport: HttpTransport,
    /// HTTP headers of every request.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// Time limit for a call, in seconds.
    timeout: Option<u64>,
}

/// How to talk to a server at a URL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HttpTransport {
    /// Streamable HTTP.
    #[default]
    Http,
    /// Two connections, as in the oldest revision.
    Sse,
}

/// An environment variable to which the config refers, and which is not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {0}, to which the config refers, is not set")]
pub struct MissingVariable(String);

/// Maximum length of the name of a server.
const MAX_NAME_CHARS: usize = 32;

impl ServerConfig {
    /// Replaces references to environment variables: `${NAME}`, or `${NAME:-default}`.
    ///
    /// # Errors
    ///
    /// Fails if a variable is not set and has no default.
    pub fn expand(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Self, MissingVariable> {
        let expand = |text: &String| expand(text, &variable);
        let expand_all = |map: &BTreeMap<String, String>| -> Result<BTreeMap<_, _>, MissingVariable> {
            map.iter().map(|(name, value)| Ok((name.clone(), expand(value)?))).collect()
        };
        Ok(Self {
            command: self.command.as_ref().map(expand).transpose()?,
            args: self.args.iter().map(expand).collect::<Result<_, _>>()?,
            env: expand_all(&self.env)?,
            cwd: self.cwd.clone(),
            url: self.url.as_ref().map(expand).transpose()?,
            transport: self.transport,
            headers: expand_all(&self.headers)?,
            timeout: self.timeout,
        })
    }

    /// Returns whether a server can have this name, which begins the names of its tools. Two underscores follow it, so
    /// that it must neither contain nor end with them, and names of tools have a maximum length.
    pub fn is_name(name: &str) -> bool {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        (1..=MAX_NAME_CHARS).contains(&name.len())
            && name.chars().all(is_plain)
            && !name.contains("__")
            && !name.ends_with('_')
    }

    pub(crate) fn call_timeout(&self) -> Duration {
        self.timeout.map_or(CALL_TIMEOUT, Duration::from_secs)
    }

    /// Reads the form that most programs use, as in `.mcp.json`: an object `mcpServers` with an entry for each server.
    /// Fields that Memoir does not know are ignored.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, or an entry is invalid.
    pub fn read_json(text: &str) -> Result<BTreeMap<String, Self>, serde_json::Error> {
        let file: McpFile = serde_json::from_str(text)?;
        let server = |(name, entry): (String, McpEntry)| {
            let transport = match entry.kind.as_deref() {
                Some("sse") => HttpTransport::Sse,
                _ => HttpTransport::Http,
            };
            let McpEntry { command, args, env, cwd, url, headers, .. } = entry;
            (name, Self { command, args, env, cwd, url, transport, headers, timeout: None })
        };
        Ok(file.servers.into_iter().filter(|(_, entry)| !entry.disabled).map(server).collect())
    }

    /// Returns the command or the address.
    pub fn address(&self) -> String {
        match (&self.command, &self.url) {
            (Some(command), _) => [std::slice::from_ref(command), &self.args].concat().join(" "),
            (None, Some(url)) => url.clone(),
            (None, None) => String::new(),
        }
    }
}

#[derive(Deserialize)]
struct McpFile {
    #[serde(rename = "mcpServers", default)]
    servers: BTreeMap<String, McpEntry>,
}

#[derive(Deserialize)]
struct McpEntry {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    disabled: bool,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

fn expand(text: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<String, MissingVariable> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((reference, after)) = after.split_once('}') else { break };
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (reference, None),
        };
        let value = variable(name).or(default).ok_or_else(|| MissingVariable(name.to_owned()))?;
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widely_used_form_is_read() -> Result<(), Box<dyn std::error::Error>> {
        let text = r#"{"mcpServers": {
            "near": {"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}, "disabled": false},
            "off": {"command": "false", "disabled": true},
            "far": {"type": "sse", "url": "http://h/sse", "headers": {"X": "y"}}
        }}"#;
        let servers = ServerConfig::read_json(text)?;
        assert_eq!(servers["near"].address(), "npx -y x");
        assert_eq!(servers.len(), 2);
        assert_eq!(
            (servers["far"].address(), servers["far"].transport),
            ("http://h/sse".into(), HttpTransport::Sse)
        );
        assert!(ServerConfig::read_json("{}")?.is_empty());
        assert!(ServerConfig::read_json(r#"{"mcpServers": {"x": {"args": 1}}}"#).is_err());
        Ok(())
    }

    #[test]
    fn references_to_variables_are_replaced() {
        let variable = |name: &str| (name == "TOKEN").then(|| "t0".to_owned());
        for (text, expected) in [
            ("Bearer ${TOKEN}", Ok("Bearer t0")),
            ("${TOKEN}${TOKEN}!", Ok("t0t0!")),
            ("${PORT:-8080}", Ok("8080")),
            ("$TOKEN ${open", Ok("$TOKEN ${open")),
            ("${OTHER}", Err(MissingVariable("OTHER".into()))),
        ] {
            assert_eq!(expand(text, &variable), expected.map(str::to_owned), "{text}");
        }
    }
}
