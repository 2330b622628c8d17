//! Validation of the values in a config.

use memoir_agent::{ContextSettings, Limits};
use memoir_core::setting::{HasSettings, Setting};
use memoir_workers::WorkerSettings;

use crate::{
    config::{Config, ConfigError},
    failure::Failure,
    import_settings::ImportSettings,
    models, permissions, settings,
    terminal_settings::TerminalSettings,
};

/// Validates the values of a parsed config.
///
/// # Errors
///
/// Returns the first value that would prevent Memoir from starting.
pub fn validate(config: &Config) -> Result<(), ConfigError> {
    validate_area::<memoir_recall::RecallSettings>(config, "rag")?;
    validate_area::<ContextSettings>(config, "context")?;
    validate_area::<Limits>(config, "agent")?;
    validate_area::<WorkerSettings>(config, "workers")?;
    validate_area::<TerminalSettings>(config, "terminal")?;
    validate_area::<ImportSettings>(config, "import")?;
    validate_unlisted(config).map_err(|failure| ConfigError::Value(failure.message))
}

fn validate_area<S: HasSettings>(config: &Config, area: &str) -> Result<(), ConfigError> {
    for (name, value) in config.table(area) {
        Setting::<S>::find(name)?.change(&mut S::default(), &settings::format_value(value))?;
    }
    Ok(())
}

fn validate_unlisted(config: &Config) -> Result<(), Failure> {
    if let Some(mode) = &config.approval.mode {
        permissions::parse_mode(mode)?;
    }
    permissions::parse_rules(&config.approval)?;
    for model in [&config.chat.model, &config.summarizer.model] {
        model.as_deref().map(|name| models::parse_model_name(name, "")).transpose()?;
    }
    Ok(())
}
