//! The `context.*` settings: token limits of the context layers.

use memoir_core::setting::{HasSettings, SWITCH, Setting, assign, choice_name, parse_choice, parse_in_range};

/// Position of passages from earlier in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// In front of the window, which is chronological. Every change invalidates the provider's cache of the window.
    BeforeWindow,
    /// Next to the prompt, which preserves the cache.
    Tail,
}

const PLACEMENTS: [(&str, Placement); 2] =
    [("tail", Placement::Tail), ("before-window", Placement::BeforeWindow)];

/// Token limits of the context layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSettings {
    /// Maximum number of tokens in a request and its answer. The limit of the model applies as well.
    pub budget_tokens: u64,
    /// Tokens reserved for the answer.
    pub reply_tokens: u64,
    /// Maximum number of tokens in AGENTS.md.
    pub agents_tokens: u64,
    /// Maximum number of tokens in the summary of the conversation so far.
    pub summary_tokens: u64,
    /// Maximum number of tokens in passages from earlier in the conversation.
    pub recall_tokens: u64,
    /// Position of these passages.
    pub recall_placement: Placement,
    /// Whether the model gets hints about words that look mistyped.
    pub spelling: bool,
    /// Time limit for gathering all layers, in milliseconds.
    pub deadline_ms: u64,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            budget_tokens: 32_000,
            reply_tokens: 4096,
            agents_tokens: 4000,
            summary_tokens: 800,
            recall_tokens: 800,
            recall_placement: Placement::Tail,
            spelling: true,
            deadline_ms: 2000,
        }
    }
}

impl HasSettings for ContextSettings {
    const ALL: &'static [Setting<Self>] = &[
        Setting {
            key: "context.budget_tokens",
            aliases: &[],
            valid_values: "a number from 1000 to 2000000",
            summary: "maximum number of tokens in a request and its answer; the model's own limit also applies",
            show: |settings| settings.budget_tokens.to_string(),
            change: |settings, value| {
                assign(&mut settings.budget_tokens, parse_in_range(value, 1000, 2_000_000))
            },
        },
        Setting {
            key: "context.reply_tokens",
            aliases: &[],
            valid_values: "a number from 100 to 200000",
            summary: "tokens reserved for the answer",
            show: |settings| settings.reply_tokens.to_string(),
            change: |settings, value| assign(&mut settings.reply_tokens, parse_in_range(value, 100, 200_000)),
        },
        Setting {
            key: "context.agents_tokens",
            aliases: &[],
            valid_values: "a number from 0 to 100000",
            summary: "maximum number of tokens in the AGENTS.md files of the project and its parent directories",
            show: |settings| settings.agents_tokens.to_string(),
            change: |settings, value| assign(&mut settings.agents_tokens, parse_in_range(value, 0, 100_000)),
        },
        Setting {
            key: "context.summary_tokens",
            aliases: &[],
            valid_values: "a number from 100 to 20000",
            summary: "maximum number of tokens in the summary of earlier exchanges",
            show: |settings| settings.summary_tokens.to_string(),
            change: |settings, value| {
                assign(&mut settings.summary_tokens, parse_in_range(value, 100, 20_000))
            },
        },
        Setting {
            key: "context.recall_tokens",
            aliases: &["auto_rag.max_tokens"],
            valid_values: "a number from 0 to 20000",
            summary: "maximum number of tokens in passages recalled from earlier in the conversation; 0 turns them off",
            show: |settings| settings.recall_tokens.to_string(),
            change: |settings, value| assign(&mut settings.recall_tokens, parse_in_range(value, 0, 20_000)),
        },
        Setting {
            key: "context.recall_placement",
            aliases: &[],
            valid_values: "tail or before-window",
            summary: "position of these passages: next to the prompt, or before the window, which invalidates the provider's cache",
            show: |settings| choice_name(&settings.recall_placement, &PLACEMENTS),
            change: |settings, value| {
                assign(&mut settings.recall_placement, parse_choice(value, &PLACEMENTS))
            },
        },
        Setting {
            key: "context.spelling",
            aliases: &[],
            valid_values: "on or off",
            summary: "whether the model gets hints about words that look mistyped",
            show: |settings| choice_name(&settings.spelling, &SWITCH),
            change: |settings, value| assign(&mut settings.spelling, parse_choice(value, &SWITCH)),
        },
        Setting {
            key: "context.deadline_ms",
            aliases: &[],
            valid_values: "a number from 10 to 60000",
            summary: "time in milliseconds after which a request is sent without the parts that are not ready",
            show: |settings| settings.deadline_ms.to_string(),
            change: |settings, value| assign(&mut settings.deadline_ms, parse_in_range(value, 10, 60_000)),
        },
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_accepts_its_shown_value_and_rejects_invalid_ones() {
        for setting in ContextSettings::ALL {
            let mut settings = ContextSettings::default();
            let value = setting.show(&settings);
            assert_eq!(setting.change(&mut settings, &value), Ok(()), "{}", setting.key);
            assert!(setting.change(&mut settings, "much").is_err(), "{}", setting.key);
            assert_eq!(settings, ContextSettings::default());
        }
    }
}
