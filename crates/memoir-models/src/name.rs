//! Model names: `provider/model`, or a bare name whose prefix tells the provider.

use std::{fmt, str::FromStr};

/// Who serves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// OpenAI itself.
    OpenAi,
    /// Any server that speaks OpenAI's protocol.
    OpenAiCompatible,
    /// This program: `memoir/recall`.
    Memoir,
}

impl Provider {
    const ALL: [Self; 3] = [Self::OpenAi, Self::OpenAiCompatible, Self::Memoir];

    /// The word before the slash.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiCompatible => "openai-compatible",
            Self::Memoir => "memoir",
        }
    }
}

/// A model and who serves it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelName {
    /// Who serves it.
    pub provider: Provider,
    /// What they call it.
    pub model: String,
}

impl ModelName {
    /// The model that needs no model: it answers from memory alone.
    pub fn recall() -> Self {
        Self {
            provider: Provider::Memoir,
            model: "recall".into(),
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider.as_str(), self.model)
    }
}

/// A name that tells no provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown model \"{0}\"")]
pub struct UnknownModel(pub String);

impl FromStr for ModelName {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownModel(name.to_owned());
        let (provider, model) = match name.split_once('/') {
            Some((prefix, model)) => {
                let provider = Provider::ALL
                    .into_iter()
                    .find(|provider| provider.as_str() == prefix);
                (provider.ok_or_else(unknown)?, model)
            }
            None => (provider_of_bare_name(name).ok_or_else(unknown)?, name),
        };
        if model.is_empty() || (provider == Provider::Memoir && model != "recall") {
            return Err(unknown());
        }
        Ok(Self {
            provider,
            model: model.to_owned(),
        })
    }
}

fn provider_of_bare_name(name: &str) -> Option<Provider> {
    let is_o_series = name
        .strip_prefix('o')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (name.starts_with("gpt-") || is_o_series).then_some(Provider::OpenAi)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str) -> Result<String, UnknownModel> {
        name.parse::<ModelName>().map(|name| name.to_string())
    }

    #[test]
    fn a_prefix_tells_the_provider() {
        assert_eq!(parse("gpt-5-mini").as_deref(), Ok("openai/gpt-5-mini"));
        assert_eq!(parse("o3").as_deref(), Ok("openai/o3"));
        assert_eq!(parse("memoir/recall").as_deref(), Ok("memoir/recall"));
        assert_eq!(
            parse("openai-compatible/org/model:7b").as_deref(),
            Ok("openai-compatible/org/model:7b")
        );
    }

    #[test]
    fn other_names_are_unknown() {
        for name in ["", "orca", "llama", "nobody/x", "openai/", "memoir/other", "/x"] {
            assert_eq!(parse(name), Err(UnknownModel(name.into())));
        }
    }
}
