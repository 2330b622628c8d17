//! The permissions of a session: approval mode and rules.

use memoir_agent::{ApprovalMode, ApprovalPolicy, Approvals, Rule, RuleEffect};
use memoir_store::StoredRule;
use serde::Serialize;

use super::Session;
use crate::{failure::Failure, permissions, runtime::Runtime};

/// The permissions of a session and where they come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApprovalReport {
    /// The approval mode in effect.
    pub mode: ApprovalMode,
    /// Whether commands run in a sandbox.
    pub is_confined: bool,
    /// The rules that the user added, oldest first.
    pub rules: Vec<StoredRule>,
    /// Allow rules of the config.
    pub allowed_by_config: Vec<String>,
    /// Deny rules of the config.
    pub denied_by_config: Vec<String>,
}

/// Returns the initial permissions of a session. Adds a notice for each stored rule that is ignored.
pub(super) async fn open(
    runtime: &Runtime,
    mode: Option<&str>,
    notices: &mut Vec<String>,
) -> Result<Approvals, Failure> {
    let (config, store) = (&runtime.models().config.approval, runtime.store().as_ref());
    let project = runtime.project().to_string_lossy();
    let (policy, ignored_rules) =
        permissions::read_policy(mode, config, store, &project, runtime.home()).await?;
    notices.extend(ignored_rules);
    Ok(Approvals::new(policy))
}

impl Session {
    /// Returns the permissions of this session.
    pub async fn approvals(&self) -> Result<ApprovalReport, Failure> {
        let config = &self.runtime.models().config.approval;
        Ok(ApprovalReport {
            mode: self.state.approvals.policy().mode,
            is_confined: self.agent.sandbox.confines(),
            rules: self.store().approval_rules(&self.project).await?,
            allowed_by_config: config.allow.clone(),
            denied_by_config: config.deny.clone(),
        })
    }

    /// Sets the approval mode of this session.
    pub fn set_approval_mode(&self, mode: ApprovalMode) {
        let approvals = &self.state.approvals;
        approvals.set_policy(ApprovalPolicy { mode, ..approvals.policy() });
    }

    /// Stores a permission rule for this project and applies it immediately.
    pub async fn add_rule(&self, effect: RuleEffect, text: &str) -> Result<(), Failure> {
        let rule = Rule::parse(effect, text).map_err(|reason| {
            Failure::usage(reason.to_string()).hint(
                "Examples: `/approval allow execute_bash(git status)`, `/approval allow file_edit(src/**)`.",
            )
        })?;
        let now = self.agent.clock.now();
        self.store().add_approval_rule(effect.as_str(), &rule.to_string(), &self.project, now).await?;
        let mut policy = self.state.approvals.policy();
        policy.rules.push(rule);
        self.state.approvals.set_policy(policy);
        Ok(())
    }

    /// Removes a permission rule.
    pub async fn revoke_rule(&self, id: i64) -> Result<(), Failure> {
        if !self.store().remove_approval_rule(id).await? {
            return Err(
                Failure::usage(format!("there is no rule {id}")).hint("List the rules with `/approval`.")
            );
        }
        let mode = self.state.approvals.policy().mode;
        let config = &self.runtime.models().config.approval;
        let (store, home) = (self.store(), self.runtime.home());
        let policy = permissions::read_policy(Some(mode.as_str()), config, store, &self.project, home);
        self.state.approvals.set_policy(policy.await?.0);
        Ok(())
    }
}
