//! Memoir's data types: ids, conversations, exchanges, messages, usage, money, time, tokens.
//!
//! Plain data and the rules that apply to it. This crate does no I/O.

mod access;
mod answer;
mod conversation;
mod core_memory;
mod digest;
mod document;
mod exchange;
mod fence;
mod ids;
mod image;
mod injection;
mod input;
mod invisible;
mod lock;
mod mark;
mod message;
mod money;
mod passage;
pub mod setting;
mod summary;
mod task;
mod time;
mod tokens;
mod tool;
mod usage;
mod words;
mod work;

pub use access::{AccessToken, Right, TokenScope};
pub use answer::{Answer, Overview, OverviewDay, Quotation, Source};
pub use conversation::{Conversation, ConversationTarget, NewConversation};
pub use core_memory::{ChangedBy, CoreBlock, CoreChange, CoreEntry, UnknownBlock};
pub use digest::{Digest, PreparedSummary};
pub use document::{Chunk, Document, DocumentKind, DocumentPassage};
pub use exchange::{CallCost, Exchange, ExchangeDraft, ExchangeSource, ExchangeStatus, OWN_PROGRAM, Purpose};
pub use fence::escape_fence;
pub use ids::{ChunkId, ConversationId, DocumentId, ExchangeId, MessageId, RunId, TaskId};
pub use image::{Image, ImageError, MAX_IMAGE_BYTES};
pub use injection::{InjectedItem, InjectedSubject, Injection};
pub use input::{InputContent, InputPart, Origin, TurnInput};
pub use invisible::{is_invisible, is_unprintable, printable, reveal, reveal_on_one_line};
pub use jiff::tz::TimeZone;
pub use lock::lock;
pub use mark::{ExchangeMark, Mark};
pub use message::{DraftMessage, Message, MessageBody, Provenance, Role, Visibility};
pub use money::Usd;
pub use passage::{Correction, Passage, RecalledPassages, Recollection, RelatedConversation};
pub use summary::Summary;
pub use task::{NewTask, Run, RunOutcome, RunState, Schedule, Task};
pub use time::{Clock, SystemClock, Timestamp};
pub use tokens::count_tokens;
pub use tool::{ToolCall, ToolSpec};
pub use usage::Usage;
pub use words::{content_words, is_stop_word};
pub use work::{Subject, SubjectKind, WorkerKind};
