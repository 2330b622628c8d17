//! Computes and applies the edits that restore a previous text.

use serde::{Deserialize, Serialize};

use crate::diff::differences;

/// A part of a text to replace in order to restore the previous text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    /// Position of the part in the current text, in bytes.
    pub offset: usize,
    /// Length of the part, which was inserted, in bytes.
    pub inserted: usize,
    /// The text that was there before. Usually empty or white space.
    pub removed: String,
}

/// Returns the edits that turn `after` back into `before`, in order.
pub(crate) fn edits_back(before: &str, after: &str) -> Vec<TextEdit> {
    let to_edit = |hunk: crate::diff::Hunk| TextEdit {
        offset: hunk.after.start,
        inserted: hunk.after.len(),
        removed: before[hunk.before].to_owned(),
    };
    let edits: Vec<TextEdit> = differences(before, after).into_iter().map(to_edit).collect();
    debug_assert_eq!(undo(&edits, after).as_deref(), Some(before));
    edits
}

/// Returns the previous text, or `None` if the edits do not fit the text.
pub(crate) fn undo(edits: &[TextEdit], text: &str) -> Option<String> {
    let mut previous = String::with_capacity(text.len());
    let mut position = 0;
    for edit in edits {
        previous.push_str(text.get(position..edit.offset)?);
        previous.push_str(&edit.removed);
        position = edit.offset.checked_add(edit.inserted)?;
    }
    previous.push_str(text.get(position..)?);
    Some(previous)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn round_trip(before: &str, after: &str) -> Vec<TextEdit> {
        let edits = edits_back(before, after);
        assert_eq!(undo(&edits, after).as_deref(), Some(before), "{before:?} -> {after:?}");
        edits
    }

    #[test]
    fn insertions_in_several_places_store_none_of_the_text() {
        let before = "{\n  \"a\": {\n    \"secret\": \"x1\"\n  },\n  \"b\": [\n    1\n  ]\n}\n";
        let after =
            "{\n  \"a\": {\n    \"secret\": \"x1\",\n    \"n\": 1\n  },\n  \"b\": [\n    1,\n    2\n  ]\n}\n";
        let edits = round_trip(before, after);
        assert!(edits.len() >= 2, "{edits:?}");
        assert!(edits.iter().all(|edit| edit.removed.is_empty()), "{edits:?}");
    }

    #[test]
    fn unrelated_and_empty_texts_are_restored() {
        for (before, after) in
            [("", "abc"), ("abc", ""), ("", ""), ("a b c", "c b a"), ("äöü → x", "äü → → y"), ("xx", "x x")]
        {
            round_trip(before, after);
        }
    }

    #[test]
    fn generated_texts_are_restored() {
        let mut state = 7_u64;
        let mut next = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let pieces = ["a", "b", " ", "\n", "ä", "{", "}", ",", "  ", "ab"];
        for _ in 0..2000 {
            let mut text =
                || -> String { (0..next(30)).map(|_| pieces[usize::try_from(next(10)).unwrap()]).collect() };
            let (before, after) = (text(), text());
            round_trip(&before, &after);
        }
    }

    #[test]
    fn large_differences_become_one_edit() {
        let before: String = (0..3000).map(|number| format!("{number} ")).collect();
        let after: String = (3000..6000).map(|number| format!("{number}\n")).collect();
        assert_eq!(round_trip(&before, &after).len(), 1);
    }

    #[test]
    fn edits_that_do_not_fit_are_refused() {
        let edit = TextEdit { offset: 1, inserted: 1, removed: String::new() };
        assert_eq!(undo(std::slice::from_ref(&edit), "ä"), None);
        assert_eq!(undo(&[edit], ""), None);
    }
}
