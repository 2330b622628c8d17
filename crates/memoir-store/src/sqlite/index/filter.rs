//! A filter, made ready to be asked about many rows.

use std::collections::HashSet;

use super::messages::Messages;
use crate::Filter;

/// A filter, and the conversations of its project, if it names one.
#[derive(Debug, Clone, Copy)]
pub(in crate::sqlite) struct Allowed<'a> {
    pub(in crate::sqlite) filter: &'a Filter,
    pub(in crate::sqlite) in_scope: Option<&'a [i64]>,
}

/// A filter over rows of messages.
#[derive(Debug, Default)]
pub(super) struct Predicate {
    except: Option<u32>,
    /// Only these conversations.
    only: Option<HashSet<u32>>,
    since: Option<i64>,
    until: Option<i64>,
}

impl Predicate {
    pub(super) fn new(Allowed { filter, in_scope }: Allowed<'_>, messages: &Messages) -> Self {
        let within = filter.within.map(|id| messages.conversation(id).into_iter().collect::<HashSet<u32>>());
        let scope = in_scope.map(|ids| {
            let numbers =
                ids.iter().filter_map(|id| messages.conversation(memoir_core::ConversationId::new(*id)));
            numbers.collect::<HashSet<u32>>()
        });
        let only = match (within, scope) {
            (Some(within), Some(scope)) => Some(within.intersection(&scope).copied().collect()),
            (one, other) => one.or(other),
        };
        Self {
            except: filter.except.and_then(|id| messages.conversation(id)),
            only,
            since: filter.since.map(|moment| moment.as_millis()),
            until: filter.until.map(|moment| moment.as_millis()),
        }
    }

    /// Whether every message may be found.
    pub(super) fn allows_all(&self) -> bool {
        matches!(self, Self { except: None, only: None, since: None, until: None })
    }

    /// Whether a message may be found.
    #[inline]
    pub(super) fn allows(&self, messages: &Messages, row: usize) -> bool {
        let conversation = messages.conversations[row];
        self.except != Some(conversation)
            && self.only.as_ref().is_none_or(|only| only.contains(&conversation))
            && self.since.is_none_or(|since| messages.created[row] >= since)
            && self.until.is_none_or(|until| messages.created[row] < until)
    }
}
