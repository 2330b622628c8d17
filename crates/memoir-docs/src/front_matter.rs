//! Reads and writes the YAML front matter of a Markdown file: title, date, tags and slug.

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;

/// Maximum length of a slug in bytes.
const MAX_SLUG_LENGTH: usize = 60;

/// The fields of front matter that Memoir uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// Title of the document.
    pub title: Option<String>,
    /// Date in the form `2026-05-01`.
    pub date: Option<String>,
    /// Tags, in the order in which they are written.
    pub tags: Vec<String>,
    /// Short name that identifies the document.
    pub slug: Option<String>,
}

/// Front matter as parsed from YAML. Other fields are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawFrontMatter {
    title: Option<String>,
    date: Option<String>,
    tags: Option<Tags>,
    slug: Option<String>,
}

/// Reason why front matter could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    /// It is not valid YAML, or a field has the wrong type.
    #[error("its front matter could not be parsed: {0}")]
    Yaml(String),
    /// The `date` field is not a date.
    #[error("\"{0}\" in its front matter is not a date; write it like 2026-05-01")]
    Date(String),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Tags {
    List(Vec<String>),
    Line(String),
}

impl FrontMatter {
    /// Parses the front matter of `text`. Also returns the byte offset of the body, which is 0 if there is no front
    /// matter.
    ///
    /// # Errors
    ///
    /// Fails if the front matter is not valid YAML, a field has the wrong type, or the date is invalid.
    pub fn read(text: &str) -> Result<(Self, usize), FrontMatterError> {
        let Some((front, body)) = split(text) else { return Ok((Self::default(), 0)) };
        if front.trim().is_empty() {
            return Ok((Self::default(), body));
        }
        let raw: RawFrontMatter = serde_saphyr::from_str(front)
            .map_err(|error| FrontMatterError::Yaml(first_line(&error.to_string()).to_owned()))?;
        let non_empty = |value: Option<String>| {
            value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty() && value != "null")
        };
        let tags = match raw.tags {
            Some(Tags::List(tags)) => tags,
            Some(Tags::Line(tags)) => tags.split(',').map(str::to_owned).collect(),
            None => Vec::new(),
        };
        let date = match non_empty(raw.date) {
            None => None,
            Some(date) => Some(parse_day(&date).ok_or(FrontMatterError::Date(date))?),
        };
        let tags = tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect();
        let slug = non_empty(raw.slug).map(|slug| slugify(&slug)).filter(|slug| !slug.is_empty());
        Ok((Self { title: non_empty(raw.title), date, tags, slug }, body))
    }

    /// Formats the front matter as YAML between `---` lines, followed by an empty line.
    pub fn write(&self) -> String {
        let mut text = String::from("---\n");
        for (name, value) in [("title", &self.title), ("date", &self.date), ("slug", &self.slug)] {
            if let Some(value) = value {
                text.push_str(&format!("{name}: {}\n", quote(value)));
            }
        }
        let tags: Vec<String> = self.tags.iter().map(|tag| quote(tag)).collect();
        text.push_str(&format!("tags: [{}]\n---\n\n", tags.join(", ")));
        text
    }
}

/// Returns the text between the `---` lines, and the byte offset of the body after them.
fn split(text: &str) -> Option<(&str, usize)> {
    let start_of_text = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let first = text[start_of_text..].split_inclusive('\n').next().filter(|line| line.trim_end() == "---")?;
    let start = start_of_text + first.len();
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&text[start..end], end + line.len()));
        }
        end += line.len();
    }
    None
}

fn parse_day(date: &str) -> Option<String> {
    let day = date.get(..10)?;
    let rest = &date[10..];
    let is_time = rest.is_empty() || rest.starts_with(['T', 't', ' ']);
    day.parse::<jiff::civil::Date>().ok().filter(|_| is_time).map(|date| date.to_string())
}

fn quote(value: &str) -> String {
    let value: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}

/// Returns a slug for a title: lowercase letters and digits of any script, with hyphens between words.
pub fn slugify(title: &str) -> String {
    let mut slug = String::new();
    for character in title.nfc().flat_map(char::to_lowercase) {
        match character {
            c if c.is_alphanumeric() => slug.push(c),
            // An apostrophe does not separate words.
            '\'' | '’' => {}
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    let mut end = slug.floor_char_boundary(MAX_SLUG_LENGTH);
    if end < slug.len() {
        end = slug[..end].rfind('-').filter(|index| *index > MAX_SLUG_LENGTH / 2).unwrap_or(end);
    }
    slug[..end].trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn front_matter_is_parsed_in_its_common_forms() {
        let text = "---\ntitle: \"A week: in Paris\"\ndate: 2025-01-15T10:30:00Z\ntags:\n  - travel\n  - food\nslug: Paris Week\ndraft: true\n---\nBody\n";
        let (front, body) = FrontMatter::read(text).unwrap();
        assert_eq!(front.title.as_deref(), Some("A week: in Paris"));
        assert_eq!(front.date.as_deref(), Some("2025-01-15"));
        assert_eq!(front.tags, ["travel", "food"]);
        assert_eq!(front.slug.as_deref(), Some("paris-week"));
        assert_eq!(&text[body..], "Body\n");
        let (front, _) = FrontMatter::read("---\r\ntitle: 2024\r\ntags: a, b ,\r\n---\r\nBody").unwrap();
        assert_eq!(
            (front.title.as_deref(), front.tags),
            (Some("2024"), vec!["a".to_owned(), "b".to_owned()])
        );
        for none in
            ["Body", "", "--- not a line\nx", "---\nnever closed", "----\na\n---\n", "\n---\na: b\n---\n"]
        {
            assert_eq!(FrontMatter::read(none).unwrap(), (FrontMatter::default(), 0), "{none:?}");
        }
        assert_eq!(FrontMatter::read("---\n---\nBody").unwrap(), (FrontMatter::default(), 8));
    }

    #[test]
    fn errors_name_the_cause() {
        for (text, message) in [
            ("---\ntitle: [a\n---\n", "its front matter could not be parsed"),
            ("---\ndate: next week\n---\n", "\"next week\" in its front matter is not a date"),
            ("---\ndate: 2025-02-30\n---\n", "is not a date"),
        ] {
            let error = FrontMatter::read(text).unwrap_err().to_string();
            assert!(error.contains(message) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn written_front_matter_can_be_read_again() {
        let front = FrontMatter {
            title: Some("He said \"no\": a \\ story #1".into()),
            date: Some("2026-05-01".into()),
            tags: vec!["one, two".into(), "yes".into()],
            slug: Some("he-said-no".into()),
        };
        let text = front.write();
        assert_eq!(FrontMatter::read(&text).unwrap(), (front, text.len() - 1), "{text}");
    }

    #[test]
    fn slugs_are_short_and_plain() {
        assert_eq!(slugify("  A week in Paris!  "), "a-week-in-paris");
        assert_eq!(slugify("Don't panic — Über Straße"), "dont-panic-über-straße");
        assert_eq!(slugify("../../etc/passwd"), "etc-passwd");
        assert_eq!(slugify("日記"), "日記");
        assert_eq!(slugify("?!"), "");
        assert!(slugify(&"word ".repeat(40)).len() <= MAX_SLUG_LENGTH);
    }
}
