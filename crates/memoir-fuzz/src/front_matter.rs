//! What stands before a Markdown text.

use memoir_docs::{FrontMatter, slug_of};

use crate::input::text;

/// What follows front matter is the rest of the text; what was read and is written is read again; slugs are short and plain.
pub fn front_matter(data: &[u8]) {
    let text = text(data);
    is_plain(&slug_of(&text));
    match FrontMatter::read(&text) {
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.contains('\n'), "one line: {message:?}");
        }
        Ok((front, body)) => {
            assert!(body <= text.len() && text.is_char_boundary(body), "the body is a suffix");
            assert!(body > 0 || front == FrontMatter::default(), "nothing is read where nothing stands");
            front.slug.iter().for_each(|slug| is_plain(slug));
            let written = front.write();
            assert_eq!(
                FrontMatter::read(&format!("{written}body")),
                Ok((as_written(front), written.len() - 1)),
                "{written}"
            );
        }
    }
}

/// Front matter is written on lines: what is no letter there becomes a space.
fn as_written(front: FrontMatter) -> FrontMatter {
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

fn is_plain(slug: &str) {
    assert!(slug.len() <= 60 && !slug.starts_with('-') && !slug.ends_with('-'), "{slug:?}");
    assert!(slug.chars().all(|letter| letter.is_alphanumeric() || letter == '-'), "{slug:?}");
}
