//! Message content as model APIs represent it: a string, or a list of blocks.

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::value::RawValue;

use crate::json::Lenient;

pub(crate) enum Body {
    Text(String),
    Blocks(Vec<Lenient<ContentBlock>>),
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ContentBlock {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    text: Lenient<String>,
}

/// Not derived as an untagged enum: that would buffer the blocks, and `Lenient` needs their raw JSON.
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

pub(crate) enum ContentPiece<'a> {
    /// Trimmed text, possibly empty.
    Text(&'a str),
    /// The kind of a block without text, such as `image`.
    Other(&'a str),
}

impl Body {
    /// Returns the content piece by piece. `is_text` decides by its kind whether a block contains text.
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
