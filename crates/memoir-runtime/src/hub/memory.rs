//! A session that works with the memory of a hub.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use memoir_core::{
    ConversationId, Exchange, ExchangeId, Message, MessageBody, Provenance, TimeZone, Timestamp, Visibility,
    lock,
};
use memoir_recall::{RecallSettings, Supplied, Supplier};
use memoir_redact::without_secrets;
use memoir_store::{Filter, Store};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{
    address::HubAddress,
    client::{Hub, HubError, Withdrawal},
    copies::{Copies, HubExchange},
    queue::QueuedRequest,
};
use crate::{
    failure::Failure,
    home::Home,
    operations::{forgetting::ForgetTarget, tokens::random_text},
};

/// How long a hub that could not be reached is left alone, so that not every prompt waits for it.
const PAUSE: Duration = Duration::from_secs(20);

/// How long the user waits until an answer that was replaced is deleted.
const MAX_REPLACEMENT: Duration = Duration::from_secs(10);

/// Maximum number of exchanges that are copied for a question.
const MAX_COPIES: usize = 200;

/// Maximum number of documents that are copied for a question.
const MAX_DOCUMENTS: usize = 3;

/// A day in milliseconds.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How long the end of a session waits until everything is sent.
const MAX_FAREWELL: Duration = Duration::from_secs(5);

/// The memory of a hub, as a session uses it. A store without a file holds what has been asked for. Cloning is cheap.
#[derive(Clone)]
pub struct HubMemory(Arc<Shared>);

struct Shared {
    hub: Hub,
    store: Arc<dyn Store>,
    /// Project of new exchanges, unless the token covers only another one.
    project: String,
    copies: Mutex<Copies>,
    session: std::sync::Mutex<Session>,
}

/// What this session has said, and how that went.
#[derive(Default)]
struct Session {
    conversations: HashMap<ConversationId, Thread>,
    exchanges: HashMap<ExchangeId, Own>,
    /// When the hub could not be reached last, and why.
    unreachable: Option<(Instant, String)>,
    /// Why something still waits.
    unsent: Option<String>,
    /// Why something will never be stored.
    refusals: Vec<String>,
}

/// A conversation of this session.
#[derive(Clone)]
struct Thread {
    key: String,
    /// Number of exchanges so far.
    count: u64,
}

/// An exchange of this session.
#[derive(Clone)]
struct Own {
    conversation: ConversationId,
    /// The request that stores it.
    request: QueuedRequest,
    /// Whether the hub will never store it.
    is_refused: bool,
}

/// Where an exchange is that is to be forgotten.
enum Place {
    Hub(i64),
    /// On this machine, in the request with this key, which has not been sent.
    Queue(String),
    /// Nowhere any more.
    Nowhere,
}

/// The reply to a question.
#[derive(Deserialize)]
struct RecallReply {
    #[serde(default)]
    passages: Vec<HubPassage>,
    #[serde(default)]
    exchanges: Vec<HubExchange>,
}

/// A passage. Those of conversations come with their exchanges.
#[derive(Deserialize)]
struct HubPassage {
    document: Option<String>,
}

impl HubMemory {
    /// Opens the memory of a hub. A session can begin while the hub cannot be reached.
    ///
    /// # Errors
    ///
    /// Fails if the hub does not accept the token.
    pub async fn open(
        address: HubAddress,
        home: &Home,
        store: Arc<dyn Store>,
        project: &str,
    ) -> Result<Self, Failure> {
        let memory = Self(Arc::new(Shared {
            hub: Hub::new(address, home)?,
            store,
            project: project.to_owned(),
            copies: Mutex::default(),
            session: std::sync::Mutex::default(),
        }));
        let hub = &memory.0.hub;
        let checked = match hub.check(None).await {
            // The token covers several projects.
            Err(HubError::Refused(_)) => hub.check(Some(project)).await,
            result => result,
        };
        match checked {
            Ok(()) => memory.send_in_background(),
            // Many sessions begin offline.
            Err(error @ (HubError::Offline(_) | HubError::Unreachable(_))) => memory.0.note(&error),
            Err(error) => return Err(error.into()),
        }
        Ok(memory)
    }

