//! Compares a list of messages with the one it replaces.
//!
//! The program replaces the list to undo a cancelled prompt, to compress the conversation, and to shorten the
//! results of tools. It often copies messages under new ids and with the current time. An import needs the
//! originals, because a conversation is recognized by the texts and times of its messages.

use std::{collections::HashMap, mem};

use super::message::SessionEntry;

/// The messages after a replacement.
pub(super) struct Replacement {
    /// The messages of the new list. Those that were in the earlier list are unchanged, except for their ids.
    pub(super) entries: Vec<SessionEntry>,
    /// Messages that were removed from the end of the conversation.
    pub(super) undone: Vec<SessionEntry>,
    /// All other messages that were removed.
    pub(super) compressed: Vec<SessionEntry>,
}

impl Replacement {
    pub(super) fn new(earlier: Vec<SessionEntry>, entries: Vec<SessionEntry>) -> Self {
        let mut originals = Originals(earlier.into_iter().map(Some).collect());
        let mut entries: Vec<NewEntry> =
            entries.into_iter().map(|entry| NewEntry { entry, index: None }).collect();
        originals.restore_by_id(&mut entries);
        // The summary of an earlier compression is in both lists.
        let is_compression = entries.iter().any(|new| new.index.is_none() && new.entry.is_summary);
        originals.restore_copies(&mut entries);
        let with_text = entries.iter().filter(|new| new.entry.has_text());
        let last_index = with_text.filter_map(|new| new.index).max();
        let is_undone = |index: usize, entry: &SessionEntry| {
            entry.has_text() && !is_compression && last_index.is_none_or(|last| index > last)
        };
        let mut replacement = Self {
            entries: entries.into_iter().map(|new| new.entry).collect(),
            undone: Vec::new(),
            compressed: Vec::new(),
        };
        for (index, entry) in originals.0.into_iter().enumerate() {
            match entry {
                Some(entry) if is_undone(index, &entry) => replacement.undone.push(entry),
                Some(entry) => replacement.compressed.push(entry),
                None => {}
            }
        }
        replacement
    }
}

/// A message of the new list.
struct NewEntry {
    entry: SessionEntry,
    /// Index of the same message in the earlier list.
    index: Option<usize>,
}

/// The messages of the earlier list, each `None` once it is in the new list.
struct Originals(Vec<Option<SessionEntry>>);

impl Originals {
    fn restore_by_id(&mut self, entries: &mut [NewEntry]) {
        let indexes: HashMap<String, usize> = self
            .0
            .iter()
            .enumerate()
            .filter_map(|(index, original)| Some((original.as_ref()?.id.clone(), index)))
            .collect();
        for new in entries {
            new.index = indexes.get(&new.entry.id).copied();
            if let Some(original) = new.index.and_then(|index| self.0[index].take()) {
                new.entry = original;
            }
        }
    }

    /// Replaces copies by their originals. A compression removes messages from the start, so the search begins at
    /// the end.
    fn restore_copies(&mut self, entries: &mut [NewEntry]) {
        let mut end = self.0.len();
        for new in entries.iter_mut().rev().filter(|new| new.entry.has_text()) {
            // A copy is recorded after its original.
            let candidates = &mut self.0[..end.min(new.index.unwrap_or(end))];
            let position = candidates.iter().rposition(|original| {
                original.as_ref().is_some_and(|original| original.has_same_text(&new.entry))
            });
            let Some(index) = position else { continue };
            if let Some(original) = candidates[index].take() {
                let id = mem::replace(&mut new.entry, original).id;
                new.entry.id = id;
                new.index = Some(index);
                end = index;
            }
        }
    }
}
