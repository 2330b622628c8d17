//! The trait for recall stages and the list of all stages by name.

use std::{collections::HashSet, fmt, str::FromStr};

use async_trait::async_trait;
use memoir_core::setting::UnknownName;

use crate::{
    Inquiry, Recall, RecallError,
    stages::{
        abstain::AbstainStage, budget::BudgetStage, diversify::DiversifyStage, embed_query::EmbedQueryStage,
        fuse::FuseStage, gather::GatherStage, marks::MarksStage, prefer_scope::PreferScopeStage,
        read_question::ReadQuestionStage, refine::RefineStage, search_documents::SearchDocumentsStage,
        search_meaning::SearchMeaningStage, search_summaries::SearchSummariesStage,
        search_words::SearchWordsStage, supersede::SupersedeStage,
    },
};

/// One step of recall. A stage that fails is skipped, and the following stages use the results so far.
#[async_trait]
pub trait Stage: Send + Sync {
    /// Adds the results of this stage to the inquiry.
    ///
    /// # Errors
    ///
    /// Fails if the store or the embedding model does.
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError>;
}

/// The name of a stage, as used in `rag.stages`. `docs/recall.md` describes each one.
///
/// To add a stage, write its file and register it here: a variant, its position in [`StageName::ALL`], its name and its
/// type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is documented in the file of its stage")]
pub enum StageName {
    ReadQuestion,
    EmbedQuery,
    SearchMeaning,
    SearchSummaries,
    SearchWords,
    SearchDocuments,
    Gather,
    Fuse,
    Refine,
    PreferScope,
    Supersede,
    Marks,
    Abstain,
    Diversify,
    Budget,
}

impl StageName {
    /// All stages, in their default order.
    pub const ALL: [Self; 15] = [
        Self::ReadQuestion,
        Self::EmbedQuery,
        Self::SearchMeaning,
        Self::SearchSummaries,
        Self::SearchWords,
        Self::SearchDocuments,
        Self::Gather,
        Self::Fuse,
        Self::Refine,
        Self::PreferScope,
        Self::Supersede,
        Self::Marks,
        Self::Abstain,
        Self::Diversify,
        Self::Budget,
    ];

    /// Returns the name used in `rag.stages`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadQuestion => "read_question",
            Self::EmbedQuery => "embed_query",
            Self::SearchMeaning => "search_meaning",
            Self::SearchSummaries => "search_summaries",
            Self::SearchWords => "search_words",
            Self::SearchDocuments => "search_documents",
            Self::Gather => "gather",
            Self::Fuse => "fuse",
            Self::Refine => "refine",
            Self::PreferScope => "prefer_scope",
            Self::Supersede => "supersede",
            Self::Marks => "marks",
            Self::Abstain => "abstain",
            Self::Diversify => "diversify",
            Self::Budget => "budget",
        }
    }

    /// Returns the implementation of the stage.
    pub(crate) fn stage(self) -> &'static dyn Stage {
        match self {
            Self::ReadQuestion => &ReadQuestionStage,
            Self::EmbedQuery => &EmbedQueryStage,
            Self::SearchMeaning => &SearchMeaningStage,
            Self::SearchSummaries => &SearchSummariesStage,
            Self::SearchWords => &SearchWordsStage,
            Self::SearchDocuments => &SearchDocumentsStage,
            Self::Gather => &GatherStage,
            Self::Fuse => &FuseStage,
            Self::Refine => &RefineStage,
            Self::PreferScope => &PreferScopeStage,
            Self::Supersede => &SupersedeStage,
            Self::Marks => &MarksStage,
            Self::Abstain => &AbstainStage,
            Self::Diversify => &DiversifyStage,
            Self::Budget => &BudgetStage,
        }
    }

    /// Removes duplicates: a stage must not run twice for one question.
    pub(crate) fn without_duplicates(names: &[Self]) -> impl Iterator<Item = Self> {
        let mut seen = HashSet::new();
        names.iter().copied().filter(move |name| seen.insert(*name))
    }
}

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for StageName {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let stage = Self::ALL.into_iter().find(|stage| stage.as_str() == name);
        stage.ok_or_else(|| UnknownName {
            kind: "stage",
            name: name.to_owned(),
            valid_names: Self::ALL.map(Self::as_str).to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn every_stage_parses_from_its_name_and_is_listed_once() {
        for name in StageName::ALL {
            assert_eq!(name.as_str().parse(), Ok(name));
        }
        assert_eq!(StageName::without_duplicates(&StageName::ALL).count(), StageName::ALL.len());
        let (first, last) = (StageName::ALL.first(), StageName::ALL.last());
        assert_eq!((first, last), (Some(&StageName::ReadQuestion), Some(&StageName::Budget)));
    }

    #[test]
    fn duplicate_stages_are_removed_and_the_order_is_kept() {
        let names = [StageName::Fuse, StageName::Gather, StageName::Fuse];
        let unique: Vec<_> = StageName::without_duplicates(&names).collect();
        assert_eq!(unique, [StageName::Fuse, StageName::Gather]);
    }

    #[test]
    fn the_error_for_an_unknown_name_lists_the_valid_names() {
        let error = "no such".parse::<StageName>().unwrap_err().to_string();
        assert!(
            error.starts_with("there is no stage \"no such\"; the stages are read_question, embed_query,"),
            "{error}"
        );
    }
}
