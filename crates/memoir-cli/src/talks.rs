//! Conversations, for reading: lists of them, one of them, an exchange.

use std::{
    fmt::Write as _,
    io::{Write as _, stdout},
    path::{Path, PathBuf},
};

use memoir_core::{Conversation, ConversationId, Exchange, Message, Role, TimeZone, Visibility};
use memoir_store::{ConversationList, ConversationTitle, Store};
use serde_json::json;

use memoir_runtime::{
    failure::{Failure, FailureKind},
    printable, scope,
};

use crate::{answer_view::rendered, args::ConversationsCommand};

/// Does what is asked.
pub(crate) async fn run(
    command: ConversationsCommand,
    store: &dyn Store,
    zone: &TimeZone,
) -> Result<(), Failure> {
    match command {
        ConversationsCommand::List { matching, scope, limit, json } => {
            let list =
                ConversationList { scope: scope.as_deref().map(project), matching, limit, said_here: false };
            let found = store.conversations(&list).await?;
            if json {
                let text = serde_json::to_string(&found).map_err(std::io::Error::from)?;
                return Ok(writeln!(stdout(), "{text}")?);
            }
            if found.is_empty() {
                return Ok(writeln!(stdout(), "There is no such conversation.")?);
            }
            for conversation in found {
                writeln!(stdout(), "{}", line(&conversation.into(), zone))?;
            }
            Ok(())
        }
        ConversationsCommand::Show { id, json } => {
            let conversation = find(ConversationId::new(id), store).await?;
            if json {
                return show_json(&conversation, store).await;
            }
            write!(stdout(), "{}", rendered(&markdown(&conversation, store, zone).await?))?;
            Ok(())
        }
    }
}

/// The project that a folder belongs to; one that is gone is still remembered.
pub(crate) fn project(directory: &Path) -> String {
    let found = if directory.is_dir() { scope::project_of(directory) } else { PathBuf::from(directory) };
    found.to_string_lossy().into_owned()
}

/// A conversation, which must be there.
pub(crate) async fn find(id: ConversationId, store: &dyn Store) -> Result<Conversation, Failure> {
    store.conversation(id).await?.ok_or_else(|| {
        Failure::new(FailureKind::Usage, format!("there is no conversation {id}"))
            .hint("memoir conversations list shows them.")
    })
}

/// A conversation in one line.
pub(crate) fn line(conversation: &ConversationTitle, zone: &TimeZone) -> String {
    let project = conversation.scope.rsplit('/').next().unwrap_or_default();
    let fork = conversation.forked_from.map(|parent| format!(" (fork of {parent})")).unwrap_or_default();
    format!(
        "{:>6}  {}  {}: {}{fork}",
        conversation.id,
        conversation.updated.minute_in(zone),
        printable(project),
        printable(&conversation.title),
    )
}

/// An exchange with all its messages.
pub(crate) async fn show_exchange(
    exchange: &Exchange,
    store: &dyn Store,
    zone: &TimeZone,
    json: bool,
) -> Result<(), Failure> {
    let messages = store.exchange_messages(exchange.id).await?;
    if json {
        let summary = store.exchange_summary(exchange.id).await?;
        let value = json!({"exchange": exchange, "summary": summary, "messages": messages});
        return Ok(writeln!(stdout(), "{value}")?);
    }
    writeln!(
        stdout(),
        "exchange {}, conversation {}, {}, {}",
        exchange.id,
        exchange.conversation_id,
        exchange.started.minute_in(zone),
        printable(&exchange.model),
    )?;
    for message in &messages {
        writeln!(stdout(), "\n[{}] {}", message.id, who(message))?;
        write!(stdout(), "{}", rendered(message.body.text()))?;
    }
    Ok(())
}

fn who(message: &Message) -> String {
    match (&message.author, message.body.role()) {
        (Some(name), _) => printable(name).into_owned(),
        (None, Role::User) => "you".into(),
        (None, Role::Assistant) => "assistant".into(),
        (None, Role::Tool) => "tool".into(),
    }
}

async fn show_json(conversation: &Conversation, store: &dyn Store) -> Result<(), Failure> {
    let mut exchanges = Vec::new();
    for exchange in store.exchanges(conversation.id, u32::MAX).await? {
        let messages = store.exchange_messages(exchange.id).await?;
        let summary = store.exchange_summary(exchange.id).await?;
        exchanges.push(json!({"exchange": exchange, "summary": summary, "messages": messages}));
    }
    let summary = store.conversation_summary(conversation.id).await?.map(|written| written.summary);
    let digest = store
        .digest(conversation.id)
        .await?
        .map(|digest| json!({"through": digest.through, "summary": digest.summary, "pinned": digest.pinned}));
    let value = json!({
        "conversation": conversation, "summary": summary, "digest": digest, "exchanges": exchanges,
    });
    Ok(writeln!(stdout(), "{value}")?)
}

/// A conversation to read: what was asked and answered.
pub(crate) async fn markdown(
    conversation: &Conversation,
    store: &dyn Store,
    zone: &TimeZone,
) -> Result<String, Failure> {
    let mut text = format!(
        "# {}\n\nConversation {}, {}, in {}\n",
        conversation.title.trim(),
        conversation.id,
        conversation.created.minute_in(zone),
        if conversation.scope.is_empty() { "no project" } else { &conversation.scope },
    );
    for exchange in store.exchanges(conversation.id, u32::MAX).await? {
        let messages = store.exchange_messages(exchange.id).await?;
        for message in messages.iter().filter(|message| message.visibility == Visibility::Shown) {
            let name = match who(message).as_str() {
                "you" => "You".to_owned(),
                "assistant" => exchange.model.clone(),
                other => other.to_owned(),
            };
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n## {name}, {}\n\n{}\n",
                message.created.minute_in(zone),
                message.body.text().trim_end()
            );
        }
    }
    Ok(text)
}
