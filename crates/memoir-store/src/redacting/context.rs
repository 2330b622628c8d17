//! Redaction for core memory, digests and summaries.
//!
//! Digests and summaries are derived from messages, whose secrets were recorded when they were committed. A secret that
//! still appears in a summary is removed without another record.

use memoir_core::{
    ConversationId, CoreChange, CoreEntry, Digest, ExchangeId, PreparedSummary, Summary, Timestamp,
};
use memoir_redact::without_secrets;

use super::{delegate, findings::Findings};
use crate::{ChangeOutcome, ConversationSummary, Result};

delegate! { CoreMemory {
    fn core_memory(project: &str) -> Vec<CoreEntry>;
    fn undo_core_memory(project: &str, at: Timestamp) -> Option<CoreEntry>;
} clean {
    async fn change_core_memory(&self, project: &str, change: &CoreChange) -> Result<ChangeOutcome> {
        let mut findings = Findings::new(self.allowed());
        let text = findings.clean("core memory", &change.text).into_owned();
        // The text before the change is stored too, so that the change can be undone.
        let previous_text = without_secrets(&change.previous.text).into_owned();
        let previous = CoreEntry { text: previous_text, ..change.previous.clone() };
        let clean = CoreChange { previous, text, ..change.clone() };
        self.inner.change_redacted_core_memory(project, &clean, &findings.into_redactions()).await
    }
} }

delegate! { Digests {
    fn digest(conversation: ConversationId) -> Option<Digest>;
    fn request_digest(
        conversation: ConversationId,
        previous_through: Option<ExchangeId>,
        through: ExchangeId,
        now: Timestamp,
    ) -> ();
} clean {
    async fn put_digest(
        &self,
        conversation: ConversationId,
        previous_through: Option<ExchangeId>,
        digest: &Digest,
        now: Timestamp,
    ) -> Result<bool> {
        let clean = Digest {
            summary: without_secrets(&digest.summary).into_owned(),
            pinned: digest.pinned.iter().map(|text| without_secrets(text).into_owned()).collect(),
            prepared: digest.prepared.as_ref().map(clean_prepared),
            ..digest.clone()
        };
        self.inner.put_digest(conversation, previous_through, &clean, now).await
    }

    async fn prepare_digest(
        &self,
        conversation: ConversationId,
        previous_through: Option<ExchangeId>,
        prepared: &PreparedSummary,
        now: Timestamp,
    ) -> Result<bool> {
        self.inner.prepare_digest(conversation, previous_through, &clean_prepared(prepared), now).await
    }
} }

delegate! { Summaries {
    fn exchange_summary(exchange: ExchangeId) -> Option<Summary>;
    fn conversation_summary(conversation: ConversationId) -> Option<ConversationSummary>;
} clean {
    async fn put_exchange_summaries(&self, summaries: &[(ExchangeId, Summary)]) -> Result<()> {
        let clean: Vec<_> = summaries.iter().map(|(id, summary)| (*id, clean_summary(summary))).collect();
        self.inner.put_exchange_summaries(&clean).await
    }

    async fn put_conversation_summary(
        &self,
        conversation: ConversationId,
        summary: &ConversationSummary,
        exchanges: u64,
        title: Option<&str>,
    ) -> Result<bool> {
        let clean = ConversationSummary { summary: clean_summary(&summary.summary), ..summary.clone() };
        let title = title.map(without_secrets);
        self.inner.put_conversation_summary(conversation, &clean, exchanges, title.as_deref()).await
    }
} }

fn clean_prepared(prepared: &PreparedSummary) -> PreparedSummary {
    PreparedSummary { summary: without_secrets(&prepared.summary).into_owned(), ..prepared.clone() }
}

fn clean_summary(summary: &Summary) -> Summary {
    Summary { text: without_secrets(&summary.text).into_owned(), ..summary.clone() }
}