    /// Returns the address of the hub.
    pub fn url(&self) -> &str {
        self.0.hub.address().url()
    }

    /// Returns a sentence about a hub that cannot be reached, or about what waits for it.
    pub fn notice(&self) -> Option<String> {
        match (self.0.obstacle(), self.0.hub.count_waiting().unwrap_or_default()) {
            (Some(reason), _) => Some(format!(
                "The memory of {} is not available, because {reason}. What you say waits on this machine and is sent later.",
                self.url()
            )),
            (None, 0) => None,
            (None, _) => Some(format!("What was said offline is being sent to {}.", self.url())),
        }
    }

    /// Fails if a conversation is a part of one of the hub's, which cannot be continued here.
    ///
    /// # Errors
    ///
    /// See above.
    pub async fn check_own(&self, conversation: ConversationId) -> Result<(), Failure> {
        match self.0.copies.lock().await.has_conversation(conversation) {
            true => {
                Err(Failure::usage(format!("only a part of conversation {conversation} is on this machine"))
                    .hint(format!("Open {} to continue or forget it.", self.url())))
            }
            false => Ok(()),
        }
    }

    /// Stores an exchange of this session for the hub. When this returns, it is on disk.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be stored on this machine.
    pub async fn keep(&self, exchange: ExchangeId) -> Result<(), Failure> {
        let shared = &self.0;
        let Some(stored) = shared.store.exchange(exchange).await? else { return Ok(()) };
        let thread = lock(&shared.session).conversations.get(&stored.conversation_id).cloned();
        let thread = match thread {
            Some(thread) => Thread { count: thread.count + 1, ..thread },
            None => Thread { key: random_text()?, count: 1 },
        };
        let messages = shared.store.exchange_messages(exchange).await?;
        let body = describe(&stored, &messages, &thread.key, thread.count);
        let request = QueuedRequest {
            may_differ_with: Some(shared.hub.address().fingerprint()),
            ..QueuedRequest::new("exchanges", Some(shared.project.clone()), body)?
        };
        shared.hub.keep(&request)?;
        shared.copies.lock().await.add_own(&stored);
        let mut session = lock(&shared.session);
        session.conversations.insert(stored.conversation_id, thread);
        let own = Own { conversation: stored.conversation_id, request, is_refused: false };
        session.exchanges.insert(exchange, own);
        Ok(())
    }

