//! The names of settings, and what was meant by a name that does not exist.

use memoir_core::setting::SettingError;
use memoir_models::Provider;

use crate::{failure::Failure, settings};

/// A setting that belongs to none of the areas with a list of their own.
pub(super) struct UnlistedSetting {
    pub(super) key: String,
    pub(super) takes: &'static str,
    pub(super) summary: &'static str,
}

/// A row of the tables below.
struct SettingRow {
    key: &'static str,
    takes: &'static str,
    summary: &'static str,
}

const fn row(key: &'static str, takes: &'static str, summary: &'static str) -> SettingRow {
    SettingRow { key, takes, summary }
}

const UNLISTED: [SettingRow; 12] = [
    row("chat.model", "a model", "Who answers."),
    row("chat.reasoning", "low, medium or high", "How much the model thinks first."),
    row("summarizer.model", "a model", "Who summarises in the background."),
    row("embedder.model", "a model", "Who tells the meaning of texts."),
    row("calls.idle_timeout_ms", "milliseconds", "How long a stream may be silent."),
    row("calls.retry_attempts", "a number", "How often a call is tried again."),
    row("calls.retry_first_wait_ms", "milliseconds", "How long the first wait is."),
    row("approval.mode", "read-only, ask, auto-edit or full", "What tools may do without asking."),
    row("approval.allow", "a list of rules", "What is allowed besides."),
    row("approval.deny", "a list of rules", "What is denied in every mode."),
    row("search.service", "searxng or brave", "Who searches the internet."),
    row("search.url", "an address", "Where that service is."),
];

/// The settings of each provider, below `providers.NAME`.
const OF_PROVIDERS: [SettingRow; 2] = [
    row("base_url", "an address", "Where the provider is."),
    row("key_variable", "the name of a variable", "Which variable holds the key for that address."),
];

/// Returns every setting that belongs to no area.
pub(super) fn unlisted() -> impl Iterator<Item = UnlistedSetting> {
    let setting =
        |key: String, row: &SettingRow| UnlistedSetting { key, takes: row.takes, summary: row.summary };
    let providers = Provider::ALL.into_iter().filter(|provider| *provider != Provider::Memoir);
    let of_providers = providers.flat_map(move |provider| {
        OF_PROVIDERS.iter().map(move |row| setting(format!("providers.{provider}.{}", row.key), row))
    });
    UNLISTED.iter().map(move |row| setting(row.key.to_owned(), row)).chain(of_providers)
}

/// Returns the full name of a setting that may be given by one of its other names.
pub(super) fn canonical(key: &str) -> Result<String, Failure> {
    if unlisted().any(|setting| setting.key == key) {
        return Ok(key.to_owned());
    }
    let name = match key.split_once('.') {
        Some((area, name)) if settings::AREAS.contains(&area) => settings::key_in(area, name),
        // Names that people know from other programs have no area, or another one.
        _ => {
            let name = settings::AREAS.iter().find_map(|area| settings::key_in(area, key).ok());
            name.ok_or_else(|| SettingError::Unknown(key.to_owned()))
        }
    };
    name.map(str::to_owned).map_err(|error| match error {
        SettingError::Unknown(_) => unknown(key),
        error => Failure::usage(error.to_string()).hint("memoir config list shows what there is."),
    })
}

/// The failure for a name that does not exist, with the most similar one that does.
pub(super) fn unknown(key: &str) -> Failure {
    let nearest = settings::keys()
        .map(str::to_owned)
        .chain(unlisted().map(|setting| setting.key))
        .map(|name| (strsim::jaro_winkler(&name, key), name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let failure = Failure::usage(format!("there is no setting \"{key}\""));
    match nearest {
        Some((similarity, name)) if similarity > 0.8 => failure.hint(format!("Did you mean {name}?")),
        _ => failure.hint("memoir config list shows what there is."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_lead_to_the_full_one_and_a_slip_to_the_nearest() {
        for name in ["rag.token_budget", "rag_token_budget"] {
            assert_eq!(canonical(name).ok().as_deref(), Some("rag.token_budget"), "{name}");
        }
        let slip = canonical("rag.token_bugdet").err();
        let hint = slip.as_ref().and_then(Failure::advice);
        assert_eq!(hint, Some("Did you mean rag.token_budget?"));
    }
}
