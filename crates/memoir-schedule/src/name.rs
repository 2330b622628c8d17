//! Names of tasks: they are names of folders too.

/// So long is a name at most.
const LONGEST: usize = 64;

/// Why a name will not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a name for a task")]
pub struct NameError(String);

/// Checks that a name has only letters, digits, `-` and `_`, so that it is safe as the name of a directory.
///
/// # Errors
///
/// Fails if the name is empty, too long or has other characters.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
    let good = !name.is_empty() && name.len() <= LONGEST && name.chars().all(plain);
    if good { Ok(()) } else { Err(NameError(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn no_name_leads_elsewhere() {
        for good in ["news", "morning-mail_2", "täglich"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "a/b", "..", ".", "a b", "a\\b", "a\0", "a.b", "~", &"x".repeat(65)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
