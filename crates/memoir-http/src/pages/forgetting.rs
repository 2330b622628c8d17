//! Forgetting: a preview, and a button that does exactly what it lists.

use axum::response::Response;
use maud::html;
use memoir_core::{ConversationId, ExchangeId};
use memoir_runtime::view::ItemId;
use serde::Deserialize;

use super::{conversations::count, navigation::Section, text::plain, visitor::Visitor};
use crate::{
    extract::{Fields, Parameters},
    problem::Problem,
    routes::check_plan,
};

/// What to forget: one item.
#[derive(Deserialize)]
pub(super) struct ForgetParameters {
    exchange: Option<i64>,
    conversation: Option<i64>,
    document: Option<String>,
}

impl ForgetParameters {
    fn items(&self) -> Vec<ItemId> {
        let exchange = self.exchange.map(|id| ItemId::Exchange(ExchangeId::new(id)));
        let conversation = self.conversation.map(|id| ItemId::Conversation(ConversationId::new(id)));
        let document = self.document.clone().map(ItemId::Document);
        [exchange, conversation, document].into_iter().flatten().collect()
    }
}

/// The fields of the form.
#[derive(Deserialize)]
pub(super) struct ForgetFields {
    #[serde(flatten)]
    what: ForgetTexts,
    /// What the user has seen.
    plan: String,
}

/// The same item. All fields of forms are texts.
#[derive(Deserialize)]
struct ForgetTexts {
    exchange: Option<String>,
    conversation: Option<String>,
    document: Option<String>,
}

impl From<ForgetTexts> for ForgetParameters {
    fn from(texts: ForgetTexts) -> Self {
        let number = |text: Option<String>| text.and_then(|text| text.parse().ok());
        Self {
            exchange: number(texts.exchange),
            conversation: number(texts.conversation),
            document: texts.document,
        }
    }
}

pub(super) async fn show(
    visitor: Visitor,
    Parameters(parameters): Parameters<ForgetParameters>,
) -> Result<Response, Problem> {
    let plan = visitor.view.plan_forgetting(&parameters.items()).await?;
    let content = html! {
        h1 { "Forget" }
        p { "This will delete, for good and with everything derived from it:" }
        ul.card { @for item in &plan.items { li { (plain(item)) } } }
        p {
            @if plan.messages > 0 { (count(plan.messages, "message")) }
            @if plan.messages > 0 && plan.documents > 0 { " and " }
            @if plan.documents > 0 { (count(plan.documents, "document")) }
            " in total. Backups that are older keep it until they are deleted."
        }
        form method="post" action="/forget" {
            @if let Some(id) = parameters.exchange { input type="hidden" name="exchange" value=(id); }
            @if let Some(id) = parameters.conversation { input type="hidden" name="conversation" value=(id); }
            @if let Some(name) = &parameters.document { input type="hidden" name="document" value=(name); }
            input type="hidden" name="plan" value=(plan.fingerprint());
            button.danger type="submit" { "Forget" }
            " "
            a href="/" { "Keep it" }
        }
    };
    Ok(visitor.page(Section::Conversations, "Forget", &content))
}

pub(super) async fn forget(
    visitor: Visitor,
    Fields(fields): Fields<ForgetFields>,
) -> Result<Response, Problem> {
    let items = ForgetParameters::from(fields.what).items();
    let plan = visitor.view.plan_forgetting(&items).await?;
    check_plan(&plan, &fields.plan)?;
    let (messages, documents) = visitor.view.forget(&plan).await?;
    let content = html! {
        h1 { "Forgotten" }
        p role="status" {
            @if messages > 0 { (count(messages, "message")) }
            @if messages > 0 && documents > 0 { " and " }
            @if documents > 0 { (count(documents, "document")) }
            " deleted."
        }
        p { a href="/" { "Back to the search" } }
    };
    Ok(visitor.page(Section::Conversations, "Forgotten", &content))
}
