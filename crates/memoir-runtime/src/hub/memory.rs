//! A session that works with the memory of a hub.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use memoir_core::{ConversationId, Exchange, ExchangeId, Message, MessageBody, Provenance, Visibility, lock};
use memoir_recall::Supplier;
use memoir_redact::without_secrets;
use memoir_store::Store;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{
    address::HubAddress,
    client::{Hub, HubError},
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
    threads: std::sync::Mutex<Threads>,
    /// When the hub could not be used last, and why.
    obstacle: std::sync::Mutex<Option<(Instant, String)>>,
}

/// The conversations and exchanges of this session.
#[derive(Default)]
struct Threads {
    conversations: HashMap<ConversationId, Thread>,
    /// The exchanges that wait, with the keys of their requests.
    waiting: Vec<(String, ExchangeId)>,
}

/// A conversation of this session.
struct Thread {
    key: String,
    /// Number of exchanges so far.
    count: u64,
}

/// The reply to a question.
#[derive(Deserialize)]
struct RecallReply {
    #[serde(default)]
    exchanges: Vec<HubExchange>,
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
            threads: std::sync::Mutex::default(),
            obstacle: std::sync::Mutex::default(),
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
            Err(error @ HubError::Unreachable(_)) => memory.0.note_obstacle(&error),
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

    /// Stores an exchange of this session for the hub. When this returns, it is on disk.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be stored on this machine.
    pub async fn keep(&self, exchange: ExchangeId) -> Result<(), Failure> {
        let shared = &self.0;
        let Some(stored) = shared.store.exchange(exchange).await? else { return Ok(()) };
        let messages = shared.store.exchange_messages(exchange).await?;
        let (thread, number) = {
            let mut threads = lock(&shared.threads);
            let count = threads.conversations.get(&stored.conversation_id).map_or(0, |thread| thread.count);
            let key = match threads.conversations.get(&stored.conversation_id) {
                Some(thread) => thread.key.clone(),
                None => random_text()?,
            };
            let thread = Thread { key: key.clone(), count: count + 1 };
            threads.conversations.insert(stored.conversation_id, thread);
            (key, count + 1)
        };
        let body = describe(&stored, &messages, &thread, number);
        let request = QueuedRequest {
            may_differ: true,
            ..QueuedRequest::new("exchanges", Some(shared.project.clone()), body)?
        };
        shared.hub.keep(&request)?;
        lock(&shared.threads).waiting.push((request.key, exchange));
        self.send_in_background();
        Ok(())
    }

    fn send_in_background(&self) {
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move { shared.send().await });
    }

    /// Sends what waits, for a program that exits. Returns a sentence if something still waits.
    pub async fn finish(&self) -> Option<String> {
        // Without a network, the user need not wait twice.
        if self.0.obstacle().is_none() && tokio::time::timeout(MAX_FAREWELL, self.0.send()).await.is_err() {
            tracing::debug!("sending takes too long");
        }
        let waiting = self.0.hub.count_waiting().unwrap_or_default();
        let reason = self.0.obstacle().unwrap_or_else(|| "it takes too long".to_owned());
        (waiting > 0).then(|| {
            let exchanges = if waiting == 1 { "exchange waits" } else { "exchanges wait" };
            format!(
                "{waiting} {exchanges} on this machine to be sent to {} the next time, because {reason}.",
                self.url()
            )
        })
    }

    /// Deletes something at the hub that this session has stored or asked for.
    ///
    /// # Errors
    ///
    /// Fails if the hub cannot be reached or refuses, or if it is not known what the hub calls it. Nothing is deleted
    /// then.
    pub async fn forget(&self, target: &ForgetTarget) -> Result<(), Failure> {
        let unsupported = || {
            Failure::usage("only an exchange or a conversation can be forgotten from another machine")
                .hint(format!("Open {} to forget anything else.", self.url()))
        };
        match target {
            ForgetTarget::Exchange(id) => self.forget_exchanges(&[*id]).await,
            ForgetTarget::Conversation(id) => {
                if let Some(at_hub) = self.0.copies.lock().await.find_conversation(*id) {
                    self.0.delete(&json!({"conversations": [at_hub]})).await?;
                    return Ok(());
                }
                let exchanges = self.0.store.exchanges(*id, u32::MAX).await?;
                let ids: Vec<ExchangeId> = exchanges.iter().map(|exchange| exchange.id).collect();
                self.forget_exchanges(&ids).await
            }
            ForgetTarget::Message(_) | ForgetTarget::Document(_) | ForgetTarget::Period { .. } => {
                Err(unsupported())
            }
        }
    }

    async fn forget_exchanges(&self, exchanges: &[ExchangeId]) -> Result<(), Failure> {
        let mut at_hub = Vec::new();
        for exchange in exchanges {
            let key = lock(&self.0.threads)
                .waiting
                .iter()
                .find(|(_, other)| other == exchange)
                .map(|(key, _)| key.clone());
            if let Some(key) = key
                && self.0.hub.withdraw(&key).await?
            {
                continue;
            }
            let id = self.0.copies.lock().await.find(*exchange).ok_or_else(|| {
                Failure::failed(format!("it is not known what the hub calls exchange {exchange}"))
                    .hint(format!("Open {} to forget it.", self.url()))
            })?;
            at_hub.push(id);
        }
        match at_hub.is_empty() {
            true => Ok(()),
            false => self.0.delete(&json!({"exchanges": at_hub})).await,
        }
    }
}

