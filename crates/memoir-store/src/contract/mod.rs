//! The contract of a store: what every backend must do, as tests over the traits.
//!
//! [`contract_tests!`](crate::contract_tests) expands to one test per check. [`redaction_tests!`](crate::redaction_tests)
//! adds what must hold for a store behind the redaction layer. The functions below build test data.

#![expect(clippy::unwrap_used, reason = "this module is a test suite; a failure is meant to panic")]

#[doc(hidden)]
pub mod context;
#[doc(hidden)]
pub mod conversations;
#[doc(hidden)]
pub mod documents;
#[doc(hidden)]
pub mod forgetting;
#[doc(hidden)]
pub mod inspect;
#[doc(hidden)]
pub mod order;
#[doc(hidden)]
pub mod owning;
#[doc(hidden)]
pub mod permissions;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod redaction;
#[doc(hidden)]
pub mod schedules;
#[doc(hidden)]
pub mod search;
#[doc(hidden)]
pub mod work;

use memoir_core::{
    CallCost, ConversationTarget, DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, NewConversation,
    Provenance, Purpose, Recalled, Subject, Timestamp, Usage, Usd, Visibility,
};

use crate::{Embeddable, NewEmbedding};

/// Expands to one `#[tokio::test]` for each check of the contract, named after it.
///
/// `open` is an async function without arguments that returns an empty store as `Arc<dyn Store>`, and a guard that is
/// kept until the test ends, such as a temporary directory. Use the macro in a module of its own for each way to open
/// a store.
#[macro_export]
macro_rules! contract_tests {
    ($open:expr) => {
        $crate::contract_tests! { $open =>
            conversations::an_exchange_comes_back_as_it_was_committed,
            conversations::a_conversation_comes_with_its_first_exchange,
            conversations::a_vanished_conversation_takes_no_exchange,
            conversations::the_window_is_the_newest_exchanges_oldest_first,
            conversations::writers_side_by_side_lose_nothing,
            order::exchanges_are_in_the_order_of_commits_when_the_clock_goes_back,
            order::conversations_do_not_disturb_each_others_order,
            order::messages_keep_the_order_of_their_draft,
            order::a_fork_continues_the_order_of_its_parent,
            order::a_search_before_an_exchange_finds_what_was_committed_before_it,
            order::lists_by_time_are_in_the_order_of_time,
            search::words_find_what_was_said_and_nothing_else,
            search::rarer_words_and_more_of_them_count_more,
            search::no_word_is_a_syntax_error,
            search::filters_are_part_of_every_search,
            search::vectors_find_the_nearest_and_only_once,
            context::core_memory_is_changed_by_who_has_seen_it_and_undone,
            context::a_digest_is_replaced_by_who_has_seen_it,
            work::work_is_taken_on_once_and_comes_back_when_it_failed,
            work::a_conversation_that_grew_is_summarised_again,
            work::vectors_are_made_once_and_follow_their_texts,
            work::a_digest_is_asked_for_and_made,
            documents::a_document_is_filed_changed_and_forgotten,
            documents::chunks_are_found_by_meaning_words_and_time,
            documents::chunks_get_their_vectors_once,
            documents::what_was_said_is_read_by_conversation_and_time,
            documents::posts_keep_to_their_project,
            documents::what_was_brought_in_is_known_again,
            forgetting::what_is_forgotten_is_gone_and_the_rest_is_there,
            owning::marks_stand_until_they_are_taken_away_or_forgotten,
            owning::a_fork_goes_on_from_what_was_said,
            owning::a_line_of_forks_holds_when_its_middle_goes,
            owning::an_answer_takes_the_place_of_another,
            owning::a_commit_conflicts_with_an_exchange_it_has_not_seen,
            permissions::rules_are_kept_for_a_project_or_everywhere,
            inspect::tables_are_listed_with_their_sizes,
            inspect::queries_read_and_change_nothing,
            schedules::a_run_is_begun_once_and_its_outcome_is_kept,
            schedules::a_task_waits_is_set_and_goes_with_its_runs,
            program::settings_are_kept_changed_and_removed,
            program::command_history_keeps_order_and_skips_repetition,
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
        provenance: Provenance::Said,
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

/// A plain question and answer at a moment.
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
        recalled: Recalled::default(),
        tool_call_count: 0,
        error: None,
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

/// A conversation that does not exist yet.
pub fn new_conversation(title: &str, scope: &str) -> ConversationTarget {
    ConversationTarget::New(NewConversation { title: title.into(), scope: scope.into() })
}

/// A vector of what said `text`.
pub fn embedding(subject: Subject, vector: &[f32], text: &str) -> NewEmbedding {
    NewEmbedding { subject, vector: vector.to_vec(), text: text.to_owned() }
}

/// Vectors of a model called "m", of messages of at least so many tokens.
pub fn embeddable(shortest: u32) -> Embeddable<'static> {
    Embeddable { model: "m", shortest }
}
