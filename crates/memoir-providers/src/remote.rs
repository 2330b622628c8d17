//! Chat models of Anthropic, Google, OpenAI, xAI and servers that implement OpenAI's API.

use async_trait::async_trait;
use memoir_core::{Usage, Usd};
use memoir_models::{
    ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo, ModelLimits, ModelName, Provider,
};
use tokio::sync::OnceCell;

use crate::{
    CallOptions, Endpoint,
    connection::Connection,
    dialect::{self, Dialect, RequestOptions},
    discovery::find_limits,
    reply::read_reply,
};

/// A chat model on a server.
pub struct RemoteModel {
    name: String,
    /// The model's name at the provider.
    model: String,
    info: Option<ModelInfo>,
    dialect: Box<dyn Dialect>,
    connection: Connection,
    provider: Provider,
    /// The limits that the server has reported.
    limits: OnceCell<ModelLimits>,
    options: CallOptions,
    /// Whether the model runs on this machine, where calls are free.
    is_local: bool,
}

impl RemoteModel {
    /// Creates a client for the model at `endpoint`. `info` is the model's catalog entry. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be created.
    pub fn new(
        name: &ModelName,
        endpoint: &Endpoint,
        info: Option<ModelInfo>,
        options: CallOptions,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            name: name.to_string(),
            model: name.model.clone(),
            // A gateway may have the model, but not its API.
            dialect: dialect::of(
                name.provider,
                info.as_ref().and_then(|info| info.api).filter(|_| name.provider == Provider::OpenAi),
            ),
            info,
            connection: Connection::new(endpoint)?,
            provider: name.provider,
            limits: OnceCell::new(),
            options,
            // Other providers run in the cloud, so a loopback address is only a gateway to them. A server that requires
            // a key may be one too.
            is_local: name.provider == Provider::OpenAiCompatible
                && endpoint.is_loopback()
                && endpoint.secret.expose().is_empty(),
        })
    }
}

#[async_trait]
impl ChatModel for RemoteModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, mut request: ChatRequest) -> Result<ChatStream, ModelError> {
        let info = self.info.as_ref();
        if info.is_some_and(|info| info.tools == Some(false)) {
            request.tools.clear();
        }
        request.retain_images(|image| self.dialect.takes(image.media_type()));
        let (limit, known) = (request.max_output_tokens, info.and_then(|info| info.output));
        let options = RequestOptions {
            model: &self.model,
            reasoning: self.options.reasoning,
            max_output_tokens: limit
                .map_or(known, |limit| Some(known.map_or(limit, |known| known.min(limit)))),
        };
        let call = self.dialect.call(&request, &options);
        let headers = self.dialect.key_headers(&self.connection.secret);
        let idle_timeout = self.options.idle_timeout;
        let response = self.connection.post(&call.path, &headers, &call.body, idle_timeout).await?;
        Ok(read_reply(response, self.dialect.as_ref(), self.connection.clone(), idle_timeout))
    }

    fn cost(&self, usage: &Usage) -> Option<Usd> {
        let list_price = self.info.as_ref().and_then(|info| info.cost(usage));
        if self.is_local { list_price.or(Some(Usd::ZERO)) } else { list_price }
    }

    async fn limits(&self) -> ModelLimits {
        let limits = self.info.as_ref().map(ModelInfo::limits).unwrap_or_default();
        if limits.context.is_some() || self.provider != Provider::OpenAiCompatible {
            return limits;
        }
        // A server that is still loading is asked again.
        let query = || async { find_limits(&self.connection, &self.model).await.ok_or(()) };
        let reported = self.limits.get_or_try_init(query).await.copied().unwrap_or_default();
        ModelLimits { context: reported.context, images: limits.images.or(reported.images), ..limits }
    }

    fn is_free(&self) -> bool {
        self.is_local && self.info.as_ref().is_none_or(|info| info.price.is_none())
    }
}
