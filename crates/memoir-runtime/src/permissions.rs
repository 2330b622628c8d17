//! Builds the approval policy from the approval mode, the config and the stored rules.

use std::path::PathBuf;

use memoir_agent::{ApprovalMode, ApprovalPolicy, Rule, RuleEffect};
use memoir_core::{Clock as _, SystemClock};
use memoir_store::Permissions;

use crate::{config::Approval, failure::Failure, home::Home};

/// Returns the policy for a project, and a notice for each stored rule that is ignored because it is invalid.
/// `mode_name` overrides the mode of the config.
///
/// # Errors
///
/// Fails if the mode does not exist, if a rule of the config is invalid, or if the store cannot be read.
pub async fn read_policy(
    mode_name: Option<&str>,
    config: &Approval,
    store: &dyn Permissions,
    project: &str,
    home: &Home,
) -> Result<(ApprovalPolicy, Vec<String>), Failure> {
    let mode = match (mode_name, config.mode.as_deref()) {
        (Some(name), _) => parse_mode(name)?,
        (None, Some(name)) => parse_mode(name)?,
        (None, None) => ApprovalMode::default(),
    };
    let (mut rules, mut notices) = (parse_rules(config)?, Vec::new());
    for stored in store.approval_rules(project).await? {
        let effect =
            if stored.effect == RuleEffect::Deny.as_str() { RuleEffect::Deny } else { RuleEffect::Allow };
        match Rule::parse(effect, &stored.rule) {
            Ok(rule) => rules.push(rule),
            // Another version may have written it.
            Err(reason) => notices.push(format!(
                "The rule {} ({} {}) is ignored: {reason}. Remove it with `/approval revoke {}`.",
                stored.id, stored.effect, stored.rule, stored.id
            )),
        }
    }
    let own_files = [home.database(), home.config_file()];
    let directory = |file: &PathBuf| file.parent().and_then(|parent| parent.canonicalize().ok());
    Ok((ApprovalPolicy { mode, rules, protected: own_files.iter().filter_map(directory).collect() }, notices))
}

/// Parses the permission rules of the config.
pub fn parse_rules(config: &Approval) -> Result<Vec<Rule>, Failure> {
    let mut rules = Vec::new();
    for (effect, texts) in [(RuleEffect::Allow, &config.allow), (RuleEffect::Deny, &config.deny)] {
        for text in texts {
            rules.push(Rule::parse(effect, text).map_err(|reason| {
                Failure::failed(format!("the [approval] section of the config is invalid: {reason}"))
                    .hint("A rule is a tool name, with an optional pattern: execute_bash(git status), file_edit(src/**).")
            })?);
        }
    }
    Ok(rules)
}

/// Copies the deny rules of a project to another store, because they apply to temporary memories too.
pub async fn copy_deny_rules(
    from: &dyn Permissions,
    to: &dyn Permissions,
    project: &str,
) -> Result<(), Failure> {
    for rule in from.approval_rules(project).await? {
        if rule.effect == RuleEffect::Deny.as_str() {
            to.add_approval_rule(&rule.effect, &rule.rule, &rule.scope, SystemClock.now()).await?;
        }
    }
    Ok(())
}

/// Returns the approval mode with this name.
pub fn parse_mode(name: &str) -> Result<ApprovalMode, Failure> {
    ApprovalMode::ALL.into_iter().find(|mode| mode.as_str() == name).ok_or_else(|| {
        let names = ApprovalMode::ALL.map(ApprovalMode::as_str).join(", ");
        Failure::usage(format!("there is no approval mode \"{name}\""))
            .hint(format!("The modes are {names}."))
    })
}
