//! Switching between conversations, retrying, taking back and compacting.

use memoir_agent::{CurrentConversation, TurnError};
use memoir_core::{Conversation, ConversationId, Exchange, RecalledPassages, Role, TurnInput};
use memoir_store::ConversationList;
use serde::Serialize;

use super::{Resume, Session, Unanswered};
use crate::{
    failure::Failure,
    operations::{
        conversations,
        forgetting::{self, ForgetPreview, ForgetReport, ForgetRequest},
    },
    runtime::Runtime,
};

/// A conversation and the one it was forked from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Fork {
    /// The conversation that was open before.
    pub parent: ConversationId,
    /// The fork, which is open now.
    pub id: ConversationId,
}

/// Result of compacting a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CompactReport {
    /// Size of a request before, in tokens, without its prompt.
    pub tokens_before: u64,
    /// Size of a request now.
    pub tokens_after: u64,
}

impl Session {
    async fn enter(&mut self, conversation: CurrentConversation) {
        self.state.conversation = conversation;
        self.background.resume_after_turn(self.conversation()).await;
        (self.last_recalled, self.last_context) = (RecalledPassages::default(), None);
        (self.last_answer, self.unanswered) = (None, None);
    }

    /// Starts a new conversation. It belongs to this project even if the previous one does not.
    pub async fn start_conversation(&mut self) {
        self.enter(CurrentConversation::new(self.project.clone())).await;
    }

    /// Resumes a conversation and returns it.
    pub async fn resume(&mut self, id: ConversationId) -> Result<Conversation, Failure> {
        if let Some(hub) = self.runtime.hub() {
            hub.check_own(id).await?;
        }
        let conversation = conversations::find(id, self.store()).await?;
        let scope = conversation.scope.clone();
        self.enter(CurrentConversation::resume(self.store(), id, scope).await?).await;
        Ok(conversation)
    }

    /// Forks the open conversation and continues in the fork.
    ///
    /// # Errors
    ///
    /// Fails if the open conversation has no messages.
    pub async fn fork(&mut self) -> Result<Fork, Failure> {
        let empty =
            || Failure::usage("this conversation has no messages yet").hint("There is nothing to fork.");
        let parent = self.conversation().ok_or_else(empty)?;
        let id = self.store().fork(parent, self.agent.clock.now()).await?.ok_or_else(empty)?;
        let scope = self.state.conversation.scope().to_owned();
        let conversation = CurrentConversation::resume(self.store(), id, scope).await?;
        self.enter(conversation).await;
        Ok(Fork { parent, id })
    }

    /// Returns the last prompt for sending it again. The next answer will replace the current one.
    ///
    /// # Errors
    ///
    /// Fails if there is no earlier prompt, or if another conversation was forked after its answer.
    pub async fn retry(&mut self) -> Result<TurnInput, Failure> {
        // A failed or cancelled turn stored nothing, so there is nothing to replace.
        if let Some(Unanswered { input, replacing }) = self.unanswered.take() {
            self.state.conversation.replace(replacing);
            return Ok(input);
        }
        let last = self.last_exchange().await?;
        let messages = self.store().exchange_messages(last.id).await?;
        let by_others = messages.iter().any(|message| message.body.role() == Role::User && message.by_others);
        self.state.conversation.replace(Some(last.id));
        let mut input = TurnInput::from_stored(last.user_message, by_others);
        input.images = self.state.images(last.id).to_vec();
        Ok(input)
    }

    /// Returns the last exchange of the open conversation, which can be replaced or deleted.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or if it is shared with another conversation.
    async fn last_exchange(&self) -> Result<Exchange, Failure> {
        let empty = || Failure::usage("this conversation has no prompt yet").hint("Send a prompt first.");
        let id = self.conversation().ok_or_else(empty)?;
        let last = self.store().exchanges(id, 1).await?.pop().ok_or_else(empty)?;
        if last.conversation_id != id {
            return Err(Failure::usage("this fork has no prompt of its own yet").hint(
                "The exchanges it shares with the original cannot be replaced. Send the prompt again.",
            ));
        }
        if self.store().is_forked_after(id, last.id).await? {
            return Err(Failure::usage("another conversation was forked from this answer")
                .hint("Fork the conversation with `/fork`, or send the prompt again."));
        }
        Ok(last)
    }

    /// Returns the last exchange, and what deleting it would delete.
    ///
    /// # Errors
    ///
    /// Fails if the last prompt was not answered, if there is no exchange, if it is shared with another conversation,
    /// or if another session added it.
    pub async fn preview_undo(&mut self) -> Result<(Exchange, ForgetPreview), Failure> {
        if self.unanswered.take().is_some() {
            return Err(Failure::usage("the last prompt was not answered, so nothing of it is stored")
                .hint("Another `/undo` deletes the exchange before it."));
        }
        let last = self.last_exchange().await?;
        if self.state.conversation.last_seen() != Some(last.id) {
            return Err(TurnError::Conflict { conversation: last.conversation_id, answer: None }.into());
        }
        let request = ForgetRequest::Exchange(last.id);
        let preview = forgetting::preview(&request, self.store(), self.recall()).await?;
        Ok((last, preview))
    }

