//! Splits imported messages into exchanges.

use memoir_core::{
    DraftMessage, ExchangeDraft, ExchangeSource, ExchangeStatus, MessageBody, RecalledPassages, Role,
    Timestamp, Visibility, count_tokens,
};

/// Pause in milliseconds after which a chat between people is assumed to change topic.
const NEW_TOPIC_PAUSE: i64 = 30 * 60 * 1000;

/// Maximum number of messages between people in one exchange.
const MAX_CHAT_MESSAGES: usize = 10;

pub(crate) fn into_exchanges(
    messages: &[DraftMessage],
    model: &str,
    source: Option<&ExchangeSource>,
) -> Vec<ExchangeDraft> {
    let with_source = |draft| ExchangeDraft { source: source.cloned(), ..draft };
    split(messages).into_iter().map(|group| with_source(draft(group, model))).collect()
}

/// Splits messages into groups that become one exchange each.
fn split(messages: &[DraftMessage]) -> Vec<&[DraftMessage]> {
    let mut groups = Vec::new();
    let mut start = 0;
    for end in 1..=messages.len() {
        let group = &messages[start..end];
        if !messages.get(end).is_some_and(|next| continues(group, next)) {
            groups.push(group);
            start = end;
        }
    }
    groups
}

/// Returns whether a message continues a group. A pause ends an exchange between people; a prompt after an
/// answer starts a new exchange with a model.
fn continues(group: &[DraftMessage], next: &DraftMessage) -> bool {
    let Some(last) = group.last() else { return false };
    match (&last.author, &next.author) {
        (Some(_), Some(_)) => {
            let pause = next.created.as_millis().saturating_sub(last.created.as_millis());
            pause < NEW_TOPIC_PAUSE && group.len() < MAX_CHAT_MESSAGES
        }
        (None, None) => next.body.role() != Role::User || last.body.role() == Role::User,
        _ => false,
    }
}

fn draft(messages: &[DraftMessage], model: &str) -> ExchangeDraft {
    let is_chat = messages.iter().any(|message| message.author.is_some());
    let answer_index = if is_chat { None } else { messages.iter().rposition(is_answer) };
    let stored_messages = messages.iter().enumerate().map(|(index, message)| DraftMessage {
        visibility: match &message.body {
            _ if is_chat => message.visibility,
            MessageBody::User { .. } => message.visibility,
            MessageBody::Assistant { tool_calls, .. }
                if tool_calls.is_empty() && answer_index == Some(index) =>
            {
                message.visibility
            }
            MessageBody::Assistant { .. } | MessageBody::Tool { .. } => Visibility::Hidden,
        },
        tokens: count_tokens(message.body.text()) as u64,
        ..message.clone()
    });
    let times = || messages.iter().map(|message| message.created);
    ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: times().min().unwrap_or(Timestamp::from_millis(0)),
        completed: times().max().unwrap_or(Timestamp::from_millis(0)),
        user_message: user_text(messages, is_chat),
        assistant_message: answer_index
            .map(|index| messages[index].body.text().to_owned())
            .unwrap_or_default(),
        model: model.to_owned(),
        messages: stored_messages.collect(),
        calls: Vec::new(),
        recalled: RecalledPassages::default(),
        tool_call_count: messages.iter().filter(|message| message.body.role() == Role::Tool).count() as u64,
        error: None,
        source: None,
    }
}

fn is_answer(message: &DraftMessage) -> bool {
    message.body.role() == Role::Assistant && !message.body.text().trim().is_empty()
}

/// Returns the user's prompts, or all messages of a chat between people with their authors.
fn user_text(messages: &[DraftMessage], is_chat: bool) -> String {
    let user_messages = messages.iter().filter(|message| message.body.role() == Role::User);
    let texts: Vec<String> = user_messages
        .map(|message| match &message.author {
            Some(author) => format!("{author}: {}", message.body.text()),
            None => message.body.text().to_owned(),
        })
        .collect();
    texts.join(if is_chat { "\n" } else { "\n\n" })
}

#[cfg(test)]
mod tests {
    use memoir_core::ToolCall;
    use serde_json::json;

    use super::*;
    use crate::drafts;

    fn seconds(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1000)
    }

    fn tool_call(second: i64, text: &str) -> DraftMessage {
        let call = ToolCall { id: "1".into(), name: "look".into(), arguments: json!({}) };
        let body = MessageBody::Assistant { text: text.into(), tool_calls: vec![call] };
        DraftMessage { body, ..drafts::assistant(seconds(second), "") }
    }

    fn tool_result(second: i64, text: &str) -> DraftMessage {
        let body = MessageBody::Tool { call_id: "1".into(), tool_name: "look".into(), text: text.into() };
        DraftMessage { body, ..drafts::assistant(seconds(second), "") }
    }

    #[test]
    fn a_long_pause_or_many_messages_start_another_exchange() {
        let minutes = (0..25).chain([90, 91]);
        let messages: Vec<DraftMessage> =
            minutes.map(|minute| drafts::person("Anna", seconds(minute * 60), "text")).collect();
        let lengths: Vec<usize> = split(&messages).iter().map(|group| group.len()).collect();
        assert_eq!(lengths, [10, 10, 5, 2]);
        let last = &into_exchanges(&messages, "imported", None)[3];
        assert_eq!(
            (last.user_message.as_str(), last.assistant_message.as_str()),
            ("Anna: text\nAnna: text", "")
        );
        assert_eq!(last.messages[0].tokens, 1);
    }

    #[test]
    fn a_prompt_after_an_answer_starts_another_exchange() {
        let messages = [
            drafts::assistant(seconds(0), "Hello, what is it?"),
            drafts::user(seconds(1), "Two things."),
            drafts::user(seconds(2), "First: where is it?"),
            drafts::assistant(seconds(3), "I will look."),
            tool_call(4, "Looking."),
            tool_result(5, "a.txt"),
            drafts::assistant(seconds(6), "In a.txt."),
            drafts::user(seconds(90_000), "And second?"),
        ];
        let drafts = into_exchanges(&messages, "gpt-4", None);
        let texts: Vec<(&str, &str, usize)> = drafts
            .iter()
            .map(|draft| {
                (draft.user_message.as_str(), draft.assistant_message.as_str(), draft.messages.len())
            })
            .collect();
        assert_eq!(
            texts,
            [
                ("", "Hello, what is it?", 1),
                ("Two things.\n\nFirst: where is it?", "In a.txt.", 6),
                ("And second?", "", 1)
            ]
        );
        assert!(drafts.iter().all(|draft| draft.model == "gpt-4"));
        let second = &drafts[1];
        assert_eq!((second.started, second.completed, second.tool_call_count), (seconds(1), seconds(6), 1));
        let visible: Vec<&str> = second
            .messages
            .iter()
            .filter(|message| message.visibility == Visibility::Shown)
            .map(|message| message.body.text())
            .collect();
        assert_eq!(visible, ["Two things.", "First: where is it?", "In a.txt."]);
    }

    #[test]
    fn people_and_models_do_not_share_an_exchange() {
        let messages = [
            drafts::person("Anna", seconds(0), "hi"),
            drafts::user(seconds(1), "What did Anna say?"),
            drafts::assistant(seconds(2), "hi"),
            drafts::person("Ben", seconds(3), "hello"),
        ];
        let lengths: Vec<usize> = split(&messages).iter().map(|group| group.len()).collect();
        assert_eq!(lengths, [1, 2, 1]);
    }
}
