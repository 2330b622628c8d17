//! Switching between conversations, and asking again.

use memoir_agent::CurrentConversation;
use memoir_core::{Conversation, ConversationId, Recalled, Role, TurnInput};
use memoir_store::ConversationList;
use serde::Serialize;

use super::{Resume, Session, Unanswered};
use crate::{failure::Failure, operations::conversations, runtime::Runtime};

/// A conversation and the one that it branched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Fork {
    /// The conversation that was open, which stays as it is.
    pub parent: ConversationId,
    /// The conversation that is open now.
    pub id: ConversationId,
}

impl Session {
    async fn enter(&mut self, conversation: CurrentConversation) {
        self.state.conversation = conversation;
        self.background.resume_after_turn(self.conversation()).await;
        (self.last_recalled, self.last_context) = (Recalled::default(), None);
        (self.last_answer, self.unanswered) = (None, None);
    }

    /// Starts a new conversation. It belongs to this project, even if the one before belongs to another.
    pub async fn start_conversation(&mut self) {
        self.enter(CurrentConversation::begin(self.project.clone())).await;
    }

    /// Continues the conversation with this id, and returns it.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    pub async fn resume(&mut self, id: ConversationId) -> Result<Conversation, Failure> {
        let found = conversations::find(id, self.store()).await?;
        let conversation = CurrentConversation::resume(self.store(), id, found.scope.clone()).await?;
        self.enter(conversation).await;
        Ok(found)
    }

    /// Branches off the open conversation and continues in the branch.
    ///
    /// # Errors
    ///
    /// Fails if nothing has been said in the open conversation.
    pub async fn fork(&mut self) -> Result<Fork, Failure> {
        let nothing = || Failure::usage("nothing has been said here yet").hint("Just go on.");
        let parent = self.conversation().ok_or_else(nothing)?;
        let id = self.store().fork(parent, self.agent.clock.now()).await?.ok_or_else(nothing)?;
        let scope = self.state.conversation.scope().to_owned();
        let conversation = CurrentConversation::resume(self.store(), id, scope).await?;
        self.enter(conversation).await;
        Ok(Fork { parent, id })
    }

    /// Returns the last prompt, to be sent again; the answer to it then replaces the present one.
    ///
    /// # Errors
    ///
    /// Fails if nothing has been asked here, or if another conversation depends on the answer.
    pub async fn retry(&mut self) -> Result<TurnInput, Failure> {
        // A turn that failed or was cancelled stored nothing that could be replaced.
        if let Some(Unanswered { input, replacing }) = self.unanswered.take() {
            self.state.conversation.replace(replacing);
            return Ok(input);
        }
        let nothing = || Failure::usage("nothing has been asked here yet").hint("Ask something first.");
        let id = self.conversation().ok_or_else(nothing)?;
        let last = self.store().exchanges(id, 1).await?.pop().ok_or_else(nothing)?;
        if last.conversation_id != id {
            return Err(Failure::usage("nothing has been asked in this fork yet")
                .hint("What it began with stays as it is; ask again in your words."));
        }
        if self.store().is_forked_after(id, last.id).await? {
            return Err(Failure::usage("another conversation branched off this answer")
                .hint("/fork first, or ask again in your words."));
        }
        let messages = self.store().exchange_messages(last.id).await?;
        let by_others = messages.iter().any(|message| message.body.role() == Role::User && message.by_others);
        self.state.conversation.replace(Some(last.id));
        Ok(TurnInput::from_stored(last.user_message, by_others))
    }

    /// Returns the last answer as the model wrote it, if there is one.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
    pub async fn last_answer(&self) -> Result<Option<String>, Failure> {
        match (&self.last_answer, self.conversation()) {
            (Some(answer), _) => Ok(Some(answer.clone())),
            (None, Some(id)) => {
                Ok(self.store().exchanges(id, 1).await?.pop().map(|last| last.assistant_message))
            }
            (None, None) => Ok(None),
        }
    }

    /// Starts a new conversation if the open one was deleted, here or by another process. Returns whether it was.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
    pub async fn leave_deleted(&mut self) -> Result<bool, Failure> {
        let Some(id) = self.conversation() else { return Ok(false) };
        let is_gone = self.store().conversation(id).await?.is_none();
        if is_gone {
            self.start_conversation().await;
        }
        Ok(is_gone)
    }

    /// Takes note of exchanges that the user added to the open conversation by other means, such as an import.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
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
        Resume::New => return Ok(CurrentConversation::begin(scope)),
        Resume::Conversation(id) | Resume::Fork(id) => id,
        Resume::Latest | Resume::ForkOfLatest => {
            // An imported conversation may be somebody else's: it is resumed only by its id.
            let here = ConversationList {
                scope: Some(scope.clone()),
                said_here: true,
                limit: 1,
                ..ConversationList::default()
            };
            let Some(latest) = store.conversations(&here).await?.into_iter().next() else {
                notices.push(
                    "There is no earlier conversation in this project; this one is new. -r ID goes on with any other."
                        .into(),
                );
                return Ok(CurrentConversation::begin(scope));
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
            .hint("Use -r without an id to choose one, or -c for the last.")),
    }
}
