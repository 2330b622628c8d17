//! The recall settings (`rag.*`).

use std::{fmt::Display, str::FromStr};

use memoir_core::setting::{
    HasSettings, RejectedValue, SWITCH, Setting, UnknownName, assign, choice_name, parse_choice,
    parse_in_range,
};
use memoir_store::{Accuracy, SearchEffort};

use crate::{ChunkSize, StageName, terms::TermName};

/// How recall treats conversations of other projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeRule {
    /// Rank the current project higher.
    Prefer,
    /// Search only the current project.
    Only,
    /// Treat all projects alike.
    Global,
}

/// Which chunks count as duplicates of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dedup {
    /// Chunks of the same document.
    Document,
    /// Chunks with similar embeddings.
    Semantic,
    /// No chunks count as duplicates.
    None,
}

impl Dedup {
    /// Returns the name used in `rag.dedup_strategy`.
    pub fn as_str(self) -> &'static str {
        DEDUPS.iter().find(|(_, strategy)| *strategy == self).map_or("", |(name, _)| name)
    }
}

/// The values of the `rag.*` settings.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallSettings {
    /// Whether relevant passages are added to every prompt.
    pub enabled: bool,
    /// Maximum number of related conversations listed in a request.
    pub conversation_limit: usize,
    /// Maximum number of exchanges quoted per conversation.
    pub exchanges_per_conversation: usize,
    /// Maximum number of exchanges quoted in total.
    pub exchange_capacity: usize,
    /// Minimum cosine similarity of a relevant passage. `None` uses the default of the embedding model.
    pub min_similarity: Option<f64>,
    /// Maximum number of tokens for quotations.
    pub token_budget: u64,
    /// Whether vector search is exact or approximate.
    pub mode: Accuracy,
    /// How conversations of other projects are treated.
    pub scope: ScopeRule,
    /// Trade-off in selecting passages: 1 is relevance only, 0 is diversity only.
    pub relevance: f64,
    /// Maximum number of document passages quoted in a request.
    pub document_limit: usize,
    /// Maximum number of tokens in a chunk.
    pub chunk_tokens: usize,
    /// Maximum number of tokens a chunk repeats from the previous one.
    pub chunk_overlap: usize,
    /// Minimum number of messages for a window to be searched chunk by chunk.
    pub chunk_from_messages: usize,
    /// Whether a window searched chunk by chunk is also searched as a whole.
    pub hybrid: bool,
    /// Maximum number of document chunks each query returns.
    pub chunks_per_query: usize,
    /// Maximum number of document passages selected for a window.
    pub top_k: usize,
    /// Which chunks count as duplicates.
    pub dedup_strategy: Dedup,
    /// Maximum number of chunks per document.
    pub dedup_max_per_doc: usize,
    /// Trade-off in selecting related documents: 1 is relevance only, 0 is diversity only.
    pub mmr_lambda: f64,
    /// Number of candidates rescored exactly per requested result.
    pub overfetch: usize,
    /// Stages to run, in order.
    pub stages: Vec<StageName>,
    /// Terms of the score.
    pub terms: Vec<TermName>,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            conversation_limit: 3,
            exchanges_per_conversation: 3,
            exchange_capacity: 10,
            min_similarity: None,
            token_budget: 2000,
            mode: Accuracy::Auto,
            scope: ScopeRule::Prefer,
            relevance: 0.7,
            document_limit: 3,
            chunk_tokens: 1800,
            chunk_overlap: 150,
            chunk_from_messages: 100,
            hybrid: true,
            chunks_per_query: 5,
            top_k: 5,
            dedup_strategy: Dedup::Document,
            dedup_max_per_doc: 1,
            mmr_lambda: 0.5,
            overfetch: 4,
            stages: StageName::ALL.to_vec(),
            terms: TermName::ALL.to_vec(),
        }
    }
}

impl RecallSettings {
    /// Returns the accuracy and number of candidates for vector searches.
    pub fn search_effort(&self) -> SearchEffort {
        SearchEffort { accuracy: self.mode, candidates: self.overfetch }
    }

    /// Returns the chunk size for documents and windows. The overlap is at most half a chunk.
    pub fn chunk_size(&self) -> ChunkSize {
        ChunkSize { tokens: self.chunk_tokens, overlap: self.chunk_overlap.min(self.chunk_tokens / 2) }
    }
}

