//! Prompts and resources of MCP servers, which the user names as `/SERVER:PROMPT` and `@SERVER:URI`.

use std::{sync::Arc, time::Duration};

use memoir_core::{InputPart, Origin, TurnInput, reveal_on_one_line};
use memoir_mcp::{Offers, PromptArgument, Server, ServerContent, ServerState};
use serde_json::{Map, Value};

use crate::{failure::Failure, operations::servers::unknown, operations::suggestions::Suggestion};

/// Separates the name of a server from the name of a prompt or the URI of a resource.
const SEPARATOR: char = ':';

/// How long to wait until a server has listed what it offers.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// The MCP servers of a session, for what the user asks of them.
#[derive(Clone)]
pub struct ServerOffers {
    servers: Arc<Vec<Server>>,
}

impl ServerOffers {
    pub(crate) fn new(servers: &Arc<Vec<Server>>) -> Self {
        Self { servers: Arc::clone(servers) }
    }

    /// Returns the prompts whose command starts with `prefix`.
    pub fn suggest_prompts(&self, prefix: &str) -> Vec<Suggestion> {
        self.suggest(prefix, |offers| {
            offers.prompts.iter().map(|prompt| (prompt.name.clone(), prompt.about.clone())).collect()
        })
    }

    /// Returns the resources whose name starts with `prefix`.
    pub fn suggest_resources(&self, prefix: &str) -> Vec<Suggestion> {
        self.suggest(prefix, |offers| {
            let name =
                |resource: &memoir_mcp::ServerResource| (resource.uri.clone(), Some(resource.title.clone()));
            offers.resources.iter().map(name).collect()
        })
    }

    fn suggest(
        &self,
        prefix: &str,
        list: impl Fn(&Offers) -> Vec<(String, Option<String>)>,
    ) -> Vec<Suggestion> {
        let mut suggestions = Vec::new();
        for server in self.servers.iter() {
            let ServerState::Ready(offers) = server.state() else { continue };
            let named = list(&offers).into_iter().map(|(name, about)| Suggestion {
                value: format!("{}{SEPARATOR}{name}", server.name()),
                about,
            });
            suggestions.extend(named.filter(|named| named.value.starts_with(prefix)));
        }
        suggestions
    }

    /// Returns whether `name` is a resource that a server lists. Waits until it has been asked for them.
    pub async fn is_listed_resource(&self, name: &str) -> bool {
        let Some((server, uri)) = self.split(name) else { return false };
        let offers = connected(server).await;
        offers.is_ok_and(|offers| offers.resources.iter().any(|resource| resource.uri == uri))
    }

    /// Returns whether `name` begins with the name of a server and a colon.
    pub fn is_offer(&self, name: &str) -> bool {
        self.split(name).is_some()
    }

    fn split<'a>(&self, name: &'a str) -> Option<(&Server, &'a str)> {
        let (server, rest) = name.split_once(SEPARATOR)?;
        Some((self.servers.iter().find(|other| other.name() == server)?, rest))
    }

    /// Returns a prompt of a server with these arguments: values in the server's order, or `name=value`.
    ///
    /// # Errors
    ///
    /// Fails if the server is not connected or has no such prompt, or if an argument is missing.
    pub async fn prompt(&self, name: &str, words: &[String]) -> Result<TurnInput, Failure> {
        let (server, prompt) = self.split(name).ok_or_else(|| unknown(name))?;
        let offers = connected(server).await?;
        let Some(offered) = offers.prompts.iter().find(|offered| offered.name == prompt) else {
            let names: Vec<&str> = offers.prompts.iter().map(|prompt| prompt.name.as_str()).collect();
            let hint = match names.as_slice() {
                [] => "It has no prompts.".to_owned(),
                names => format!("It has these: {}.", names.join(", ")),
            };
            return Err(Failure::usage(format!("{} has no prompt \"{prompt}\"", server.name())).hint(hint));
        };
        let arguments = read_arguments(name, &offered.arguments, words)?;
        let content = server.get_prompt(prompt, arguments).await.map_err(|reason| failed(server, &reason))?;
        let mut input = TurnInput::from(InputPart::text(content.text()).with_origin(Origin::Others));
        input.images = content.images;
        Ok(input)
    }

    /// Reads a resource of a server.
    ///
    /// # Errors
    ///
    /// Fails if the server is not connected or cannot read it.
    pub async fn resource(&self, name: &str) -> Result<ServerContent, Failure> {
        let (server, uri) = self.split(name).ok_or_else(|| unknown(name))?;
        connected(server).await?;
        server.read_resource(uri).await.map_err(|reason| failed(server, &reason))
    }
}

