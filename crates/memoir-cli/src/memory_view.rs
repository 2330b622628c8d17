//! What is remembered, in the user's hands: `memoir memory` and `/memory`.

use std::{
    io::{Write as _, stdout},
    path::Path,
};

use anstream::println;
use memoir_core::{Clock as _, ConversationId, Exchange, ExchangeId, Mark, Marked, MessageId, SystemClock};
use memoir_docs::remove_post_file;
use memoir_recall::Recall;
use memoir_store::{Forget, Forgotten};
use serde_json::json;

use memoir_runtime::{
    dates,
    failure::{Failure, FailureKind},
    home::Home,
    printable,
};

use crate::{
    args::{ForgetArgs, MemoryCommand},
    core_memory::{self, Place},
    documents, question, talks,
};

/// What it takes to look after memory.
pub(crate) struct Keeper<'a> {
    pub(crate) recall: &'a Recall,
    pub(crate) home: &'a Home,
    /// The conversation that is going on.
    pub(crate) conversation: Option<ConversationId>,
    /// How the command for this is called where the user is.
    pub(crate) command: &'a str,
}

/// Does what is asked.
pub(crate) async fn run(command: MemoryCommand, keeper: &Keeper<'_>) -> Result<(), Failure> {
    let folder = keeper.home.data();
    let project = keeper.recall.scope.as_deref().unwrap_or_default();
    let place =
        Place { store: keeper.recall.store.as_ref(), project, folder: &folder, command: keeper.command };
    match command {
        MemoryCommand::List { json: false } | MemoryCommand::Show { exchange: None, json: false } => {
            list(keeper, place).await
        }
        MemoryCommand::List { json: true } | MemoryCommand::Show { exchange: None, json: true } => {
            list_json(keeper, place).await
        }
        MemoryCommand::Show { exchange: Some(id), json } => {
            let exchange = exchange(id, keeper).await?;
            talks::show_exchange(&exchange, place.store, &keeper.recall.zone, json).await
        }
        MemoryCommand::Search(wanted) => crate::subcommands::search(wanted, keeper.recall.clone()).await,
        MemoryCommand::Edit(wanted) => core_memory::edit(&wanted, place).await,
        MemoryCommand::Undo => core_memory::undo(place).await,
        MemoryCommand::Pin { exchange } => mark(exchange, Some(Mark::Pinned), keeper).await,
        MemoryCommand::Wrong { exchange } => mark(exchange, Some(Mark::Wrong), keeper).await,
        MemoryCommand::Unpin { exchange } => unmark(exchange, Mark::Pinned, keeper).await,
        MemoryCommand::Right { exchange } => unmark(exchange, Mark::Wrong, keeper).await,
        MemoryCommand::Forget(wanted) => forget(wanted, keeper).await,
    }
}

async fn list(keeper: &Keeper<'_>, place: Place<'_>) -> Result<(), Failure> {
    core_memory::show(place).await?;
    let instructions = instructions(keeper).await?;
    if !instructions.is_empty() {
        println!("instructions kept in this conversation, since they left the window");
        for (number, instruction) in instructions.iter().enumerate() {
            println!("  {} {}", number + 1, printable(instruction));
        }
    }
    for (mark, title) in [(Mark::Pinned, "pinned"), (Mark::Wrong, "marked as wrong")] {
        let marked = marked(mark, keeper).await?;
        if !marked.is_empty() {
            println!("{title}");
        }
        for (_, exchange) in marked {
            let asked = printable(exchange.user_message.trim()).lines().next().unwrap_or_default().to_owned();
            println!(
                "  exchange {}, {}: {asked}",
                exchange.id,
                exchange.started.minute_in(&keeper.recall.zone)
            );
        }
    }
    Ok(())
}

