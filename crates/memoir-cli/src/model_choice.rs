//! Which model answers, and why.

use std::sync::Arc;

use memoir_models::{ChatModel, Endpoint, ModelName, Provider, RemoteModel};
use memoir_recall::RecallModel;
use memoir_store::Store;

use crate::{
    environment::Environment,
    failure::{Failure, Kind},
};

const OPENAI_URL: &str = "https://api.openai.com/v1";
const DEFAULT_OPENAI_MODEL: &str = "gpt-5-mini";

/// The last line of every answer from memory alone.
const HOW_TO_CONNECT: &str = "Answered from memory alone. To connect a model, set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server.";

/// The model that answers.
pub(crate) struct Choice {
    pub(crate) model: Arc<dyn ChatModel>,
    /// Why this one, as half a sentence.
    pub(crate) reason: String,
}

/// The model named on the command line, else in the environment, else the one there is a key or server for,
/// else memory alone.
pub(crate) fn choose(
    named: Option<&str>,
    environment: &Environment,
    store: Arc<dyn Store>,
) -> Result<Choice, Failure> {
    let (name, reason) = match (named, environment.memoir_model.as_deref()) {
        (Some(name), _) => (parse(name)?, "named by --model".to_owned()),
        (None, Some(name)) => (parse(name)?, "named by MEMOIR_MODEL".to_owned()),
        (None, None) => automatic(environment),
    };
    let model: Arc<dyn ChatModel> = match name.provider {
        Provider::Memoir => Arc::new(RecallModel::new(store, HOW_TO_CONNECT)),
        Provider::OpenAi | Provider::OpenAiCompatible => {
            Arc::new(RemoteModel::new(&name, &endpoint(&name, environment)?)?)
        }
    };
    Ok(Choice { model, reason })
}

fn parse(name: &str) -> Result<ModelName, Failure> {
    name.parse().map_err(|error: memoir_models::UnknownModel| {
        Failure::new(Kind::Usage, error.to_string())
            .hint("Use gpt-… or openai/NAME, openai-compatible/NAME with OPENAI_BASE_URL, or memoir/recall.")
    })
}

fn automatic(environment: &Environment) -> (ModelName, String) {
    let openai = |reason: &str| {
        (
            ModelName {
                provider: Provider::OpenAi,
                model: DEFAULT_OPENAI_MODEL.into(),
            },
            reason.to_owned(),
        )
    };
    if environment.openai_api_key.is_some() {
        openai("OPENAI_API_KEY is set")
    } else if environment.openai_base_url.is_some() {
        openai("OPENAI_BASE_URL is set")
    } else {
        (ModelName::recall(), "no key is set".to_owned())
    }
}

/// Where `name` is served. A server of one's own may do without a key; OpenAI does not.
fn endpoint(name: &ModelName, environment: &Environment) -> Result<Endpoint, Failure> {
    let base_url = environment.openai_base_url.clone();
    let key = environment.openai_api_key.clone();
    match (name.provider, base_url) {
        (_, Some(base_url)) => Ok(Endpoint { base_url, key }),
        (Provider::OpenAiCompatible, None) => {
            Err(Failure::new(Kind::Failed, format!("{name} has no address"))
                .hint("Set OPENAI_BASE_URL to the server's, for example http://127.0.0.1:8080/v1."))
        }
        (_, None) if key.is_none() => Err(Failure::new(Kind::Failed, format!("{name} needs a key"))
            .hint("Set OPENAI_API_KEY, or use --model memoir/recall, which needs none.")),
        (_, None) => Ok(Endpoint {
            base_url: OPENAI_URL.into(),
            key,
        }),
    }
}
