//! Converts what servers return to text and images.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use memoir_core::Image;
use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult, ResourceContents, Role,
};

/// Text and images from a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerContent {
    parts: Vec<String>,
    /// Images that models can see. The text describes them.
    pub images: Vec<Image>,
}

impl ServerContent {
    /// Returns the text for the model.
    pub fn text(&self) -> String {
        self.parts.join("\n")
    }

    /// Adds one block.
    pub(crate) fn add(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.parts.push(text.text.clone()),
            ContentBlock::Image(image) => self.add_data("image", &image.mime_type, &image.data),
            ContentBlock::Audio(audio) => self.add_data("audio", &audio.mime_type, &audio.data),
            ContentBlock::Resource(embedded) => self.add_resource(&embedded.resource),
            ContentBlock::ResourceLink(link) => {
                let title = link.title.as_deref().unwrap_or(&link.name);
                self.parts.push(format!("[resource {} ({title})]", link.uri));
            }
            _ => self.parts.push("[content of an unknown type]".to_owned()),
        }
    }

    /// Adds the content of a resource.
    pub(crate) fn add_resource(&mut self, contents: &ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.parts.push(format!("[resource {uri}]\n{text}"));
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                self.parts.push(format!("[resource {uri}]"));
                self.add_data("data", mime_type.as_deref().unwrap_or("unknown type"), blob);
            }
            _ => self.parts.push("[a resource of an unknown type]".to_owned()),
        }
    }

    /// Adds content that is not text, which is encoded in base64.
    fn add_data(&mut self, kind: &str, mime_type: &str, data: &str) {
        match STANDARD.decode(data).ok().map(Image::new) {
            Some(Ok(image)) => {
                self.parts.push(format!("[image: {image}]"));
                self.images.push(image);
            }
            _ => self.parts.push(format!("[{kind}: {mime_type}, {} bytes]", data.len() / 4 * 3)),
        }
    }
}

impl From<&CallToolResult> for ServerContent {
    fn from(result: &CallToolResult) -> Self {
        let mut content = Self::default();
        result.content.iter().for_each(|block| content.add(block));
        // Servers send the same as text for clients that do not know structured results. Not all of them do.
        if let Some(structured) = result.structured_content.as_ref().filter(|_| content.parts.is_empty()) {
            content.parts.push(structured.to_string());
        }
        content
    }
}

impl From<&ReadResourceResult> for ServerContent {
    fn from(result: &ReadResourceResult) -> Self {
        let mut content = Self::default();
        result.contents.iter().for_each(|contents| content.add_resource(contents));
        content
    }
}

impl From<&GetPromptResult> for ServerContent {
    fn from(result: &GetPromptResult) -> Self {
        let mut content = Self::default();
        // Some prompts give examples of answers.
        let is_dialog = result.messages.iter().any(|message| message.role == Role::Assistant);
        for message in &result.messages {
            if is_dialog {
                let role = if message.role == Role::Assistant { "Assistant:" } else { "User:" };
                content.parts.push(role.to_owned());
            }
            content.add(&message.content);
        }
        content
    }
}
