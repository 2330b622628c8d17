//! Asks the user, through the client, whether to forget something.

use std::collections::BTreeMap;

use memoir_runtime::{Failure, view::ForgetPlan};
use rmcp::{
    RoleServer,
    model::{
        CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion,
    },
    service::RequestContext,
};
use serde_json::Value;

use crate::quote::title;

/// Key of the question among the requests for input, and of the field in its form.
const FIELD: &str = "forget";

/// What the user is asked to agree to.
pub(super) struct Question<'a> {
    /// A line for each item.
    pub(super) items: &'a [String],
    pub(super) messages: u64,
    pub(super) documents: u64,
    /// Differs from that of everything else that could be asked.
    pub(super) fingerprint: String,
}

impl<'a> From<&'a ForgetPlan> for Question<'a> {
    fn from(plan: &'a ForgetPlan) -> Self {
        let (messages, documents) = (plan.messages, plan.documents);
        Self { items: &plan.items, messages, documents, fingerprint: plan.fingerprint() }
    }
}

/// What the user decided.
pub(super) enum Consent {
    /// The client has to ask the user this and repeat the call with the answer.
    Unasked(InputRequiredResult),
    /// The user agreed.
    Given,
    /// The user did not agree.
    Refused,
}

/// Asks the user whether to forget something.
///
/// # Errors
///
/// Fails if the client cannot ask.
pub(super) async fn ask(
    question: &Question<'_>,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Consent, Failure> {
    let can_ask =
        context.client_capabilities().is_some_and(|capabilities| capabilities.elicitation.is_some());
    if !can_ask {
        return Err(Failure::usage("this client cannot ask the user, so nothing was forgotten")
            .hint("The user can run `memoir memory forget`."));
    }
    // Newer clients are stateless: they ask and repeat the call.
    let is_stateless =
        context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    if !is_stateless {
        let answer = context
            .peer
            .create_elicitation(write(question)?)
            .await
            .map_err(|error| Failure::failed(format!("the user could not be asked: {error}")))?;
        return Ok(decide(&answer));
    }
    // What the user agreed to must be what the call would delete now.
    let is_same_plan = request.request_state.as_deref() == Some(question.fingerprint.as_str());
    let answer =
        request.input_responses.as_ref().and_then(|answers| answers.get(FIELD)).filter(|_| is_same_plan);
    match answer {
        Some(answer) => {
            let answer: ElicitResult = serde_json::from_value(answer.clone())
                .map_err(|error| Failure::usage(format!("the answer of the user cannot be read: {error}")))?;
            Ok(decide(&answer))
        }
        None => {
            let requests = BTreeMap::from([(
                FIELD.to_owned(),
                InputRequest::Elicitation(ElicitRequest::new(write(question)?)),
            )]);
            Ok(Consent::Unasked(InputRequiredResult::new(Some(requests), Some(question.fingerprint.clone()))))
        }
    }
}

fn decide(answer: &ElicitResult) -> Consent {
    let has_agreed = answer.action == ElicitationAction::Accept
        && answer.content.as_ref().and_then(|content| content.get(FIELD)) == Some(&Value::Bool(true));
    if has_agreed { Consent::Given } else { Consent::Refused }
}

/// Returns the question as the client shows it. It lists what would be deleted.
fn write(question: &Question<'_>) -> Result<ElicitRequestParams, Failure> {
    let items: Vec<String> = question.items.iter().map(|item| format!("- {}", title(item))).collect();
    let requested_schema = ElicitationSchema::builder()
        .required_bool(FIELD)
        .build()
        .map_err(|error| Failure::failed(format!("the question cannot be written: {error}")))?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!(
            "Forget this for good? Messages: {}, documents: {}.\n{}",
            question.messages,
            question.documents,
            items.join("\n")
        ),
        requested_schema,
    })
}
