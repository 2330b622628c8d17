//! Front matter of a Markdown file: title, date, tags, slug.

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;

/// So long is a slug at most.
const LONGEST_SLUG: usize = 60;

/// The fields of front matter. Missing ones are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// The title.
    pub title: Option<String>,
    /// The day, as in 2026-05-01.
    pub date: Option<String>,
    /// What it is filed under.
    pub tags: Vec<String>,
    /// The short name.
    pub slug: Option<String>,
}

/// As it is written. What else is there is left alone.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    title: Option<String>,
    date: Option<String>,
    tags: Option<Tags>,
    slug: Option<String>,
}

/// Why front matter could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    /// It is not YAML, or a field has another type.
    #[error("its front matter is not YAML with a title, a date, tags and a slug: {0}")]
    Yaml(String),
    /// Its date is not a date.
    #[error("\"{0}\" in its front matter is not a date: write it as 2026-05-01")]
    Date(String),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Tags {
    List(Vec<String>),
    Line(String),
}

impl FrontMatter {
    /// Reads the front matter of a text, and returns where the body begins. Without front matter that is at 0.
    ///
    /// # Errors
    ///
    /// Fails if the front matter is not YAML, or if its date is not a date.
    pub fn read(text: &str) -> Result<(Self, usize), FrontMatterError> {
        let Some((front, body)) = split(text) else { return Ok((Self::default(), 0)) };
        if front.trim().is_empty() {
            return Ok((Self::default(), body));
        }
        let written: Written = serde_saphyr::from_str(front)
            .map_err(|error| FrontMatterError::Yaml(first_line(&error.to_string()).to_owned()))?;
        let given = |value: Option<String>| {
            value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty() && value != "null")
        };
        let tags = match written.tags {
            Some(Tags::List(tags)) => tags,
            Some(Tags::Line(tags)) => tags.split(',').map(str::to_owned).collect(),
            None => Vec::new(),
        };
        let date = match given(written.date) {
            None => None,
            Some(date) => Some(day(&date).ok_or(FrontMatterError::Date(date))?),
        };
        let tags = tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect();
        let slug = given(written.slug).map(|slug| slug_of(&slug)).filter(|slug| !slug.is_empty());
        Ok((Self { title: given(written.title), date, tags, slug }, body))
    }

    /// Returns the front matter as it is written in front of a text.
    pub fn write(&self) -> String {
        let mut text = String::from("---\n");
        for (name, value) in [("title", &self.title), ("date", &self.date), ("slug", &self.slug)] {
            if let Some(value) = value {
                text.push_str(&format!("{name}: {}\n", quoted(value)));
            }
        }
        let tags: Vec<String> = self.tags.iter().map(|tag| quoted(tag)).collect();
        text.push_str(&format!("tags: [{}]\n---\n\n", tags.join(", ")));
        text
    }
}

/// What stands between lines of `---`, and where the rest begins.
fn split(text: &str) -> Option<(&str, usize)> {
    let mark = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let first = text[mark..].split_inclusive('\n').next().filter(|line| line.trim_end() == "---")?;
    let start = mark + first.len();
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&text[start..end], end + line.len()));
        }
        end += line.len();
    }
    None
}

/// The day of a date, with or without a time.
fn day(date: &str) -> Option<String> {
    let day = date.get(..10)?;
    let rest = &date[10..];
    let is_time = rest.is_empty() || rest.starts_with(['T', 't', ' ']);
    day.parse::<jiff::civil::Date>().ok().filter(|_| is_time).map(|date| date.to_string())
}

fn quoted(value: &str) -> String {
    let value: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}

/// A short name for a title: small letters, numbers and dashes, in any script.
pub fn slug_of(title: &str) -> String {
    let mut slug = String::new();
    for character in title.nfc().flat_map(char::to_lowercase) {
        match character {
            c if c.is_alphanumeric() => slug.push(c),
            // What stands within a word leaves no gap.
            '\'' | '’' => {}
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    let mut end = slug.floor_char_boundary(LONGEST_SLUG);
    if end < slug.len() {
        end = slug[..end].rfind('-').filter(|at| *at > LONGEST_SLUG / 2).unwrap_or(end);
    }
    slug[..end].trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn front_matter_is_read_in_the_ways_people_write_it() {
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
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("---\ntitle: [a\n---\n", "its front matter is not YAML"),
            ("---\ndate: next week\n---\n", "\"next week\" in its front matter is not a date"),
            ("---\ndate: 2025-02-30\n---\n", "is not a date"),
        ] {
            let error = FrontMatter::read(text).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
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
        assert_eq!(slug_of("  A week in Paris!  "), "a-week-in-paris");
        assert_eq!(slug_of("Don't panic — Über Straße"), "dont-panic-über-straße");
        assert_eq!(slug_of("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug_of("日記"), "日記");
        assert_eq!(slug_of("?!"), "");
        assert!(slug_of(&"word ".repeat(40)).len() <= LONGEST_SLUG);
    }
}
