//! Questions that a server asks the user.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use memoir_core::lock;
use serde_json::{Map, Value};

/// A question of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerQuestion {
    /// Name of the server.
    pub server: String,
    /// What the server says, which is not trusted.
    pub message: String,
    /// What it wants to know.
    pub fields: Vec<QuestionField>,
}

/// A part of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionField {
    /// Name of the field in the answer.
    pub name: String,
    /// What the server calls it, which is not trusted.
    pub label: String,
    /// The values that it can have.
    pub kind: FieldKind,
    /// Whether it may be left out.
    pub is_optional: bool,
}

/// The values of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// Any text.
    Text,
    /// A number.
    Number,
    /// A number without a fraction.
    Integer,
    /// Yes or no.
    Switch,
    /// One of these texts.
    Choice(Vec<String>),
}

impl FieldKind {
    /// Parses what the user has typed, or returns `None` if it is not one of the values.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        match self {
            Self::Text => Some(text.into()),
            Self::Number => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
            Self::Integer => text.parse::<i64>().ok().map(Value::from),
            Self::Switch => match text.to_lowercase().as_str() {
                "y" | "yes" | "true" => Some(true.into()),
                "n" | "no" | "false" => Some(false.into()),
                _ => None,
            },
            Self::Choice(values) => {
                values.iter().find(|value| *value == text).map(|value| value.as_str().into())
            }
        }
    }
}

/// A front end that can ask the user.
#[async_trait]
pub trait Questioner: Send + Sync {
    /// Shows the question, and returns the answer by field, or `None` if the user declines.
    async fn ask(&self, question: &ServerQuestion) -> Option<Map<String, Value>>;
}

/// Where servers find the front end. Without one, questions are declined.
#[derive(Clone, Default)]
pub struct Questions {
    questioner: Arc<Mutex<Option<Arc<dyn Questioner>>>>,
    open: Arc<AtomicUsize>,
}

impl Questions {
    /// Sets the front end.
    pub fn set_questioner(&self, questioner: Arc<dyn Questioner>) {
        *lock(&self.questioner) = Some(questioner);
    }

    /// Returns whether the user is being asked. Meanwhile, calls do not time out.
    pub(crate) fn is_asking(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    pub(crate) async fn ask(&self, question: &ServerQuestion) -> Option<Map<String, Value>> {
        let questioner = lock(&self.questioner).clone()?;
        self.open.fetch_add(1, Ordering::Relaxed);
        let _open = CloseOnDrop(&self.open);
        questioner.ask(question).await
    }
}

struct CloseOnDrop<'a>(&'a AtomicUsize);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads the fields from the schema of a question. The protocol allows only simple properties.
pub(crate) fn read_fields(schema: &Value) -> Vec<QuestionField> {
    let required = schema["required"].as_array();
    let field = |(name, property): (&String, &Value)| {
        let text = |key: &str| property[key].as_str();
        let values = property["enum"].as_array().or_else(|| property["oneOf"].as_array());
        let kind = match (values, text("type")) {
            (Some(values), _) => FieldKind::Choice(values.iter().filter_map(choice).collect()),
            (None, Some("boolean")) => FieldKind::Switch,
            (None, Some("integer")) => FieldKind::Integer,
            (None, Some("number")) => FieldKind::Number,
            (None, _) => FieldKind::Text,
        };
        QuestionField {
            name: name.clone(),
            label: text("description").or_else(|| text("title")).unwrap_or(name).to_owned(),
            kind,
            is_optional: !required.is_some_and(|required| required.iter().any(|other| other == name)),
        }
    };
    schema["properties"].as_object().into_iter().flatten().map(field).collect()
}

fn choice(value: &Value) -> Option<String> {
    value.as_str().or_else(|| value["const"].as_str()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_read_from_the_schema_and_answers_are_checked() {
        let fields = read_fields(&json!({"required": ["sure"], "properties": {
            "sure": {"type": "boolean", "description": "Delete all?"},
            "count": {"type": "integer", "title": "How many"},
            "color": {"type": "string", "enum": ["red", "blue"]},
            "note": {"type": "string"},
        }}));
        let find = |name: &str| fields.iter().find(|field| field.name == name);
        let parse = |name: &str, text: &str| find(name).and_then(|field| field.kind.parse(text));
        assert_eq!(
            find("sure").map(|field| (field.label.as_str(), field.is_optional)),
            Some(("Delete all?", false))
        );
        assert_eq!(
            find("count").map(|field| (field.label.as_str(), field.is_optional)),
            Some(("How many", true))
        );
        assert_eq!((parse("sure", " Yes\n"), parse("sure", "maybe")), (Some(json!(true)), None));
        assert_eq!((parse("count", "7"), parse("count", "7.5")), (Some(json!(7)), None));
        assert_eq!((parse("color", "red"), parse("color", "green")), (Some(json!("red")), None));
        assert_eq!(parse("note", "hi"), Some(json!("hi")));
    }
}
