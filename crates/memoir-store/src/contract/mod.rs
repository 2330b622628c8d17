//! The test suite that every backend must pass.
//!
//! [`contract_tests!`](crate::contract_tests) expands to one test per check.
//! [`redaction_tests!`](crate::redaction_tests) adds the checks for a store behind the redaction layer. The functions
//! below build test data.

#![expect(clippy::unwrap_used, reason = "a failed check should panic")]

#[doc(hidden)]
pub mod context;
#[doc(hidden)]
pub mod conversations;
#[doc(hidden)]
pub mod documents;
#[doc(hidden)]
pub mod edits;
#[doc(hidden)]
pub mod forgetting;
#[doc(hidden)]
pub mod inspect;
#[doc(hidden)]
pub mod jobs;
#[doc(hidden)]
pub mod order;
#[doc(hidden)]
pub mod permissions;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod programs;
#[doc(hidden)]
pub mod redaction;
#[doc(hidden)]
pub mod schedules;
#[doc(hidden)]
pub mod search;
#[doc(hidden)]
pub mod sharing;
#[doc(hidden)]
pub mod statistics;

use memoir_core::{
    CallCost, ConversationTarget, DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, NewConversation,
    Provenance, Purpose, RecalledPassages, Subject, Timestamp, Usage, Usd, Visibility,
};

use crate::{EmbeddingSelection, NewEmbedding};

/// Expands to one `#[tokio::test]` for each check of the contract, named after it.
///
/// `open` is an async function without arguments that returns an empty store as `Arc<dyn Store>`, and a guard that is
/// dropped when the test ends, such as a temporary directory. Use the macro in a separate module for each way to open a
/// store.
#[macro_export]
macro_rules! contract_tests {
    ($open:expr) => {
        $crate::contract_tests! { $open =>
            conversations::exchange_is_read_back_as_committed,
            conversations::first_exchange_creates_the_conversation,
            conversations::commit_to_missing_conversation_fails,
            conversations::newest_exchanges_are_returned_oldest_first,
            conversations::concurrent_writers_lose_nothing,
            order::exchanges_keep_commit_order_when_the_clock_goes_back,
            order::conversations_and_exchanges_are_read_in_pages,
            order::interleaved_conversations_keep_their_order,
            order::messages_keep_the_order_of_their_draft,
            order::fork_continues_the_order_of_its_parent,
            order::search_before_an_exchange_finds_earlier_commits,
            order::lists_are_sorted_by_time,
            search::keyword_search_finds_only_said_messages,
            search::messages_of_a_period_are_listed_oldest_first,
            search::conversations_that_only_look_things_up_can_be_skipped,
            search::rare_and_repeated_words_score_higher,
            search::special_characters_are_not_syntax_errors,
            search::filters_apply_before_ranking,
            search::nearest_messages_are_found_once,
            programs::injections_forget_what_was_deleted,
            programs::states_of_transcripts_are_replaced,
            statistics::activity_is_counted_in_quarters_of_an_hour,
            statistics::what_was_recalled_is_listed_until_it_is_deleted,
            programs::exchanges_that_are_stored_are_recognized,
            programs::continuations_lead_to_the_latest_exchange_until_it_is_deleted,
            programs::changes_are_listed_once,
            programs::tokens_are_found_by_hash_until_they_are_revoked,
            sharing::programs_see_their_project_and_what_is_shared,
            sharing::documents_are_visible_in_their_project_or_if_shared,
            context::core_memory_rejects_stale_changes_and_can_be_undone,
            context::stale_digest_writes_are_rejected,
            jobs::jobs_are_claimed_once_and_retried_after_failure,
            jobs::grown_conversation_is_summarized_again,
            jobs::embeddings_are_created_once_and_follow_their_texts,
            jobs::requested_digest_is_claimed_and_prepared,
            documents::document_is_stored_changed_and_deleted,
            documents::chunks_are_found_by_meaning_word_and_date,
            documents::chunks_are_embedded_once,
            documents::transcript_is_selected_by_conversation_and_time,
            documents::posts_are_limited_to_their_project,
            documents::repeated_import_continues_the_conversation,
            forgetting::forgetting_deletes_only_the_selection,
            edits::marks_last_until_removed_or_deleted,
            edits::fork_starts_with_its_parents_exchanges,
            edits::fork_survives_deletion_of_its_parent,
            edits::retried_answer_replaces_the_original,
            edits::commit_conflicts_with_unseen_exchange,
            permissions::rules_apply_to_one_project_or_all,
            inspect::tables_are_listed_with_row_counts,
            inspect::queries_cannot_change_data,
            schedules::run_starts_once_and_keeps_its_outcome,
            schedules::task_is_paused_rescheduled_and_deleted_with_its_runs,
            program::settings_are_stored_changed_and_removed,
            program::command_history_keeps_order_and_skips_repeats,
            program::costs_add_up_and_unknown_prices_are_counted,
        }
    };
    ($open:expr => $($area:ident::$check:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $check() {
                let (store, _guard) = $open().await;
                $crate::contract::$area::$check(::std::sync::Arc::clone(&store)).await;
                store.close().await;
            }
        )*
    };
}