/// To add a setting, add a field and an entry here.
impl HasSettings for RecallSettings {
    const NOT_APPLICABLE: &'static [(&'static str, &'static str)] =
        &[("nprobe", "it applies to IVF indexes, which Memoir does not use; see rag.mode and rag.overfetch")];

    const ALL: &'static [Setting<Self>] = &[
        Setting {
            key: "rag.enabled",
            aliases: &["rag_enabled"],
            valid_values: "on or off",
            summary: "whether relevant passages from memory are added to every prompt",
            show: |settings| choice_name(&settings.enabled, &SWITCH),
            change: |settings, value| assign(&mut settings.enabled, parse_choice(value, &SWITCH)),
        },
        Setting {
            key: "rag.conversation_limit",
            aliases: &["rag_conversation_limit"],
            valid_values: "a number from 0 to 50",
            summary: "maximum number of related conversations listed in a request",
            show: |settings| settings.conversation_limit.to_string(),
            change: |settings, value| assign(&mut settings.conversation_limit, parse_count(value, 0, 50)),
        },
        Setting {
            key: "rag.exchanges_per_conversation",
            aliases: &["rag_exchange_limit_per_conversation", "rag.exchange_limit_per_conversation"],
            valid_values: "a number from 1 to 50",
            summary: "maximum number of exchanges quoted per conversation",
            show: |settings| settings.exchanges_per_conversation.to_string(),
            change: |settings, value| {
                assign(&mut settings.exchanges_per_conversation, parse_count(value, 1, 50))
            },
        },
        Setting {
            key: "rag.exchange_capacity",
            aliases: &["rag_exchange_capacity"],
            valid_values: "a number from 1 to 100",
            summary: "maximum number of exchanges quoted in total",
            show: |settings| settings.exchange_capacity.to_string(),
            change: |settings, value| assign(&mut settings.exchange_capacity, parse_count(value, 1, 100)),
        },
        Setting {
            key: "rag.min_similarity",
            aliases: &["rag_min_similarity"],
            valid_values: "a number from 0 to 1, or auto",
            summary: "minimum cosine similarity of a relevant passage; auto uses the default of the embedding model",
            show: |settings| settings.min_similarity.map_or("auto".into(), |minimum| minimum.to_string()),
            change: |settings, value| {
                assign(
                    &mut settings.min_similarity,
                    if value == "auto" { Some(None) } else { parse_fraction(value).map(Some) },
                )
            },
        },
        Setting {
            key: "rag.token_budget",
            aliases: &["rag_token_budget"],
            valid_values: "a number from 100 to 100000",
            summary: "maximum number of tokens for recalled passages in a request",
            show: |settings| settings.token_budget.to_string(),
            change: |settings, value| assign(&mut settings.token_budget, parse_in_range(value, 100, 100_000)),
        },
        Setting {
            key: "rag.mode",
            aliases: &["rag_mode"],
            valid_values: "auto, exact or ann",
            summary: "vector search method: exact scans, ann follows a graph, auto decides by the number of vectors",
            show: |settings| choice_name(&settings.mode, &MODES),
            change: |settings, value| assign(&mut settings.mode, parse_choice(value, &MODES)),
        },
        Setting {
            key: "rag.scope",
            aliases: &["rag_scope"],
            valid_values: "prefer, only or global",
            summary: "whether to rank the current project higher (prefer), search nothing else (only), or treat all projects alike (global)",
            show: |settings| choice_name(&settings.scope, &SCOPES),
            change: |settings, value| assign(&mut settings.scope, parse_choice(value, &SCOPES)),
        },
        Setting {
            key: "rag.relevance",
            aliases: &["rag_relevance"],
            valid_values: "a number from 0 to 1",
            summary: "trade-off in selecting passages: 1 is relevance only, 0 is diversity only",
            show: |settings| settings.relevance.to_string(),
            change: |settings, value| assign(&mut settings.relevance, parse_fraction(value)),
        },
        Setting {
            key: "rag.document_limit",
            aliases: &["rag_document_limit"],
            valid_values: "a number from 0 to 50",
            summary: "maximum number of document passages quoted in a request; 0 turns them off",
            show: |settings| settings.document_limit.to_string(),
            change: |settings, value| assign(&mut settings.document_limit, parse_count(value, 0, 50)),
        },
        Setting {
            key: "rag.chunk_tokens",
            aliases: &["rag_chunk_tokens"],
            valid_values: "a number from 16 to 8000",
            summary: "maximum number of tokens in a chunk of a document or a conversation window",
            show: |settings| settings.chunk_tokens.to_string(),
            change: |settings, value| assign(&mut settings.chunk_tokens, parse_count(value, 16, 8000)),
        },
        Setting {
            key: "rag.chunk_overlap",
            aliases: &["rag_chunk_overlap"],
            valid_values: "a number from 0 to 4000",
            summary: "maximum number of tokens that a chunk repeats from the previous one",
            show: |settings| settings.chunk_overlap.to_string(),
            change: |settings, value| assign(&mut settings.chunk_overlap, parse_count(value, 0, 4000)),
        },
        Setting {
            key: "rag.chunk_from_messages",
            aliases: &["rag_chunk_from_messages"],
            valid_values: "a number from 0 to 1000000",
            summary: "minimum number of messages for a conversation window to be searched chunk by chunk",
            show: |settings| settings.chunk_from_messages.to_string(),
            change: |settings, value| {
                assign(&mut settings.chunk_from_messages, parse_count(value, 0, 1000000))
            },
        },
        Setting {
            key: "rag.hybrid",
            aliases: &["rag_hybrid"],
            valid_values: "on or off",
            summary: "whether a window searched chunk by chunk is also searched as a whole",
            show: |settings| choice_name(&settings.hybrid, &SWITCH),
            change: |settings, value| assign(&mut settings.hybrid, parse_choice(value, &SWITCH)),
        },
        Setting {
            key: "rag.chunks_per_query",
            aliases: &["rag_chunks_per_query"],
            valid_values: "a number from 1 to 100",
            summary: "maximum number of document chunks that each chunk of a window retrieves",
            show: |settings| settings.chunks_per_query.to_string(),
            change: |settings, value| assign(&mut settings.chunks_per_query, parse_count(value, 1, 100)),
        },
        Setting {
            key: "rag.top_k",
            aliases: &["rag_top_k"],
            valid_values: "a number from 1 to 100",
            summary: "maximum number of related document passages given to the writer of a post",
            show: |settings| settings.top_k.to_string(),
            change: |settings, value| assign(&mut settings.top_k, parse_count(value, 1, 100)),
        },
        Setting {
            key: "rag.dedup_strategy",
            aliases: &["rag_dedup_strategy"],
            valid_values: "document, semantic or none",
            summary: "which chunks count as duplicates: those of one document, those with similar embeddings, or none",
            show: |settings| settings.dedup_strategy.as_str().to_owned(),
            change: |settings, value| assign(&mut settings.dedup_strategy, parse_choice(value, &DEDUPS)),
        },
        Setting {
            key: "rag.dedup_max_per_doc",
            aliases: &["rag_dedup_max_per_doc"],
            valid_values: "a number from 1 to 100",
            summary: "maximum number of chunks per document",
            show: |settings| settings.dedup_max_per_doc.to_string(),
            change: |settings, value| assign(&mut settings.dedup_max_per_doc, parse_count(value, 1, 100)),
        },
        Setting {
            key: "rag.mmr_lambda",
            aliases: &["rag_mmr_lambda"],
            valid_values: "a number from 0 to 1",
            summary: "trade-off in selecting related documents: 1 is relevance only, 0 is diversity only",
            show: |settings| settings.mmr_lambda.to_string(),
            change: |settings, value| assign(&mut settings.mmr_lambda, parse_fraction(value)),
        },
        Setting {
            key: "rag.overfetch",
            aliases: &["rag_overfetch"],
            valid_values: "a number from 1 to 100",
            summary: "number of candidates rescored exactly per requested chunk",
            show: |settings| settings.overfetch.to_string(),
            change: |settings, value| assign(&mut settings.overfetch, parse_count(value, 1, 100)),
        },
        Setting {
            key: "rag.stages",
            aliases: &["rag_stages"],
            valid_values: "a comma-separated list of stages in order, or auto",
            summary: "recall stages to run",
            show: |settings| show_names(&settings.stages, &StageName::ALL),
            change: |settings, value| set_names(&mut settings.stages, value, &StageName::ALL),
        },
        Setting {
            key: "rag.terms",
            aliases: &["rag_terms"],
            valid_values: "a comma-separated list of terms, or auto",
            summary: "terms of a message's score",
            show: |settings| show_names(&settings.terms, &TermName::ALL),
            change: |settings, value| set_names(&mut settings.terms, value, &TermName::ALL),
        },
    ];
}

