//! What was added to prompts of other programs, and why.

use memoir_core::{ExchangeId, ExchangeSource, InjectedItem, InjectedSubject, Timestamp};
use serde::Serialize;

use super::{ItemId, MemoryView};
use crate::failure::Failure;

/// What was added to a session of another program at one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InjectionReport {
    /// Program and session that received it.
    pub source: ExchangeSource,
    /// The program's name of the event.
    pub event: String,
    /// When it was added.
    pub created: Timestamp,
    /// What was quoted, in its order. Leaves out what has been deleted since.
    pub items: Vec<InjectedQuotation>,
}

/// Something that was quoted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InjectedQuotation {
    /// Id of the exchange or document.
    pub id: String,
    /// Title of the conversation or document.
    pub title: String,
    /// When it was said, or the date of the document.
    pub date: String,
    /// What the user said, or the title of the document.
    pub text: String,
    /// Why it was quoted.
    pub reason: String,
    /// Number of tokens of the quotation.
    pub tokens: u64,
}

impl MemoryView {
    /// Returns what was last added to sessions of other programs in this project, newest first.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn explain_injections(&self, limit: u32) -> Result<Vec<InjectionReport>, Failure> {
        let mut reports = Vec::new();
        for injection in self.injections(limit).await? {
            let mut items = Vec::new();
            for item in injection.items {
                items.extend(self.explain_item(item).await?);
            }
            let (source, event, created) = (injection.source, injection.event, injection.created);
            reports.push(InjectionReport { source, event, created, items });
        }
        Ok(reports)
    }

    /// Returns what recall added to the prompt of an exchange, best first.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn explain_exchange(&self, exchange: ExchangeId) -> Result<Vec<InjectedQuotation>, Failure> {
        let mut quotations = Vec::new();
        for item in self.runtime.store().recalled_for(exchange).await? {
            quotations.extend(self.explain_item(item).await?);
        }
        Ok(quotations)
    }

    /// Returns a quotation with its source, or `None` if the program may no longer see it.
    async fn explain_item(&self, item: InjectedItem) -> Result<Option<InjectedQuotation>, Failure> {
        let InjectedItem { subject, reason, tokens } = item;
        Ok(match subject {
            InjectedSubject::Exchange(id) => {
                self.exchange(id).await?.map(|(conversation, exchange)| InjectedQuotation {
                    id: ItemId::Exchange(id).to_string(),
                    title: conversation.title,
                    date: exchange.started.to_string(),
                    text: exchange.user_message,
                    reason,
                    tokens,
                })
            }
            InjectedSubject::Document(id) => match self.runtime.store().documents_by_id(&[id]).await?.pop() {
                Some(document) if self.may_see(&document).await? => Some(InjectedQuotation {
                    id: ItemId::Document(document.slug).to_string(),
                    text: document.title.clone(),
                    title: document.title,
                    date: document.date,
                    reason,
                    tokens,
                }),
                _ => None,
            },
        })
    }
}
