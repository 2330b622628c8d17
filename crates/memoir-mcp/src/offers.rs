//! What a server offers: tools, prompts and resources.

use std::sync::Arc;

use memoir_core::{is_invisible, is_unprintable, reveal_on_one_line};
use memoir_tools::Tool;

/// Everything that a connected server offers.
#[derive(Clone)]
pub struct Offers {
    /// The tools that a model can call.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The prompts that the user can send.
    pub prompts: Vec<ServerPrompt>,
    /// The resources that the user can attach.
    pub resources: Vec<ServerResource>,
    /// The revision of the protocol.
    pub revision: String,
    /// Whether prompts and resources have been listed. Tools are listed first, because turns wait for them.
    pub is_complete: bool,
}

/// A prompt that a server has prepared for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPrompt {
    /// Name, unique within the server.
    pub name: String,
    /// What it is for.
    pub about: Option<String>,
    /// What the user fills in, in order.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// Name, unique within the prompt.
    pub name: String,
    /// Whether the server needs it.
    pub is_required: bool,
}

/// A resource of a server, such as a file or a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerResource {
    /// Address, unique within the server.
    pub uri: String,
    /// Title for people.
    pub title: String,
}

/// Returns whether users can type a name: it has no spaces and nothing that a terminal would not show.
fn is_typable(name: &str) -> bool {
    let is_hidden = |letter: char| letter.is_whitespace() || is_invisible(letter) || is_unprintable(letter);
    !name.is_empty() && !name.contains(is_hidden)
}

impl ServerPrompt {
    /// Converts prompts. Those that users could not type are left out.
    pub(crate) fn all(prompts: Vec<rmcp::model::Prompt>) -> Vec<Self> {
        let is_usable = |prompt: &rmcp::model::Prompt| {
            let arguments = prompt.arguments.iter().flatten();
            is_typable(&prompt.name) && arguments.into_iter().all(|argument| is_typable(&argument.name))
        };
        prompts.into_iter().filter(is_usable).map(Self::from).collect()
    }
}

impl ServerResource {
    /// Converts resources. Those that users could not type are left out.
    pub(crate) fn all(resources: Vec<rmcp::model::Resource>) -> Vec<Self> {
        resources.into_iter().filter(|resource| is_typable(&resource.uri)).map(Self::from).collect()
    }
}

impl From<rmcp::model::Prompt> for ServerPrompt {
    fn from(prompt: rmcp::model::Prompt) -> Self {
        let argument = |argument: rmcp::model::PromptArgument| PromptArgument {
            name: argument.name,
            is_required: argument.required.unwrap_or(false),
        };
        Self {
            name: prompt.name,
            about: prompt.description.or(prompt.title).map(|about| reveal_on_one_line(&about).into_owned()),
            arguments: prompt.arguments.unwrap_or_default().into_iter().map(argument).collect(),
        }
    }
}

impl From<rmcp::model::Resource> for ServerResource {
    fn from(resource: rmcp::model::Resource) -> Self {
        let title = resource.title.as_deref().unwrap_or(&resource.name);
        Self { title: reveal_on_one_line(title).into_owned(), uri: resource.uri.clone() }
    }
}
