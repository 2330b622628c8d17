//! Searching memory.

use std::path::PathBuf;

use memoir_agent::RecalledPassage;
use memoir_core::{ConversationId, Recalled, Recollection};
use memoir_recall::{QueryKind, Recall};
use memoir_store::Filter;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct as _};

use crate::{dates, failure::Failure, scope::scope_of};

/// What to search for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchRequest {
    /// The question or keywords.
    pub query: String,
    /// Only what was said from this day on, as people write dates: `2026-05-01`, `yesterday`, `last week`.
    pub since: Option<String>,
    /// Only what was said in the project that contains this directory.
    pub project: Option<PathBuf>,
    /// Maximum number of exchanges.
    pub limit: u16,
}

/// A prompt to try recall with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecallRequest {
    /// The prompt.
    pub prompt: String,
    /// The conversation that the prompt would be sent in: nothing of it is recalled.
    pub conversation: Option<ConversationId>,
}

/// What was found in memory.
///
/// It is serialized as `{"results": [...], "unindexed": N, "notices": [...]}`, with a [`RecalledPassage`] for each result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchReport {
    /// The passages, the best first.
    pub recalled: Recalled,
    /// Number of messages that are not indexed yet, if nothing was found. They could not be searched.
    pub unindexed: u64,
    /// Degradations that the user should know about, in whole sentences.
    pub notices: Vec<String>,
}

impl SearchReport {
    /// Returns the JSON forms of all passages, those from conversations first.
    pub fn results(&self) -> Vec<RecalledPassage<'_>> {
        RecalledPassage::list(&self.recalled.passages, &self.recalled.documents)
    }
}

impl Serialize for SearchReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut form = serializer.serialize_struct("SearchReport", 3)?;
        form.serialize_field("results", &self.results())?;
        form.serialize_field("unindexed", &self.unindexed)?;
        form.serialize_field("notices", &self.notices)?;
        form.end()
    }
}

impl From<Recollection> for SearchReport {
    fn from(Recollection { passages, documents, behind, notices, .. }: Recollection) -> Self {
        Self { recalled: Recalled { passages, documents }, unindexed: behind, notices }
    }
}

/// Searches everything that was said, and documents.
///
/// # Errors
///
/// Fails if the date cannot be read. What does not work while searching is a notice.
pub async fn search(request: &SearchRequest, recall: &Recall) -> Result<SearchReport, Failure> {
    let since = dates::since(request.since.as_deref(), recall)?;
    let scope = request.project.as_deref().map(scope_of);
    let limit = usize::from(request.limit);
    let mut recall = recall.clone();
    recall.settings.exchange_capacity = limit;
    recall.settings.exchanges_per_conversation = limit;
    recall.settings.document_limit = limit.min(recall.settings.document_limit);
    // The result is read by a person and does not have to fit into a request.
    recall.settings.token_budget = u64::MAX;
    let filter = Filter { since, scope, ..Filter::default() };
    Ok(recall.ask(&request.query, QueryKind::Search, filter).await.into())
}

/// Returns what memory would add to a prompt.
pub async fn preview_recall(request: &RecallRequest, recall: &Recall) -> SearchReport {
    let filter = Filter { except: request.conversation, ..Filter::default() };
    recall.ask(&request.prompt, QueryKind::Prompt, filter).await.into()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::operations::test_support::recall_with;

    #[tokio::test]
    async fn results_have_a_stable_form() {
        let (recall, said) = recall_with(&["The gate code is on the blue card.", "Trains to Graz."]).await;
        let request = SearchRequest { query: "gate code".into(), since: None, project: None, limit: 1 };
        let report = search(&request, &recall).await.unwrap();
        let form = serde_json::to_value(&report).unwrap();
        assert_eq!(form["results"].as_array().unwrap().len(), 1);
        assert_eq!(form["results"][0]["exchange_id"], json!(said[0].exchange_id));
        assert_eq!(form["unindexed"], 0);

        let elsewhere = SearchRequest { project: Some("/nonexistent".into()), ..request.clone() };
        assert_eq!(search(&elsewhere, &recall).await.unwrap().recalled.len(), 0);
        let undated = SearchRequest { since: Some("soon".into()), ..request };
        assert!(search(&undated, &recall).await.is_err());
    }

    #[tokio::test]
    async fn the_conversation_of_a_prompt_is_not_recalled() {
        let (recall, said) = recall_with(&["The gate code is on the blue card."]).await;
        let mut request =
            RecallRequest { prompt: "Where is the gate code on the blue card?".into(), conversation: None };
        assert_eq!(preview_recall(&request, &recall).await.recalled.len(), 1);
        request.conversation = Some(said[0].conversation_id);
        assert_eq!(preview_recall(&request, &recall).await.recalled.len(), 0);
    }
}
