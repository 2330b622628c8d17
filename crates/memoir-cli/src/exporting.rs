//! Writing down what was said: `memoir export` and `/export`.

use std::io::{IsTerminal as _, Write, stdout};

use memoir_core::{Conversation, TimeZone};
use memoir_import::memoir::Line;
use memoir_store::{ConversationList, Store};

use memoir_runtime::{
    failure::{Failure, FailureKind},
    files::Partial,
    printable,
};

use crate::{
    args::{ExportArgs, ExportFormat},
    progress, talks,
};

/// Writes what is wanted, and tells where to on stderr.
pub(crate) async fn run(wanted: &ExportArgs, store: &dyn Store, zone: &TimeZone) -> Result<(), Failure> {
    let conversations = match wanted.conversation {
        Some(id) => vec![talks::find(memoir_core::ConversationId::new(id), store).await?],
        None => {
            let scope = wanted.scope.as_deref().map(talks::project);
            let mut all = store
                .conversations(&ConversationList { scope, limit: u32::MAX, ..Default::default() })
                .await?;
            all.reverse();
            all
        }
    };
    let Some(path) = &wanted.output else {
        let mut out = stdout();
        return write_all(&conversations, wanted, store, zone, &mut out).await;
    };
    // Nothing is there under its name before it is whole.
    let failed = |error: std::io::Error| {
        Failure::new(FailureKind::Failed, format!("{} cannot be written: {error}", path.display()))
            .hint("Name another file with -o.")
    };
    let (partial, mut file) = Partial::file(path).map_err(failed)?;
    write_all(&conversations, wanted, store, zone, &mut file).await?;
    file.sync_all().and_then(|()| partial.finish(path)).map_err(failed)?;
    let count = conversations.len();
    let talks =
        if count == 1 { "1 conversation was".to_owned() } else { format!("{count} conversations were") };
    anstream::eprintln!("{talks} written to {}.", path.display());
    Ok(())
}

async fn write_all(
    conversations: &[Conversation],
    wanted: &ExportArgs,
    store: &dyn Store,
    zone: &TimeZone,
    out: &mut (impl Write + Send),
) -> Result<(), Failure> {
    let bar = progress::bar(conversations.len() as u64, "conversations");
    let shown = wanted.output.is_none() && stdout().is_terminal();
    let format = wanted.format;
    if format == ExportFormat::Jsonl {
        out.write_all(Line::header().to_line().as_bytes())?;
    }
    for (place, conversation) in conversations.iter().enumerate() {
        let text = match format {
            ExportFormat::Markdown => {
                let between = if place == 0 { "" } else { "\n" };
                format!("{between}{}", talks::markdown(conversation, store, zone).await?)
            }
            ExportFormat::Jsonl => lines(conversation, wanted.conversation.is_some(), store).await?,
        };
        match shown {
            // Whatever was brought in, it does not steer the terminal.
            true => out.write_all(printable(&text).as_bytes())?,
            false => out.write_all(text.as_bytes())?,
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(out.flush()?)
}

/// A conversation and everything said in it. What a fork has from another stands there, unless the fork is all there is.
async fn lines(conversation: &Conversation, alone: bool, store: &dyn Store) -> Result<String, Failure> {
    let origin = store.origin_of(conversation.id).await?;
    let mut text = Line::conversation(conversation, origin).to_line();
    for mut exchange in store.exchanges(conversation.id, u32::MAX).await? {
        if alone || exchange.conversation_id == conversation.id {
            exchange.conversation_id = conversation.id;
            let messages = store.exchange_messages(exchange.id).await?;
            text.push_str(&Line::exchange(&exchange, &messages).to_line());
        }
    }
    Ok(text)
}
