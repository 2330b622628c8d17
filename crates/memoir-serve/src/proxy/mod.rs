//! A proxy between programs and their models, which remembers.
//!
//! A program sends its requests here instead of to the provider. What memory knows about the prompt is added to the end
//! of the user's last message (`rewrite.rs`), so that the beginning of the request stays the same and the provider's
//! cache keeps hitting; what was added once is repeated in later requests (`additions.rs`). The request is forwarded
//! (`upstream.rs`), the reply passed on as it arrives, and the exchange stored before its last byte (`relay.rs`). A
//! program sends the whole conversation each time; `identity.rs` recognizes it.

mod additions;
mod exchange;
mod identity;
mod local;
mod models;
mod relay;
mod reply;
mod request;
mod rewrite;
mod upstream;

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::stream::BoxStream;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use memoir_core::{Clock as _, ExchangeSource, InjectedItem, InjectedSubject, SystemClock};
use memoir_models::{ModelName, Provider};
use memoir_providers::{ClientApi, RelayedReply, RelayedRequest};
use memoir_runtime::{
    Failure,
    view::{ItemId, MemoryView, list_injected},
};

use crate::context::{self, QuotedContext};
use additions::{Addition, Additions};
use exchange::Passing;
use identity::Identity;
use request::{ChatCall, Speaker};

pub use models::{find_model, list_models};
pub use reply::error_reply;

/// The body of a reply, which may arrive over time.
pub type ReplyBody = BoxStream<'static, Result<Bytes, io::Error>>;

/// Header with which a program names its conversation. The reply has its id.
const CONVERSATION_HEADER: &str = "memoir-conversation";

/// Header with which a program switches recall off for a request.
const RECALL_HEADER: &str = "memoir-recall";

/// Header of a reply that lists what was added to the prompt.
const RECALLED_HEADER: &str = "memoir-recalled";

/// Maximum number of tokens of what is recalled into a prompt.
const MAX_PROMPT_TOKENS: u64 = 1500;

/// Maximum time that a model may take for an answer that is not streamed.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(600);

/// The event under which additions are recorded.
const EVENT: &str = "proxy";

/// A request of a program.
pub struct ProxyRequest {
    /// The API that the program speaks.
    pub api: ClientApi,
    /// The memory that the program may see.
    pub view: MemoryView,
    /// Name of the program.
    pub program: String,
    /// Identifies the program's token and project, so that programs do not continue conversations of others.
    pub owner: String,
    /// Whether memory may be quoted to the program.
    pub may_read: bool,
    /// The headers of the request.
    pub headers: HeaderMap,
    /// The body of the request.
    pub body: Bytes,
}

/// Passes requests on to models, and remembers what was said.
#[derive(Default)]
pub struct Proxy {
    additions: Arc<Additions>,
}

impl Proxy {
    /// Answers a request.
    pub async fn answer(&self, request: ProxyRequest) -> Response<ReplyBody> {
        let api = request.api;
        if request.headers.contains_key(upstream::FORWARDED_HEADER) {
            let reason = "the address of the provider is that of this server; start it without `OPENAI_BASE_URL` and \
                          `ANTHROPIC_BASE_URL`";
            return error_reply(api, StatusCode::LOOP_DETECTED, reason);
        }
        let call = match request::read(api, &request.body) {
            Ok(call) => call,
            Err(reason) => return error_reply(api, StatusCode::BAD_REQUEST, &reason),
        };
        let model = match upstream::resolve(request.view.models(), &call.model) {
            Ok(model) => model,
            Err(failure) => return error_reply(api, StatusCode::NOT_FOUND, &failure.sentence()),
        };
        let result = match (api, model.provider) {
            (ClientApi::Embeddings, Provider::Memoir) => {
                Ok(error_reply(api, StatusCode::NOT_FOUND, "memoir/recall does not embed texts"))
            }
            (ClientApi::TokenCount, Provider::Memoir) => Ok(local::count_tokens_of(&call)),
            (ClientApi::Embeddings | ClientApi::TokenCount, _) => {
                self.forward_unread(request, &call, &model).await
            }
            (_, Provider::Memoir) => local::answer(&request, &call).await,
            _ => self.converse(request, call, model).await,
        };
        result.unwrap_or_else(|failure| error_reply(api, StatusCode::BAD_GATEWAY, &failure.sentence()))
    }

    /// Forwards a request in which there is nothing to remember.
    async fn forward_unread(
        &self,
        request: ProxyRequest,
        call: &ChatCall,
        model: &ModelName,
    ) -> Result<Response<ReplyBody>, Failure> {
        let body = rewrite::rewrite(request.api, &request.body, call, &model.model, &[]);
        Ok(match forward(&request, model, body, false).await? {
            Ok(reply) => relay::pass_on(request.api, reply, HeaderMap::new(), None).await,
            Err(refusal) => refusal,
        })
    }