    /// Starts to send what waits.
    pub fn send_in_background(&self) {
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move { shared.send().await });
    }

    /// Sends what waits, for a program that exits. Returns sentences about what was not stored.
    pub async fn finish(&self) -> Vec<String> {
        // Without a network, the user need not wait twice.
        if self.0.obstacle().is_none() && tokio::time::timeout(MAX_FAREWELL, self.0.send()).await.is_err() {
            tracing::debug!("sending takes too long");
        }
        let waiting = self.0.hub.count_waiting().unwrap_or_default();
        let session = lock(&self.0.session);
        let refusals = session.refusals.iter();
        let mut sentences: Vec<String> =
            refusals.map(|reason| format!("The hub did not store an exchange, because {reason}.")).collect();
        if waiting > 0 {
            let exchanges = if waiting == 1 { "exchange waits" } else { "exchanges wait" };
            let reason = session.unsent.as_deref().unwrap_or("it takes too long");
            sentences.push(format!(
                "{waiting} {exchanges} on this machine to be sent to {} the next time, because {reason}.",
                self.url()
            ));
        }
        sentences
    }

    /// Deletes something at the hub that this session has stored or asked for.
    ///
    /// # Errors
    ///
    /// Fails if the hub cannot be reached or refuses. Then nothing may be deleted here.
    pub async fn forget(&self, target: &ForgetTarget) -> Result<(), Failure> {
        let exchanges = match target {
            ForgetTarget::Exchange(id) => vec![*id],
            ForgetTarget::Conversation(id) => {
                self.check_own(*id).await?;
                // A fork begins with the exchanges of another conversation.
                let mut exchanges = self.0.store.exchanges(*id, u32::MAX).await?;
                exchanges.retain(|exchange| exchange.conversation_id == *id);
                exchanges.iter().map(|exchange| exchange.id).collect()
            }
            ForgetTarget::Message(_) | ForgetTarget::Document(_) | ForgetTarget::Period { .. } => {
                return Err(Failure::usage(
                    "only an exchange or a conversation can be forgotten from another machine",
                )
                .hint(format!("Open {} to forget anything else.", self.url())));
            }
        };
        let mut places = Vec::new();
        for exchange in &exchanges {
            places.push(self.0.locate(*exchange).await?);
        }
        for (exchange, place) in exchanges.iter().zip(&places) {
            if let Place::Hub(id) = place {
                self.0.let_others_go_first(*exchange, &exchanges).await?;
                self.0.delete(*exchange, *id).await?;
            }
        }
        for (exchange, place) in exchanges.iter().zip(places) {
            if let Place::Queue(key) = place
                && self.0.hub.withdraw(&key).await? == Withdrawal::MayBeStored
                && let Place::Hub(id) = self.0.locate(*exchange).await?
            {
                self.0.delete(*exchange, id).await?;
            }
        }
        Ok(())
    }

    /// Deletes an exchange that another one of this session has replaced.
    ///
    /// # Errors
    ///
    /// Fails if the hub cannot be reached or refuses, or if the new exchange is not stored there yet.
    pub async fn replace(&self, replaced: ExchangeId, new: ExchangeId) -> Result<(), Failure> {
        let replacing = self.replace_unhurried(replaced, new);
        let late = |_| Failure::failed("it takes too long");
        tokio::time::timeout(MAX_REPLACEMENT, replacing).await.map_err(late)?
    }

    async fn replace_unhurried(&self, replaced: ExchangeId, new: ExchangeId) -> Result<(), Failure> {
        match self.0.locate(replaced).await? {
            Place::Nowhere => return Ok(()),
            Place::Queue(key) if self.0.hub.withdraw(&key).await? == Withdrawal::Withdrawn => return Ok(()),
            Place::Queue(_) | Place::Hub(_) => {}
        }
        self.0.send().await;
        // Without the old one, the hub may take the new one for a part of what was forgotten.
        if !matches!(self.0.locate(new).await?, Place::Hub(_)) {
            return Err(Failure::failed("the new answer is not stored there yet"));
        }
        match self.0.locate(replaced).await? {
            Place::Hub(id) => self.0.delete(replaced, id).await,
            Place::Queue(_) | Place::Nowhere => Ok(()),
        }
    }
}

impl Shared {
    /// Returns why the hub could not be reached a moment ago.
    fn obstacle(&self) -> Option<String> {
        let session = lock(&self.session);
        let recent = session.unreachable.as_ref().filter(|(moment, _)| moment.elapsed() < PAUSE);
        recent.map(|(_, reason)| reason.clone())
    }

    fn note(&self, error: &HubError) {
        if matches!(error, HubError::Offline(_) | HubError::Unreachable(_)) {
            lock(&self.session).unreachable = Some((Instant::now(), error.message()));
        }
    }