const DEDUPS: [(&str, Dedup); 3] =
    [("document", Dedup::Document), ("semantic", Dedup::Semantic), ("none", Dedup::None)];

const MODES: [(&str, Accuracy); 3] =
    [("auto", Accuracy::Auto), ("exact", Accuracy::Exact), ("ann", Accuracy::Approximate)];

const SCOPES: [(&str, ScopeRule); 3] =
    [("prefer", ScopeRule::Prefer), ("only", ScopeRule::Only), ("global", ScopeRule::Global)];

fn parse_count(value: &str, min: u64, max: u64) -> Option<usize> {
    parse_in_range(value, min, max).and_then(|count| usize::try_from(count).ok())
}

fn parse_fraction(value: &str) -> Option<f64> {
    value.parse().ok().filter(|fraction| (0.0..=1.0).contains(fraction))
}

/// Assigns a comma-separated list of names to a field; `auto` selects all of them.
fn set_names<N>(field: &mut Vec<N>, value: &str, all: &[N]) -> Result<(), RejectedValue>
where
    N: Clone + FromStr<Err = UnknownName>,
{
    *field = match value {
        "auto" => all.to_vec(),
        names => names.split(',').map(|name| name.trim().parse()).collect::<Result<_, _>>()?,
    };
    Ok(())
}