/// Expands to one `#[tokio::test]` for each check of the redaction layer. Takes the same argument as
/// [`contract_tests!`](crate::contract_tests).
#[macro_export]
macro_rules! redaction_tests {
    ($open:expr) => {
        $crate::contract_tests! { $open =>
            redaction::secrets_in_an_exchange_are_recorded_once_per_message,
            redaction::secrets_in_tool_calls_are_removed,
            redaction::secrets_in_imports_are_removed_and_recorded,
            redaction::secrets_in_lines_and_core_memory_are_removed_and_recorded,
            redaction::secrets_in_documents_are_removed_and_recorded,
            redaction::secrets_in_derived_text_are_removed_without_a_record,
            redaction::secrets_in_jobs_and_tasks_are_removed,
        }
    };
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn draft_message(body: MessageBody, created: i64) -> DraftMessage {
    DraftMessage {
        author: None,
        body,
        visibility: Visibility::Shown,
        provenance: Provenance::Original,
        by_others: false,
        tokens: 4,
        created: timestamp(created),
    }
}

fn user(text: &str) -> MessageBody {
    MessageBody::User { text: text.into() }
}

fn assistant(text: &str) -> MessageBody {
    MessageBody::Assistant { text: text.into(), tool_calls: Vec::new() }
}

/// Returns an exchange with one prompt and one answer, started at `moment` in milliseconds.
pub fn exchange(question: &str, answer: &str, moment: i64) -> ExchangeDraft {
    ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: timestamp(moment),
        completed: timestamp(moment + 10),
        user_message: question.into(),
        assistant_message: answer.into(),
        model: "test/model".into(),
        messages: vec![draft_message(user(question), moment), draft_message(assistant(answer), moment + 10)],
        calls: vec![call(Some(Usd::from_nanos(1500)), moment + 10)],
        recalled: RecalledPassages::default(),
        tool_call_count: 0,
        error: None,
        source: None,
    }
}

fn call(cost: Option<Usd>, moment: i64) -> CallCost {
    CallCost {
        purpose: Purpose::Chat,
        model: "test/model".into(),
        usage: Usage {
            input_tokens: 10,
            output_tokens: 5,
            cached_tokens: 4,
            cache_write_tokens: 2,
            reasoning_tokens: 1,
        },
        cost,
        created: timestamp(moment),
    }
}

/// Returns a target that creates a conversation.
pub fn new_conversation(title: &str, scope: &str) -> ConversationTarget {
    ConversationTarget::New(NewConversation { title: title.into(), scope: scope.into() })
}

/// Returns an embedding of `subject` that was computed from `text`.
pub fn embedding(subject: Subject, vector: &[f32], text: &str) -> NewEmbedding {
    NewEmbedding { subject, parts: vec![(0..text.len(), vector.to_vec())], text: text.to_owned() }
}

/// Selects messages of at least `min_tokens` tokens for the embedding model "m".
pub fn embeddable(min_tokens: u32) -> EmbeddingSelection<'static> {
    EmbeddingSelection { model: "m", min_tokens }
}
