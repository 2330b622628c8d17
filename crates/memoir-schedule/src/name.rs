//! Validation of task names, which are also used as directory names.

/// Maximum length of a task name in bytes.
const MAX_BYTES: usize = 64;

/// The error for an invalid task name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a valid task name")]
pub struct NameError(String);

/// Checks that a name consists of letters, digits, `-` and `_`, which makes it safe as a directory name.
///
/// # Errors
///
/// Fails if the name is empty, longer than 64 bytes or contains other characters.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let is_allowed = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
    let is_valid = !name.is_empty() && name.len() <= MAX_BYTES && name.chars().all(is_allowed);
    if is_valid { Ok(()) } else { Err(NameError(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn names_cannot_escape_the_history_directory() {
        for valid in ["news", "morning-mail_2", "täglich"] {
            assert!(check_name(valid).is_ok(), "{valid}");
        }
        for invalid in ["", "a/b", "..", ".", "a b", "a\\b", "a\0", "a.b", "~", &"x".repeat(65)] {
            assert!(check_name(invalid).is_err(), "{invalid:?}");
        }
    }
}
