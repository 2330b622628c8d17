//! What a message consists of, in the way that models' interfaces write it: a text, or a list of blocks.

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::value::RawValue;

use crate::json::Lenient;

/// What a message says.
pub(crate) enum Body {
    Text(String),
    Blocks(Vec<Lenient<ContentBlock>>),
}

/// A piece of a message.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ContentBlock {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    text: Lenient<String>,
}

/// Not by an untagged enum: that would read the blocks into memory first, where they can no longer be told as they stand.
impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        if raw.get().starts_with('"') {
            serde_json::from_str(raw.get()).map(Self::Text).map_err(D::Error::custom)
        } else {
            serde_json::from_str(raw.get()).map(Self::Blocks).map_err(D::Error::custom)
        }
    }
}

/// A piece of a message: words, maybe none, or the kind of what it is instead.
pub(crate) enum ContentPiece<'a> {
    Text(&'a str),
    Other(&'a str),
}

impl Body {
    /// Its pieces; `is_text` says which kinds of blocks hold words.
    pub(crate) fn pieces<'a>(&'a self, is_text: impl Fn(&str) -> bool) -> Vec<ContentPiece<'a>> {
        let piece = |block: &'a Lenient<ContentBlock>| {
            let Some(block) = &block.0 else { return ContentPiece::Other("") };
            let kind = block.kind.text().unwrap_or_default();
            if is_text(kind) {
                ContentPiece::Text(block.text.text().unwrap_or_default().trim())
            } else {
                ContentPiece::Other(kind)
            }
        };
        match self {
            Self::Text(text) => vec![ContentPiece::Text(text.trim())],
            Self::Blocks(blocks) => blocks.iter().map(piece).collect(),
        }
    }
}
