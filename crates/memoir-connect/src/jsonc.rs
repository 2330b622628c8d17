//! JSON texts that keep their comments and layout when they are edited.

use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstContainerNode, CstLeafNode, CstNode, CstObject, CstObjectProp, CstRootNode},
};
use serde_json::Value;

use crate::error::{ConfigFormat, EditError};

/// Which extensions of JSON a host accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonDialect {
    /// Comments may be there, but a trailing comma is an error.
    Json,
    /// Comments and trailing commas.
    Jsonc,
}

const BOM: char = '\u{feff}';

/// A parsed text.
pub(crate) struct JsonDocument {
    has_bom: bool,
    root: CstRootNode,
}

impl JsonDocument {
    /// Parses a text. A text without a value becomes an empty object when [`JsonDocument::object`] is called.
    pub(crate) fn parse(text: &str, dialect: JsonDialect) -> Result<Self, EditError> {
        let body = text.strip_prefix(BOM).unwrap_or(text);
        let options = ParseOptions {
            allow_comments: true,
            allow_loose_object_property_names: false,
            allow_trailing_commas: dialect == JsonDialect::Jsonc,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let root = CstRootNode::parse(body, &options).map_err(|error| EditError::Syntax {
            format: ConfigFormat::Json,
            line: error.line_display(),
            reason: lower_first(&error.kind().to_string()),
        })?;
        Ok(Self { has_bom: body.len() < text.len(), root })
    }

    /// Returns the object at the root, creating it if the text has no value.
    pub(crate) fn object(&self) -> Result<CstObject, EditError> {
        self.root.object_value_or_create().ok_or(EditError::NotAnObject)
    }

    /// Returns whether the text has no value.
    pub(crate) fn is_empty(&self) -> bool {
        self.root.value().is_none()
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> String {
        let bom = if self.has_bom { BOM.to_string() } else { String::new() };
        format!("{bom}{}", self.root)
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

/// Returns the property with a key.
///
/// # Errors
///
/// If the key occurs more than once: hosts read the last one, and editing that one would hide the first.
pub(crate) fn property(object: &CstObject, key: &str) -> Result<Option<CstObjectProp>, EditError> {
    let mut properties =
        object.properties().into_iter().filter(|property| property.decoded_name().as_deref() == Some(key));
    let first = properties.next();
    match properties.next() {
        Some(_) => Err(EditError::DuplicateKey { key: key.to_owned() }),
        None => Ok(first),
    }
}

/// Returns the object at the end of a path, or `None` if a key is missing.
///
/// # Errors
///
/// If another type is in the way.
pub(crate) fn object_at(object: &CstObject, path: &[&str]) -> Result<Option<CstObject>, EditError> {
    let mut object = object.clone();
    for (index, key) in path.iter().enumerate() {
        let Some(property) = property(&object, key)? else { return Ok(None) };
        object = property.object_value().ok_or_else(|| wrong_type(&path[..=index], "an object"))?;
    }
    Ok(Some(object))
}

/// Returns the array at the end of a path, or `None` if a key is missing.
///
/// # Errors
///
/// If another type is in the way.
pub(crate) fn array_at(object: &CstObject, path: &[&str]) -> Result<Option<CstArray>, EditError> {
    let Some((last, parents)) = path.split_last() else { return Ok(None) };
    let Some(parent) = object_at(object, parents)? else { return Ok(None) };
    let Some(property) = property(&parent, last)? else { return Ok(None) };
    property.array_value().map(Some).ok_or_else(|| wrong_type(path, "an array"))
}

fn wrong_type(path: &[&str], expected: &'static str) -> EditError {
    EditError::WrongType { key: path.join("."), expected }
}

/// Returns the value of a node, or `None` if the node is white space or a comment.
pub(crate) fn value_of(node: &CstNode) -> Option<Value> {
    match node {
        CstNode::Container(CstContainerNode::Object(object)) => {
            let entry = |property: CstObjectProp| {
                let value = property.value().as_ref().and_then(value_of);
                property.decoded_name().zip(value)
            };
            Some(Value::Object(object.properties().into_iter().filter_map(entry).collect()))
        }
        CstNode::Container(CstContainerNode::Array(array)) => {
            Some(Value::Array(array.elements().iter().filter_map(value_of).collect()))
        }
        CstNode::Leaf(CstLeafNode::StringLit(text)) => text.decoded_value().ok().map(Value::String),
        CstNode::Leaf(CstLeafNode::NumberLit(number)) => serde_json::from_str(&number.to_string()).ok(),
        CstNode::Leaf(CstLeafNode::BooleanLit(flag)) => Some(Value::Bool(flag.value())),
        CstNode::Leaf(CstLeafNode::NullKeyword(_)) => Some(Value::Null),
        _ => None,
    }
}

/// Returns the string value of a property, or `None` if it is missing or has another type.
pub(crate) fn string_property(object: &CstObject, key: &str) -> Option<String> {
    object.get(key)?.value()?.as_string_lit()?.decoded_value().ok()
}
