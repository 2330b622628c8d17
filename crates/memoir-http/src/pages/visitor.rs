//! The user behind a request for a page.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    response::{IntoResponse as _, Response},
};
use http::{StatusCode, request::Parts};
use maud::{Markup, html};
use memoir_core::{Right, TimeZone, Timestamp, TokenScope};
use memoir_runtime::view::MemoryView;

use super::{layout, navigation::Section};
use crate::{access::Caller, extract::View, problem::Problem, state::AppState};

/// The user behind a request, and the memory that they may see.
pub(super) struct Visitor {
    pub(super) state: Arc<AppState>,
    pub(super) view: MemoryView,
    caller: Caller,
}

impl FromRequestParts<Arc<AppState>> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<AppState>) -> Result<Self, Problem> {
        let View(view) = View::from_request_parts(parts, state).await?;
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, "you are not logged in"))?;
        Ok(Self { state: Arc::clone(state), view, caller })
    }
}

impl Visitor {
    /// Returns a page for this user.
    pub(super) fn page(&self, section: Section, title: &str, content: &Markup) -> Response {
        layout::page(title, Some(section), Some(&self.caller), content).into_response()
    }

    /// Returns whether the user may do something.
    pub(super) fn may(&self, right: Right) -> bool {
        self.caller.0.allows(right)
    }

    /// Returns what the user's token is limited to.
    pub(super) fn scope(&self) -> &TokenScope {
        &self.caller.0.scope
    }

    /// Returns the time zone in which times are shown.
    pub(super) fn zone(&self) -> &TimeZone {
        self.state.runtime.zone()
    }

    /// Shows a time.
    pub(super) fn time(&self, time: Timestamp) -> Markup {
        html! { time datetime=(time) { (time.format_minute(self.zone())) } }
    }
}
