//! Front matter of Markdown documents.

use memoir_docs::{FrontMatter, slugify};

use crate::input::text;

/// Checks that the body is the rest of the text, that front matter survives a round trip, and that slugs are
/// short and plain.
pub fn front_matter(data: &[u8]) {
    let text = text(data);
    check_slug(&slugify(&text));
    match FrontMatter::read(&text) {
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.contains('\n'), "the error is one line: {message:?}");
        }
        Ok((front, body)) => {
            assert!(body <= text.len() && text.is_char_boundary(body), "the body is a suffix");
            assert!(
                body > 0 || front == FrontMatter::default(),
                "without front matter, all fields are default"
            );
            front.slug.iter().for_each(|slug| check_slug(slug));
            let output = front.write();
            assert_eq!(
                FrontMatter::read(&format!("{output}body")),
                Ok((normalize(front), output.len() - 1)),
                "{output}"
            );
        }
    }
}

/// Applies the normalization of writing: each field is on one line, so control characters become spaces.
fn normalize(front: FrontMatter) -> FrontMatter {
    let clean = |text: String| {
        let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Some(spaced.trim().to_owned()).filter(|text| !text.is_empty())
    };
    FrontMatter {
        title: front.title.and_then(clean).filter(|title| title != "null"),
        tags: front.tags.into_iter().filter_map(clean).collect(),
        ..front
    }
}

fn check_slug(slug: &str) {
    assert!(slug.len() <= 60 && !slug.starts_with('-') && !slug.ends_with('-'), "{slug:?}");
    assert!(slug.chars().all(|character| character.is_alphanumeric() || character == '-'), "{slug:?}");
}
