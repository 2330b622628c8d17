//! Decides which tool calls may run.
//!
//! The approval mode defines what is allowed and when the user is asked. Rules allow or deny particular calls. The
//! sandbox confines commands independently of these decisions.

mod options;
mod refusal;
mod rule;
mod rule_error;
mod shell;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use globset::GlobSetBuilder;
use memoir_core::lock;
use memoir_tools::{Access, DeniedPaths, Plan, is_protected};
use serde::Serialize;

pub(crate) use refusal::Refusal;
pub use rule::{Rule, RuleEffect};
pub use rule_error::RuleError;
pub use shell::plain_words;

/// Approval mode: what tools may do without asking the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// Tools may not change or run anything.
    ReadOnly,
    /// Tools may read the workspace. The user is asked before a tool writes or runs anything. Changing core memory
    /// needs approval too, unless the context contains only text that the user wrote.
    #[default]
    Ask,
    /// Tools may also write in the workspace.
    AutoEdit,
    /// Tools may do everything.
    Full,
}

impl ApprovalMode {
    /// All modes, strictest first.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Ask, Self::AutoEdit, Self::Full];

    /// Returns the name that the config uses for the mode.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Full => "full",
        }
    }

    fn judge(self, access: &Access) -> Verdict {
        match (access, self) {
            (Access::Read(_) | Access::Memory | Access::Subagent, _) | (_, Self::Full) => Verdict::Allowed,
            (Access::Write(_), Self::AutoEdit) => Verdict::Allowed,
            (
                Access::Write(_) | Access::Run(_) | Access::Server(_) | Access::ChangeMemory,
                Self::ReadOnly,
            ) => Verdict::Denied("the approval mode is read-only".into()),
            _ => Verdict::Ask,
        }
    }
}

/// Decision about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call may run.
    Allowed,
    /// The user must be asked.
    Ask,
    /// The user must be asked, whatever the mode and the rules allow.
    AskEachTime,
    /// The call may not run, for this reason.
    Denied(String),
}

/// A request for the user's permission.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// Name of the tool.
    pub tool: String,
    /// Whether the call is a command that may use the network.
    pub needs_network: bool,
    /// Whether `preview` is a diff.
    pub is_diff: bool,
    /// The exact command, or a diff of the change.
    pub preview: String,
    /// Rule that the answer "always" would add, if the call can be expressed as one.
    pub always_rule: Option<Rule>,
}

/// The user's answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Allow this call only.
    Yes,
    /// Allow this call, and add the rule in [`ApprovalRequest::always_rule`].
    Always,
    /// Deny this call only.
    No,
}

/// A front end that can ask the user.
#[async_trait]
pub trait ApprovalPrompter: Send + Sync {
    /// Shows the request to the user and returns the answer.
    async fn ask(&self, request: &ApprovalRequest) -> ApprovalAnswer;
}

/// The permissions of one session. Clones share the policy.
#[derive(Clone, Default)]
pub struct Approvals {
    policy: Arc<Mutex<ApprovalPolicy>>,
    /// Front end that asks the user. If it is `None`, calls that need approval are refused.
    pub prompter: Option<Arc<dyn ApprovalPrompter>>,
}

/// The approval mode and the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalPolicy {
    /// Mode that applies where no rule matches.
    pub mode: ApprovalMode,
    /// Rules; deny rules take precedence over allow rules.
    pub rules: Vec<Rule>,
    /// Memoir's own directories, to which no tool may write.
    pub protected: Vec<PathBuf>,
}

/// Permission to run a call.
#[derive(Debug)]
pub(crate) struct Permission {
    /// Whether the user was asked about this very call.
    pub(crate) is_from_user: bool,
    /// Rule that the user has added, to be stored.
    pub(crate) new_rule: Option<Rule>,
}

/// Returns a path relative to the project if it is in it.
fn relative<'a>(path: &'a Path, project: &Path) -> &'a Path {
    path.strip_prefix(project).unwrap_or(path)
}

