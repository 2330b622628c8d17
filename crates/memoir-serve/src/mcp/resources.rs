//! Conversations and documents as resources, and the texts that `fetch` returns.

use memoir_core::{Exchange, OWN_PROGRAM};
use memoir_runtime::{
    Failure,
    view::{ItemId, MemoryView},
};
use rmcp::{
    ErrorData,
    model::{
        CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate,
    },
};

use crate::quote::{NOTICE, fence, title};

use super::results::FetchMetadata;

/// Maximum length of the text in one result, in bytes: about 5,000 tokens.
const MAX_TEXT_BYTES: usize = 20 * 1024;

/// Number of conversations that are listed.
const MAX_LISTED: u32 = 100;

const MIME_TYPE: &str = "text/markdown";

/// A text from memory.
pub(super) struct Item {
    pub(super) title: String,
    pub(super) metadata: FetchMetadata,
    text: String,
}

impl Item {
    /// Returns the part of the text that starts at a byte offset, in a fence, and the offset of the next part.
    pub(super) fn part(&self, offset: usize) -> (String, Option<usize>) {
        let start = self.text.floor_char_boundary(offset);
        let end = self.text.floor_char_boundary(start.saturating_add(MAX_TEXT_BYTES));
        // Escaping makes the text longer, so the limit of the fence must not apply.
        let text = fence(&self.text[start..end], usize::MAX);
        (text, (end < self.text.len()).then_some(end))
    }
}

/// Returns the address of an item.
pub(super) fn uri(id: &ItemId) -> String {
    match id {
        ItemId::Exchange(id) => format!("memoir://exchange/{id}"),
        ItemId::Conversation(id) => format!("memoir://conversation/{id}"),
        ItemId::Document(name) => format!("memoir://document/{name}"),
    }
}

fn parse_uri(uri: &str) -> Option<ItemId> {
    let (kind, name) = uri.strip_prefix("memoir://")?.split_once('/')?;
    format!("{kind}-{name}").parse().ok()
}

/// Reads an item that the client may see.
///
/// # Errors
///
/// Fails with the same message if the item does not exist and if the client may not see it.
pub(super) async fn read_item(view: &MemoryView, id: &ItemId) -> Result<Item, Failure> {
    let missing =
        || Failure::usage(format!("there is no {id}")).hint("Use the ids that recall and search return.");
    match id {
        ItemId::Exchange(exchange) => {
            let (conversation, exchange) = view.exchange(*exchange).await?.ok_or_else(missing)?;
            Ok(Item {
                title: title(&conversation.title),
                metadata: metadata(&exchange, &conversation.scope),
                text: format_exchange(&exchange),
            })
        }
        ItemId::Conversation(conversation) => {
            let conversation = view.conversation(*conversation).await?.ok_or_else(missing)?;
            let exchanges = view.exchanges(&conversation).await?;
            Ok(Item {
                title: title(&conversation.title),
                metadata: exchanges
                    .last()
                    .map(|last| metadata(last, &conversation.scope))
                    .unwrap_or_default(),
                text: exchanges.iter().map(format_exchange).collect::<Vec<_>>().join("\n"),
            })
        }
        ItemId::Document(name) => {
            let stored = view.document(name).await?.ok_or_else(missing)?;
            let date = stored.document.date;
            Ok(Item {
                title: title(&stored.document.title),
                metadata: FetchMetadata { notice: NOTICE, date, ..FetchMetadata::default() },
                text: stored.text,
            })
        }
    }
}

fn metadata(exchange: &Exchange, scope: &str) -> FetchMetadata {
    let program = exchange.source.as_ref().map_or(OWN_PROGRAM, |source| &source.program);
    FetchMetadata {
        notice: NOTICE,
        date: exchange.started.to_string(),
        project: Some(title(scope)),
        program: Some(title(program)),
    }
}

fn format_exchange(exchange: &Exchange) -> String {
    let Exchange { id, started, user_message, assistant_message, .. } = exchange;
    format!("[{}, {started}]\nUser: {user_message}\nAssistant: {assistant_message}\n", ItemId::Exchange(*id))
}

/// Lists the latest conversations and all documents that the client may see.
pub(super) async fn list(view: &MemoryView) -> Result<ListResourcesResult, ErrorData> {
    let conversations = view.conversations(None, false, None, MAX_LISTED).await.map_err(to_error)?;
    let mut resources: Vec<Resource> = conversations
        .into_iter()
        .map(|conversation| {
            let id = ItemId::Conversation(conversation.id);
            Resource::new(uri(&id), id.to_string())
                .with_title(title(&conversation.title))
                .with_mime_type(MIME_TYPE)
        })
        .collect();
    for document in view.documents().await.map_err(to_error)? {
        let id = ItemId::Document(document.slug);
        resources.push(
            Resource::new(uri(&id), id.to_string())
                .with_title(title(&document.title))
                .with_mime_type(MIME_TYPE),
        );
    }
    Ok(ListResourcesResult::with_all_items(resources).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// Lists the forms of addresses.
pub(super) fn list_templates() -> ListResourceTemplatesResult {
    let template =
        |uri, name, title: &str| ResourceTemplate::new(uri, name).with_title(title).with_mime_type(MIME_TYPE);
    ListResourceTemplatesResult::with_all_items(vec![
        template("memoir://conversation/{id}", "conversation", "A conversation"),
        template("memoir://exchange/{id}", "exchange", "A prompt and its answer"),
        template("memoir://document/{name}", "document", "A document"),
    ])
}

/// Reads a resource.
pub(super) async fn read(view: &MemoryView, address: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || ErrorData::resource_not_found(format!("there is no {}", title(address)), None);
    let id = parse_uri(address).ok_or_else(missing)?;
    let item = read_item(view, &id).await.map_err(to_error)?;
    let (text, next_offset) = item.part(0);
    let more = next_offset.map(|offset| format!("\nTo read on, use fetch with the offset {offset}."));
    let text = format!("{NOTICE}\n{text}{}", more.unwrap_or_default());
    let contents = ResourceContents::text(text, address).with_mime_type(MIME_TYPE);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// Returns the protocol error for a failure.
pub(super) fn to_error(failure: Failure) -> ErrorData {
    match failure.kind {
        memoir_runtime::FailureKind::Usage => ErrorData::resource_not_found(failure.sentence(), None),
        _ => ErrorData::internal_error(failure.sentence(), None),
    }
}
