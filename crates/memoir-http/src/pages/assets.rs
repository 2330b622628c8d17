//! The style sheet, the script and the icon. They are part of the program.

use std::sync::Arc;

use axum::{Router, response::IntoResponse, routing::get};
use http::header;

use crate::state::AppState;

pub(super) const STYLE: &str = "/assets/page.css";
pub(super) const SCRIPT: &str = "/assets/page.js";
pub(super) const ICON: &str = "/assets/icon.svg";

pub(super) fn router() -> Router<Arc<AppState>> {
    Router::new()
        .route(STYLE, get(async || file("text/css; charset=utf-8", include_str!("assets/page.css"))))
        .route(SCRIPT, get(async || file("text/javascript; charset=utf-8", include_str!("assets/page.js"))))
        .route(ICON, get(async || file("image/svg+xml", include_str!("assets/icon.svg"))))
}

/// Returns a file. Browsers ask for it again, because another version of the program may have others.
fn file(media_type: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, media_type), (header::CACHE_CONTROL, "no-cache")], text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_files_together_are_small() {
        let files = [
            include_str!("assets/page.css"),
            include_str!("assets/page.js"),
            include_str!("assets/icon.svg"),
        ];
        let bytes: usize = files.iter().map(|file| file.len()).sum();
        assert!(bytes < 100_000, "{bytes} bytes");
    }
}
