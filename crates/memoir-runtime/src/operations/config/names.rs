//! Names and aliases of settings, and suggestions for misspelled names.

use memoir_core::setting::SettingError;
use memoir_models::Provider;

use crate::{failure::Failure, settings, similar::most_similar};

/// A setting outside the areas that define their own lists of settings.
pub(super) struct UnlistedSetting {
    pub(super) key: String,
    pub(super) valid_values: &'static str,
    pub(super) summary: &'static str,
}

struct SettingRow {
    key: &'static str,
    valid_values: &'static str,
    summary: &'static str,
}

const fn row(key: &'static str, valid_values: &'static str, summary: &'static str) -> SettingRow {
    SettingRow { key, valid_values, summary }
}

const UNLISTED: [SettingRow; 14] = [
    row("chat.model", "a model", "model that answers prompts"),
    row("chat.reasoning", "low, medium or high", "reasoning effort of the model"),
    row("summarizer.model", "a model", "model that writes summaries in the background"),
    row("embedder.model", "a model", "model that embeds messages and documents"),
    row("embedder.path", "a directory", "directory of a model that embeds messages and documents"),
    row("calls.idle_timeout_ms", "milliseconds", "maximum time without data from a streamed answer"),
    row("calls.retry_attempts", "a number", "maximum number of retries of a failed call"),
    row("calls.retry_first_wait_ms", "milliseconds", "delay before the first retry"),
    row("backups.max_megabytes", "a number", "maximum size of all daily backups; 0 turns them off"),
    row("approval.mode", "read-only, ask, auto-edit or full", "what tools may do without approval"),
    row("approval.allow", "a list of rules", "rules that allow tool calls in addition to the mode"),
    row("approval.deny", "a list of rules", "rules that deny tool calls in every mode"),
    row("search.service", "searxng or brave", "web search service"),
    row("search.url", "a URL", "address of the web search service"),
];

/// Settings that every provider has, under `providers.NAME`.
const PROVIDER_SETTINGS: [SettingRow; 2] = [
    row("base_url", "a URL", "address of the provider's API"),
    row("key_variable", "the name of an environment variable", "environment variable that holds the API key"),
];

pub(super) fn unlisted() -> impl Iterator<Item = UnlistedSetting> {
    let setting = |key: String, row: &SettingRow| UnlistedSetting {
        key,
        valid_values: row.valid_values,
        summary: row.summary,
    };
    let providers = Provider::ALL.into_iter().filter(|provider| *provider != Provider::Memoir);
    let provider_settings = providers.flat_map(move |provider| {
        PROVIDER_SETTINGS.iter().map(move |row| setting(format!("providers.{provider}.{}", row.key), row))
    });
    UNLISTED.iter().map(move |row| setting(row.key.to_owned(), row)).chain(provider_settings)
}

pub(super) fn canonical_name(key: &str) -> Result<String, Failure> {
    if unlisted().any(|setting| setting.key == key) {
        return Ok(key.to_owned());
    }
    let name = match key.split_once('.') {
        Some((area, name)) if settings::AREAS.contains(&area) => settings::find_key(area, name),
        // Aliases may have no area, or a different one.
        _ => {
            let name = settings::AREAS.iter().find_map(|area| settings::find_key(area, key).ok());
            name.ok_or_else(|| SettingError::Unknown(key.to_owned()))
        }
    };
    name.map(str::to_owned).map_err(|error| match error {
        SettingError::Unknown(_) => unknown_setting(key),
        error => Failure::usage(error.to_string()).hint("Run `memoir config list` to see all settings."),
    })
}

/// Returns the failure for an unknown setting. The hint suggests the most similar name.
pub(super) fn unknown_setting(key: &str) -> Failure {
    let names: Vec<String> =
        settings::keys().map(str::to_owned).chain(unlisted().map(|setting| setting.key)).collect();
    let failure = Failure::usage(format!("there is no setting \"{key}\""));
    match most_similar(key, names.iter().map(String::as_str)) {
        Some(name) => failure.hint(format!("Did you mean {name}?")),
        None => failure.hint("Run `memoir config list` to see all settings."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_resolve_and_misspellings_get_a_suggestion() {
        for name in ["rag.token_budget", "rag_token_budget"] {
            assert_eq!(canonical_name(name).ok().as_deref(), Some("rag.token_budget"), "{name}");
        }
        let failure = canonical_name("rag.token_bugdet").err();
        let hint = failure.as_ref().and_then(Failure::hint_text);
        assert_eq!(hint, Some("Did you mean rag.token_budget?"));
    }
}
