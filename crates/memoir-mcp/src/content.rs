//! Converts what servers return to text and images.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use memoir_core::Image;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// Text and images from a server.
#[derive(Debug, Default)]
pub(crate) struct Content {
    parts: Vec<String>,
    /// Images that models can see. The text describes them.
    pub(crate) images: Vec<Image>,
}

impl Content {
    /// Returns the text for the model.
    pub(crate) fn text(&self) -> String {
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

impl From<&CallToolResult> for Content {
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
