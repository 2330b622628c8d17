//! Divides the tokens of a request among its layers.

use memoir_models::ModelLimits;

use super::ContextSettings;

/// Context limit in tokens of a model whose limit is unknown.
const ASSUMED_LIMIT: u64 = 16_384;

/// Divisor of the model's limit. One eighth stays free, because token counts are estimates.
const SAFETY_DIVISOR: u64 = 8;

/// Minimum limit in tokens, even if a model reports a smaller one.
const MIN_LIMIT: u64 = 448;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitedBy {
    Setting,
    Model,
    Assumption,
}

/// The token limits of a request, and the tokens that are not granted yet.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    /// Maximum number of tokens in the request and the answer together.
    pub(crate) limit: u64,
    pub(crate) limited_by: LimitedBy,
    /// Tokens reserved for the answer.
    pub(crate) reply: u64,
    /// Maximum number of tokens in the request.
    pub(crate) room: u64,
    remaining: u64,
}

impl Budget {
    pub(crate) fn new(settings: &ContextSettings, model: &ModelLimits) -> Self {
        let model_limit =
            model.context.map_or(ASSUMED_LIMIT, |context| context - context / SAFETY_DIVISOR).max(MIN_LIMIT);
        let (limit, limited_by) = match model.context {
            _ if settings.budget_tokens <= model_limit => (settings.budget_tokens, LimitedBy::Setting),
            Some(_) => (model_limit, LimitedBy::Model),
            None => (model_limit, LimitedBy::Assumption),
        };
        let reply = settings.reply_tokens.min(model.output.unwrap_or(u64::MAX)).min(limit / 4);
        let room = limit - reply;
        Self { limit, limited_by, reply, room, remaining: room }
    }

    /// Returns the size of the request divided by `divisor`, as a limit for a layer.
    pub(crate) fn fraction(&self, divisor: u64) -> u64 {
        self.room / divisor
    }

    pub(crate) fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Grants up to `tokens` and returns the number granted.
    pub(crate) fn grant(&mut self, tokens: u64) -> u64 {
        let granted = tokens.min(self.remaining);
        self.remaining -= granted;
        granted
    }

    pub(crate) fn release(&mut self, unused: u64) {
        self.remaining = (self.remaining + unused).min(self.room);
    }

    /// Returns a sentence for the user on how to raise the limit.
    pub(crate) fn advice(&self) -> &'static str {
        match self.limited_by {
            LimitedBy::Setting => "Use `/context set budget_tokens N` to raise the limit.",
            LimitedBy::Model => "The limit is the model's context window; choose another model to raise it.",
            LimitedBy::Assumption => {
                "The model's context window is unknown; set `context` under `[[model]]` in the config."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(setting: u64, context: Option<u64>) -> Budget {
        let settings = ContextSettings { budget_tokens: setting, ..ContextSettings::default() };
        Budget::new(&settings, &ModelLimits { context, ..ModelLimits::default() })
    }

    #[test]
    fn the_smaller_of_setting_and_model_limit_applies() {
        let large = budget(32_000, Some(200_000));
        assert_eq!((large.limit, large.reply, large.room), (32_000, 4096, 27_904));
        let small = budget(32_000, Some(2000));
        assert_eq!(
            (small.limit, small.reply, small.room, small.limited_by),
            (1750, 437, 1313, LimitedBy::Model)
        );
        let unknown = budget(32_000, None);
        assert_eq!((unknown.limit, unknown.limited_by), (ASSUMED_LIMIT, LimitedBy::Assumption));
        assert_eq!(budget(8000, None).limited_by, LimitedBy::Setting);
        assert_eq!(budget(32_000, Some(3)).limit, MIN_LIMIT);
    }

    #[test]
    fn grants_never_exceed_the_remaining_tokens() {
        let mut budget = budget(1000, Some(200_000));
        assert_eq!((budget.grant(600), budget.grant(600), budget.grant(1)), (600, 150, 0));
        budget.release(50);
        assert_eq!((budget.grant(70), budget.remaining()), (50, 0));
    }
}
