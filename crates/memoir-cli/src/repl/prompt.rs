//! The appearance of the input prompt.

use std::borrow::Cow;

use anstyle::Style;
use reedline::{Prompt, PromptEditMode, PromptHistorySearch, PromptHistorySearchStatus, PromptViMode};

use crate::screen::terminal_style;

/// The prompt, with a status line above it unless that is empty.
#[derive(Default)]
pub(super) struct MemoirPrompt {
    pub(super) status: String,
}

impl Prompt for MemoirPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        match self.status.as_str() {
            "" => Cow::Borrowed(""),
            status if terminal_style().color => {
                let style = Style::new().dimmed();
                Cow::Owned(format!("{style}{status}{style:#}\n"))
            }
            status => Cow::Owned(format!("{status}\n")),
        }
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, mode: PromptEditMode) -> Cow<'_, str> {
        match mode {
            PromptEditMode::Vi(PromptViMode::Normal) => Cow::Borrowed(": "),
            _ => Cow::Borrowed("> "),
        }
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let state = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "no match, ",
        };
        Cow::Owned(format!("({state}history: {}) ", search.term))
    }
}
