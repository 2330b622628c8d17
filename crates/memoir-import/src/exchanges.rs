//! Talk cut into exchanges: what belongs together, what was asked in it and what was answered.

use memoir_core::{
    DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, Recalled, Role, Timestamp, Visibility,
    count_tokens,
};

/// After so long a silence people talk of something else, in milliseconds.
const SILENCE: i64 = 30 * 60 * 1000;

/// So many messages of people are one exchange at most.
const MOST: usize = 10;

/// Messages as exchanges that wait to be filed.
pub(crate) fn exchanges(messages: &[DraftMessage], model: &str) -> Vec<ExchangeDraft> {
    stretches(messages).into_iter().map(|stretch| draft(stretch, model)).collect()
}

/// Stretches of talk that belong together.
fn stretches(messages: &[DraftMessage]) -> Vec<&[DraftMessage]> {
    let mut stretches = Vec::new();
    let mut start = 0;
    for end in 1..=messages.len() {
        let so_far = &messages[start..end];
        if !messages.get(end).is_some_and(|next| goes_on(so_far, next)) {
            stretches.push(so_far);
            start = end;
        }
    }
    stretches
}

/// Whether a message belongs to those before it. People fall silent; with a model, what the user says after an answer begins
/// something new.
fn goes_on(so_far: &[DraftMessage], next: &DraftMessage) -> bool {
    let Some(last) = so_far.last() else { return false };
    match (&last.author, &next.author) {
        (Some(_), Some(_)) => {
            let silence = next.created.as_millis().saturating_sub(last.created.as_millis());
            silence < SILENCE && so_far.len() < MOST
        }
        (None, None) => next.body.role() != Role::User || last.body.role() == Role::User,
        _ => false,
    }
}

fn draft(messages: &[DraftMessage], model: &str) -> ExchangeDraft {
    let among_people = messages.iter().any(|message| message.author.is_some());
    let answer = if among_people { None } else { messages.iter().rposition(answers) };
    let settled = messages.iter().enumerate().map(|(place, message)| DraftMessage {
        visibility: match &message.body {
            _ if among_people => message.visibility,
            MessageBody::User { .. } => message.visibility,
            MessageBody::Assistant { tool_calls, .. } if tool_calls.is_empty() && answer == Some(place) => {
                message.visibility
            }
            MessageBody::Assistant { .. } | MessageBody::Tool { .. } => Visibility::Redacted,
        },
        tokens: count_tokens(message.body.text()) as u64,
        ..message.clone()
    });
    let times = || messages.iter().map(|message| message.created);
    ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: times().min().unwrap_or(Timestamp::from_millis(0)),
        completed: times().max().unwrap_or(Timestamp::from_millis(0)),
        user_message: asked(messages, among_people),
        assistant_message: answer.map(|place| messages[place].body.text().to_owned()).unwrap_or_default(),
        model: model.to_owned(),
        messages: settled.collect(),
        calls: Vec::new(),
        recalled: Recalled::default(),
        tool_call_count: messages.iter().filter(|message| message.body.role() == Role::Tool).count() as u64,
        error: None,
    }
}

/// Whether it is a model's words.
fn answers(message: &DraftMessage) -> bool {
    message.body.role() == Role::Assistant && !message.body.text().trim().is_empty()
}

/// What was asked: everything that people say to each other, or what the user said.
fn asked(messages: &[DraftMessage], among_people: bool) -> String {
    let of_users = messages.iter().filter(|message| message.body.role() == Role::User);
    let said: Vec<String> = of_users
        .map(|message| match &message.author {
            Some(author) => format!("{author}: {}", message.body.text()),
            None => message.body.text().to_owned(),
        })
        .collect();
    said.join(if among_people { "\n" } else { "\n\n" })
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

    fn calling(second: i64, text: &str) -> DraftMessage {
        let call = ToolCall { id: "1".into(), name: "look".into(), arguments: json!({}) };
        let body = MessageBody::Assistant { text: text.into(), tool_calls: vec![call] };
        DraftMessage { body, ..drafts::assistant(seconds(second), "") }
    }

    fn tool(second: i64, text: &str) -> DraftMessage {
        let body = MessageBody::Tool { call_id: "1".into(), tool_name: "look".into(), text: text.into() };
        DraftMessage { body, ..drafts::assistant(seconds(second), "") }
    }

    #[test]
    fn a_long_silence_or_much_talk_begins_another_exchange() {
        let minutes = (0..25).chain([90, 91]);
        let talk: Vec<DraftMessage> =
            minutes.map(|minute| drafts::person("Anna", seconds(minute * 60), "talk")).collect();
        let lengths: Vec<usize> = stretches(&talk).iter().map(|stretch| stretch.len()).collect();
        assert_eq!(lengths, [10, 10, 5, 2]);
        let last = &exchanges(&talk, "imported")[3];
        assert_eq!(
            (last.user_message.as_str(), last.assistant_message.as_str()),
            ("Anna: talk\nAnna: talk", "")
        );
        assert_eq!(last.messages[0].tokens, 1);
    }

    #[test]
    fn what_the_user_says_after_an_answer_begins_another_exchange() {
        let talk = [
            drafts::assistant(seconds(0), "Hello, what is it?"),
            drafts::user(seconds(1), "Two things."),
            drafts::user(seconds(2), "First: where is it?"),
            drafts::assistant(seconds(3), "I will look."),
            calling(4, "Looking."),
            tool(5, "a.txt"),
            drafts::assistant(seconds(6), "In a.txt."),
            drafts::user(seconds(90_000), "And second?"),
        ];
        let drafts = exchanges(&talk, "gpt-4");
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
        let shown: Vec<&str> = second
            .messages
            .iter()
            .filter(|message| message.visibility == Visibility::Shown)
            .map(|message| message.body.text())
            .collect();
        assert_eq!(shown, ["Two things.", "First: where is it?", "In a.txt."]);
    }

    #[test]
    fn people_and_models_do_not_share_an_exchange() {
        let talk = [
            drafts::person("Anna", seconds(0), "hi"),
            drafts::user(seconds(1), "What did Anna say?"),
            drafts::assistant(seconds(2), "hi"),
            drafts::person("Ben", seconds(3), "hello"),
        ];
        let lengths: Vec<usize> = stretches(&talk).iter().map(|stretch| stretch.len()).collect();
        assert_eq!(lengths, [1, 2, 1]);
    }
}