fn show_names<N: PartialEq + Display>(names: &[N], all: &[N]) -> String {
    if names == all {
        return "auto".into();
    }
    names.iter().map(N::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::setting::SettingError;

    use super::*;

    #[test]
    fn every_setting_parses_the_value_it_shows() {
        for setting in RecallSettings::ALL {
            let mut settings = RecallSettings::default();
            let value = setting.show(&settings);
            setting.change(&mut settings, &value).unwrap();
            assert_eq!(settings, RecallSettings::default(), "{}", setting.key);
        }
    }

    #[test]
    fn stages_and_terms_are_parsed_and_unknown_names_are_rejected() {
        let mut settings = RecallSettings::default();
        let change = |settings: &mut RecallSettings, key: &str, value: &str| {
            Setting::<RecallSettings>::find(key).unwrap().change(settings, value)
        };
        change(&mut settings, "rag.stages", "read_question, search_words,gather").unwrap();
        assert_eq!(settings.stages, [StageName::ReadQuestion, StageName::SearchWords, StageName::Gather]);
        change(&mut settings, "rag.terms", "time").unwrap();
        assert_eq!(settings.terms, [TermName::Time]);
        let error = change(&mut settings, "rag.terms", "time,luck").unwrap_err().to_string();
        assert_eq!(
            error,
            "rag.terms cannot be \"time,luck\": there is no term \"luck\"; \
             the terms are words, conversation, meaning, summary, speaker, role, time, answers, length"
        );
        assert_eq!(settings.terms, [TermName::Time], "a rejected value changes nothing");
        let shown = Setting::<RecallSettings>::find("rag.stages").unwrap().show(&settings);
        assert_eq!(shown, "read_question,search_words,gather");
        change(&mut settings, "rag.stages", "auto").unwrap();
        assert_eq!(settings.stages, StageName::ALL);
    }

    #[test]
    fn aliases_work_and_invalid_values_change_nothing() {
        let mut settings = RecallSettings::default();
        for (name, value) in [
            ("rag_conversation_limit", "5"),
            ("rag_exchange_limit_per_conversation", "2"),
            ("min_similarity", "0.7"),
            ("rag.mode", "ann"),
        ] {
            Setting::<RecallSettings>::find(name).unwrap().change(&mut settings, value).unwrap();
        }
        assert_eq!((settings.conversation_limit, settings.exchanges_per_conversation), (5, 2));
        assert_eq!((settings.min_similarity, settings.mode), (Some(0.7), Accuracy::Approximate));
        let before = settings.clone();
        for (name, value) in [
            ("rag.min_similarity", "7"),
            ("rag.mode", "quick"),
            ("rag.stages", "fuse,fly"),
            ("rag.exchange_capacity", "0"),
            ("rag.token_budget", "-1"),
        ] {
            let error = Setting::<RecallSettings>::find(name)
                .unwrap()
                .change(&mut settings, value)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(name) && error.contains(value), "{error}");
        }
        assert_eq!(settings, before);
        assert!(matches!(Setting::<RecallSettings>::find("rag.speed"), Err(SettingError::Unknown(_))));
        let error = Setting::<RecallSettings>::find("rag.nprobe").err().map(|error| error.to_string());
        assert!(
            error.is_some_and(|error| error.starts_with("there is no setting \"rag.nprobe\": it applies to"))
        );
    }
}
