//! Long pastes, which the input line shows in one line and the prompt contains in full.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use memoir_core::lock;

/// Maximum number of lines that a paste may have to be shown as it is.
const MAX_SHOWN_LINES: usize = 20;

/// The pasted texts, by the mark that stands for each in the input line.
#[derive(Clone, Default)]
pub(super) struct Pastes(Arc<Mutex<BTreeMap<String, String>>>);

impl Pastes {
    /// Returns the mark for a paste, or `None` if it is short enough to be shown.
    pub(super) fn collapse(&self, text: &str) -> Option<String> {
        let lines = text.lines().count();
        if lines <= MAX_SHOWN_LINES {
            return None;
        }
        let mut pastes = lock(&self.0);
        let marks = (1..).map(|number| match number {
            1 => format!("[pasted {lines} lines]"),
            _ => format!("[pasted {lines} lines, {number}]"),
        });
        let is_free = |mark: &String| pastes.get(mark).is_none_or(|other| other == text);
        let mark = marks.into_iter().find(is_free)?;
        pastes.insert(mark.clone(), text.to_owned());
        Some(mark)
    }

    /// Replaces the marks in a line with the texts that they stand for.
    pub(super) fn expand(&self, line: &str) -> String {
        let pastes = lock(&self.0);
        let mut expanded = String::new();
        let mut rest = line;
        // A pasted text can contain a mark of its own, which stays.
        while let Some((position, mark, text)) = pastes
            .iter()
            .filter_map(|(mark, text)| Some((rest.find(mark.as_str())?, mark, text)))
            .min_by_key(|(position, ..)| *position)
        {
            expanded.push_str(&rest[..position]);
            expanded.push_str(text);
            rest = &rest[position + mark.len()..];
        }
        expanded + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_for_the_texts_that_were_pasted() {
        let pastes = Pastes::default();
        assert_eq!(pastes.collapse("a\nb"), None);
        let (first, second) = ("x\n".repeat(30), "y [pasted 30 lines]\n".repeat(30));
        assert_eq!(pastes.collapse(&first).as_deref(), Some("[pasted 30 lines]"));
        assert_eq!(pastes.collapse(&second).as_deref(), Some("[pasted 30 lines, 2]"));
        assert_eq!(pastes.collapse(&first).as_deref(), Some("[pasted 30 lines]"), "the same again");
        let line = "See [pasted 30 lines, 2] and [pasted 30 lines], [pasted 9 lines].";
        assert_eq!(pastes.expand(line), format!("See {second} and {first}, [pasted 9 lines]."));
    }
}
