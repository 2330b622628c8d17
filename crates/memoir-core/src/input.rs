//! The input of one turn: a list of parts, each with its origin.

use serde::{Deserialize, Serialize};

use crate::{Image, escape_fence};

/// The author of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The user, whose text may contain instructions to the model.
    User,
    /// Memoir itself or the model it runs.
    Program,
    /// Anyone else, such as the author of a file or a web page. The text may contain instructions that the user never
    /// gave, so permissions are stricter while it is in the context.
    Others,
}

/// The content of one input part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InputContent {
    /// Plain text, sent unchanged.
    Text {
        /// Text as the user wrote it.
        text: String,
    },
    /// The text of an attached file, sent inside a `<file>` fence.
    File {
        /// Path as the user wrote it.
        path: String,
        /// Content of the file.
        text: String,
    },
    /// An attached image, which is described in one line. Models that can see get the image as well.
    Image {
        /// Path of the image in its project, or as the user wrote it.
        path: String,
        /// Format and size.
        description: String,
    },
    /// Text piped to standard input along with a prompt, sent inside a `<file>` fence with the path `stdin`.
    Piped {
        /// Text as read from standard input.
        text: String,
    },
    /// A quotation from memory, sent inside a `<memory>` fence.
    Memory {
        /// Quoted text, without the fence.
        text: String,
    },
}

/// One part of an input, with its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputPart {
    /// Text and how to present it to the model.
    #[serde(flatten)]
    pub content: InputContent,
    /// Author of the text.
    pub origin: Origin,
}

impl InputPart {
    /// Creates a text part written by the user.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: InputContent::Text { text: text.into() }, origin: Origin::User }
    }

    /// Creates a file part, which counts as written by others.
    pub fn file(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { content: InputContent::File { path: path.into(), text: text.into() }, origin: Origin::Others }
    }

    /// Creates the line about an attached image, which may show text and so counts as written by others.
    fn image(path: impl Into<String>, image: &Image) -> Self {
        let content = InputContent::Image { path: path.into(), description: image.to_string() };
        Self { content, origin: Origin::Others }
    }

    /// Creates a part from piped text, which counts as written by others.
    pub fn piped(text: impl Into<String>) -> Self {
        Self { content: InputContent::Piped { text: text.into() }, origin: Origin::Others }
    }

    /// Creates a quotation from memory, which counts as written by others.
    pub fn memory(text: impl Into<String>) -> Self {
        Self { content: InputContent::Memory { text: text.into() }, origin: Origin::Others }
    }

    /// Returns the part with its origin replaced.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Returns the text sent to the model, including any fence.
    fn render(&self) -> String {
        let render_file = |path: &str, text: &str| {
            // A name must not end the tag.
            let is_harmless = |letter: &char| !letter.is_control() && !matches!(letter, '"' | '<' | '>');
            let path: String = path.chars().filter(is_harmless).collect();
            format!("<file path=\"{path}\">\n{}\n</file>", escape_fence(text, "file").trim_end())
        };
        match &self.content {
            InputContent::Text { text } => text.clone(),
            InputContent::File { path, text } => render_file(path, text),
            InputContent::Image { path, description } => format!("[image {path}: {description}]"),
            InputContent::Piped { text } => render_file("stdin", text),
            InputContent::Memory { text } => {
                format!("<memory>\n{}\n</memory>", escape_fence(text, "memory").trim_end())
            }
        }
    }
}

/// The input of one turn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TurnInput {
    /// Parts in the order the model reads them.
    pub parts: Vec<InputPart>,
    /// Attached images, in the order of their parts. They are not stored.
    #[serde(skip)]
    pub images: Vec<Image>,
}

impl TurnInput {
    /// Creates an input from a stored message, for a retry. All of it counts as written by others if any part was.
    pub fn from_stored(text: impl Into<String>, by_others: bool) -> Self {
        let origin = if by_others { Origin::Others } else { Origin::User };
        InputPart::text(text).with_origin(origin).into()
    }

    /// Attaches the image at `path`.
    pub fn attach_image(&mut self, path: impl Into<String>, image: Image) {
        self.parts.push(InputPart::image(path, &image));
        self.images.push(image);
    }

    /// Returns the text sent to the model, with a blank line between parts.
    pub fn to_text(&self) -> String {
        self.parts.iter().map(InputPart::render).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns whether any part was written by others.
    pub fn has_text_by_others(&self) -> bool {
        self.parts.iter().any(|part| part.origin == Origin::Others)
    }
}

impl From<InputPart> for TurnInput {
    fn from(part: InputPart) -> Self {
        Self { parts: vec![part], images: Vec::new() }
    }
}

impl From<&str> for TurnInput {
    fn from(text: &str) -> Self {
        InputPart::text(text).into()
    }
}

impl From<String> for TurnInput {
    fn from(text: String) -> Self {
        InputPart::text(text).into()
    }
}

impl From<&String> for TurnInput {
    fn from(text: &String) -> Self {
        InputPart::text(text.as_str()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_parts_follow_the_prompt_and_cannot_close_their_own_fence() {
        let input = TurnInput {
            parts: vec![
                InputPart::text("What is in @a.txt?"),
                InputPart::file("a.txt", "first </file> line\n"),
                InputPart::piped("second\n"),
                InputPart::memory("third </memory>"),
            ],
            images: Vec::new(),
        };
        assert_eq!(
            input.to_text(),
            "What is in @a.txt?\n\n<file path=\"a.txt\">\nfirst ‹/file> line\n</file>\n\n\
             <file path=\"stdin\">\nsecond\n</file>\n\n<memory>\nthird ‹/memory>\n</memory>"
        );
    }

    #[test]
    fn origin_is_explicit_and_not_inferred_from_the_text() {
        let typed_fence = "look:\n<file path=\"a\">\nx\n</file>";
        assert!(!TurnInput::from(typed_fence).has_text_by_others());
        assert!(TurnInput::from_stored("hi", true).has_text_by_others());
        assert!(!TurnInput::from(InputPart::text("hi").with_origin(Origin::Program)).has_text_by_others());
        let input = TurnInput {
            parts: vec![InputPart::text("hi"), InputPart::file("a", "x")],
            ..TurnInput::default()
        };
        assert!(input.has_text_by_others());
    }

    #[test]
    fn json_is_tagged_by_type() -> Result<(), serde_json::Error> {
        let input = TurnInput { parts: vec![InputPart::file("a", "x")], ..TurnInput::default() };
        let json = serde_json::to_string(&input)?;
        assert_eq!(json, r#"{"parts":[{"type":"file","path":"a","text":"x","origin":"others"}]}"#);
        assert_eq!(serde_json::from_str::<TurnInput>(&json)?, input);
        Ok(())
    }
}
