//! Redaction for conversations: exchanges, imports, marks, deletion and the command history.

use memoir_core::{
    AccessToken, Conversation, ConversationId, ConversationTarget, Exchange, ExchangeDraft, ExchangeId,
    ExchangeMark, InjectedItem, Injection, Mark, Message, MessageId, Timestamp,
};

use super::{
    delegate,
    findings::{Findings, clean_conversation, clean_draft, clean_target},
};
use crate::{
    ActivityCount, ChangeMark, Changes, CommittedExchange, ConversationList, ConversationTitle, Forget,
    ForgetOutcome, Import, NewImport, NewRedaction, Result, Span, Transcript, TranscriptMessage,
};

delegate! { Conversations {
    fn conversation(id: ConversationId) -> Option<Conversation>;
    fn conversations_by_id(ids: &[ConversationId]) -> Vec<Conversation>;
    fn conversations(list: &ConversationList) -> Vec<Conversation>;
    fn titles() -> Vec<ConversationTitle>;
    fn set_shared(id: ConversationId, is_shared: bool) -> bool;
    fn is_forked_after(id: ConversationId, exchange: ExchangeId) -> bool;
    fn fork(id: ConversationId, at: Timestamp) -> Option<ConversationId>;
} }

delegate! { Exchanges {
    fn exchanges(conversation: ConversationId, limit: u32) -> Vec<Exchange>;
    fn exchanges_before(conversation: ConversationId, before: ExchangeId, limit: u32) -> Vec<Exchange>;
    fn exchange(id: ExchangeId) -> Option<Exchange>;
    fn exchange_messages(id: ExchangeId) -> Vec<Message>;
    fn message(id: MessageId) -> Option<Message>;
    fn shown_messages(conversation: ConversationId, after: Option<ExchangeId>) -> Vec<Message>;
    fn transcript(span: &Span, limit: u32) -> Vec<TranscriptMessage>;
    fn messages(conversation: ConversationId, exchanges: u32) -> Vec<Message>;
} clean {
    async fn commit_exchange(&self, target: &ConversationTarget, draft: &ExchangeDraft) -> Result<CommittedExchange> {
        let allowed = self.allowed();
        let target = clean_target(target, &allowed);
        let (clean, secrets) = clean_draft(draft, &allowed);
        let redactions: Vec<NewRedaction> = secrets.iter().map(|(redaction, _)| *redaction).collect();
        let committed = self.inner.commit_redacted(&target, &clean, &redactions).await?;
        self.hold(committed.exchange_id, draft, secrets);
        Ok(committed)
    }
} }

delegate! { Imports {
    fn imports(origin: &str) -> Vec<Import>;
    fn import_origin(conversation: ConversationId) -> Option<String>;
    fn forgotten_at(origin: &str) -> Option<Timestamp>;
} clean {
    async fn are_stored(&self, exchanges: &[ExchangeDraft]) -> Result<Vec<bool>> {
        let allowed = self.allowed();
        let clean: Vec<ExchangeDraft> =
            exchanges.iter().map(|exchange| clean_draft(exchange, &allowed).0).collect();
        self.inner.are_stored(&clean).await
    }

    async fn put_import(&self, new: &NewImport<'_>) -> Result<Option<ConversationId>> {
        let allowed = self.allowed();
        let conversation = clean_conversation(new.conversation, &allowed);
        let (exchanges, secrets): (Vec<_>, Vec<Vec<(NewRedaction, String)>>) =
            new.exchanges.iter().map(|draft| clean_draft(draft, &allowed)).unzip();
        let redactions: Vec<Vec<NewRedaction>> = secrets
            .into_iter()
            .map(|secrets| secrets.into_iter().map(|(redaction, _)| redaction).collect())
            .collect();
        let clean = NewImport { conversation: &conversation, exchanges: &exchanges, ..*new };
        self.inner.put_redacted_import(&clean, &redactions).await
    }
} }

delegate! { Transcripts {
    fn transcript_state(path: &str) -> Option<Transcript>;
    fn put_transcript(transcript: &Transcript) -> ();
} }

delegate! { Injections {
    fn record_injection(injection: &Injection) -> ();
    fn injections(scope: Option<&str>, limit: u32) -> Vec<Injection>;
    fn recalled_for(exchange: ExchangeId) -> Vec<InjectedItem>;
} }

delegate! { Tokens {
    fn add_token(token: &AccessToken, hash: &str) -> bool;
    fn token_with_hash(hash: &str) -> Option<AccessToken>;
    fn tokens() -> Vec<AccessToken>;
    fn revoke_token(name: &str) -> bool;
} }

delegate! { Continuations {
    fn continuation(key: &str) -> Option<CommittedExchange>;
    fn put_continuations(exchange: ExchangeId, keys: &[String]) -> ();
} }

delegate! { ChangeLog {
    fn change_mark() -> ChangeMark;
    fn changes_since(mark: ChangeMark, limit: u32) -> Changes;
} }

delegate! { Statistics {
    fn activity(since: Timestamp) -> Vec<ActivityCount>;
    fn projects() -> Vec<String>;
    fn programs() -> Vec<String>;
} }

delegate! { Marks {
    fn set_mark(exchange: ExchangeId, mark: Option<Mark>, at: Timestamp) -> bool;
    fn exchange_marks(exchanges: &[ExchangeId]) -> Vec<ExchangeMark>;
    fn marks() -> Vec<ExchangeMark>;
} }

delegate! { Forgetting {
    fn preview_forget(selection: Forget) -> ForgetOutcome;
    fn forget(selection: Forget) -> ForgetOutcome;
    fn deletion_count() -> i64;
} }

delegate! { CommandHistory {
    fn recent_commands(limit: u32) -> Vec<String>;
} clean {
    async fn append_command(&self, line: &str, now: Timestamp) -> Result<()> {
        let mut findings = Findings::new(self.allowed());
        let line = findings.clean("line", line);
        self.inner.append_redacted_command(&line, &findings.into_redactions(), now).await
    }
} }
