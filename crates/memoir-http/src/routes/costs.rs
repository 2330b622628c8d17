//! What calls of models cost.

use std::sync::Arc;

use axum::{Json, extract::State};
use memoir_core::{Clock as _, SystemClock};
use memoir_runtime::operations::costs::{self, CostBreakdown, CostRequest, CostTotal};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{problem::Problem, state::AppState};

/// Costs of today and of all time.
#[derive(Serialize, ToSchema)]
pub(super) struct CostReply {
    /// Costs since midnight in the server's time zone.
    today: CostSum,
    /// Costs of all recorded calls.
    all: CostSum,
    /// Costs of all recorded calls by purpose and model, most expensive first.
    lines: Vec<CostLine>,
}

/// Costs of several calls.
#[derive(Serialize, ToSchema)]
struct CostSum {
    /// Number of calls.
    calls: u64,
    /// Number of tokens of requests and answers.
    tokens: u64,
    /// Cost of the calls whose price is known, such as `$0.42`.
    cost: String,
    /// Number of calls whose price is unknown.
    unpriced_calls: u64,
}

/// Costs of the calls of a model for a purpose.
#[derive(Serialize, ToSchema)]
struct CostLine {
    /// Purpose of the calls, such as `chat` or `summary`.
    purpose: &'static str,
    /// Name of the model.
    model: String,
    /// Sum of the calls.
    #[serde(flatten)]
    sum: CostSum,
}

impl From<&CostTotal> for CostSum {
    fn from(total: &CostTotal) -> Self {
        Self {
            calls: total.calls,
            tokens: total.usage.input_tokens + total.usage.output_tokens,
            cost: total.cost.to_string(),
            unpriced_calls: total.unpriced_calls,
        }
    }
}

/// Show costs
#[utoipa::path(get, path = "/costs", tag = "administration", operation_id = "show_costs",
    responses((status = OK, body = CostReply)))]
pub(super) async fn show(State(state): State<Arc<AppState>>) -> Result<Json<CostReply>, Problem> {
    let store = state.runtime.store().as_ref();
    let report =
        costs::add_up(&CostRequest { conversation: None }, store, SystemClock.now(), state.runtime.zone());
    let report = report.await?;
    let CostBreakdown { total, lines } = &report.all;
    let line = |entry: &costs::CostEntry| CostLine {
        purpose: entry.purpose.as_str(),
        model: entry.model.clone(),
        sum: CostSum::from(&entry.total),
    };
    Ok(Json(CostReply {
        today: CostSum::from(&report.today.total),
        all: CostSum::from(total),
        lines: lines.iter().map(line).collect(),
    }))
}
