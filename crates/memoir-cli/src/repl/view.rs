//! Shows a turn on the screen: the answer as it streams, and the tools as they run.

use std::time::Instant;

use memoir_agent::{CallSummary, ToolOutcome, TurnEvent};
use memoir_core::{ToolCall, reveal_on_one_line};
use memoir_markdown::truncate_line;
use memoir_redact::without_secrets;
use memoir_runtime::printable;

use crate::{
    live::LiveView,
    render::pluralize,
    screen::{print_dimmed, print_dimmed_note, terminal_style, text_width},
    trace::{self, Verbosity},
};

/// Maximum number of lines of a change that are shown. `/last` shows all.
const MAX_CHANGE_LINES: usize = 40;

/// A tool call that ended.
pub(crate) struct FinishedCall {
    /// The call in one line.
    pub(crate) line: String,
    pub(crate) result: CallSummary,
}

/// A tool call that has not ended.
struct RunningCall {
    call: ToolCall,
    started: Instant,
    /// The last lines that the call has printed.
    output: String,
}

pub(super) struct TurnView {
    verbosity: Verbosity,
    live: LiveView,
    running: Vec<RunningCall>,
    /// Whether the user was asked about the next call, and has seen what it changes.
    is_next_approved: bool,
    approved_ids: Vec<String>,
    pub(super) last_call: Option<FinishedCall>,
}

impl TurnView {
    pub(super) fn new(verbosity: Verbosity, live: LiveView) -> Self {
        Self {
            verbosity,
            live,
            running: Vec::new(),
            is_next_approved: false,
            approved_ids: Vec::new(),
            last_call: None,
        }
    }

    pub(super) fn show(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::RequestSent(request) => {
                self.finish();
                if let Some(text) = trace::request(request, self.verbosity) {
                    print_dimmed(&printable(&text));
                }
                self.live.show("thinking");
            }
            TurnEvent::Retrying { reason, wait } => {
                self.finish();
                note!("{}; retrying in {:.1} s", printable(&reason.to_string()), wait.as_secs_f64());
                self.live.show("waiting");
            }
            TurnEvent::Thinking(_) => self.live.show("reasoning"),
            TurnEvent::ApprovalRequested => {
                self.is_next_approved = true;
                self.finish();
            }
            TurnEvent::Text(text) => {
                self.live.push(text);
                self.live.show("writing");
            }
            TurnEvent::ToolStarted(call) => {
                self.finish();
                if std::mem::take(&mut self.is_next_approved) {
                    self.approved_ids.push(call.id.clone());
                }
                self.running.push(RunningCall {
                    call: call.clone(),
                    started: Instant::now(),
                    output: String::new(),
                });
                self.show_running();
            }
            TurnEvent::ToolProgress { call, text } => {
                let text = format!("{}: {text}", call.name);
                self.live.show(&reveal_on_one_line(&without_secrets(&text)));
            }
            TurnEvent::ToolPrinted { call, text } => {
                let running = self.running.iter_mut().find(|running| running.call.id == call.id);
                if let Some(running) = running {
                    running.output.clone_from(text);
                }
                self.live.show_output(&without_secrets(text));
            }
            TurnEvent::ToolFinished { call, outcome, result } => {
                self.finish();
                self.running.retain(|running| running.call.id != call.id);
                self.print_call(call, *outcome, result);
                self.show_running();
            }
            TurnEvent::Notice(text) => {
                self.finish();
                note!("{}", printable(&without_secrets(text)));
            }
            TurnEvent::Detail(text) => {
                if self.verbosity.level() >= 1 {
                    self.finish();
                    print_dimmed_note(&printable(text));
                }
            }
        }
    }

    /// Prints the rest of the answer and moves the cursor to the start of an empty line.
    pub(super) fn finish(&mut self) {
        self.live.finish();
    }

    /// Prints the calls that were still running when the turn was cancelled. `/last` shows what they had printed.
    pub(super) fn end_running(&mut self) {
        self.finish();
        for RunningCall { call, started, output } in std::mem::take(&mut self.running) {
            let call_line = trace::tool_call(&call, self.verbosity);
            let duration = started.elapsed();
            let seconds = duration.as_secs_f64();
            let line = format!("• {} (cancelled, {seconds:.1} s)", reveal_on_one_line(&call_line));
            print_dimmed(&line);
            self.last_call =
                Some(FinishedCall { line, result: CallSummary { text: output, diff: None, duration } });
        }
    }

    fn show_running(&self) {
        if let Some(RunningCall { call, .. }) = self.running.last() {
            self.live.show(&reveal_on_one_line(&trace::tool_call(call, self.verbosity)));
        }
    }

    /// Prints a call in one line, with the size of its result and its duration, and the change that it made.
    fn print_call(&mut self, call: &ToolCall, outcome: ToolOutcome, result: &CallSummary) {
        let mut parts = Vec::new();
        match outcome {
            ToolOutcome::Succeeded => {}
            ToolOutcome::Failed => parts.push("failed".to_owned()),
            ToolOutcome::Refused => parts.push("denied".to_owned()),
        }
        match &result.diff {
            Some(diff) => parts.push(change_size(diff)),
            None if outcome == ToolOutcome::Refused => {}
            None => parts.push(pluralize(result.text.lines().count() as u64, "line", "lines")),
        }
        if outcome != ToolOutcome::Refused {
            parts.push(format!("{:.1} s", result.duration.as_secs_f64()));
        }
        let call_line = trace::tool_call(call, self.verbosity);
        let line = format!("• {} ({})", reveal_on_one_line(&call_line), parts.join(", "));
        print_dimmed(&line);
        if outcome == ToolOutcome::Failed
            && let Some(reason) = result.text.lines().find(|line| !line.trim().is_empty())
        {
            let line = format!("  {}", reveal_on_one_line(&without_secrets(reason)));
            print_dimmed(&truncate_line(&line, text_width()));
        }
        if let Some(diff) = result.diff.as_ref().filter(|_| !self.approved_ids.contains(&call.id)) {
            let shown: String = diff.split_inclusive('\n').skip(2).take(MAX_CHANGE_LINES).collect();
            anstream::println!("{}", color_change(&shown).trim_end());
            let rest = diff.lines().count().saturating_sub(2 + MAX_CHANGE_LINES) as u64;
            if rest > 0 {
                print_dimmed(&format!("… {}; `/last` shows all", pluralize(rest, "more line", "more lines")));
            }
        }
        self.last_call = Some(FinishedCall { line, result: result.clone() });
    }
}

/// Returns a diff in the colors of the terminal.
pub(crate) fn color_change(diff: &str) -> String {
    memoir_markdown::color_diff(&without_secrets(diff), terminal_style())
}

/// Returns the number of added and removed lines in a diff of one file.
fn change_size(diff: &str) -> String {
    let count = |mark: char| diff.lines().skip(2).filter(|line| line.starts_with(mark)).count();
    format!("+{} −{}", count('+'), count('-'))
}
