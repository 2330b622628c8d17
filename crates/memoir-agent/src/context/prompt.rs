//! The prompt of a turn.

use memoir_core::{Image, TurnInput};

/// The text of a prompt, which describes its images, and the images.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prompt<'a> {
    pub(crate) text: &'a str,
    pub(crate) images: &'a [Image],
}

impl<'a> Prompt<'a> {
    /// Creates a prompt from an input and its text.
    pub(crate) fn new(text: &'a str, input: &'a TurnInput) -> Self {
        Self { text, images: &input.images }
    }

    /// Creates a prompt without images.
    pub(crate) fn text(text: &'a str) -> Self {
        Self { text, images: &[] }
    }
}
