//! The layers of a request, and how large each came out.

use memoir_core::count_tokens;

/// A layer of a request, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Who the model is here, and the project's AGENTS.md.
    System,
    /// What is always in context.
    CoreMemory,
    /// What has left the window, in short.
    Summary,
    /// What has left the window and is relevant now.
    Earlier,
    /// The last exchanges.
    Window,
    /// What the model may ask to run.
    Tools,
    /// What memory says about the prompt, and the prompt.
    Document,
}

impl Layer {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::System,
        Self::CoreMemory,
        Self::Summary,
        Self::Earlier,
        Self::Window,
        Self::Tools,
        Self::Document,
    ];

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system prompt",
            Self::CoreMemory => "core memory",
            Self::Summary => "summary so far",
            Self::Earlier => "from earlier here",
            Self::Window => "window",
            Self::Tools => "tools",
            Self::Document => "memory and prompt",
        }
    }
}

/// A layer's text, and what it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) text: String,
    pub(crate) tokens: u64,
}

impl Fragment {
    pub(crate) fn new(text: String) -> Self {
        let tokens = tokens(&text);
        Self { text, tokens }
    }

    pub(crate) fn nothing() -> Self {
        Self { text: String::new(), tokens: 0 }
    }
}

/// How many tokens a text takes, with those that set it apart from the next.
pub(crate) fn tokens(text: &str) -> u64 {
    if text.is_empty() { 0 } else { count_tokens(text) as u64 + 2 }
}

/// How large the layers of a request are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextReport {
    /// What question and answer may take together.
    pub limit: u64,
    /// What is kept free for the answer.
    pub reply: u64,
    /// The layers and their tokens, in their order.
    pub layers: Vec<(Layer, u64)>,
}

impl ContextReport {
    /// What is sent in all.
    pub fn sent(&self) -> u64 {
        self.layers.iter().map(|(_, tokens)| tokens).sum()
    }
}