async fn list_json(keeper: &Keeper<'_>, place: Place<'_>) -> Result<(), Failure> {
    let blocks = place.store.core_memory(place.project).await?;
    let blocks: Vec<_> =
        blocks.iter().map(|entry| json!({"block": entry.block.to_string(), "text": entry.text})).collect();
    let of = async |mark| -> Result<Vec<_>, Failure> {
        let marked = marked(mark, keeper).await?;
        Ok(marked
            .iter()
            .map(|(mark, exchange)| json!({"since": mark.created, "exchange": exchange}))
            .collect())
    };
    let value = json!({
        "core_memory": blocks,
        "instructions": instructions(keeper).await?,
        "pinned": of(Mark::Pinned).await?,
        "wrong": of(Mark::Wrong).await?,
    });
    Ok(writeln!(stdout(), "{value}")?)
}

/// Instructions of the user's that left the window of the conversation that is going on.
async fn instructions(keeper: &Keeper<'_>) -> Result<Vec<String>, Failure> {
    let Some(id) = keeper.conversation else { return Ok(Vec::new()) };
    Ok(keeper.recall.store.digest(id).await?.map(|digest| digest.pinned).unwrap_or_default())
}

async fn marked(mark: Mark, keeper: &Keeper<'_>) -> Result<Vec<(Marked, Exchange)>, Failure> {
    let mut found = Vec::new();
    for marked in keeper.recall.store.marks().await?.into_iter().filter(|marked| marked.mark == mark) {
        let exchange = keeper.recall.store.exchange(marked.exchange_id).await?;
        found.extend(exchange.map(|exchange| (marked, exchange)));
    }
    Ok(found)
}

async fn exchange(id: i64, keeper: &Keeper<'_>) -> Result<Exchange, Failure> {
    keeper.recall.store.exchange(ExchangeId::new(id)).await?.ok_or_else(|| no_such(id))
}

fn no_such(id: i64) -> Failure {
    Failure::new(FailureKind::Usage, format!("there is no exchange {id}"))
        .hint("Search shows the numbers of exchanges beside what it finds, and so do /why and /history.")
}

async fn mark(id: i64, mark: Option<Mark>, keeper: &Keeper<'_>) -> Result<(), Failure> {
    if !keeper.recall.store.mark(ExchangeId::new(id), mark, SystemClock.now()).await? {
        return Err(no_such(id));
    }
    match mark {
        Some(Mark::Pinned) => println!("Exchange {id} is pinned: where it matters, it comes before others."),
        Some(Mark::Wrong) => {
            println!("Exchange {id} is marked as wrong: it comes after others, and says so.")
        }
        None => println!("Exchange {id} has no mark any more."),
    }
    Ok(())
}

/// Takes a mark of that kind away, and no other.
async fn unmark(id: i64, kind: Mark, keeper: &Keeper<'_>) -> Result<(), Failure> {
    exchange(id, keeper).await?;
    let marks = keeper.recall.store.marks_of(&[ExchangeId::new(id)]).await?;
    if marks.iter().all(|marked| marked.mark != kind) {
        println!("Exchange {id} is not {}.", if kind == Mark::Pinned { "pinned" } else { "marked as wrong" });
        return Ok(());
    }
    mark(id, None, keeper).await
}

/// Lets go of an instruction of the conversation that is going on.
pub(crate) async fn release(number: usize, keeper: &Keeper<'_>) -> Result<(), Failure> {
    let none = || {
        Failure::new(FailureKind::Usage, format!("there is no instruction {number}"))
            .hint("/memory show lists those of this conversation.")
    };
    let store = &keeper.recall.store;
    let id = keeper.conversation.ok_or_else(none)?;
    let mut digest = store.digest(id).await?.ok_or_else(none)?;
    let place = number.checked_sub(1).filter(|place| *place < digest.pinned.len()).ok_or_else(none)?;
    let gone = digest.pinned.remove(place);
    let seen = Some(digest.through);
    if store.put_digest(id, seen, &digest, SystemClock.now()).await? {
        println!("No longer kept: {}", printable(&gone));
        Ok(())
    } else {
        Err(Failure::new(FailureKind::Failed, "the conversation has moved on meanwhile").hint("Try again."))
    }
}

