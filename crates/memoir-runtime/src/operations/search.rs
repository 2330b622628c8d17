//! Searching memory, and previewing recall.

use memoir_agent::RecalledPassage;
use memoir_core::{ConversationId, OWN_PROGRAM, RecalledPassages, Recollection};
use memoir_recall::{QueryKind, Recall};
use memoir_store::{Exchanges, Filter};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct as _};

use crate::{dates, failure::Failure};

/// Request to search memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchRequest {
    /// Question or keywords to search for.
    pub query: String,
    /// Only search messages from this day on, such as `2026-05-01`, `yesterday` or `last week`.
    pub since: Option<String>,
    /// Only search messages of this project.
    pub scope: Option<String>,
    /// Only search exchanges that took place in this program, such as `claude-code`, or `memoir` itself.
    pub program: Option<String>,
    /// Maximum number of exchanges.
    pub limit: u16,
}

/// Request to preview what is recalled for a prompt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecallRequest {
    /// Prompt to recall passages for.
    pub prompt: String,
    /// Conversation of the prompt. Its own messages are not recalled.
    pub conversation: Option<ConversationId>,
}

/// Result of a search.
///
/// Serialized as `{"results": [...], "unindexed": N, "notices": [...]}`, where each result is a [`RecalledPassage`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchReport {
    /// Matching passages, best first.
    pub recalled: RecalledPassages,
    /// Number of messages that are not indexed yet and could not be searched. Only set if nothing matches.
    pub unindexed: u64,
    /// Degradations that the user should know about, as whole sentences.
    pub notices: Vec<String>,
}

impl SearchReport {
    /// Returns all passages in their JSON form, those from conversations first.
    pub fn results(&self) -> Vec<RecalledPassage<'_>> {
        RecalledPassage::list(&self.recalled.passages, &self.recalled.documents)
    }
}

impl Serialize for SearchReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("SearchReport", 3)?;
        fields.serialize_field("results", &self.results())?;
        fields.serialize_field("unindexed", &self.unindexed)?;
        fields.serialize_field("notices", &self.notices)?;
        fields.end()
    }
}

impl From<Recollection> for SearchReport {
    fn from(Recollection { passages, documents, pending_embeddings, notices, .. }: Recollection) -> Self {
        Self { recalled: RecalledPassages { passages, documents }, unindexed: pending_embeddings, notices }
    }
}

/// Searches conversations and documents.
///
/// # Errors
///
/// Fails if the date is invalid. Problems during the search are reported as notices.
pub async fn search(
    request: &SearchRequest,
    recall: &Recall,
    store: &(impl Exchanges + ?Sized),
) -> Result<SearchReport, Failure> {
    let since = dates::parse_since(request.since.as_deref(), recall)?;
    let scope = request.scope.clone();
    let limit = usize::from(request.limit);
    let mut recall = recall.clone();
    recall.settings.exchange_capacity = limit;
    recall.settings.exchanges_per_conversation = limit;
    recall.settings.document_limit = limit.min(recall.settings.document_limit);
    // The results are shown to the user, so they do not have to fit into a request.
    recall.settings.token_budget = u64::MAX;
    let filter = Filter { since, scope, program: request.program.clone(), ..Filter::default() };
    let mut recollection = recall.ask(&request.query, QueryKind::Search, filter).await;
    if let Some(program) = &request.program {
        keep_program(program, &mut recollection, store).await?;
    }
    Ok(recollection.into())
}

/// Removes passages of other programs. A conversation has several if the user resumed it in Memoir. Documents belong to no
/// program.
pub(crate) async fn keep_program(
    program: &str,
    recollection: &mut Recollection,
    store: &(impl Exchanges + ?Sized),
) -> Result<(), Failure> {
    recollection.documents.clear();
    let mut passages = Vec::new();
    for passage in recollection.passages.drain(..) {
        let source = store.exchange(passage.exchange_id).await?.and_then(|exchange| exchange.source);
        if source.as_ref().map_or(OWN_PROGRAM, |source| &source.program) == program {
            passages.push(passage);
        }
    }
    recollection.passages = passages;
    Ok(())
}

/// Returns the passages that would be recalled for a prompt.
pub async fn preview_recall(request: &RecallRequest, recall: &Recall) -> SearchReport {
    let filter = Filter { excluded_conversation: request.conversation, ..Filter::default() };
    recall.ask(&request.prompt, QueryKind::Prompt, filter).await.into()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;
    use crate::operations::test_support::{recall_with, store_with};

    #[tokio::test]
    async fn the_serialized_form_is_stable() {
        let (recall, committed) =
            recall_with(&["The gate code is on the blue card.", "Trains to Graz."]).await;
        let (store, _) = store_with(&["The gate code is on the blue card.", "Trains to Graz."]).await;
        let request =
            SearchRequest { query: "gate code".into(), since: None, scope: None, program: None, limit: 1 };
        let report = search(&request, &recall, &store).await.unwrap();
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["results"].as_array().unwrap().len(), 1);
        assert_eq!(json["results"][0]["exchange_id"], json!(committed[0].exchange_id));
        assert_eq!(json["unindexed"], 0);

        let elsewhere = SearchRequest { scope: Some("/nonexistent".into()), ..request.clone() };
        assert_eq!(search(&elsewhere, &recall, &store).await.unwrap().recalled.len(), 0);
        let invalid_date = SearchRequest { since: Some("soon".into()), ..request };
        assert!(search(&invalid_date, &recall, &store).await.is_err());
    }

    #[tokio::test]
    async fn the_conversation_of_a_prompt_is_not_recalled() {
        let (recall, committed) = recall_with(&["The gate code is on the blue card."]).await;
        let mut request =
            RecallRequest { prompt: "Where is the gate code on the blue card?".into(), conversation: None };
        assert_eq!(preview_recall(&request, &recall).await.recalled.len(), 1);
        request.conversation = Some(committed[0].conversation_id);
        assert_eq!(preview_recall(&request, &recall).await.recalled.len(), 0);
    }
}
