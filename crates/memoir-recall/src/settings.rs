//! How memory is asked: the `rag.*` settings, in one list.

use std::{fmt::Display, str::FromStr};

use memoir_core::setting::{
    HasSettings, RejectedValue, SWITCH, Setting, UnknownName, number_in, one_of, set, word_for,
};
use memoir_store::{Accuracy, SearchEffort};

use crate::{ChunkSize, StageName, terms::TermName};

/// What becomes of other projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeRule {
    /// The present project comes first.
    Prefer,
    /// Only the present project.
    Only,
    /// All are the same.
    Global,
}

/// What counts as saying the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dedup {
    /// Being of the same document.
    Document,
    /// Meaning the same.
    Semantic,
    /// Nothing.
    None,
}

impl Dedup {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        DEDUPS.iter().find(|(_, meant)| *meant == self).map_or("", |(word, _)| word)
    }
}

/// How memory is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallSettings {
    /// Whether every prompt is met with what is relevant.
    pub enabled: bool,
    /// How many conversations are described.
    pub conversation_limit: usize,
    /// How many exchanges of one conversation are quoted.
    pub exchanges_per_conversation: usize,
    /// How many exchanges are quoted in all.
    pub exchange_capacity: usize,
    /// From which cosine on something is near in meaning; by default what suits the embedding model.
    pub min_similarity: Option<f64>,
    /// How much room quotations take.
    pub token_budget: u64,
    /// How the nearest vectors are looked for.
    pub mode: Accuracy,
    /// What becomes of other projects.
    pub scope: ScopeRule,
    /// What counts when passages are chosen: 1 is relevance alone, 0 is variety alone.
    pub relevance: f64,
    /// How many passages of documents are quoted in a prompt.
    pub document_limit: usize,
    /// The most tokens of a chunk.
    pub chunk_tokens: usize,
    /// The most tokens that a chunk repeats of the one before.
    pub chunk_overlap: usize,
    /// From how many messages on a window is asked about chunk by chunk.
    pub chunk_from_messages: usize,
    /// Whether the whole window is asked about too, then.
    pub hybrid: bool,
    /// How many chunks of documents each query brings.
    pub chunks_per_query: usize,
    /// How many documents are related to a window in the end.
    pub top_k: usize,
    /// What counts as saying the same.
    pub dedup_strategy: Dedup,
    /// How many chunks of one document are kept.
    pub dedup_max_per_doc: usize,
    /// What counts when related documents are chosen: 1 is relevance alone, 0 is variety alone.
    pub mmr_lambda: f64,
    /// How many candidates are looked at exactly for each that is wanted.
    pub overfetch: usize,
    /// The stages that run, in order.
    pub stages: Vec<StageName>,
    /// The terms of the score.
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
    /// Returns how much work a search for the nearest vectors may take.
    pub fn search_effort(&self) -> SearchEffort {
        SearchEffort { accuracy: self.mode, candidates: self.overfetch }
    }

    /// How documents and windows are cut.
    pub fn chunk_size(&self) -> ChunkSize {
        ChunkSize { tokens: self.chunk_tokens, overlap: self.chunk_overlap.min(self.chunk_tokens / 2) }
    }
}

