//! Changes the models of a session.

use std::sync::Arc;

use memoir_core::{Provenance, Usage, Usd};

use super::Session;
use crate::{
    failure::Failure,
    models::{ModelChoice, parse_model_name},
    operations::models::{self, SetModelReport, SetModelRequest},
    settings::ModelTask,
};

impl Session {
    /// Sets the model for a task, in this and later sessions. A chat model that is not available is not set; for other
    /// models, a notice is added.
    ///
    /// # Errors
    ///
    /// Fails if the model is unknown or cannot do the task.
    pub async fn set_model(&mut self, request: &SetModelRequest) -> Result<SetModelReport, Failure> {
        let (store, now) = (Arc::clone(self.runtime.store()), self.agent.clock.now());
        if let (ModelTask::Chat, Some(name)) = (request.task, &request.model) {
            self.switch_model(ModelChoice::new(parse_model_name(name, "")?, "set with /model")).await?;
        }
        let report = models::set(request, self.runtime.models(), store.as_ref(), now).await?;
        match (request.task, &request.model) {
            (ModelTask::Chat, Some(_)) => {}
            (ModelTask::Chat, None) => {
                let choice = self.runtime.models().choose(None, store.as_ref()).await?;
                self.switch_model(choice).await?;
            }
            (ModelTask::Summarizer, _) => {
                let models = self.runtime.models();
                self.background.summarizer =
                    models.connect_summarizer(store.as_ref(), &mut self.notices).await?;
                self.restart_background().await;
            }
            (ModelTask::Embedder, _) => {
                let models = self.runtime.models();
                self.state.recall.embedder =
                    models.connect_embedder(store.as_ref(), &mut self.notices).await?;
                self.restart_background().await;
            }
        }
        Ok(report)
    }

    async fn switch_model(&mut self, mut choice: ModelChoice) -> Result<(), Failure> {
        self.state.model = self.runtime.models().connect(&mut choice).await?;
        self.choice = choice;
        // Its sizes and prices belong to the previous model.
        self.last_context = None;
        Ok(())
    }

    /// Returns whether a language model answers, as opposed to quotes from memory.
    pub fn has_chat_model(&self) -> bool {
        self.state.model.provenance() != Provenance::Derived
    }

    /// Returns the cost of sending `tokens` to the chat model, or `None` if its price is unknown.
    pub fn cost_of_sending(&self, tokens: u64) -> Option<Usd> {
        self.state.model.cost(&Usage { input_tokens: tokens, ..Usage::default() })
    }
}