    /// Forwards a request with what memory adds to it, and stores the exchange when it is complete.
    async fn converse(
        &self,
        request: ProxyRequest,
        mut call: ChatCall,
        model: ModelName,
    ) -> Result<Response<ReplyBody>, Failure> {
        let started = SystemClock.now();
        let name = request.headers.get(CONVERSATION_HEADER).and_then(|name| name.to_str().ok());
        let body_turns = call.turns.len();
        let identity =
            Identity::find(&request.owner, &mut call, name, &request.view, &self.additions).await?;
        self.additions.drop_deleted(request.view.deletion_count().await?);
        let mut additions = self.additions.of_turns(&identity, &call);
        match self.recall(&request, &call, &identity).await {
            Ok(added) => additions.extend(added),
            // The answer matters more than what memory would add to it.
            Err(failure) => tracing::warn!(reason = failure.message, "could not recall for a prompt"),
        }
        let texts = additions.iter();
        let texts: Vec<_> = texts
            .filter_map(|(turn, addition)| Some((call.turns[*turn].end?, addition.text.clone())))
            .collect();
        let body = rewrite::rewrite(request.api, &request.body, &call, &model.model, &texts);
        let reply = match forward(&request, &model, body, call.is_stream).await? {
            Ok(reply) => reply,
            Err(refusal) => return Ok(refusal),
        };
        let mut headers = HeaderMap::new();
        let prompt = identity.prompt();
        if let Some((_, addition)) = additions.iter().find(|(turn, _)| Some(*turn) == prompt) {
            headers.insert(RECALLED_HEADER, list_items(&addition.items));
        }
        if let Some(conversation) = identity.conversation() {
            headers.insert(CONVERSATION_HEADER, HeaderValue::from(conversation.get()));
        }
        let source = source(&request, &identity);
        // The provider may know more of the conversation than the request says.
        let knows_more = call.previous_response.is_some() || body_turns < call.turns.len();
        let has_read_others = knows_more
            || !texts.is_empty()
            || call.turns.iter().any(|turn| matches!(turn.speaker, Speaker::Tool(_)));
        let passing = prompt.filter(|_| call.is_one_choice).map(|prompt| Passing {
            view: request.view.clone(),
            source,
            model,
            turns: call.turns.split_off(prompt),
            prompt_key: identity.key_of(prompt).to_owned(),
            identity,
            has_read_others,
            started,
            additions: Arc::clone(&self.additions),
        });
        Ok(relay::pass_on(request.api, reply, headers, passing).await)
    }

    /// Returns what memory adds to a new prompt, and the turn to which it is added. While the model calls tools, what was
    /// added before is repeated instead.
    async fn recall(
        &self,
        request: &ProxyRequest,
        call: &ChatCall,
        identity: &Identity,
    ) -> Result<Option<(usize, Arc<Addition>)>, Failure> {
        let is_off = request.headers.get(RECALL_HEADER).is_some_and(|value| value == "off");
        let Some(prompt) = identity.new_prompt().filter(|_| !is_off && request.may_read) else {
            return Ok(None);
        };
        let view = &request.view;
        let text = &call.turns[prompt].text;
        let recollection = view.recall_in(text, identity.conversation(), MAX_PROMPT_TOKENS).await?;
        let citations = view.cite(&recollection).await?;
        let Some(QuotedContext { text, items }) =
            context::quote_recalled(&citations, list_injected(&recollection))
        else {
            return Ok(None);
        };
        let addition = Arc::new(Addition { text, items });
        self.additions.insert(identity.key_of(prompt), Arc::clone(&addition));
        let source = source(request, identity);
        if let Err(failure) = view.record_injection(EVENT, &source, addition.items.clone()).await {
            tracing::warn!(reason = failure.message, "could not record what was added to a prompt");
        }
        Ok(Some((prompt, addition)))
    }
}

/// Returns the program and the conversation that a request comes from.
fn source(request: &ProxyRequest, identity: &Identity) -> ExchangeSource {
    ExchangeSource { program: request.program.clone(), session: identity.session() }
}

/// Forwards a request. Returns a reply of Memoir instead if the server lacks a key or an address.
async fn forward(
    request: &ProxyRequest,
    model: &ModelName,
    body: Vec<u8>,
    is_stream: bool,
) -> Result<Result<RelayedReply, Response<ReplyBody>>, Failure> {
    let models = request.view.models();
    let mut headers = upstream::forwarded_headers(&request.headers);
    let key = upstream::own_key(&request.headers);
    let has_key = key.is_some();
    let relay = match upstream::connect(models, model, has_key).await {
        Ok(relay) => relay,
        Err(failure) => {
            // Asking again would not help.
            return Ok(Err(error_reply(request.api, StatusCode::BAD_REQUEST, &failure.sentence())));
        }
    };
    headers.extend(key);
    let idle_timeout = models.config.call_options().idle_timeout;
    // Without a stream, nothing arrives before the whole answer is written.
    let start_timeout = if is_stream { idle_timeout } else { idle_timeout.max(MAX_ANSWER_TIME) };
    let forwarded = RelayedRequest { api: request.api, body, headers, has_key, start_timeout, idle_timeout };
    Ok(Ok(relay.send(forwarded).await?))
}

/// Returns the ids of what was added, for a header.
fn list_items(items: &[InjectedItem]) -> HeaderValue {
    let ids = items.iter().map(|item| match item.subject {
        InjectedSubject::Exchange(id) => ItemId::Exchange(id).to_string(),
        InjectedSubject::Document(id) => format!("document-{id}"),
    });
    let list = ids.collect::<Vec<_>>().join(", ");
    HeaderValue::from_str(&list).unwrap_or_else(|_| HeaderValue::from_static(""))
}
