//! `memoir memory`.

use std::{
    io::{IsTerminal as _, Write as _, stdin, stdout},
    path::Path,
};

use memoir_core::{ConversationId, ExchangeId, MessageId};
use memoir_docs::remove_post_file;
use memoir_recall::Recall;
use memoir_store::{Forget, Forgotten};

use crate::{
    args::ForgetArgs,
    dates, documents,
    failure::{Failure, Kind},
    printable::printable,
};

/// Forgets something with everything derived from it, after saying what that is.
pub(super) async fn forget(wanted: ForgetArgs, recall: &Recall, posts: &Path) -> Result<(), Failure> {
    if let Some(name) = &wanted.document {
        let document = documents::find(name, recall.store.as_ref()).await?;
        writeln!(stdout(), "The document {} would be forgotten.", printable(&document.slug))?;
        if confirmed(&wanted)? {
            documents::remove(std::slice::from_ref(name), recall, posts).await?;
        }
        return Ok(());
    }
    let what = meant(&wanted, recall)?;
    let plan = recall.store.would_forget(what).await?;
    if plan.is_nothing() {
        return Err(Failure::new(Kind::Usage, "there is nothing like that")
            .hint("memoir search shows numbers beside what it finds."));
    }
    writeln!(stdout(), "{}", tell(&plan))?;
    if !confirmed(&wanted)? {
        return Ok(());
    }
    let forgotten = recall.store.forget(what).await?;
    for post in &forgotten.posts {
        remove_post_file(post, posts)?;
    }
    writeln!(stdout(), "It is forgotten. What you spent stays on the bill, and core memory as it is.")?;
    if forgotten.log_is_in_use {
        writeln!(stdout(), "Another program reads at this moment: traces stay in the log until it ends.")?;
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
        (None, None, None) => Err(Failure::new(Kind::Usage, "say what to forget").hint(
            "--message, --exchange, --conversation or --document with a number, or --since and --until.",
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
    ] {
        if count > 0 {
            parts.push(format!("{count} {}", if count == 1 { one } else { many }));
        }
    }
    let mut text = format!("Forgotten would be: {}, with their vectors and words.", parts.join(", "));
    for post in &plan.posts {
        text.push_str(&format!("\nThe post {} too, which was written from it.", printable(&post.slug)));
    }
    text
}

/// Whether it is to be done.
fn confirmed(wanted: &ForgetArgs) -> Result<bool, Failure> {
    if wanted.dry_run {
        writeln!(stdout(), "Nothing was changed.")?;
        return Ok(false);
    }
    if wanted.yes {
        return Ok(true);
    }
    if !stdin().is_terminal() {
        return Err(Failure::new(Kind::Usage, "nobody is there to confirm it").hint("Add --yes."));
    }
    write!(stdout(), "This cannot be undone. Forget it? [y/N] ")?;
    stdout().flush()?;
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    let yes = matches!(line.trim(), "y" | "yes");
    if !yes {
        writeln!(stdout(), "Nothing was changed.")?;
    }
    Ok(yes)
}
