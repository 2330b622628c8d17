//! Settings that can be looked up, shown and changed by name, in one list per area of the program.

/// The reason a setting could not be found or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No setting has this name.
    #[error("there is no setting \"{0}\"")]
    Unknown(String),
    /// No setting has this name because it does not apply to Memoir.
    #[error("there is no setting \"{name}\": {reason}")]
    NotApplicable {
        /// Name as the user wrote it.
        name: String,
        /// Why the setting does not apply.
        reason: &'static str,
    },
    /// The value is invalid.
    #[error("{key} must be {valid_values}, not \"{value}\"")]
    Value {
        /// Key of the setting.
        key: &'static str,
        /// Description of the valid values.
        valid_values: &'static str,
        /// Rejected value, as the user wrote it.
        value: String,
    },
    /// The value is a list of names, and one of them does not exist.
    #[error("{key} cannot be \"{value}\": {unknown}")]
    Name {
        /// Key of the setting.
        key: &'static str,
        /// Whole list, as the user wrote it.
        value: String,
        /// Name that does not exist, with the valid names.
        unknown: UnknownName,
    },
}

/// A name that is not in a fixed list of names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} \"{name}\"; the {kind}s are {}", valid_names.join(", "))]
pub struct UnknownName {
    /// Kind of object named, in the singular, as in "stage".
    pub kind: &'static str,
    /// Name that is not in the list.
    pub name: String,
    /// Names in the list, in the order in which the error message lists them.
    pub valid_names: Vec<&'static str>,
}

/// The reason [`Setting::change`] rejected a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RejectedValue {
    /// The value is not of the form that the setting takes.
    Invalid,
    /// The value contains a name that does not exist.
    Name(UnknownName),
}

impl From<UnknownName> for RejectedValue {
    fn from(unknown: UnknownName) -> Self {
        Self::Name(unknown)
    }
}

/// A setting stored in `S`.
pub struct Setting<S: 'static> {
    /// Full name, as in `rag.mode`.
    pub key: &'static str,
    /// Alternative names, known from other programs.
    pub aliases: &'static [&'static str],
    /// Description of the valid values, as in "a number from 1 to 50". Error messages put "must be" in front of it.
    pub valid_values: &'static str,
    /// One-line description for help and reference pages.
    pub summary: &'static str,
    /// Formats the current value.
    pub show: fn(&S) -> String,
    /// Parses and assigns a value. On failure the settings are unchanged.
    pub change: fn(&mut S, &str) -> Result<(), RejectedValue>,
}

/// A type whose fields are exposed as named settings.
pub trait HasSettings: Default + Clone + Sized + 'static {
    /// All settings of this type.
    const ALL: &'static [Setting<Self>];

    /// Settings of other programs that do not apply here, without their area, each with the reason.
    const NOT_APPLICABLE: &'static [(&'static str, &'static str)] = &[];
}

impl<S: HasSettings> Setting<S> {
    /// Returns the setting with this name: its key, an alias, or its key without the area.
    ///
    /// # Errors
    ///
    /// Fails if there is no such setting.
    pub fn find(name: &str) -> Result<&'static Self, SettingError> {
        let has_name = |setting: &&Self| setting.key == name || setting.aliases.contains(&name);
        let has_short_name =
            |setting: &&Self| setting.key.split_once('.').is_some_and(|(_, short)| short == name);
        let setting = S::ALL.iter().find(has_name).or_else(|| S::ALL.iter().find(has_short_name));
        let short_name = name.rsplit(['.', '_']).next().unwrap_or(name);
        let not_applicable = S::NOT_APPLICABLE.iter().find(|(other, _)| *other == short_name);
        setting.ok_or_else(|| match not_applicable {
            Some((_, reason)) => SettingError::NotApplicable { name: name.to_owned(), reason },
            None => SettingError::Unknown(name.to_owned()),
        })
    }

    /// Returns the current value, formatted for the user.
    pub fn show(&self, settings: &S) -> String {
        (self.show)(settings)
    }

    /// Parses `value` and assigns it to the setting.
    ///
    /// # Errors
    ///
    /// Fails if `value` is invalid; `settings` is then unchanged.
    pub fn change(&self, settings: &mut S, value: &str) -> Result<(), SettingError> {
        let (key, value) = (self.key, value.trim());
        (self.change)(settings, value).map_err(|rejected| match rejected {
            RejectedValue::Invalid => {
                SettingError::Value { key, valid_values: self.valid_values, value: value.to_owned() }
            }
            RejectedValue::Name(unknown) => SettingError::Name { key, value: value.to_owned(), unknown },
        })
    }
}

/// Assigns a parsed value to a field.
///
/// # Errors
///
/// Fails if `value` is `None`; the field is then unchanged.
pub fn assign<T>(field: &mut T, value: Option<T>) -> Result<(), RejectedValue> {
    *field = value.ok_or(RejectedValue::Invalid)?;
    Ok(())
}

/// Parses a number, or returns `None` if it is not within `min..=max`.
pub fn parse_in_range(value: &str, min: u64, max: u64) -> Option<u64> {
    value.parse().ok().filter(|number| (min..=max).contains(number))
}

/// Returns the choice named `value`.
pub fn parse_choice<T: Copy>(value: &str, choices: &[(&str, T)]) -> Option<T> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice)
}

/// Returns the first name of the choice `value`.
pub fn choice_name<T: PartialEq>(value: &T, choices: &[(&'static str, T)]) -> String {
    choices.iter().find(|(_, choice)| choice == value).map_or("", |(name, _)| name).to_owned()
}

/// Names of a switch's values. The first name of each is shown.
pub const SWITCH: [(&str, bool); 4] = [("on", true), ("off", false), ("true", true), ("false", false)];
