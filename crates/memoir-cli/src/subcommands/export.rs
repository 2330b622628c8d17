//! `memoir export` and `/export`: export conversations.

use std::io::{self, IsTerminal as _, Write, stdout};

use memoir_core::ConversationId;
use memoir_runtime::{
    Failure, Runtime,
    operations::export::{self, ExportRequest},
    printable,
};

use crate::{args::ExportArgs, progress::ProgressBars, render::pluralize};

/// Exports conversations to a file, or to stdout if no file is given.
pub(crate) async fn run(arguments: &ExportArgs, runtime: &Runtime) -> Result<(), Failure> {
    let (store, zone) = (runtime.store().as_ref(), runtime.zone());
    let request = ExportRequest {
        format: arguments.format,
        conversation: arguments.conversation.map(ConversationId::new),
        scope: arguments.scope.as_ref().map(|directory| runtime.find_scope(directory)),
    };
    let mut bars = ProgressBars::default();
    let mut progress = |progress| bars.show(progress);
    let Some(path) = &arguments.output else {
        let mut terminal = TerminalWriter(stdout());
        let mut plain = stdout();
        let out: &mut (dyn Write + Send) = if stdout().is_terminal() { &mut terminal } else { &mut plain };
        export::write(&request, store, zone, out, &mut progress).await?;
        return Ok(());
    };
    let report = export::write_file(&request, path, store, zone, &mut progress).await?;
    let conversations = pluralize(report.conversations, "conversation", "conversations");
    note!("Exported {conversations} to {}.", path.display());
    Ok(())
}

/// Removes control characters, because imported text must not control the terminal. Each write must be complete
/// UTF-8, which an export guarantees.
struct TerminalWriter<W>(W);

impl<W: Write> Write for TerminalWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(printable(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
