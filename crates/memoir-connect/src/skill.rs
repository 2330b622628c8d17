//! The skill that explains Memoir's tools to the model.

/// Text of the skill. The directory has the name of the skill.
pub(crate) const SKILL: &str = include_str!("skill.md");

/// Path of the skill below a directory of skills.
pub(crate) const SKILL_PATH: &str = "memoir/SKILL.md";