    /// Deletes the exchange of [`Self::preview_undo`] and what was derived from it.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be deleted.
    pub async fn undo(&mut self, preview: &ForgetPreview) -> Result<ForgetReport, Failure> {
        let report = self.runtime.forget(&preview.target, self.recall()).await?;
        if !self.leave_if_deleted().await? {
            let store = self.runtime.store().clone();
            let id = self.conversation();
            let scope = self.state.conversation.scope().to_owned();
            if let Some(id) = id {
                self.enter(CurrentConversation::resume(store.as_ref(), id, scope).await?).await;
            }
        }
        Ok(report)
    }

    /// Replaces all exchanges but the last with a summary in later requests. Memory keeps them.
    ///
    /// # Errors
    ///
    /// Fails if there is only one exchange, or if another session has added to the conversation.
    pub async fn compact(&mut self) -> Result<CompactReport, Failure> {
        self.background.pause_for_turn().await;
        let outcome = self.compact_paused().await;
        self.background.resume_after_turn(self.conversation()).await;
        self.last_context = None;
        outcome
    }

    async fn compact_paused(&self) -> Result<CompactReport, Failure> {
        let tokens_before = self.agent.preview(&self.state, "").await?.request_tokens();
        if self.agent.request_compact_summary(&self.state).await? {
            self.background.summarize_now(&self.state.model).await;
        }
        if !self.agent.compact(&self.state).await? {
            return Err(Failure::usage("there is nothing to summarize yet")
                .hint("The last exchange always stays, and there is no other."));
        }
        let tokens_after = self.agent.preview(&self.state, "").await?.request_tokens();
        Ok(CompactReport { tokens_before, tokens_after })
    }

    /// Returns the last answer as the model wrote it.
    pub async fn last_answer(&self) -> Result<Option<String>, Failure> {
        match (&self.last_answer, self.conversation()) {
            (Some(answer), _) => Ok(Some(answer.clone())),
            (None, Some(id)) => {
                Ok(self.store().exchanges(id, 1).await?.pop().map(|last| last.assistant_message))
            }
            (None, None) => Ok(None),
        }
    }

    /// Starts a new conversation if the open one was deleted, by this or another process. Returns whether it was.
    pub async fn leave_if_deleted(&mut self) -> Result<bool, Failure> {
        let Some(id) = self.conversation() else { return Ok(false) };
        let is_deleted = self.store().conversation(id).await?.is_none();
        if is_deleted {
            self.start_conversation().await;
        }
        Ok(is_deleted)
    }

    /// Reloads the open conversation after exchanges were added outside of a turn, such as by an import.
    pub async fn refresh_conversation(&mut self) -> Result<(), Failure> {
        let store = self.runtime.store().clone();
        self.state.conversation.refresh(store.as_ref()).await?;
        self.background.resume_after_turn(self.conversation()).await;
        Ok(())
    }
}

/// Opens the conversation that a session starts with.
pub(super) async fn open(
    runtime: &Runtime,
    resume: Resume,
    notices: &mut Vec<String>,
) -> Result<CurrentConversation, Failure> {
    let (store, scope) = (runtime.store(), runtime.scope());
    let id = match resume {
        Resume::New => return Ok(CurrentConversation::new(scope)),
        Resume::Conversation(id) | Resume::Fork(id) => id,
        Resume::Latest | Resume::ForkOfLatest => {
            // Imported conversations are resumed only by id, because they may be someone else's.
            let query = ConversationList {
                scope: Some(scope.clone()),
                exclude_imported: true,
                limit: 1,
                ..ConversationList::default()
            };
            let Some(latest) = store.conversations(&query).await?.into_iter().next() else {
                notices.push(
                    "There is no earlier conversation in this project, so a new one starts. Use `-r ID` to resume any other."
                        .into(),
                );
                return Ok(CurrentConversation::new(scope));
            };
            latest.id
        }
    };
    let id = match resume {
        Resume::Fork(_) | Resume::ForkOfLatest => {
            store.fork(id, memoir_core::Clock::now(&memoir_core::SystemClock)).await?.unwrap_or(id)
        }
        Resume::New | Resume::Latest | Resume::Conversation(_) => id,
    };
    match store.conversation(id).await? {
        Some(conversation) => {
            Ok(CurrentConversation::resume(store.as_ref(), conversation.id, conversation.scope).await?)
        }
        None => Err(Failure::failed(format!("there is no conversation {id}"))
            .hint("Use `-r` without an id to choose one, or `-c` to resume the latest.")),
    }
}