/// Every setting there is. To add one, add a field and its entry here.
impl HasSettings for RecallSettings {
    const NOT_APPLICABLE: &'static [(&'static str, &'static str)] = &[(
        "nprobe",
        "it belongs to another kind of index, of lists (IVF); here a scan or a graph is searched, see rag.mode and rag.overfetch",
    )];

    const ALL: &'static [Setting<Self>] = &[
        Setting {
            key: "rag.enabled",
            aliases: &["rag_enabled"],
            takes: "on or off",
            summary: "whether every prompt is met with what is relevant",
            show: |settings| word_for(&settings.enabled, &SWITCH),
            change: |settings, value| set(&mut settings.enabled, one_of(value, &SWITCH)),
        },
        Setting {
            key: "rag.conversation_limit",
            aliases: &["rag_conversation_limit"],
            takes: "a number from 0 to 50",
            summary: "how many related conversations are described",
            show: |settings| settings.conversation_limit.to_string(),
            change: |settings, value| set(&mut settings.conversation_limit, count(value, 0, 50)),
        },
        Setting {
            key: "rag.exchanges_per_conversation",
            aliases: &["rag_exchange_limit_per_conversation", "rag.exchange_limit_per_conversation"],
            takes: "a number from 1 to 50",
            summary: "how many exchanges of one conversation are quoted",
            show: |settings| settings.exchanges_per_conversation.to_string(),
            change: |settings, value| set(&mut settings.exchanges_per_conversation, count(value, 1, 50)),
        },
        Setting {
            key: "rag.exchange_capacity",
            aliases: &["rag_exchange_capacity"],
            takes: "a number from 1 to 100",
            summary: "how many exchanges are quoted in all",
            show: |settings| settings.exchange_capacity.to_string(),
            change: |settings, value| set(&mut settings.exchange_capacity, count(value, 1, 100)),
        },
        Setting {
            key: "rag.min_similarity",
            aliases: &["rag_min_similarity"],
            takes: "a number from 0 to 1, or auto",
            summary: "from which cosine on something is near; auto suits the embedding model",
            show: |settings| settings.min_similarity.map_or("auto".into(), |minimum| minimum.to_string()),
            change: |settings, value| {
                set(
                    &mut settings.min_similarity,
                    if value == "auto" { Some(None) } else { share(value).map(Some) },
                )
            },
        },
        Setting {
            key: "rag.token_budget",
            aliases: &["rag_token_budget"],
            takes: "a number from 100 to 100000",
            summary: "how much room quotations take in a request",
            show: |settings| settings.token_budget.to_string(),
            change: |settings, value| set(&mut settings.token_budget, number_in(value, 100, 100_000)),
        },
        Setting {
            key: "rag.mode",
            aliases: &["rag_mode"],
            takes: "auto, exact or ann",
            summary: "how vectors are searched: by a scan (exact), along a graph (ann), by their number (auto)",
            show: |settings| word_for(&settings.mode, &MODES),
            change: |settings, value| set(&mut settings.mode, one_of(value, &MODES)),
        },
        Setting {
            key: "rag.scope",
            aliases: &["rag_scope"],
            takes: "prefer, only or global",
            summary: "whether the present project comes first, alone, or like any other",
            show: |settings| word_for(&settings.scope, &SCOPES),
            change: |settings, value| set(&mut settings.scope, one_of(value, &SCOPES)),
        },
        Setting {
            key: "rag.relevance",
            aliases: &["rag_relevance"],
            takes: "a number from 0 to 1",
            summary: "1 chooses passages by relevance alone, 0 by variety alone",
            show: |settings| settings.relevance.to_string(),
            change: |settings, value| set(&mut settings.relevance, share(value)),
        },
        Setting {
            key: "rag.document_limit",
            aliases: &["rag_document_limit"],
            takes: "a number from 0 to 50",
            summary: "how many passages of documents are quoted in a prompt; 0 is none",
            show: |settings| settings.document_limit.to_string(),
            change: |settings, value| set(&mut settings.document_limit, count(value, 0, 50)),
        },
        Setting {
            key: "rag.chunk_tokens",
            aliases: &["rag_chunk_tokens"],
            takes: "a number from 16 to 8000",
            summary: "the most tokens of a chunk of a document or of a window",
            show: |settings| settings.chunk_tokens.to_string(),
            change: |settings, value| set(&mut settings.chunk_tokens, count(value, 16, 8000)),
        },
        Setting {
            key: "rag.chunk_overlap",
            aliases: &["rag_chunk_overlap"],
            takes: "a number from 0 to 4000",
            summary: "the most tokens that a chunk repeats of the one before",
            show: |settings| settings.chunk_overlap.to_string(),
            change: |settings, value| set(&mut settings.chunk_overlap, count(value, 0, 4000)),
        },
        Setting {
            key: "rag.chunk_from_messages",
            aliases: &["rag_chunk_from_messages"],
            takes: "a number from 0 to 1000000",
            summary: "from how many messages on a window is asked about chunk by chunk",
            show: |settings| settings.chunk_from_messages.to_string(),
            change: |settings, value| set(&mut settings.chunk_from_messages, count(value, 0, 1000000)),
        },
        Setting {
            key: "rag.hybrid",
            aliases: &["rag_hybrid"],
            takes: "on or off",
            summary: "whether the whole window is asked about beside its chunks",
            show: |settings| word_for(&settings.hybrid, &SWITCH),
            change: |settings, value| set(&mut settings.hybrid, one_of(value, &SWITCH)),
        },
        Setting {
            key: "rag.chunks_per_query",
            aliases: &["rag_chunks_per_query"],
            takes: "a number from 1 to 100",
            summary: "how many chunks of documents each query of a window brings",
            show: |settings| settings.chunks_per_query.to_string(),
            change: |settings, value| set(&mut settings.chunks_per_query, count(value, 1, 100)),
        },
        Setting {
            key: "rag.top_k",
            aliases: &["rag_top_k"],
            takes: "a number from 1 to 100",
            summary: "how many related documents a post is written with",
            show: |settings| settings.top_k.to_string(),
            change: |settings, value| set(&mut settings.top_k, count(value, 1, 100)),
        },
        Setting {
            key: "rag.dedup_strategy",
            aliases: &["rag_dedup_strategy"],
            takes: "document, semantic or none",
            summary: "what counts as saying the same: being of one document, meaning the same, nothing",
            show: |settings| settings.dedup_strategy.as_str().to_owned(),
            change: |settings, value| set(&mut settings.dedup_strategy, one_of(value, &DEDUPS)),
        },
        Setting {
            key: "rag.dedup_max_per_doc",
            aliases: &["rag_dedup_max_per_doc"],
            takes: "a number from 1 to 100",
            summary: "how many chunks of one document are kept",
            show: |settings| settings.dedup_max_per_doc.to_string(),
            change: |settings, value| set(&mut settings.dedup_max_per_doc, count(value, 1, 100)),
        },
        Setting {
            key: "rag.mmr_lambda",
            aliases: &["rag_mmr_lambda"],
            takes: "a number from 0 to 1",
            summary: "1 chooses related documents by relevance alone, 0 by variety alone",
            show: |settings| settings.mmr_lambda.to_string(),
            change: |settings, value| set(&mut settings.mmr_lambda, share(value)),
        },
        Setting {
            key: "rag.overfetch",
            aliases: &["rag_overfetch"],
            takes: "a number from 1 to 100",
            summary: "how many candidates are looked at exactly for each chunk that is wanted",
            show: |settings| settings.overfetch.to_string(),
            change: |settings, value| set(&mut settings.overfetch, count(value, 1, 100)),
        },
        Setting {
            key: "rag.stages",
            aliases: &["rag_stages"],
            takes: "names of stages in order, with commas, or auto",
            summary: "the stages of recall that run",
            show: |settings| show_names(&settings.stages, &StageName::ALL),
            change: |settings, value| set_names(&mut settings.stages, value, &StageName::ALL),
        },
        Setting {
            key: "rag.terms",
            aliases: &["rag_terms"],
            takes: "names of terms, with commas, or auto",
            summary: "what counts in the score of a message",
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

fn count(value: &str, least: u64, most: u64) -> Option<usize> {
    number_in(value, least, most).and_then(|count| usize::try_from(count).ok())
}

fn share(value: &str) -> Option<f64> {
    value.parse().ok().filter(|share| (0.0..=1.0).contains(share))
}

/// Puts the names in `value`, separated by commas, into a field; `auto` stands for all of them.
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
    fn every_setting_takes_back_what_it_shows() {
        for setting in RecallSettings::ALL {
            let mut settings = RecallSettings::default();
            let value = setting.show(&settings);
            setting.change(&mut settings, &value).unwrap();
            assert_eq!(settings, RecallSettings::default(), "{}", setting.key);
        }
    }

    #[test]
    fn stages_and_terms_are_parsed_and_an_unknown_name_is_answered_with_the_known_ones() {
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
             the terms are words, conversation, meaning, summary, speaker, time, answers, length"
        );
        assert_eq!(settings.terms, [TermName::Time], "nothing was changed");
        let shown = Setting::<RecallSettings>::find("rag.stages").unwrap().show(&settings);
        assert_eq!(shown, "read_question,search_words,gather");
        change(&mut settings, "rag.stages", "auto").unwrap();
        assert_eq!(settings.stages, StageName::ALL);
    }

    #[test]
    fn other_names_mean_the_same_and_nonsense_changes_nothing() {
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
        let refused = Setting::<RecallSettings>::find("rag.nprobe").err().map(|error| error.to_string());
        assert!(
            refused.is_some_and(|said| said.starts_with("there is no setting \"rag.nprobe\": it belongs to"))
        );
    }
}
