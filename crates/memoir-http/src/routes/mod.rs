//! The routes: one file per resource, and one list. The list says which right each route needs.

mod conversations;
mod core_memory;
mod costs;
mod cursor;
mod documents;
mod events;
mod exchanges;
mod export;
mod forgetting;
mod health;
mod mcp;
mod message;
mod metrics;
mod passage;
mod proxy;
mod recall;
mod search;
mod statements;
mod tasks;
mod workers;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::DefaultBodyLimit,
    middleware::{from_fn, from_fn_with_state, map_response},
    response::{IntoResponse as _, Response},
    routing::{any, get},
};
use http::{StatusCode, header};
use memoir_core::Right;
use memoir_providers::ClientApi;
use utoipa::{
    Modify, OpenApi as _,
    openapi::{
        ContentBuilder, Object, OpenApi, Ref, RefOr, ResponseBuilder, Type,
        path::{ParameterBuilder, ParameterIn},
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};
use utoipa_axum::{
    router::{OpenApiRouter, UtoipaMethodRouter},
    routes,
};

use crate::{
    access::{authenticate, require},
    limits::limit_time,
    pages,
    problem::Problem,
    state::AppState,
};

pub(crate) use cursor::Cursor;
pub(crate) use forgetting::check_plan;

type Routes = OpenApiRouter<Arc<AppState>>;

/// Where the REST API begins.
const API: &str = "/api/v1";

#[derive(utoipa::OpenApi)]
#[openapi(
    components(schemas(Problem)),
    info(
        title = "Memoir",
        description = "Your long-term memory across programs. Every request needs a token; `memoir serve token` prints the \
                       one for this machine."
    ),
    modifiers(&BearerToken),
    security(("token" = [])),
    tags(
        (name = "recall", description = "Finding what was said"),
        (name = "conversations", description = "Reading what was said"),
        (name = "documents", description = "Texts that were added"),
        (name = "changes", description = "Remembering and forgetting"),
        (name = "administration", description = "What is not part of a project"),
    )
)]
struct Api;

struct BearerToken;

impl Modify for BearerToken {
    fn modify(&self, document: &mut OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// All routes of the REST API, with the right that each needs.
fn api() -> Routes {
    let needs = |right: Right, routes: Vec<UtoipaMethodRouter<Arc<AppState>>>| {
        let router = routes.into_iter().fold(Routes::new(), Routes::routes);
        router.route_layer(from_fn_with_state(right, require))
    };
    let read = needs(
        Right::Read,
        vec![
            routes!(recall::recall),
            routes!(search::search),
            routes!(conversations::list),
            routes!(conversations::show),
            routes!(conversations::exchanges),
            routes!(exchanges::show),
            routes!(documents::list),
            routes!(documents::show),
            routes!(events::watch),
            routes!(health::status),
        ],
    );
    let write = needs(Right::Write, vec![routes!(statements::remember), routes!(documents::upload)]);
    let relay = needs(Right::Write, vec![routes!(exchanges::relay)])
        .layer(DefaultBodyLimit::max(exchanges::MAX_BYTES));
    let forget = needs(Right::Forget, vec![routes!(forgetting::preview), routes!(forgetting::forget)]);
    let admin = needs(
        Right::Admin,
        vec![
            routes!(core_memory::list),
            routes!(core_memory::change),
            routes!(costs::show),
            routes!(export::export),
            routes!(tasks::list),
            routes!(tasks::pause),
            routes!(tasks::inbox),
            routes!(tasks::mark_read),
            routes!(workers::list),
        ],
    );
    let all = read.merge(write).merge(relay).merge(forget).merge(admin);
    OpenApiRouter::with_openapi(Api::openapi()).nest(API, all)
}

/// Returns the description of the REST API as an OpenAPI document.
pub fn api_document() -> OpenApi {
    complete(api().into_openapi())
}

/// Adds to each operation what all of them have: the parameter `project`, and problems as answers to requests that
/// fail.
fn complete(mut document: OpenApi) -> OpenApi {
    let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let failure = ResponseBuilder::new()
        .description("The request failed")
        .content("application/problem+json", problem)
        .build();
    let project = ParameterBuilder::new()
        .name("project")
        .parameter_in(ParameterIn::Query)
        .description(Some("Path of a project, to see only what belongs to it and what is shared"))
        .schema(Some(Object::with_type(Type::String)))
        .build();
    let items = document.paths.paths.values_mut();
    for operation in items.flat_map(|item| [&mut item.get, &mut item.post, &mut item.put]).flatten() {
        for response in operation.responses.responses.values_mut() {
            if let RefOr::T(response) = response {
                "The request succeeded".clone_into(&mut response.description);
            }
        }
        operation.responses.responses.insert("default".to_owned(), failure.clone().into());
        operation.parameters.get_or_insert_default().push(project.clone().into());
    }
    document
}

/// Returns all routes.
pub(crate) fn router(state: &Arc<AppState>) -> Router {
    let (api, document) = api().split_for_parts();
    let document = complete(document);
    let from_state = || Arc::clone(state);
    let proxy = Router::new()
        .route("/v1/chat/completions", proxy::serve(ClientApi::Chat))
        .route("/v1/responses", proxy::serve(ClientApi::Responses))
        .route("/v1/messages", proxy::serve(ClientApi::Messages))
        .route("/v1/messages/count_tokens", proxy::serve(ClientApi::TokenCount))
        .route("/v1/embeddings", proxy::serve(ClientApi::Embeddings))
        .route("/v1/models", get(proxy::models))
        .route("/v1/models/{*id}", get(proxy::model))
        // These routes store conversations, and may use the user's keys.
        .route_layer(from_fn_with_state(Right::Write, require))
        .route_layer(from_fn_with_state(from_state(), authenticate))
        .route_layer(from_fn(proxy::translate_problems));
    let private = Router::new()
        .merge(api)
        .merge(
            Router::new()
                .route("/metrics", get(metrics::show))
                .route_layer(from_fn_with_state(Right::Admin, require)),
        )
        // Each tool asks for its own right.
        .route("/mcp", any(mcp::serve))
        .route("/mcp/{*project}", any(mcp::serve_project))
        .route_layer(from_fn_with_state(from_state(), authenticate))
        .route_layer(from_fn_with_state(from_state(), limit_time));
    let document = Arc::new(document);
    Router::new()
        .route("/healthz", get(health::check))
        .route(&format!("{API}/openapi.json"), get(async move || Json(Arc::clone(&document)).into_response()))
        .merge(private)
        .merge(proxy)
        .merge(pages::router(state))
        .fallback(async || Problem::missing("such address"))
        .layer(map_response(describe_refusal))
        .with_state(Arc::clone(state))
}

/// Replaces the empty answer to a request with the wrong method by one that says so.
async fn describe_refusal(response: Response) -> Response {
    if response.status() != StatusCode::METHOD_NOT_ALLOWED
        || response.headers().contains_key(header::CONTENT_TYPE)
    {
        return response;
    }
    let allow = response.headers().get(header::ALLOW).cloned();
    let mut described =
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this address does not support the method")
            .into_response();
    if let Some(allow) = allow {
        described.headers_mut().insert(header::ALLOW, allow);
    }
    described
}
