//! The standard error output of a server: logged, and quoted when the server fails.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use memoir_core::lock;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::ChildStderr,
    sync::watch,
};

use crate::failure::shorten;

/// Number of lines to keep.
const KEPT_LINES: usize = 3;

/// Maximum length of a line. The rest of a longer one becomes another line.
const MAX_LINE_BYTES: u64 = 4096;

/// How long to wait for the last words of a server that has failed.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_millis(300);

/// The last lines that a server wrote.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastLines {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Closed when the output ends.
    end: Arc<Mutex<Option<watch::Receiver<()>>>>,
}

impl LastLines {
    /// Reads the output until it ends.
    pub(crate) fn collect(&self, server: &str, output: ChildStderr) {
        let (lines, server) = (self.clone(), server.to_owned());
        let (sender, end) = watch::channel(());
        *lock(&self.end) = Some(end);
        tokio::spawn(async move {
            let _sender = sender;
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            loop {
                line.clear();
                match (&mut output).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await {
                    Ok(0) | Err(_) => return,
                    Ok(_) => lines.add(&server, &String::from_utf8_lossy(&line)),
                }
            }
        });
    }

    fn add(&self, server: &str, line: &str) {
        let line = shorten(line);
        if line.is_empty() {
            return;
        }
        tracing::warn!(server, line, "an MCP server wrote to its standard error output");
        let mut lines = lock(&self.lines);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Adds the lines to the description of a failure. Waits briefly for the end of the output, because a server explains
    /// itself before it ends.
    pub(crate) async fn explain(&self, failure: &str) -> String {
        let end = lock(&self.end).clone();
        if let Some(mut end) = end {
            // It fails when the output has ended.
            let _ = tokio::time::timeout(LAST_WORDS_TIMEOUT, end.changed()).await;
        }
        let lines = lock(&self.lines);
        match lines.is_empty() {
            true => failure.to_owned(),
            false => {
                let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                format!("{failure}; it last wrote: {}", lines.join(" / "))
            }
        }
    }
}
