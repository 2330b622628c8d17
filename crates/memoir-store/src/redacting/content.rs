//! Redaction for conversations: exchanges, imports, marks, deletion and the command history.

use memoir_core::{
    Conversation, ConversationId, ConversationTarget, Exchange, ExchangeDraft, ExchangeId, ExchangeMark,
    Mark, Message, MessageId, Timestamp,
};

use super::{
    delegate,
    findings::{Findings, clean_conversation, clean_draft, clean_target},
};
use crate::{
    CommittedExchange, ConversationList, ConversationTitle, Forget, ForgetOutcome, Import, NewImport, Result,
    Span, TranscriptMessage,
};

delegate! { Conversations {
    fn conversation(id: ConversationId) -> Option<Conversation>;
    fn conversations_by_id(ids: &[ConversationId]) -> Vec<Conversation>;
    fn conversations(list: &ConversationList) -> Vec<Conversation>;
    fn titles() -> Vec<ConversationTitle>;
    fn is_forked_after(id: ConversationId, exchange: ExchangeId) -> bool;
    fn fork(id: ConversationId, at: Timestamp) -> Option<ConversationId>;
} }

delegate! { Exchanges {
    fn exchanges(conversation: ConversationId, limit: u32) -> Vec<Exchange>;
    fn exchange(id: ExchangeId) -> Option<Exchange>;
    fn exchange_messages(id: ExchangeId) -> Vec<Message>;
    fn message(id: MessageId) -> Option<Message>;
    fn shown_messages(conversation: ConversationId, after: Option<ExchangeId>) -> Vec<Message>;
    fn transcript(span: &Span, limit: u32) -> Vec<TranscriptMessage>;
    fn messages(conversation: ConversationId, exchanges: u32) -> Vec<Message>;
} clean {
    async fn commit_exchange(&self, target: &ConversationTarget, draft: &ExchangeDraft) -> Result<CommittedExchange> {
        let target = clean_target(target);
        let (draft, redactions) = clean_draft(draft);
        self.inner.commit_redacted(&target, &draft, &redactions).await
    }
} }

delegate! { Imports {
    fn imports(origin: &str) -> Vec<Import>;
    fn import_origin(conversation: ConversationId) -> Option<String>;
} clean {
    async fn put_import(&self, new: &NewImport<'_>) -> Result<Option<ConversationId>> {
        let conversation = clean_conversation(new.conversation);
        let (exchanges, redactions): (Vec<_>, Vec<_>) = new.exchanges.iter().map(clean_draft).unzip();
        let clean = NewImport { conversation: &conversation, exchanges: &exchanges, ..*new };
        self.inner.put_redacted_import(&clean, &redactions).await
    }
} }

delegate! { Marks {
    fn set_mark(exchange: ExchangeId, mark: Option<Mark>, at: Timestamp) -> bool;
    fn exchange_marks(exchanges: &[ExchangeId]) -> Vec<ExchangeMark>;
    fn marks() -> Vec<ExchangeMark>;
} }

delegate! { Forgetting {
    fn preview_forget(selection: Forget) -> ForgetOutcome;
    fn forget(selection: Forget) -> ForgetOutcome;
} }

delegate! { CommandHistory {
    fn recent_commands(limit: u32) -> Vec<String>;
} clean {
    async fn append_command(&self, line: &str, now: Timestamp) -> Result<()> {
        let mut findings = Findings::default();
        let line = findings.clean("line", line);
        self.inner.append_redacted_command(&line, &findings.into_redactions(), now).await
    }
} }
