//! What still changes: the open block of an answer, the end of a command's output, and what the turn is doing. It is
//! drawn below the text that was printed, and redrawn as it changes.

mod area;

use std::{
    io::{Write as _, stdout},
    sync::{Arc, Mutex, Weak},
    thread,
    time::{Duration, Instant},
};

use memoir_core::lock;
use memoir_markdown::{Renderer, truncate_line};

use crate::screen::{can_redraw, terminal_size, terminal_style};
use area::Area;
pub(crate) use area::Size;

/// Frames of the spinner.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Time between two frames, and between two redraws of a block that grows.
const INTERVAL: Duration = Duration::from_millis(80);

/// Number of lines of a command's output that are shown while it runs.
const OUTPUT_LINES: usize = 5;

/// The part of the screen that changes. Clones draw the same part.
#[derive(Clone)]
pub(crate) struct LiveView(Arc<Mutex<State>>);

struct State {
    renderer: Renderer,
    /// What the turn is doing, and since when.
    activity: Option<(String, Instant)>,
    /// The last lines that a command has printed.
    output: Vec<String>,
    area: Area,
    last_draw: Option<Instant>,
    is_ticking: bool,
    /// Whether something else uses the last lines of the screen.
    is_paused: bool,
    /// Finished blocks of the answer that wait until then.
    waiting: String,
}

/// Resumes drawing when it is dropped.
pub(crate) struct PausedDrawing(LiveView);

impl Drop for PausedDrawing {
    fn drop(&mut self) {
        let mut state = lock(&self.0.0);
        state.is_paused = false;
        state.draw("");
    }
}

impl LiveView {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            renderer: Renderer::new(terminal_style()),
            activity: None,
            output: Vec::new(),
            area: Area::default(),
            last_draw: None,
            is_ticking: false,
            is_paused: false,
            waiting: String::new(),
        })))
    }

    /// Erases the area and draws nothing until the returned value is dropped, so that the user can be asked something.
    pub(crate) fn pause(&self) -> PausedDrawing {
        self.finish();
        lock(&self.0).is_paused = true;
        PausedDrawing(self.clone())
    }

    /// Adds text to the answer. Finished blocks are printed.
    pub(crate) fn push(&self, text: &str) {
        let mut state = lock(&self.0);
        state.renderer.set_width(terminal_style().width);
        let finished = state.renderer.push(text);
        let is_due = state.last_draw.is_none_or(|last_draw| last_draw.elapsed() >= INTERVAL);
        if !finished.is_empty() || is_due {
            state.draw(&finished);
        }
        self.start_ticking(&mut state);
    }

    /// Shows what the turn is doing.
    pub(crate) fn show(&self, activity: &str) {
        let mut state = lock(&self.0);
        let (previous, started) = state.activity.take().unwrap_or_else(|| (String::new(), Instant::now()));
        let is_new = previous != activity;
        state.activity = Some((activity.to_owned(), started));
        if is_new {
            state.draw("");
        }
        self.start_ticking(&mut state);
    }

    /// Shows the last lines of what a command has printed.
    pub(crate) fn show_output(&self, text: &str) {
        let mut state = lock(&self.0);
        let lines = text.lines().rev().filter(|line| !line.trim().is_empty()).take(OUTPUT_LINES);
        state.output = lines.map(str::to_owned).collect();
        state.output.reverse();
        if state.last_draw.is_none_or(|last_draw| last_draw.elapsed() >= INTERVAL) {
            state.draw("");
        }
    }

    /// Prints the rest of the answer and erases everything else. The cursor is then at the start of an empty line.
    pub(crate) fn finish(&self) {
        let mut state = lock(&self.0);
        let rest = state.renderer.finish();
        (state.activity, state.output) = (None, Vec::new());
        state.draw(&rest);
    }

    /// Redraws the area from time to time, as long as something is going on.
    fn start_ticking(&self, state: &mut State) {
        if state.is_ticking || !can_redraw() {
            return;
        }
        state.is_ticking = true;
        let view = Arc::downgrade(&self.0);
        thread::spawn(move || while tick(&view) {});
    }
}

/// Waits and redraws the area. Returns `false` if nothing is going on.
fn tick(view: &Weak<Mutex<State>>) -> bool {
    thread::sleep(INTERVAL);
    let Some(state) = view.upgrade() else { return false };
    let mut state = lock(&state);
    state.is_ticking = state.activity.is_some() || state.renderer.has_pending_text();
    if state.is_ticking {
        state.draw("");
    }
    state.is_ticking
}

impl State {
    /// Prints `finished` and redraws the area below it.
    fn draw(&mut self, finished: &str) {
        self.waiting.push_str(finished);
        if self.is_paused {
            return;
        }
        let finished = std::mem::take(&mut self.waiting);
        let output = if can_redraw() {
            let size = terminal_size();
            let lines = self.lines(size);
            self.area.update(&finished, lines, size)
        } else {
            finished
        };
        self.last_draw = Some(Instant::now());
        if !output.is_empty() {
            // A closed stdout is detected when the result is printed.
            let _ = write!(stdout(), "{output}").and_then(|()| stdout().flush());
        }
    }

    fn lines(&mut self, size: Size) -> Vec<String> {
        let style = terminal_style();
        self.renderer.set_width(style.width);
        let mut lines: Vec<String> = match self.renderer.has_pending_text() {
            true => self.renderer.preview().lines().map(str::to_owned).collect(),
            false => Vec::new(),
        };
        let width = size.columns.saturating_sub(1);
        let dimmed = |text: &str| {
            let style = anstyle::Style::new().dimmed();
            if terminal_style().color { format!("{style}{text}{style:#}") } else { text.to_owned() }
        };
        lines.extend(self.output.iter().map(|line| dimmed(&truncate_line(&format!("  {line}"), width))));
        if let Some((activity, started)) = &self.activity {
            let elapsed = started.elapsed();
            let frame = FRAMES[(elapsed.as_millis() / INTERVAL.as_millis()) as usize % FRAMES.len()];
            let time = format!(" {} s", elapsed.as_secs());
            let activity = truncate_line(activity, width.saturating_sub(2 + time.len()));
            lines.push(format!("{frame} {activity}{}", dimmed(&time)));
        }
        lines
    }
}
