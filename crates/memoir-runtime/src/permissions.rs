//! Putting together who may do what: the mode, and the rules of the config and of memory.

use std::path::PathBuf;

use memoir_agent::{Mode, Policy, Rule, RuleEffect};
use memoir_core::{Clock as _, SystemClock};
use memoir_store::Permissions;

use crate::{config::Approval, failure::Failure, home::Home};

/// Returns the policy that holds in a project, and a notice for each stored rule that cannot be read and is ignored. A mode
/// from the command line goes before the config's.
pub async fn policy(
    named: Option<&str>,
    config: &Approval,
    store: &dyn Permissions,
    project: &str,
    home: &Home,
) -> Result<(Policy, Vec<String>), Failure> {
    let mode = match (named, config.mode.as_deref()) {
        (Some(word), _) => mode(word)?,
        (None, Some(word)) => mode(word)?,
        (None, None) => Mode::default(),
    };
    let (mut rules, mut ignored) = (rules(config)?, Vec::new());
    for kept in store.approval_rules(project).await? {
        let effect =
            if kept.effect == RuleEffect::Deny.as_str() { RuleEffect::Deny } else { RuleEffect::Allow };
        match Rule::parse(effect, &kept.rule) {
            Ok(rule) => rules.push(rule),
            // Another version may have written it.
            Err(reason) => ignored.push(format!(
                "The rule {} ({} {}) is ignored: {reason}. /approval revoke {} removes it.",
                kept.id, kept.effect, kept.rule, kept.id
            )),
        }
    }
    let own = [home.database(), home.config_file()];
    let folder = |file: &PathBuf| file.parent().and_then(|folder| folder.canonicalize().ok());
    Ok((Policy { mode, rules, protected: own.iter().filter_map(folder).collect() }, ignored))
}

/// The rules of the config.
pub fn rules(config: &Approval) -> Result<Vec<Rule>, Failure> {
    let mut rules = Vec::new();
    for (effect, texts) in [(RuleEffect::Allow, &config.allow), (RuleEffect::Deny, &config.deny)] {
        for text in texts {
            rules.push(Rule::parse(effect, text).map_err(|reason| {
                Failure::failed(format!("the config's [approval] has a mistake: {reason}"))
                    .hint("A rule is a tool, or a tool and what of it: execute_bash(git status), file_edit(src/**).")
            })?);
        }
    }
    Ok(rules)
}

/// Copies what is denied in a project from one memory to another: that holds wherever the talk is kept.
pub async fn copy_denied(from: &dyn Permissions, to: &dyn Permissions, project: &str) -> Result<(), Failure> {
    for kept in from.approval_rules(project).await? {
        if kept.effect == RuleEffect::Deny.as_str() {
            to.add_approval_rule(&kept.effect, &kept.rule, &kept.scope, SystemClock.now()).await?;
        }
    }
    Ok(())
}

/// The mode of a word.
pub fn mode(word: &str) -> Result<Mode, Failure> {
    Mode::ALL.into_iter().find(|mode| mode.as_str() == word).ok_or_else(|| {
        let words = Mode::ALL.map(Mode::as_str).join(", ");
        Failure::usage(format!("there is no approval mode \"{word}\"")).hint(format!("There are {words}."))
    })
}
