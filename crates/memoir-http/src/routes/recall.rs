//! Answering a question.

use std::collections::BTreeSet;

use axum::Json;
use http::StatusCode;
use memoir_core::{Answer, ExchangeId, Overview, Passage, Recollection};
use memoir_runtime::view::{LookUp, MemoryView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    exchanges::WholeExchange,
    passage::{PassageBody, QuotationBody},
};
use crate::{
    extract::{Body, View},
    problem::Problem,
};

/// Maximum number of tokens of all passages.
const MAX_TOKENS: u64 = 8000;

/// A question.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallRequest {
    /// The question, or a few keywords.
    #[schema(example = "Which port does the staging server listen on?")]
    question: String,
    /// Only what was said from this day on, such as `2026-05-01`, `yesterday` or `last week`.
    since: Option<String>,
    /// Only what was said up to this day.
    until: Option<String>,
    /// Whether to leave out what other projects share.
    #[serde(default)]
    only_project: bool,
    /// Maximum number of tokens of all passages; 8000 if it is left out.
    #[schema(minimum = 1, maximum = 8000)]
    max_tokens: Option<u64>,
    /// Whether to return the exchanges of the passages, and those that corrected them.
    #[serde(default)]
    exchanges: bool,
}

/// What memory says about a question.
#[derive(Serialize, ToSchema)]
pub(super) struct RecallReply {
    /// The sentence that answers the question. Absent if no sentence does.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<QuotationBody>,
    /// Conversations of each day, if the question asks for a period.
    #[serde(skip_serializing_if = "Option::is_none")]
    overview: Option<Vec<DayBody>>,
    /// Passages that support the answer or are related, most relevant first.
    passages: Vec<PassageBody>,
    /// The exchanges that the request asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    exchanges: Option<Vec<WholeExchange>>,
    /// Problems during the search.
    problems: Vec<String>,
}

/// The conversations of a day.
#[derive(Serialize, ToSchema)]
struct DayBody {
    /// The day, in RFC 3339.
    day: String,
    /// Conversations with exchanges on this day.
    conversations: Vec<TitleBody>,
}

/// The title of a conversation.
#[derive(Serialize, ToSchema)]
struct TitleBody {
    /// Id of the conversation.
    id: i64,
    /// Its title.
    title: String,
}

/// Recall
///
/// Answers a question with a quotation and the passages that support it, or with nothing if memory has nothing on it.
#[utoipa::path(post, path = "/recall", tag = "recall", operation_id = "recall",
    request_body = RecallRequest, responses((status = OK, body = RecallReply)))]
pub(super) async fn recall(
    View(view): View,
    Body(request): Body<RecallRequest>,
) -> Result<Json<RecallReply>, Problem> {
    let max_tokens = match request.max_tokens {
        None => MAX_TOKENS,
        Some(tokens @ 1..=MAX_TOKENS) => tokens,
        Some(_) => {
            let range = format!("`max_tokens` must be between 1 and {MAX_TOKENS}");
            return Err(Problem::new(StatusCode::BAD_REQUEST, range));
        }
    };
    let look_up = LookUp {
        question: request.question,
        only_project: request.only_project,
        since: request.since,
        until: request.until,
        ..LookUp::default()
    };
    let mut recollection = view.look_up(&look_up, max_tokens).await?;
    let (answer, overview) = match recollection.answer.take() {
        Some(Answer::Quotation(quotation)) => (Some(QuotationBody::from(quotation)), None),
        Some(Answer::Overview(overview)) => (None, Some(days(overview))),
        Some(Answer::Absent { .. } | Answer::Noted { .. }) | None => (None, None),
    };
    let exchanges = match request.exchanges {
        true => Some(read_exchanges(&recollection, &view).await?),
        false => None,
    };
    let citations = view.cite(&recollection).await?;
    Ok(Json(RecallReply {
        answer,
        overview,
        exchanges,
        passages: citations.into_iter().map(PassageBody::from).collect(),
        problems: recollection.notices,
    }))
}

/// Returns the exchanges that passages quote, and those that corrected them, as far as the program may see them.
async fn read_exchanges(
    recollection: &Recollection,
    view: &MemoryView,
) -> Result<Vec<WholeExchange>, Problem> {
    // The user's marks are not part of an exchange, so one that is marked as wrong would look right.
    let is_wrong =
        |passage: &&Passage| passage.superseded.is_some_and(|correction| correction.exchange_id.is_none());
    let passages = recollection.passages.iter().filter(|passage| !is_wrong(passage));
    let corrections = passages.clone().filter_map(|passage| passage.superseded?.exchange_id);
    let ids = passages.map(|passage| passage.exchange_id).chain(corrections);
    let mut exchanges = Vec::new();
    for id in ids.collect::<BTreeSet<ExchangeId>>() {
        if let Some((conversation, exchange)) = view.exchange(id).await? {
            exchanges.push(WholeExchange::read(&conversation, exchange, view).await?);
        }
    }
    Ok(exchanges)
}

fn days(overview: Overview) -> Vec<DayBody> {
    let title = |(id, title): (memoir_core::ConversationId, String)| TitleBody { id: id.get(), title };
    let days = overview.days.into_iter();
    days.map(|day| DayBody {
        day: day.day.to_string(),
        conversations: day.conversations.into_iter().map(title).collect(),
    })
    .collect()
}
