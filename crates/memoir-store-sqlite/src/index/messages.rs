//! The in-memory table of messages: one column per property, one row per message, sorted by id.

use std::collections::HashMap;

use memoir_core::{ConversationId, ExchangeId, MessageId, Role, Timestamp};
use memoir_store::MessageOutline;
use sqlx::{Row as _, sqlite::SqliteRow};

use super::columns;

/// Marks a missing row or conversation number.
pub(super) const NONE: u32 = u32::MAX;

const FROM_USER: u8 = 1;
const ASKS: u8 = 2;

/// Selects the unpacked rows with ids between `?1` and `?2`.
pub(super) const UNPACKED: &str =
    "SELECT id, exchange_id, conversation_id, role, author, created, min(tokens, 65535) AS tokens,
            min(length(content) - length(replace(content, ' ', '')) + 1, 65535) AS words,
            content LIKE '%?' AS asks
     FROM messages NOT INDEXED
     WHERE id > ?1 AND id < ?2 AND redacted = 0 AND derived = 0 AND role <> 'tool'
     ORDER BY id";

/// All messages that recall can find: those that are shown and said.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) ids: Vec<i64>,
    pub(super) exchanges: Vec<i64>,
    /// Index into `conversation_ids`.
    pub(super) conversations: Vec<u32>,
    pub(super) created: Vec<i64>,
    pub(super) words: Vec<u16>,
    pub(super) tokens: Vec<u16>,
    flags: Vec<u8>,
    /// Index into `names` plus 1, or 0 if the author has no name.
    authors: Vec<u16>,
    pub(super) names: Vec<String>,
    pub(super) conversation_ids: Vec<i64>,
    conversation_numbers: HashMap<i64, u32>,
    /// First and last row of each conversation.
    ends: Vec<(u32, u32)>,
    /// The next row of the same conversation. A list needs no memory of its own for each conversation.
    next: Vec<u32>,
    /// Number of words in each conversation.
    pub(super) lengths: Vec<u32>,
    /// Row of each id. A vector is compact because ids have few gaps.
    by_id: Vec<u32>,
    pub(super) total_words: u64,
}

/// A message to add.
struct Row {
    id: i64,
    exchange: i64,
    conversation: i64,
    created: i64,
    words: u16,
    tokens: u16,
    flags: u8,
}

impl Messages {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns the row of a message.
    pub(super) fn row(&self, id: i64) -> Option<usize> {
        let row = *self.by_id.get(usize::try_from(id).ok()?)?;
        (row != NONE).then_some(row as usize)
    }

    /// Returns the rows of a conversation, in order.
    pub(super) fn rows_of(&self, conversation: u32) -> impl Iterator<Item = usize> {
        let first = self.ends.get(conversation as usize).map(|(first, _)| *first);
        std::iter::successors(first, |row| Some(self.next[*row as usize]).filter(|next| *next != NONE))
            .map(|row| row as usize)
    }