impl Shared {
    /// Returns why the hub could not be used a moment ago.
    fn obstacle(&self) -> Option<String> {
        let obstacle = lock(&self.obstacle);
        let recent = obstacle.as_ref().filter(|(moment, _)| moment.elapsed() < PAUSE);
        recent.map(|(_, reason)| reason.clone())
    }

    fn note_obstacle(&self, error: &HubError) {
        *lock(&self.obstacle) = Some((Instant::now(), error.message()));
    }

    /// Sends what waits, and records what the hub calls it.
    async fn send(&self) {
        // What the hub returns to a question meanwhile may be what is sent here.
        let mut copies = self.copies.lock().await;
        let sent = match self.hub.send_queue().await {
            Ok(sent) => sent,
            Err(failure) => {
                return tracing::warn!(reason = failure.message, "could not send what waits for the hub");
            }
        };
        match &sent.obstacle {
            Some(error) => self.note_obstacle(error),
            None => *lock(&self.obstacle) = None,
        }
        let mut threads = lock(&self.threads);
        for (key, result) in sent.results {
            let Some(index) = threads.waiting.iter().position(|(other, _)| *other == key) else { continue };
            let (_, exchange) = threads.waiting.remove(index);
            if let Some(id) = result.ok().and_then(|reply| reply["exchange"].as_i64()) {
                copies.record(id, exchange);
            }
        }
    }

    /// Copies what the hub knows about a question into the store.
    async fn fetch(&self, question: &str) -> Result<Vec<ExchangeId>, String> {
        let body = json!({"question": without_secrets(question), "exchanges": true});
        let reply: Result<RecallReply, HubError> = match self.hub.recall(&body, None).await {
            // The token covers several projects.
            Err(HubError::Refused(_)) => self.hub.recall(&body, Some(&self.project)).await,
            reply => reply,
        };
        let reply = reply.map_err(|error| {
            self.note_obstacle(&error);
            error.message()
        })?;
        let mut copies = self.copies.lock().await;
        let mut added = Vec::new();
        for exchange in reply.exchanges {
            let copied =
                copies.add(exchange, self.store.as_ref()).await.map_err(|error| error.to_string())?;
            added.extend(copied);
        }
        Ok(added)
    }

    /// Deletes a selection at the hub. The user has seen what it holds.
    async fn delete(&self, selection: &Value) -> Result<(), Failure> {
        let preview = match self.hub.preview_forgetting(selection, None).await {
            Err(HubError::Refused(_)) => self.hub.preview_forgetting(selection, Some(&self.project)).await,
            preview => preview,
        };
        let plan = preview?.plan;
        match self.hub.forget(selection, &plan, None).await {
            Err(HubError::Refused(_)) => self.hub.forget(selection, &plan, Some(&self.project)).await?,
            reply => reply?,
        };
        Ok(())
    }
}

#[async_trait]
impl Supplier for HubMemory {
    async fn supply(&self, question: &str) -> Result<Vec<ExchangeId>, String> {
        if let Some(reason) = self.0.obstacle() {
            return Err(reason);
        }
        let (shared, question) = (Arc::clone(&self.0), question.to_owned());
        // If the prompt does not wait for it, the next one may need it.
        let fetched = tokio::spawn(async move { shared.fetch(&question).await }).await;
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
