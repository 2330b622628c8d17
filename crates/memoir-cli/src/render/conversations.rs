//! Formats conversations and exchanges.

use std::fmt::Write as _;

use memoir_core::{Conversation, ConversationId, Exchange, Message, Role, TimeZone, Timestamp};
use memoir_runtime::{
    operations::conversations::{ConversationsReport, ExchangeReport},
    printable,
};
use memoir_store::ConversationTitle;

use crate::screen::{render_markdown, wrap_text};

/// Returns one line per conversation.
pub(crate) fn list(report: &ConversationsReport, zone: &TimeZone) -> String {
    if report.conversations.is_empty() {
        return "No conversations found.\n".into();
    }
    let line = |conversation: &Conversation| {
        format!(
            "{:>6}  {}  {}\n",
            conversation.id,
            conversation.updated.format_minute(zone),
            name(&conversation.scope, &conversation.title, conversation.forked_from)
        )
    };
    let more = if report.has_more { "These are the latest. `--limit N` lists more.\n" } else { "" };
    report.conversations.iter().map(line).chain([more.to_owned()]).collect()
}

/// Returns a conversation in one line, with its age instead of its time.
pub(crate) fn choice(conversation: &ConversationTitle, now: Timestamp, zone: &TimeZone) -> String {
    let ConversationTitle { id, title, scope, updated, forked_from, is_single } = conversation;
    let single = if *is_single { " (one question)" } else { "" };
    format!("{id:>6}  {:>10}  {}{single}", age(*updated, now, zone), name(scope, title, *forked_from))
}

fn name(scope: &str, title: &str, forked_from: Option<ConversationId>) -> String {
    let project = scope.rsplit('/').next().unwrap_or_default();
    let fork = forked_from.map(|parent| format!(" (fork of {parent})")).unwrap_or_default();
    format!("{}: {}{fork}", printable(project), printable(title))
}

/// Returns how long ago something was, or its day if that is long ago.
fn age(then: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let minutes = (now.as_millis() - then.as_millis()) / 60_000;
    match minutes {
        ..1 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..1440 => format!("{} h ago", minutes / 60),
        1440..2880 => "yesterday".to_owned(),
        2880..43_200 => format!("{} d ago", minutes / 1440),
        _ => then.format_minute(zone).chars().take(10).collect(),
    }
}

/// Maximum number of lines of a prompt and of an answer in [`latest`].
const MAX_LATEST_LINES: usize = 8;

/// Returns the beginnings of exchanges, oldest first, to remind the user of a conversation.
pub(crate) fn latest(exchanges: &[Exchange], zone: &TimeZone) -> String {
    let shorten = |text: &str| {
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let ellipsis = if lines.len() > MAX_LATEST_LINES { "\n…" } else { "" };
        format!("{}{ellipsis}", lines[..lines.len().min(MAX_LATEST_LINES)].join("\n"))
    };
    let entry = |exchange: &Exchange| {
        let prompt = shorten(&wrap_text(&format!("> {}", exchange.user_message.trim_end())));
        let answer = shorten(&render_markdown(exchange.assistant_message.trim_end()));
        format!("{}\n{prompt}\n{answer}\n", exchange.started.format_minute(zone))
    };
    exchanges.iter().map(entry).collect()
}

/// Returns an exchange with all its messages.
pub(crate) fn exchange(report: &ExchangeReport, zone: &TimeZone) -> String {
    let ExchangeReport { exchange, messages, .. } = report;
    let mut text = format!(
        "exchange {}, conversation {}, {}, {}\n",
        exchange.id,
        exchange.conversation_id,
        exchange.started.format_minute(zone),
        printable(&exchange.model),
    );
    for message in messages {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n[{}] {}", message.id, speaker(message));
        text.push_str(&render_markdown(message.body.text()));
    }
    text
}

fn speaker(message: &Message) -> String {
    match (&message.author, message.body.role()) {
        (Some(name), _) => printable(name).into_owned(),
        (None, Role::User) => "you".into(),
        (None, Role::Assistant) => "assistant".into(),
        (None, Role::Tool) => "tool".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        let hour = 3_600_000;
        let now = Timestamp::from_millis(1_000 * hour);
        let ages = [0, hour / 4, 5 * hour, 30 * hour, 100 * hour, 900 * hour]
            .map(|ago| age(Timestamp::from_millis(now.as_millis() - ago), now, &TimeZone::UTC));
        assert_eq!(ages, ["just now", "15 min ago", "5 h ago", "yesterday", "4 d ago", "1970-01-05"]);
    }
}
