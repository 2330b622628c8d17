//! Converts the result of a call to text.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// Returns the result as text for the model.
pub(crate) fn to_text(result: &CallToolResult) -> String {
    let mut parts: Vec<String> = result.content.iter().map(block).collect();
    // Servers send the same as text for clients that do not know structured results. Not all of them do.
    if let Some(structured) = result.structured_content.as_ref().filter(|_| parts.is_empty()) {
        parts.push(structured.to_string());
    }
    parts.join("\n")
}

fn block(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => describe("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => describe("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        ContentBlock::ResourceLink(link) => {
            let title = link.title.as_deref().unwrap_or(&link.name);
            format!("[resource {} ({title})]", link.uri)
        }
        _ => "[content of an unknown type]".to_owned(),
    }
}

/// Returns a resource as text.
pub(crate) fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource {uri}]\n{text}"),
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let mime_type = mime_type.as_deref().unwrap_or("unknown type");
            format!("[resource {uri}] {}", describe("data", mime_type, blob))
        }
        _ => "[a resource of an unknown type]".to_owned(),
    }
}

/// Describes content that is not text, which is encoded in base64.
fn describe(kind: &str, mime_type: &str, data: &str) -> String {
    format!("[{kind}: {mime_type}, {} bytes]", data.len() / 4 * 3)
}
