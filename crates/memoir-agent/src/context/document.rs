//! The context document of an exchange: what is quoted for it, and then the user's words.

/// `prompt` after the sections that stand before it. Recalled text never counts as something that the user says now.
pub(crate) fn write(sections: &[&str], prompt: &str) -> String {
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        text.push_str(section);
        text.push_str("\n\n");
    }
    if text.is_empty() { prompt.to_owned() } else { format!("{text}## The user says now\n\n{prompt}") }
}
