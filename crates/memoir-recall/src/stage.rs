//! The chain: stages behind one trait, in one list.

use async_trait::async_trait;

use crate::{
    Inquiry, Recall, RecallError,
    stages::{
        abstain::Abstain, budget::Budget, diversify::Diversify, embed_query::EmbedQuery, fuse::Fuse,
        gather::Gather, marks::Marks, prefer_scope::PreferScope, read_question::ReadQuestion, refine::Refine,
        search_documents::SearchDocuments, search_meaning::SearchMeaning, search_summaries::SearchSummaries,
        search_words::SearchWords, supersede::Supersede,
    },
};

/// One step of recall. A stage that fails is left out, and the inquiry goes on with what there is.
#[async_trait]
pub trait Stage: Send + Sync {
    /// Its name in `rag.stages`.
    fn name(&self) -> &'static str;

    /// Adds what it finds.
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError>;
}

/// Every stage there is, in the order in which they usually run. To add one, write its file and add its line here.
fn all() -> Vec<Box<dyn Stage>> {
    vec![
        Box::new(ReadQuestion),
        Box::new(EmbedQuery),
        Box::new(SearchMeaning),
        Box::new(SearchSummaries),
        Box::new(SearchWords),
        Box::new(SearchDocuments),
        Box::new(Gather),
        Box::new(Fuse),
        Box::new(Refine),
        Box::new(PreferScope),
        Box::new(Supersede),
        Box::new(Marks),
        Box::new(Abstain),
        Box::new(Diversify),
        Box::new(Budget),
    ]
}

/// The names of all stages, in order.
pub fn stage_names() -> Vec<&'static str> {
    all().iter().map(|stage| stage.name()).collect()
}

/// The stages of these names, in this order.
pub fn chain(names: &[String]) -> Vec<Box<dyn Stage>> {
    let mut known = all();
    let mut take = |name: &String| {
        let index = known.iter().position(|stage| stage.name() == name)?;
        Some(known.remove(index))
    };
    names.iter().filter_map(&mut take).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_can_be_left_out_and_reordered_by_name() {
        let names = stage_names();
        assert_eq!((names.first(), names.last()), (Some(&"read_question"), Some(&"budget")));
        let some = ["fuse".to_owned(), "no such".to_owned(), "gather".to_owned(), "fuse".to_owned()];
        let chosen: Vec<_> = chain(&some).iter().map(|stage| stage.name()).collect();
        assert_eq!(chosen, ["fuse", "gather"]);
    }
}
