//! Writing down what was said: `memoir export` and `/export`.

use std::{
    io::{Write, stdout},
    path::Path,
};

use memoir_core::{Conversation, TimeZone};
use memoir_import::memoir::Line;
use memoir_store::{ConversationList, Store};

use crate::{
    args::{ExportArgs, ExportFormat},
    failure::{Failure, Kind},
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
        return write_all(&conversations, wanted.format, store, zone, &mut out).await;
    };
    // Nothing is there under its name before it is whole.
    let failed = |error: std::io::Error| {
        Failure::new(Kind::Failed, format!("{} cannot be written: {error}", path.display()))
            .hint("Name another file with -o.")
    };
    let arriving = partial(path);
    let mut file = create_private(&arriving).map_err(failed)?;
    let written = write_all(&conversations, wanted.format, store, zone, &mut file).await;
    let written = written
        .and_then(|()| file.sync_all().and_then(|()| std::fs::rename(&arriving, path)).map_err(failed));
    if written.is_err() {
        let _ = std::fs::remove_file(&arriving);
    }
    written?;
    let count = conversations.len();
    let talks =
        if count == 1 { "1 conversation was".to_owned() } else { format!("{count} conversations were") };
    anstream::eprintln!("{talks} written to {}.", path.display());
    Ok(())
}

async fn write_all(
    conversations: &[Conversation],
    format: ExportFormat,
    store: &dyn Store,
    zone: &TimeZone,
    out: &mut (impl Write + Send),
) -> Result<(), Failure> {
    let bar = progress::bar(conversations.len() as u64, "conversations");
    if format == ExportFormat::Jsonl {
        out.write_all(Line::header().to_line().as_bytes())?;
    }
    for (place, conversation) in conversations.iter().enumerate() {
        let text = match format {
            ExportFormat::Markdown => {
                let between = if place == 0 { "" } else { "\n" };
                format!("{between}{}", talks::markdown(conversation, store, zone).await?)
            }
            ExportFormat::Jsonl => lines(conversation, store).await?,
        };
        out.write_all(text.as_bytes())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(out.flush()?)
}

/// A conversation and everything said in it. What a fork has from another stands there.
async fn lines(conversation: &Conversation, store: &dyn Store) -> Result<String, Failure> {
    let origin = store.origin_of(conversation.id).await?;
    let mut text = Line::conversation(conversation, origin).to_line();
    for exchange in store.exchanges(conversation.id, u32::MAX).await? {
        if exchange.conversation_id == conversation.id {
            let messages = store.exchange_messages(exchange.id).await?;
            text.push_str(&Line::exchange(&exchange, &messages).to_line());
        }
    }
    Ok(text)
}

fn partial(path: &Path) -> std::path::PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// A file that only its owner reads.
fn create_private(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
