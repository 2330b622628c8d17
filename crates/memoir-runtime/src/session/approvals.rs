//! What tools may do in a session.

use memoir_agent::{Approvals, Mode, Policy, Rule, RuleEffect};
use memoir_store::KeptRule;
use serde::Serialize;

use super::Session;
use crate::{failure::Failure, permissions, runtime::Runtime};

/// What tools may do, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApprovalReport {
    /// The mode.
    pub mode: Mode,
    /// Whether commands are confined to the workspace.
    pub is_confined: bool,
    /// The rules that the user added, oldest first.
    pub rules: Vec<KeptRule>,
    /// What the configuration allows.
    pub allowed_by_config: Vec<String>,
    /// What the configuration denies.
    pub denied_by_config: Vec<String>,
}

/// Returns the approvals that a session in this runtime's project starts with. Rules that are ignored are added to `notices`.
pub(super) async fn open(
    runtime: &Runtime,
    mode: Option<&str>,
    notices: &mut Vec<String>,
) -> Result<Approvals, Failure> {
    let (config, store) = (&runtime.models().config.approval, runtime.store().as_ref());
    let project = runtime.project().to_string_lossy();
    let (policy, ignored) = permissions::policy(mode, config, store, &project, runtime.home()).await?;
    notices.extend(ignored);
    Ok(Approvals::new(policy))
}

impl Session {
    /// Returns what tools may do.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
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
    pub fn set_approval_mode(&self, mode: Mode) {
        let approvals = &self.state.approvals;
        approvals.set_policy(Policy { mode, ..approvals.policy() });
    }

    /// Allows or denies something in this project, from now on.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a rule.
    pub async fn add_rule(&self, effect: RuleEffect, text: &str) -> Result<(), Failure> {
        let rule = Rule::parse(effect, text).map_err(|reason| {
            Failure::usage(reason.to_string())
                .hint("For example /approval allow execute_bash(git status), or file_edit(src/**).")
        })?;
        let now = self.agent.clock.now();
        self.store().add_approval_rule(effect.as_str(), &rule.to_string(), &self.project, now).await?;
        let mut policy = self.state.approvals.policy();
        policy.rules.push(rule);
        self.state.approvals.set_policy(policy);
        Ok(())
    }

    /// Removes the rule with this number.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    pub async fn revoke_rule(&self, id: i64) -> Result<(), Failure> {
        if !self.store().remove_approval_rule(id).await? {
            return Err(Failure::usage(format!("\"{id}\" is no rule's number")).hint("/approval lists them."));
        }
        let mode = self.state.approvals.policy().mode;
        let config = &self.runtime.models().config.approval;
        let (store, home) = (self.store(), self.runtime.home());
        let policy = permissions::policy(Some(mode.as_str()), config, store, &self.project, home);
        self.state.approvals.set_policy(policy.await?.0);
        Ok(())
    }
}