    /// Sends what waits, and records what the hub calls it.
    async fn send(&self) {
        let sent = match self.hub.send_queue().await {
            Ok(sent) if sent.is_busy => return,
            Ok(sent) => sent,
            Err(failure) => {
                return tracing::warn!(reason = failure.message, "could not send what waits for the hub");
            }
        };
        if let Some(error) = &sent.obstacle {
            self.note(error);
        }
        let mut copies = self.copies.lock().await;
        let mut session = lock(&self.session);
        session.unsent = sent.obstacle.as_ref().map(HubError::message);
        if session.unsent.is_none() {
            session.unreachable = None;
        }
        for (key, result) in sent.results {
            let own = session.exchanges.iter_mut().find(|(_, own)| own.request.key == key);
            match (own, result) {
                (Some((own, _)), Ok(reply)) => {
                    reply["exchange"].as_i64().into_iter().for_each(|id| copies.record(id, *own));
                }
                (None, Ok(_)) => {}
                (own, Err(error)) => {
                    own.into_iter().for_each(|(_, own)| own.is_refused = true);
                    session.refusals.push(error.message());
                }
            }
        }
    }

    /// Finds out where an exchange is. What may have reached the hub is sent again, to learn what the hub calls it; the hub
    /// stores nothing twice.
    async fn locate(&self, exchange: ExchangeId) -> Result<Place, Failure> {
        if let Some(id) = self.copies.lock().await.find(exchange) {
            return Ok(Place::Hub(id));
        }
        let own = lock(&self.session).exchanges.get(&exchange).cloned();
        let Some(Own { request, is_refused, .. }) = own else { return Ok(Place::Nowhere) };
        if !is_refused {
            if self.hub.can_withdraw(&request.key)? {
                return Ok(Place::Queue(request.key));
            }
            match self.hub.send(&request).await {
                Ok(reply) => {
                    let id = reply["exchange"].as_i64().unwrap_or_default();
                    self.copies.lock().await.record(id, exchange);
                    self.hub.discard(&request.key).await?;
                    return Ok(Place::Hub(id));
                }
                Err(HubError::Gone(_) | HubError::Refused(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.hub.discard(&request.key).await?;
        Ok(Place::Nowhere)
    }

    /// Sends what was said later in the conversation of an exchange, except what is to be forgotten as well: the hub does
    /// not store what was said before a conversation was forgotten.
    async fn let_others_go_first(
        &self,
        exchange: ExchangeId,
        forgotten: &[ExchangeId],
    ) -> Result<(), Failure> {
        let (thread, exempt) = {
            let session = lock(&self.session);
            let key_of = |id: &ExchangeId| Some(session.exchanges.get(id)?.request.key.clone());
            let thread = session.exchanges.get(&exchange).map(|own| own.request.body["thread"].clone());
            (thread, forgotten.iter().filter_map(key_of).collect::<Vec<String>>())
        };
        let Some(Value::String(thread)) = thread else { return Ok(()) };
        let others_wait = || {
            let waiting = self.hub.waiting_in(&thread)?;
            Ok::<_, Failure>(waiting.iter().any(|key| !exempt.contains(key)))
        };
        if others_wait()? {
            self.send().await;
            if others_wait()? {
                return Err(Failure::failed("what was said later has not reached the hub yet")
                    .hint("Try again later."));
            }
        }
        Ok(())
    }

    /// Copies what the hub knows about a question into the store.
    async fn fetch(&self, question: &str, filter: &Filter) -> Result<Supplied, String> {
        // The hub may be in another time zone, so a day more is asked for.
        let day = |moment: Timestamp, days: i64| {
            Timestamp::from_millis(moment.as_millis().saturating_add(days * DAY_MS))
                .format_date(&TimeZone::UTC)
        };
        let body = json!({
            "question": without_secrets(question),
            "exchanges": true,
            "since": filter.since.map(|moment| day(moment, -1)),
            "until": filter.until.map(|moment| day(moment, 1)),
        });
        let mut project = None;
        let reply: Result<RecallReply, HubError> = match self.hub.recall(&body, project).await {
            // The token covers several projects.
            Err(HubError::Refused(_)) => {
                project = Some(self.project.as_str());
                self.hub.recall(&body, project).await
            }
            reply => reply,
        };
        let RecallReply { passages, exchanges } = reply.map_err(|error| {
            self.note(&error);
            error.message()
        })?;
        let mut copies = self.copies.lock().await;
        let mut supplied = Supplied::default();
        for exchange in exchanges.into_iter().take(MAX_COPIES) {
            let copied =
                copies.add(exchange, self.store.as_ref()).await.map_err(|error| error.to_string())?;
            supplied.exchanges.extend(copied);
        }
        let mut documents: BTreeSet<String> =
            passages.into_iter().filter_map(|passage| passage.document).collect();
        documents.retain(|name| !copies.has_document(name));
        for name in documents.into_iter().take(MAX_DOCUMENTS) {
            match self.hub.document(&name, project).await {
                Ok(document) => {
                    let size = RecallSettings::default().chunk_size();
                    let added = copies.add_document(document, self.store.as_ref(), size).await;
                    supplied.chunks.extend(added.map_err(|error| error.to_string())?);
                }
                Err(error) => tracing::warn!(?error, "could not copy a document of the hub"),
            }
        }
        Ok(supplied)
    }

    /// Deletes an exchange at the hub. The user has seen it.
    async fn delete(&self, exchange: ExchangeId, at_hub: i64) -> Result<(), Failure> {
        let selection = json!({"exchanges": [at_hub]});
        let mut project = None;
        let preview = match self.hub.preview_forgetting(&selection, project).await {
            // The token covers several projects.
            Err(HubError::Refused(_)) => {
                project = Some(self.project.as_str());
                self.hub.preview_forgetting(&selection, project).await
            }
            preview => preview,
        };
        match preview {
            Ok(preview) => {
                self.hub.forget(&selection, &preview.plan, project).await?;
            }
            // Somebody else has deleted it. Other servers do not have this address, either.
            Err(HubError::Missing(detail)) if detail.ends_with(&format!("exchange-{at_hub}")) => {}
            Err(error) => return Err(error.into()),
        }
        // If the hub has forgotten the whole conversation, what is said next begins another one there.
        let mut session = lock(&self.session);
        if let Some(own) = session.exchanges.get(&exchange) {
            let conversation = own.conversation;
            session.conversations.remove(&conversation);
        }
        Ok(())
    }
}

#[async_trait]
impl Supplier for HubMemory {
    async fn supply(&self, question: &str, filter: &Filter) -> Result<Supplied, String> {
        if let Some(reason) = self.0.obstacle() {
            return Err(reason);
        }
        let (shared, question, filter) = (Arc::clone(&self.0), question.to_owned(), filter.clone());
        // If the prompt does not wait for it, the next one may need it.
        let fetched = tokio::spawn(async move { shared.fetch(&question, &filter).await }).await;
        fetched.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// Describes an exchange, as the hub stores it.
fn describe(exchange: &Exchange, messages: &[Message], thread: &str, number: u64) -> Value {
    let describe_message = |message: &Message| {
        let mut described = json!({
            "role": message.body.role(),
            "text": message.body.text(),
            "created": message.created.to_string(),
            "hidden": message.visibility == Visibility::Hidden,
            "derived": message.provenance == Provenance::Derived,
            "by_others": message.by_others,
        });
        match &message.body {
            MessageBody::Assistant { tool_calls, .. } if !tool_calls.is_empty() => {
                described["tool_calls"] = json!(tool_calls);
            }
            MessageBody::Tool { call_id, tool_name, .. } => {
                (described["call_id"], described["tool_name"]) = (json!(call_id), json!(tool_name));
            }
            MessageBody::User { .. } | MessageBody::Assistant { .. } => {}
        }
        described
    };
    let usage = &exchange.usage;
    json!({
        "thread": thread,
        "number": number,
        "model": exchange.model,
        "started": exchange.started.to_string(),
        "completed": exchange.completed.to_string(),
        "messages": messages.iter().map(describe_message).collect::<Vec<Value>>(),
        "tokens": {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cached": usage.cached_tokens,
            "cache_write": usage.cache_write_tokens,
            "reasoning": usage.reasoning_tokens,
        },
    })
}