/// Forgets something with everything derived from it, after saying what that is.
async fn forget(wanted: ForgetArgs, keeper: &Keeper<'_>) -> Result<(), Failure> {
    let (recall, posts) = (keeper.recall, keeper.home.posts());
    if let Some(name) = &wanted.document {
        let document = documents::find(name, recall.store.as_ref()).await?;
        println!("The document {} would be forgotten.", printable(&document.slug));
        if confirmed(&wanted).await? {
            documents::remove(std::slice::from_ref(name), recall, &posts).await?;
        }
        return Ok(());
    }
    let what = meant(&wanted, recall)?;
    let plan = recall.store.would_forget(what).await?;
    if plan.is_nothing() {
        return Err(Failure::new(FailureKind::Usage, "there is nothing like that")
            .hint("memoir search shows numbers of exchanges, memoir memory show N those of its messages."));
    }
    println!("{}", tell(&plan));
    if !confirmed(&wanted).await? {
        return Ok(());
    }
    let forgotten = recall.store.forget(what).await?;
    remove_posts(&forgotten, &posts)?;
    println!("It is forgotten. What you spent stays on the bill, and core memory as it is.");
    if forgotten.traces_are_left {
        println!(
            "Another program reads at this moment: traces stay in the file until Memoir is started again."
        );
    }
    Ok(())
}

fn remove_posts(forgotten: &Forgotten, posts: &Path) -> Result<(), Failure> {
    for post in &forgotten.posts {
        remove_post_file(post, posts)?;
    }
    Ok(())
}

/// What is to be forgotten.
fn meant(wanted: &ForgetArgs, recall: &Recall) -> Result<Forget, Failure> {
    let ForgetArgs { message, exchange, conversation, since, until, .. } = wanted;
    match (message, exchange, conversation) {
        (Some(id), ..) => Ok(Forget::Message(MessageId::new(*id))),
        (_, Some(id), _) => Ok(Forget::Exchange(ExchangeId::new(*id))),
        (.., Some(id)) => Ok(Forget::Conversation(ConversationId::new(*id))),
        (None, None, None) if since.is_some() || until.is_some() => Ok(Forget::Span {
            since: dates::since(since.as_deref(), recall)?,
            until: dates::until(until.as_deref(), recall)?,
        }),
        (None, None, None) => Err(Failure::new(FailureKind::Usage, "say what to forget").hint(
            "--message, --exchange or --conversation with a number, --document with a name, or --since and --until.",
        )),
    }
}

fn tell(plan: &Forgotten) -> String {
    let mut parts = Vec::new();
    for (count, one, many) in [
        (plan.conversations, "conversation", "conversations"),
        (plan.exchanges, "exchange", "exchanges"),
        (plan.messages, "message", "messages"),
        (plan.summaries, "summary", "summaries"),
        (plan.lines, "line of the command history", "lines of the command history"),
        (plan.quotations, "answer that quotes it", "answers that quote it"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {}", if count == 1 { one } else { many }));
        }
    }
    let mut text = format!("Forgotten would be: {}, with their vectors and words.", parts.join(", "));
    if !plan.told.is_empty() {
        let told: Vec<String> = plan.told.iter().map(ToString::to_string).collect();
        text.push_str(&format!(
            "\nIt stood in the prompts of exchanges {}, which stay: what was answered there may repeat it.",
            told.join(", ")
        ));
    }
    for post in &plan.posts {
        text.push_str(&format!("\nThe post {} too, which was written from it.", printable(&post.slug)));
    }
    text
}

/// Whether it is to be done.
async fn confirmed(wanted: &ForgetArgs) -> Result<bool, Failure> {
    if wanted.dry_run {
        println!("Nothing was changed.");
        return Ok(false);
    }
    question::confirm("This cannot be undone. Forget it?", wanted.yes).await
}
