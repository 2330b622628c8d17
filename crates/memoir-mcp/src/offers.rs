//! What a server offers: tools, prompts and resources.

use std::sync::Arc;

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

impl From<rmcp::model::Prompt> for ServerPrompt {
    fn from(prompt: rmcp::model::Prompt) -> Self {
        let argument = |argument: rmcp::model::PromptArgument| PromptArgument {
            name: argument.name,
            is_required: argument.required.unwrap_or(false),
        };
        Self {
            name: prompt.name,
            about: prompt.description.or(prompt.title),
            arguments: prompt.arguments.unwrap_or_default().into_iter().map(argument).collect(),
        }
    }
}

impl From<rmcp::model::Resource> for ServerResource {
    fn from(resource: rmcp::model::Resource) -> Self {
        Self { title: resource.title.clone().unwrap_or_else(|| resource.name.clone()), uri: resource.uri }
    }
}