/// Waits until a server has been tried, and returns what it offers.
async fn connected(server: &Server) -> Result<Arc<Offers>, Failure> {
    // A server that hangs has its tools, but no prompts.
    let _ = tokio::time::timeout(MAX_WAIT, server.listed()).await;
    match server.state() {
        ServerState::Ready(offers) => Ok(offers),
        ServerState::Down { reason } => {
            Err(Failure::failed(format!("the MCP server {} is not connected: {reason}", server.name())))
        }
        ServerState::Connecting => {
            Err(Failure::failed(format!("the MCP server {} is not ready yet", server.name())))
        }
    }
}

fn failed(server: &Server, reason: &str) -> Failure {
    let reason = reveal_on_one_line(reason);
    Failure::failed(format!("the MCP server {} failed: {reason}", server.name()))
}

fn read_arguments(
    command: &str,
    expected: &[PromptArgument],
    words: &[String],
) -> Result<Map<String, Value>, Failure> {
    let usage = || {
        let name = |argument: &PromptArgument| match argument.is_required {
            true => argument.name.to_uppercase(),
            false => format!("[{}]", argument.name.to_uppercase()),
        };
        let words: Vec<String> =
            [format!("/{command}")].into_iter().chain(expected.iter().map(name)).collect();
        format!("Type `{}`.", words.join(" "))
    };
    let mut arguments = Map::new();
    let mut positions = expected.iter();
    for word in words {
        let named = word
            .split_once('=')
            .and_then(|(name, value)| Some((expected.iter().find(|argument| argument.name == name)?, value)));
        let unset = |argument: &&PromptArgument| !arguments.contains_key(&argument.name);
        let (argument, value) = match named {
            Some(named) => named,
            None => {
                let next = positions.by_ref().find(unset);
                let next = next.ok_or_else(|| {
                    Failure::usage(format!("/{command} takes fewer arguments"))
                        .hint(format!("{} Use quotation marks around several words.", usage()))
                })?;
                (next, word.as_str())
            }
        };
        arguments.insert(argument.name.clone(), Value::String(value.to_owned()));
    }
    let missing =
        expected.iter().find(|argument| argument.is_required && !arguments.contains_key(&argument.name));
    match missing {
        Some(argument) => {
            Err(Failure::usage(format!("/{command} needs the argument {}", argument.name)).hint(usage()))
        }
        None => Ok(arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<String, String> {
        let argument = |name: &str, is_required| PromptArgument { name: name.to_owned(), is_required };
        let expected = [argument("city", true), argument("state", false)];
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        read_arguments("w:weather", &expected, &words)
            .map(|arguments| Value::Object(arguments).to_string())
            .map_err(|failure| failure.sentence())
    }

    #[test]
    fn arguments_have_an_order_and_names() {
        assert_eq!(read(&["Paris"]), Ok(r#"{"city":"Paris"}"#.to_owned()));
        assert_eq!(read(&["Paris", "Texas"]), Ok(r#"{"city":"Paris","state":"Texas"}"#.to_owned()));
        assert_eq!(read(&["state=Texas", "Paris"]), Ok(r#"{"state":"Texas","city":"Paris"}"#.to_owned()));
        assert_eq!(read(&["a=b"]), Ok(r#"{"city":"a=b"}"#.to_owned()), "not the name of an argument");
        let missing = "/w:weather needs the argument city. Type `/w:weather CITY [STATE]`.";
        assert_eq!(read(&[]), Err(missing.to_owned()));
        assert!(read(&["a", "b", "c"]).is_err_and(|error| error.contains("takes fewer arguments")));
    }
}
