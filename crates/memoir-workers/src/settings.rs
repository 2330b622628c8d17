//! The `workers.*` settings: which workers run, and their daily budget.

use memoir_core::{
    Usd, WorkerKind,
    setting::{HasSettings, SWITCH, Setting, assign, choice_name, parse_choice},
};

/// The values of the `workers.*` settings.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerSettings {
    /// Whether exchanges are summarized in the background.
    pub exchange_summarizer: bool,
    /// Whether conversations are summarized in the background.
    pub conversation_summarizer: bool,
    /// Whether messages, summaries and chunks are embedded in the background.
    pub embedding_generator: bool,
    /// Maximum cost of background work per day, in US dollars. Unlimited if `None`.
    pub daily_budget_usd: Option<f64>,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self {
            exchange_summarizer: true,
            conversation_summarizer: true,
            embedding_generator: true,
            daily_budget_usd: None,
        }
    }
}

impl WorkerSettings {
    /// Returns whether a worker starts automatically.
    pub fn is_on(&self, worker: WorkerKind) -> bool {
        match worker {
            WorkerKind::ExchangeSummarizer => self.exchange_summarizer,
            WorkerKind::ConversationSummarizer => self.conversation_summarizer,
            WorkerKind::EmbeddingGenerator => self.embedding_generator,
        }
    }

    /// Returns the maximum cost of background work per day, or `None` if it is unlimited.
    pub fn daily_budget(&self) -> Option<Usd> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the range is checked when the setting is changed"
        )]
        self.daily_budget_usd.map(|dollars| Usd::from_nanos((dollars * 1e9) as i64))
    }
}

impl HasSettings for WorkerSettings {
    const ALL: &'static [Setting<Self>] = &[
        Setting {
            key: "workers.exchange_summarizer",
            aliases: &["summarizer_exchange_enabled"],
            valid_values: "on or off",
            summary: "whether exchanges are summarized in the background",
            show: |settings| choice_name(&settings.exchange_summarizer, &SWITCH),
            change: |settings, value| assign(&mut settings.exchange_summarizer, parse_choice(value, &SWITCH)),
        },
        Setting {
            key: "workers.conversation_summarizer",
            aliases: &["summarizer_conversation_enabled"],
            valid_values: "on or off",
            summary: "whether conversations are summarized in the background",
            show: |settings| choice_name(&settings.conversation_summarizer, &SWITCH),
            change: |settings, value| {
                assign(&mut settings.conversation_summarizer, parse_choice(value, &SWITCH))
            },
        },
        Setting {
            key: "workers.embedding_generator",
            aliases: &["embedding_pipeline_enabled"],
            valid_values: "on or off",
            summary: "whether messages, summaries and documents are embedded in the background",
            show: |settings| choice_name(&settings.embedding_generator, &SWITCH),
            change: |settings, value| assign(&mut settings.embedding_generator, parse_choice(value, &SWITCH)),
        },
        Setting {
            key: "workers.daily_budget_usd",
            aliases: &[],
            valid_values: "dollars from 0 to 100000, or none",
            summary: "maximum cost of background work per day",
            show: |settings| settings.daily_budget_usd.map_or("none".into(), |dollars| dollars.to_string()),
            change: |settings, value| {
                let dollars = value.parse().ok().filter(|dollars| (0.0..=100_000.0).contains(dollars));
                assign(
                    &mut settings.daily_budget_usd,
                    if value == "none" { Some(None) } else { dollars.map(Some) },
                )
            },
        },
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_accepts_its_own_output_and_rejects_invalid_values() {
        for setting in WorkerSettings::ALL {
            let mut settings = WorkerSettings::default();
            let value = setting.show(&settings);
            assert_eq!(setting.change(&mut settings, &value), Ok(()), "{}", setting.key);
            assert!(setting.change(&mut settings, "-3").is_err(), "{}", setting.key);
            assert_eq!(settings, WorkerSettings::default());
        }
    }
}