impl ApprovalPolicy {
    /// Returns the paths that rules deny to a tool, or `None` if there are no such rules.
    pub(crate) fn denied_paths(&self, tool: &str, project: &Path) -> Option<DeniedPaths> {
        let mut patterns = GlobSetBuilder::new();
        let mut is_empty = true;
        let real_rules = self.rules.iter().filter_map(|rule| rule.with_real_path(project));
        for pattern in self.rules.iter().cloned().chain(real_rules).flat_map(|rule| rule.denied_paths(tool)) {
            patterns.add(pattern);
            is_empty = false;
        }
        // Patterns that are valid by themselves are also valid together, unless they are huge. Then nothing is visited.
        let patterns = (!is_empty).then(|| patterns.build())?;
        let project = project.to_owned();
        Some(Arc::new(move |path| {
            let relative = path.strip_prefix(&project).unwrap_or(path);
            patterns.as_ref().map_or(true, |patterns| patterns.is_match(relative) || patterns.is_match(path))
        }))
    }

    /// Decides about a call. Rules can match paths relative to `project`.
    pub fn judge(&self, tool: &str, plan: &Plan, project: &Path) -> Verdict {
        let relative_path = |access: &Access| match access {
            Access::Read(path) | Access::ReadOutside(path) | Access::Write(path) => {
                relative(path, project).to_string_lossy().into_owned()
            }
            _ => String::new(),
        };
        // A call without accesses can still match a rule about the tool.
        let accesses = plan.accesses.iter().map(Some).chain(plan.accesses.is_empty().then_some(None));
        let real_rules: Vec<Rule> =
            self.rules.iter().filter_map(|rule| rule.with_real_path(project)).collect();
        for access in accesses {
            let path = access.map(relative_path).unwrap_or_default();
            let mut rules = self.rules.iter().chain(&real_rules);
            if let Some(rule) = rules.find(|rule| rule.denies(tool, access, &path)) {
                return Verdict::Denied(format!("the rule `deny {rule}` forbids it"));
            }
        }
        let is_own = |access: &Access| match access {
            Access::Write(path) => self
                .protected
                .iter()
                .any(|directory| path.starts_with(directory) || directory.starts_with(path)),
            _ => false,
        };
        if plan.accesses.iter().any(is_own) {
            return Verdict::Denied("tools cannot change Memoir's own directories".into());
        }
        let needs_question =
            |access: &Access| matches!(access, Access::Write(path) if is_protected(path, project));
        let mut verdict = Verdict::Allowed;
        for access in &plan.accesses {
            match self.mode.judge(access) {
                Verdict::Allowed | Verdict::Ask if needs_question(access) => verdict = Verdict::AskEachTime,
                Verdict::Allowed => {}
                Verdict::Ask
                    if self.rules.iter().any(|rule| rule.allows(tool, access, &relative_path(access))) => {}
                Verdict::Ask if verdict == Verdict::Allowed => verdict = Verdict::Ask,
                Verdict::Ask | Verdict::AskEachTime => {}
                denied @ Verdict::Denied(_) => return denied,
            }
        }
        verdict
    }
}

impl Approvals {
    /// Creates permissions with a policy, in which the user cannot be asked.
    pub fn new(policy: ApprovalPolicy) -> Self {
        Self { policy: Arc::new(Mutex::new(policy)), ..Self::default() }
    }

    /// Returns the current policy.
    pub fn policy(&self) -> ApprovalPolicy {
        lock(&self.policy).clone()
    }

    /// Replaces the policy of all clones.
    pub fn set_policy(&self, policy: ApprovalPolicy) {
        *lock(&self.policy) = policy;
    }

