//! Separates reasoning in `<think>` tags, which some servers send as part of the answer.

use memoir_models::ChatEvent;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Splits a text that arrives in parts. Only a tag at its beginning counts: later ones are quoted.
#[derive(Default)]
pub(super) struct ThinkSplitter {
    position: Position,
    /// Text that may be the beginning of a tag.
    pending: String,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Position {
    #[default]
    Start,
    Reasoning,
    /// After the reasoning, before the first word of the answer.
    Between,
    Answer,
}

impl ThinkSplitter {
    /// Adds a part, and returns what is complete.
    pub(super) fn push(&mut self, part: &str) -> Vec<ChatEvent> {
        self.pending.push_str(part);
        let mut events = Vec::new();
        loop {
            match self.position {
                Position::Start => {
                    let text = self.pending.trim_start();
                    if let Some(rest) = text.strip_prefix(OPEN) {
                        self.pending = rest.to_owned();
                        self.position = Position::Reasoning;
                        continue;
                    }
                    if OPEN.starts_with(text) {
                        return events;
                    }
                    self.position = Position::Answer;
                }
                Position::Reasoning => {
                    let end = self.pending.find(CLOSE);
                    // The rest may be the beginning of the tag.
                    let length = end.unwrap_or_else(|| self.pending.len() - overlap(&self.pending, CLOSE));
                    let rest = self.pending.split_off(length);
                    let reasoning = std::mem::replace(&mut self.pending, rest);
                    events.extend((!reasoning.is_empty()).then_some(ChatEvent::Thinking(reasoning)));
                    if end.is_none() {
                        return events;
                    }
                    self.pending.drain(..CLOSE.len());
                    self.position = Position::Between;
                }
                Position::Between => {
                    self.pending = self.pending.trim_start().to_owned();
                    if self.pending.is_empty() {
                        return events;
                    }
                    self.position = Position::Answer;
                }
                Position::Answer => {
                    let text = std::mem::take(&mut self.pending);
                    events.extend((!text.is_empty()).then_some(ChatEvent::Text(text)));
                    return events;
                }
            }
        }
    }

    /// Returns the rest at the end of the reply.
    pub(super) fn finish(&mut self) -> Option<ChatEvent> {
        let rest = Some(std::mem::take(&mut self.pending)).filter(|rest| !rest.is_empty())?;
        Some(match self.position {
            Position::Reasoning => ChatEvent::Thinking(rest),
            _ => ChatEvent::Text(rest),
        })
    }
}

/// Returns the length of the longest end of `text` with which `tag` begins.
fn overlap(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| text.ends_with(&tag[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the reasoning and the answer of a text that arrives in parts of `size` characters.
    fn split(text: &str, size: usize) -> (String, String) {
        let mut splitter = ThinkSplitter::default();
        let letters: Vec<char> = text.chars().collect();
        let mut events: Vec<ChatEvent> =
            letters.chunks(size).flat_map(|part| splitter.push(&part.iter().collect::<String>())).collect();
        events.extend(splitter.finish());
        let (mut reasoning, mut answer) = (String::new(), String::new());
        for event in events {
            match event {
                ChatEvent::Thinking(text) => reasoning.push_str(&text),
                ChatEvent::Text(text) => answer.push_str(&text),
                _ => {}
            }
        }
        (reasoning, answer)
    }

    #[test]
    fn reasoning_is_separated_wherever_the_text_is_cut() {
        for (text, reasoning, answer) in [
            ("<think>\nWell, 1 < 2.\n</think>\n\nYes.", "\nWell, 1 < 2.\n", "Yes."),
            ("\n<think></think>No.", "", "No."),
            ("Use <think> tags.</think>", "", "Use <think> tags.</think>"),
            ("<thin", "", "<thin"),
            ("<think>cut off </thi", "cut off </thi", ""),
            ("<think>a</think>b <think>c</think>", "a", "b <think>c</think>"),
            ("  indented", "", "  indented"),
        ] {
            for size in [1, 2, 3, 100] {
                let expected = (reasoning.to_owned(), answer.to_owned());
                assert_eq!(split(text, size), expected, "{text:?} in parts of {size}");
            }
        }
    }
}
