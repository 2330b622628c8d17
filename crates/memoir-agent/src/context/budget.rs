//! One budget for all that is sent.

use memoir_models::ModelLimits;

use super::ContextSettings;

/// What a model whose limit is not known is taken to take.
const ASSUMED: u64 = 16_384;

/// Our count of tokens is not the model's: of its limit, an eighth is left free.
const MARGIN: u64 = 8;

/// The least that any request gets, however small a model claims to be.
const LEAST: u64 = 512;

/// Who sets the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitedBy {
    Setting,
    Model,
    /// Nobody knows what the model takes.
    Assumption,
}

/// What there is to give away, and what is left of it.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    pub(crate) limit: u64,
    pub(crate) by: LimitedBy,
    pub(crate) reply: u64,
    /// What a request may take: the limit without the answer's part.
    pub(crate) room: u64,
    left: u64,
}

impl Budget {
    pub(crate) fn new(settings: &ContextSettings, model: &ModelLimits) -> Self {
        let takes = model.context.map_or(ASSUMED, |context| context - context / MARGIN).max(LEAST);
        let (limit, by) = match model.context {
            _ if settings.budget_tokens <= takes => (settings.budget_tokens, LimitedBy::Setting),
            Some(_) => (takes, LimitedBy::Model),
            None => (takes, LimitedBy::Assumption),
        };
        let reply = settings.reply_tokens.min(model.output.unwrap_or(u64::MAX)).min(limit / 4);
        let room = limit - reply;
        Self { limit, by, reply, room, left: room }
    }

    /// A part of the room, by which layers are bounded.
    pub(crate) fn part(&self, of: u64) -> u64 {
        self.room / of
    }

    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Gives what is wanted, as far as it is there.
    pub(crate) fn grant(&mut self, wanted: u64) -> u64 {
        let granted = wanted.min(self.left);
        self.left -= granted;
        granted
    }

    /// Takes back what was not used.
    pub(crate) fn give_back(&mut self, unused: u64) {
        self.left = (self.left + unused).min(self.room);
    }

    /// What to do for more.
    pub(crate) fn how_to_change(&self) -> &'static str {
        match self.by {
            LimitedBy::Setting => "/context set budget_tokens N gives more room",
            LimitedBy::Model => "the model takes no more; /model changes it",
            LimitedBy::Assumption => {
                "nothing is known of what the model takes; say it in the config: [[model]] context = N"
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
    fn the_model_stands_above_the_setting() {
        let large = budget(32_000, Some(200_000));
        assert_eq!((large.limit, large.reply, large.room), (32_000, 4096, 27_904));
        let small = budget(32_000, Some(2000));
        assert_eq!((small.limit, small.reply, small.room, small.by), (1750, 437, 1313, LimitedBy::Model));
        let unknown = budget(32_000, None);
        assert_eq!((unknown.limit, unknown.by), (ASSUMED, LimitedBy::Assumption));
        assert_eq!(budget(8000, None).by, LimitedBy::Setting);
        assert_eq!(budget(32_000, Some(3)).limit, LEAST);
    }

    #[test]
    fn no_more_is_given_than_there_is() {
        let mut budget = budget(1000, Some(200_000));
        assert_eq!((budget.grant(600), budget.grant(600), budget.grant(1)), (600, 150, 0));
        budget.give_back(50);
        assert_eq!((budget.grant(70), budget.left()), (50, 0));
    }
}
