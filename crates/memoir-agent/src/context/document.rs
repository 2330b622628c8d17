//! The message that contains the prompt, with the sections that are quoted in front of it.

/// Joins the sections and the prompt. A heading separates the prompt, so that recalled text is never taken for the
/// user's current message.
pub(crate) fn write(sections: &[&str], prompt: &str) -> String {
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        text.push_str(section);
        text.push_str("\n\n");
    }
    if text.is_empty() { prompt.to_owned() } else { format!("{text}## The user says now\n\n{prompt}") }
}
