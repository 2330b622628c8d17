//! Formats conversations and exchanges.

use std::fmt::Write as _;

use memoir_core::{Message, Role, TimeZone};
use memoir_runtime::{
    operations::conversations::{ConversationsReport, ExchangeReport},
    printable,
};
use memoir_store::ConversationTitle;

use crate::screen::render_markdown;

/// Returns one line per conversation.
pub(crate) fn list(report: &ConversationsReport, zone: &TimeZone) -> String {
    if report.conversations.is_empty() {
        return "No conversations found.\n".into();
    }
    let titles = report.conversations.iter().cloned().map(ConversationTitle::from);
    titles.map(|title| line(&title, zone) + "\n").collect()
}

/// Returns the ID, time, project and title of a conversation.
pub(crate) fn line(conversation: &ConversationTitle, zone: &TimeZone) -> String {
    let project = conversation.scope.rsplit('/').next().unwrap_or_default();
    let fork = conversation.forked_from.map(|parent| format!(" (fork of {parent})")).unwrap_or_default();
    format!(
        "{:>6}  {}  {}: {}{fork}",
        conversation.id,
        conversation.updated.format_minute(zone),
        printable(project),
        printable(&conversation.title),
    )
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