    /// Decides whether a call may run, and asks the user if necessary, after calling `about_to_ask`. If the user
    /// answers "always", adds the rule to the policy.
    pub(crate) async fn decide(
        &self,
        tool: &str,
        plan: &Plan,
        project: &Path,
        about_to_ask: &mut (dyn FnMut() + Send),
    ) -> Result<Permission, Refusal> {
        let is_asked_each_time = match self.policy().judge(tool, plan, project) {
            Verdict::Allowed => return Ok(Permission { is_from_user: false, new_rule: None }),
            Verdict::Denied(reason) => return Err(Refusal::Denied(reason)),
            Verdict::Ask => false,
            Verdict::AskEachTime => true,
        };
        let Some(prompter) = &self.prompter else {
            return Err(if is_asked_each_time { Refusal::CannotAskEachTime } else { Refusal::CannotAsk });
        };
        let request = ApprovalRequest {
            tool: tool.to_owned(),
            is_diff: plan.is_diff(),
            needs_network: matches!(plan.accesses[..], [Access::Run(_), Access::Network(_)]),
            preview: plan.preview.clone(),
            always_rule: Rule::for_call(tool, plan).filter(|_| !is_asked_each_time),
        };
        about_to_ask();
        match prompter.ask(&request).await {
            ApprovalAnswer::Yes => Ok(Permission { is_from_user: true, new_rule: None }),
            ApprovalAnswer::No => Err(Refusal::DeniedByUser),
            ApprovalAnswer::Always => {
                if let Some(rule) = &request.always_rule {
                    lock(&self.policy).rules.push(rule.clone());
                }
                Ok(Permission { is_from_user: true, new_rule: request.always_rule })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn plan(access: Access) -> Plan {
        Plan { accesses: vec![access], preview: String::new() }
    }

    fn judge(mode: ApprovalMode, rules: &[(RuleEffect, &str)], access: Access) -> Verdict {
        let rules = rules.iter().map(|(effect, text)| Rule::parse(*effect, text).unwrap()).collect();
        ApprovalPolicy { mode, rules, protected: vec!["/w/own".into()] }.judge(
            "execute_bash",
            &plan(access),
            Path::new("/w"),
        )
    }

    #[test]
    fn modes_decide_about_each_access() {
        let accesses = [
            Access::Read("/w/a".into()),
            Access::ReadOutside("/etc/x".into()),
            Access::Write("/w/a".into()),
            Access::Run("ls".into()),
            Access::Network("x".into()),
            Access::Memory,
            Access::Write("/w/.git/config".into()),
        ];
        let verdicts = |mode| {
            accesses
                .iter()
                .map(|access| match judge(mode, &[], access.clone()) {
                    Verdict::Allowed => 'a',
                    Verdict::Ask => '?',
                    Verdict::AskEachTime => '!',
                    Verdict::Denied(_) => 'd',
                })
                .collect::<String>()
        };
        assert_eq!(ApprovalMode::ALL.map(verdicts), ["a?dd?ad", "a????a!", "a?a??a!", "aaaaaa!"]);
    }

    #[test]
    fn deny_rules_override_every_mode_and_allow_rules_do_not_override_read_only() {
        let run = || Access::Run("git status".into());
        let (allow, deny) =
            ((RuleEffect::Allow, "execute_bash(git status)"), (RuleEffect::Deny, "execute_bash(git)"));
        assert_eq!(judge(ApprovalMode::Ask, &[allow], run()), Verdict::Allowed);
        assert!(matches!(judge(ApprovalMode::ReadOnly, &[allow], run()), Verdict::Denied(_)));
        for mode in ApprovalMode::ALL {
            assert!(matches!(judge(mode, &[allow, deny], run()), Verdict::Denied(_)), "{mode:?}");
        }
        for path in ["/w/own/config.toml", "/w/own", "/w"] {
            assert!(
                matches!(judge(ApprovalMode::Full, &[], Access::Write(path.into())), Verdict::Denied(_)),
                "{path}"
            );
        }
        let rules = vec![Rule::parse(RuleEffect::Deny, "search_memory").unwrap()];
        let policy = ApprovalPolicy { mode: ApprovalMode::Full, rules, ..ApprovalPolicy::default() };
        assert!(matches!(
            policy.judge("search_memory", &Plan::default(), Path::new("/w")),
            Verdict::Denied(_)
        ));
    }

    struct FixedAnswer(ApprovalAnswer);

    #[async_trait]
    impl ApprovalPrompter for FixedAnswer {
        async fn ask(&self, _request: &ApprovalRequest) -> ApprovalAnswer {
            self.0
        }
    }

    #[tokio::test]
    async fn a_call_is_refused_if_the_user_cannot_be_asked_and_always_adds_a_rule() {
        let run = plan(Access::Run("make test".into()));
        let decide = async |approvals: &Approvals, plan: &Plan| {
            approvals.decide("execute_bash", plan, Path::new("/w"), &mut || {}).await
        };
        let mut approvals = Approvals::default();
        assert!(decide(&approvals, &run).await.unwrap_err().to_string().contains("the user cannot be asked"));
        approvals.prompter = Some(Arc::new(FixedAnswer(ApprovalAnswer::No)));
        assert!(decide(&approvals, &run).await.unwrap_err().to_string().contains("the user denied it"));
        approvals.prompter = Some(Arc::new(FixedAnswer(ApprovalAnswer::Always)));
        decide(&approvals, &run).await.unwrap();
        approvals.prompter = None;
        decide(&approvals, &run).await.unwrap();
        let longer_command = plan(Access::Run("make test; rm x".into()));
        assert!(decide(&approvals, &longer_command).await.is_err());
    }
}