    /// Makes room for more rows, because growing step by step takes longer than reading them.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.ids.reserve(rows);
        self.exchanges.reserve(rows);
        self.conversations.reserve(rows);
        self.created.reserve(rows);
        self.words.reserve(rows);
        self.tokens.reserve(rows);
        self.flags.reserve(rows);
        self.authors.reserve(rows);
        self.next.reserve(rows);
        self.by_id.reserve(rows);
    }

    /// Returns the number of a conversation, if it has messages.
    pub(super) fn conversation(&self, id: ConversationId) -> Option<u32> {
        self.conversation_numbers.get(&id.get()).copied()
    }

    pub(super) fn conversation_id(&self, number: u32) -> ConversationId {
        ConversationId::new(self.conversation_ids[number as usize])
    }

    pub(super) fn outline(&self, row: usize) -> MessageOutline {
        let author = usize::from(self.authors[row]).checked_sub(1).and_then(|name| self.names.get(name));
        MessageOutline {
            id: MessageId::new(self.ids[row]),
            exchange_id: ExchangeId::new(self.exchanges[row]),
            conversation_id: self.conversation_id(self.conversations[row]),
            role: if self.flags[row] & FROM_USER == 0 { Role::Assistant } else { Role::User },
            author: author.cloned(),
            created: Timestamp::from_millis(self.created[row]),
            words: self.words[row].into(),
            is_question: self.flags[row] & ASKS != 0,
        }
    }

    /// Adds a row of [`UNPACKED`].
    pub(super) fn push_sql(&mut self, row: &SqliteRow) -> Result<i64, sqlx::Error> {
        let from_user = row.try_get::<&str, _>("role")? == "user";
        let is_question: bool = row.try_get("asks")?;
        let author: Option<&str> = row.try_get("author")?;
        let row = Row {
            id: row.try_get("id")?,
            exchange: row.try_get("exchange_id")?,
            conversation: row.try_get("conversation_id")?,
            created: row.try_get("created")?,
            words: row.try_get("words")?,
            tokens: row.try_get("tokens")?,
            flags: if from_user { FROM_USER } else { 0 } | if is_question { ASKS } else { 0 },
        };
        let author = self.author_number(author);
        self.push(&row, author);
        Ok(row.id)
    }

    fn push(&mut self, row: &Row, author: u16) {
        self.ids.push(row.id);
        self.exchanges.push(row.exchange);
        self.created.push(row.created);
        self.words.push(row.words);
        self.tokens.push(row.tokens);
        self.flags.push(row.flags);
        self.authors.push(author);
        self.add_to_conversation(row.conversation);
    }

    /// Completes a row whose other columns have been filled: assigns it to a conversation and updates the lookup
    /// tables.
    fn add_to_conversation(&mut self, conversation: i64) {
        let row = self.conversations.len();
        let position = u32::try_from(row).unwrap_or(NONE);
        let conversation = self.conversation_number(conversation);
        self.conversations.push(conversation);
        self.next.push(NONE);
        let (first, last) = &mut self.ends[conversation as usize];
        match self.next.get_mut(*last as usize) {
            Some(next) => *next = position,
            None => *first = position,
        }
        *last = position;
        self.lengths[conversation as usize] += u32::from(self.words[row]);
        self.total_words += u64::from(self.words[row]);
        let id = usize::try_from(self.ids[row]).unwrap_or(0);
        if self.by_id.len() <= id {
            self.by_id.resize(id + 1, NONE);
        }
        self.by_id[id] = position;
    }

    fn conversation_number(&mut self, conversation: i64) -> u32 {
        // Consecutive messages usually belong to the same conversation.
        if let Some(last) = self.conversations.last()
            && self.conversation_ids[*last as usize] == conversation
        {
            return *last;
        }
        *self.conversation_numbers.entry(conversation).or_insert_with(|| {
            self.conversation_ids.push(conversation);
            self.ends.push((NONE, NONE));
            self.lengths.push(0);
            u32::try_from(self.conversation_ids.len() - 1).unwrap_or(NONE)
        })
    }

    /// Returns the value for `authors`. Names beyond the first 65,534 are dropped.
    fn author_number(&mut self, author: Option<&str>) -> u16 {
        let Some(author) = author else { return 0 };
        let index = self.names.iter().position(|name| name == author).unwrap_or_else(|| {
            self.names.push(author.to_owned());
            self.names.len() - 1
        });
        u16::try_from(index + 1).unwrap_or(0)
    }

    /// Packs rows into a segment.
    pub(super) fn pack(&self, rows: std::ops::Range<usize>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let conversations: Vec<i64> = self.conversations[rows.clone()]
            .iter()
            .map(|number| self.conversation_ids[*number as usize])
            .collect();
        columns::write(&mut bytes, &self.ids[rows.clone()]);
        columns::write(&mut bytes, &self.exchanges[rows.clone()]);
        columns::write(&mut bytes, &conversations);
        columns::write(&mut bytes, &self.created[rows.clone()]);
        columns::write(&mut bytes, &self.words[rows.clone()]);
        columns::write(&mut bytes, &self.tokens[rows.clone()]);
        columns::write(&mut bytes, &self.flags[rows.clone()]);
        // Each process numbers names differently, so the segment contains its own list of names.
        let mut names: Vec<&str> = Vec::new();
        let authors: Vec<u16> = rows
            .map(|row| match usize::from(self.authors[row]).checked_sub(1) {
                None => 0,
                Some(name) => {
                    let name = self.names[name].as_str();
                    let index = names.iter().position(|other| *other == name).unwrap_or_else(|| {
                        names.push(name);
                        names.len() - 1
                    });
                    u16::try_from(index + 1).unwrap_or(0)
                }
            })
            .collect();
        columns::write(&mut bytes, &authors);
        bytes.extend(names.join("\n").into_bytes());
        bytes
    }

    /// Adds the rows of a segment. Returns `false` if the segment is malformed.
    pub(super) fn unpack(&mut self, mut bytes: &[u8], count: usize) -> bool {
        let mut read = || {
            let ids = columns::read::<i64>(&mut bytes, count)?;
            let exchanges = columns::read::<i64>(&mut bytes, count)?;
            let conversations = columns::read::<i64>(&mut bytes, count)?;
            let created = columns::read::<i64>(&mut bytes, count)?;
            let words = columns::read::<u16>(&mut bytes, count)?;
            let tokens = columns::read::<u16>(&mut bytes, count)?;
            let flags = columns::read::<u8>(&mut bytes, count)?;
            let authors = columns::read::<u16>(&mut bytes, count)?;
            let names = std::str::from_utf8(bytes).ok()?;
            let names: Vec<u16> = match names {
                "" => Vec::new(),
                names => names.split('\n').map(|name| self.author_number(Some(name))).collect(),
            };
            self.ids.extend(ids);
            self.exchanges.extend(exchanges);
            self.created.extend(created);
            self.words.extend(words);
            self.tokens.extend(tokens);
            self.flags.extend(flags);
            let renumber =
                |author: u16| usize::from(author).checked_sub(1).and_then(|name| names.get(name).copied());
            self.authors.extend(authors.map(|author| renumber(author).unwrap_or(0)));
            conversations.for_each(|conversation| self.add_to_conversation(conversation));
            Some(())
        };
        read().is_some()
    }
}
