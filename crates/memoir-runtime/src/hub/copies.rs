//! Copies of the hub's exchanges in the store of a session, which is never written to disk.

use std::collections::{HashMap, HashSet};

use memoir_core::{
    ChunkId, Clock as _, ConversationId, ConversationTarget, DocumentKind, DraftMessage, Exchange,
    ExchangeDraft, ExchangeId, ExchangeSource, ExchangeStatus, MessageBody, NewConversation, OWN_PROGRAM,
    Provenance, RecalledPassages, SystemClock, Timestamp, Visibility, count_tokens,
};
use memoir_recall::{ChunkSize, split_into_chunks};
use memoir_store::{NewDocument, Store, StoreError};
use serde::Deserialize;

/// An exchange, as the hub sends it.
#[derive(Debug, Deserialize)]
pub(super) struct HubExchange {
    id: i64,
    conversation: i64,
    title: String,
    project: String,
    program: String,
    started: String,
    completed: String,
    model: String,
    messages: Vec<HubMessage>,
}

/// A document, as the hub sends it.
#[derive(Debug, Deserialize)]
pub(super) struct HubDocument {
    name: String,
    title: String,
    date: String,
    text: String,
}

/// A prompt or an answer, as the hub sends it.
#[derive(Debug, Deserialize)]
struct HubMessage {
    role: String,
    text: String,
    created: String,
    author: Option<String>,
    #[serde(default)]
    derived: bool,
    #[serde(default)]
    by_others: bool,
}

/// Which exchanges of the store are which exchanges of the hub.
#[derive(Debug, Default)]
pub(super) struct Copies {
    exchanges: HashMap<i64, ExchangeId>,
    conversations: HashMap<i64, ConversationId>,
    /// Names of the documents.
    documents: HashSet<String>,
    /// The exchanges of this session, with their prompts, by the time when they began.
    own: HashMap<Timestamp, (String, ExchangeId)>,
}

impl Copies {
    /// Records an exchange of this session, so that it is recognized when the hub returns it.
    pub(super) fn add_own(&mut self, exchange: &Exchange) {
        self.own.insert(exchange.started, (exchange.user_message.clone(), exchange.id));
    }

    /// Records what the hub calls an exchange of this session.
    pub(super) fn record(&mut self, hub: i64, exchange: ExchangeId) {
        self.exchanges.insert(hub, exchange);
    }

    /// Returns the hub's id of an exchange.
    pub(super) fn find(&self, exchange: ExchangeId) -> Option<i64> {
        self.exchanges.iter().find(|(_, copy)| **copy == exchange).map(|(id, _)| *id)
    }

    /// Returns whether a conversation is a part of one of the hub's.
    pub(super) fn has_conversation(&self, conversation: ConversationId) -> bool {
        self.conversations.values().any(|copy| *copy == conversation)
    }

    /// Returns whether a document is in the store.
    pub(super) fn has_document(&self, name: &str) -> bool {
        self.documents.contains(name)
    }

    /// Copies a document into the store, in chunks of this size. Returns its chunks.
    pub(super) async fn add_document(
        &mut self,
        document: HubDocument,
        store: &dyn Store,
        size: ChunkSize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        let HubDocument { name, title, date, text } = document;
        let new = NewDocument {
            slug: name.clone(),
            title,
            date,
            tags: Vec::new(),
            kind: DocumentKind::File,
            source: format!("hub:{name}"),
            hash: String::new(),
            text,
            written_from: Vec::new(),
        };
        let split = move |text: &str| split_into_chunks(text, size);
        let added = store.put_document(&new, &split, SystemClock.now()).await?;
        self.documents.insert(name);
        Ok(store.document_chunks(added.id).await?.into_iter().map(|chunk| chunk.id).collect())
    }

    /// Copies an exchange into the store, unless it is there. Returns its id there if it is new.
    pub(super) async fn add(
        &mut self,
        exchange: HubExchange,
        store: &dyn Store,
    ) -> Result<Option<ExchangeId>, StoreError> {
        if self.exchanges.contains_key(&exchange.id) {
            return Ok(None);
        }
        let (id, conversation) = (exchange.id, exchange.conversation);
        let new = NewConversation { title: exchange.title.clone(), scope: exchange.project.clone() };
        let Some(draft) = draft(exchange) else { return Ok(None) };
        if let Some((_, own)) =
            self.own.get(&draft.started).filter(|(prompt, _)| *prompt == draft.user_message)
        {
            self.exchanges.insert(id, *own);
            return Ok(None);
        }
        let target = match self.conversations.get(&conversation) {
            Some(copy) => {
                let last_seen = store.exchanges(*copy, 1).await?.pop().map(|last| last.id);
                ConversationTarget::Existing { conversation: *copy, last_seen }
            }
            None => ConversationTarget::New(new),
        };
        let committed = store.commit_exchange(&target, &draft).await?;
        self.conversations.insert(conversation, committed.conversation_id);
        self.exchanges.insert(id, committed.exchange_id);
        Ok(Some(committed.exchange_id))
    }
}

/// Converts an exchange. Returns `None` if it has no prompt or a date that cannot be read.
fn draft(exchange: HubExchange) -> Option<ExchangeDraft> {
    let message = |message: HubMessage| {
        let is_user = message.role == "user";
        let text = message.text;
        let body = match is_user {
            true => MessageBody::User { text },
            false => MessageBody::Assistant { text, tool_calls: Vec::new() },
        };
        Some(DraftMessage {
            author: message.author,
            by_others: message.by_others,
            tokens: count_tokens(body.text()) as u64,
            body,
            visibility: Visibility::Shown,
            provenance: if message.derived { Provenance::Derived } else { Provenance::Original },
            created: Timestamp::parse(&message.created)?,
        })
    };
    let messages = exchange.messages.into_iter().map(message).collect::<Option<Vec<_>>>()?;
    let is_answer = |message: &&DraftMessage| matches!(message.body, MessageBody::Assistant { .. });
    let answer = messages.iter().rev().find(is_answer).map(|answer| answer.body.text().to_owned());
    let is_elsewhere = exchange.program != OWN_PROGRAM;
    Some(ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: Timestamp::parse(&exchange.started)?,
        completed: Timestamp::parse(&exchange.completed)?,
        user_message: messages.first()?.body.text().to_owned(),
        assistant_message: answer.unwrap_or_default(),
        model: exchange.model,
        messages,
        calls: Vec::new(),
        recalled: RecalledPassages::default(),
        tool_call_count: 0,
        error: None,
        source: is_elsewhere.then(|| ExchangeSource {
            program: exchange.program,
            session: exchange.conversation.to_string(),
        }),
    })
}
