//! The layers of a request and their sizes.

use memoir_core::count_tokens;

/// A layer of a request. The variants are in the order in which a request contains them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The system prompt, the persona and AGENTS.md.
    System,
    /// Core memory: permanent notes about the user and the project.
    CoreMemory,
    /// Summary of the exchanges that have left the window, and standing instructions from them.
    Summary,
    /// Relevant passages from exchanges that have left the window.
    Earlier,
    /// The last exchanges in full.
    Window,
    /// Descriptions of the tools.
    Tools,
    /// Recalled passages, spelling hints and the prompt.
    Document,
}

impl Layer {
    /// All layers, in order.
    pub const ALL: [Self; 7] = [
        Self::System,
        Self::CoreMemory,
        Self::Summary,
        Self::Earlier,
        Self::Window,
        Self::Tools,
        Self::Document,
    ];

    /// Returns the name that is shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system prompt",
            Self::CoreMemory => "core memory",
            Self::Summary => "summary so far",
            Self::Earlier => "earlier passages",
            Self::Window => "window",
            Self::Tools => "tools",
            Self::Document => "memory and prompt",
        }
    }
}

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

    pub(crate) fn empty() -> Self {
        Self { text: String::new(), tokens: 0 }
    }
}

/// Returns the number of tokens in a text and of the separator after it.
pub(crate) fn tokens(text: &str) -> u64 {
    if text.is_empty() { 0 } else { count_tokens(text) as u64 + 2 }
}

/// Sizes of the layers of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextReport {
    /// Maximum number of tokens in the request and the answer together.
    pub max_tokens: u64,
    /// Tokens reserved for the answer.
    pub answer_tokens: u64,
    /// Number of tokens in each layer, in order.
    pub layers: Vec<(Layer, u64)>,
}

impl ContextReport {
    /// Returns the number of tokens in the request.
    pub fn request_tokens(&self) -> u64 {
        self.layers.iter().map(|(_, tokens)| tokens).sum()
    }
}

/// Joins two sections with an empty line, unless one of them is empty.
pub(super) fn join(first: &str, second: &str) -> String {
    match (first, second) {
        ("", only) | (only, "") => only.to_owned(),
        (first, second) => format!("{first}\n\n{second}"),
    }
}
