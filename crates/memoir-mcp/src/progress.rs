//! The progress that servers report about their calls.

use rmcp::model::ProgressNotificationParam;
use tokio::sync::watch;

/// Maximum length of a report in characters.
const MAX_CHARS: usize = 100;

/// The latest progress that a server has reported. Calls to a server run one after another, so it belongs to the current
/// one.
#[derive(Clone, Default)]
pub(crate) struct Progress(watch::Sender<String>);

impl Progress {
    pub(crate) fn report(&self, report: &ProgressNotificationParam) {
        let amount = match report.total {
            Some(total) => format!("{} of {total}", report.progress),
            None => report.progress.to_string(),
        };
        let text = match report.message.as_deref().map(str::trim).filter(|message| !message.is_empty()) {
            Some(message) => format!("{amount}, {message}"),
            None => amount,
        };
        self.0.send_replace(text.chars().take(MAX_CHARS).collect());
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<String> {
        self.0.subscribe()
    }
}
