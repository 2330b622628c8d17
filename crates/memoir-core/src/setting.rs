//! Settings that are read, shown and changed by name: each area of the program has one list of them.

/// Why a setting was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is none of that name.
    #[error("there is no setting \"{0}\"")]
    Unknown(String),
    /// There is none of that name, and for a reason.
    #[error("there is no setting \"{name}\": {why}")]
    Elsewhere {
        /// What was asked for.
        name: String,
        /// Why there is none.
        why: &'static str,
    },
    /// The value does not fit.
    #[error("{key} takes {takes}, not \"{value}\"")]
    Value {
        /// The setting.
        key: &'static str,
        /// What it takes.
        takes: &'static str,
        /// What was given.
        value: String,
    },
    /// The value is a list of names, and one of them does not exist.
    #[error("{key} cannot be \"{value}\": {unknown}")]
    Name {
        /// The setting.
        key: &'static str,
        /// What was given.
        value: String,
        /// The name that does not exist, and those that do.
        unknown: UnknownName,
    },
}

/// A name that is not in a fixed list of names. The message lists the ones that are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} \"{name}\"; the {kind}s are {}", known.join(", "))]
pub struct UnknownName {
    /// What is named, in the singular, as in "stage".
    pub kind: &'static str,
    /// The name that was given.
    pub name: String,
    /// Every name that exists.
    pub known: Vec<&'static str>,
}

/// Why [`Setting::change`] refused a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusedValue {
    /// It is not what the setting takes.
    Unfit,
    /// It names something that does not exist.
    Name(UnknownName),
}

impl From<UnknownName> for RefusedValue {
    fn from(unknown: UnknownName) -> Self {
        Self::Name(unknown)
    }
}

/// One setting among those of `S`: its names, what it takes, and how it is read and changed.
pub struct Setting<S: 'static> {
    /// Its name, as in `rag.mode`.
    pub key: &'static str,
    /// Other names for it, from programs that people come from.
    pub aliases: &'static [&'static str],
    /// What it takes.
    pub takes: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Its value in words.
    pub show: fn(&S) -> String,
    /// Takes a value, or leaves everything as it is.
    pub change: fn(&mut S, &str) -> Result<(), RefusedValue>,
}

/// Settings that stand in one list.
pub trait HasSettings: Default + Clone + Sized + 'static {
    /// Every one there is.
    const ALL: &'static [Setting<Self>];

    /// Names, without their area, that people know from programs of another kind, and why there is none here.
    const ELSEWHERE: &'static [(&'static str, &'static str)] = &[];
}

impl<S: HasSettings> Setting<S> {
    /// Returns the setting with this name: its key, an alias, or its key without the area.
    ///
    /// # Errors
    ///
    /// Fails if there is no such setting.
    pub fn find(name: &str) -> Result<&'static Self, SettingError> {
        let known = |setting: &&Self| setting.key == name || setting.aliases.contains(&name);
        let short = |setting: &&Self| setting.key.split_once('.').is_some_and(|(_, last)| last == name);
        let found = S::ALL.iter().find(known).or_else(|| S::ALL.iter().find(short));
        let last = name.rsplit(['.', '_']).next().unwrap_or(name);
        let elsewhere = S::ELSEWHERE.iter().find(|(known, _)| *known == last);
        found.ok_or_else(|| match elsewhere {
            Some((_, why)) => SettingError::Elsewhere { name: name.to_owned(), why },
            None => SettingError::Unknown(name.to_owned()),
        })
    }

    /// Its value.
    pub fn show(&self, settings: &S) -> String {
        (self.show)(settings)
    }

    /// Changes the setting to what `value` says.
    ///
    /// # Errors
    ///
    /// Fails if the setting does not take `value`; `settings` is then unchanged.
    pub fn change(&self, settings: &mut S, value: &str) -> Result<(), SettingError> {
        let (key, value) = (self.key, value.trim());
        (self.change)(settings, value).map_err(|refused| match refused {
            RefusedValue::Unfit => SettingError::Value { key, takes: self.takes, value: value.to_owned() },
            RefusedValue::Name(unknown) => SettingError::Name { key, value: value.to_owned(), unknown },
        })
    }
}

/// Puts a parsed value into a field.
///
/// # Errors
///
/// Fails, and leaves the field as it is, if the value could not be parsed.
pub fn set<T>(field: &mut T, value: Option<T>) -> Result<(), RefusedValue> {
    *field = value.ok_or(RefusedValue::Unfit)?;
    Ok(())
}

/// A number between bounds.
pub fn number_in(value: &str, least: u64, most: u64) -> Option<u64> {
    value.parse().ok().filter(|count| (least..=most).contains(count))
}

/// One of the words that stand for something.
pub fn one_of<T: Copy>(value: &str, words: &[(&str, T)]) -> Option<T> {
    words.iter().find(|(word, _)| *word == value).map(|(_, meant)| *meant)
}

/// The first word that stands for something.
pub fn word_for<T: PartialEq>(value: &T, words: &[(&'static str, T)]) -> String {
    words.iter().find(|(_, meant)| meant == value).map_or("", |(word, _)| word).to_owned()
}

/// `on` and `off`, and what else people write for them.
pub const SWITCH: [(&str, bool); 4] = [("on", true), ("off", false), ("true", true), ("false", false)];
