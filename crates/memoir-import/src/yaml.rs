//! Reading of YAML, as JSON.

use serde_json::Value;

/// Converts YAML to JSON. Returns `None` if the text is not valid.
pub(crate) fn to_json(text: &str) -> Option<Value> {
    serde_saphyr::from_str(text).ok()
}
