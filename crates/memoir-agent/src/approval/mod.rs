//! The one place that decides which tool calls may run.
//!
//! A mode defines what is allowed and what the user is asked about; rules define what is always allowed and what never is.
//! The sandbox confines tools whatever is decided here.

mod refusal;
mod rule;
mod rule_error;
mod shell;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use memoir_core::lock;
use memoir_tools::{Access, Plan};
use serde::Serialize;

pub(crate) use refusal::Refusal;
pub use rule::{Rule, RuleEffect};
pub use rule_error::RuleError;
pub use shell::plain_words;

/// What the user is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing may be changed or run.
    ReadOnly,
    /// Reading in the workspace is allowed. The user is asked before a tool writes or runs anything, and before it changes core
    /// memory unless only the user can have asked for that.
    #[default]
    Ask,
    /// Writing in the workspace is allowed, too.
    AutoEdit,
    /// Everything is allowed.
    Full,
}

impl Mode {
    /// All modes, the strictest first.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Ask, Self::AutoEdit, Self::Full];

    /// Returns the name of the mode in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Full => "full",
        }
    }

    /// Returns what the mode decides about an access.
    fn judge(self, access: &Access) -> Verdict {
        match (access, self) {
            (Access::Read(_) | Access::Memory | Access::Subagent, _) | (_, Self::Full) => Verdict::Allowed,
            (Access::Write(_), Self::AutoEdit) => Verdict::Allowed,
            (Access::Write(_) | Access::Run(_) | Access::Server(_) | Access::Remember, Self::ReadOnly) => {
                Verdict::Denied("the approval mode is read-only".into())
            }
            _ => Verdict::Ask,
        }
    }
}

/// A decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call may run.
    Allowed,
    /// The user has to be asked.
    Ask,
    /// The call may not run, and why.
    Denied(String),
}

/// A request for the user's permission.
#[derive(Debug, Clone)]
pub struct Question {
    /// The tool.
    pub tool: String,
    /// The exact command, or the change line by line.
    pub preview: String,
    /// The rule that "always" would add, if there is one.
    pub always: Option<Rule>,
}

/// The user's answer to a [`Question`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Allow this call.
    Yes,
    /// Allow this call, and calls like it from now on.
    Always,
    /// Refuse.
    No,
}

/// A front end that can ask the user.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Asks the user and returns the answer.
    async fn ask(&self, question: &Question) -> Answer;
}

/// The permissions of one session. Clones share the policy.
#[derive(Clone, Default)]
pub struct Approvals {
    policy: Arc<Mutex<Policy>>,
    /// The front end that asks the user. Without one, what would be asked about is refused.
    pub asker: Option<Arc<dyn Asker>>,
}

/// The mode and the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// The mode.
    pub mode: Mode,
    /// The rules; denying ones count first.
    pub rules: Vec<Rule>,
    /// Memoir's own directories, which no tool may write to.
    pub protected: Vec<PathBuf>,
}

impl Policy {
    /// Decides about a call. Rules name paths relative to `project`.
    pub fn judge(&self, tool: &str, plan: &Plan, project: &Path) -> Verdict {
        let shown = |access: &Access| match access {
            Access::Read(path) | Access::ReadOutside(path) | Access::Write(path) => {
                path.strip_prefix(project).unwrap_or(path).to_string_lossy().into_owned()
            }
            _ => String::new(),
        };
        let touched = plan.accesses.iter().map(Some).chain(plan.accesses.is_empty().then_some(None));
        for access in touched {
            let shown = access.map(shown).unwrap_or_default();
            if let Some(rule) = self.rules.iter().find(|rule| rule.denies(tool, access, &shown)) {
                return Verdict::Denied(format!("the rule \"deny {rule}\" forbids it"));
            }
        }
        let own = |access: &Access| match access {
            Access::Write(path) => {
                self.protected.iter().any(|folder| path.starts_with(folder) || folder.starts_with(path))
            }
            _ => false,
        };
        if plan.accesses.iter().any(own) {
            return Verdict::Denied("Memoir's own folders are not changed by tools".into());
        }
        let mut verdict = Verdict::Allowed;
        for access in &plan.accesses {
            match self.mode.judge(access) {
                Verdict::Allowed => {}
                Verdict::Ask if self.rules.iter().any(|rule| rule.allows(tool, access, &shown(access))) => {}
                Verdict::Ask => verdict = Verdict::Ask,
                denied @ Verdict::Denied(_) => return denied,
            }
        }
        verdict
    }
}

impl Approvals {
    /// Returns permissions with a policy and nobody to ask.
    pub fn new(policy: Policy) -> Self {
        Self { policy: Arc::new(Mutex::new(policy)), ..Self::default() }
    }

    /// Returns the current policy.
    pub fn policy(&self) -> Policy {
        lock(&self.policy).clone()
    }

    /// Replaces the policy.
    pub fn set_policy(&self, policy: Policy) {
        *lock(&self.policy) = policy;
    }

    /// Decides whether a call may be made, and asks the user if necessary, after calling `about_to_ask`. Returns the rule that
    /// is to be stored if the user answered "always"; it holds from now on.
    pub(crate) async fn decide(
        &self,
        tool: &str,
        plan: &Plan,
        project: &Path,
        about_to_ask: &mut (dyn FnMut() + Send),
    ) -> Result<Option<Rule>, Refusal> {
        match self.policy().judge(tool, plan, project) {
            Verdict::Allowed => return Ok(None),
            Verdict::Denied(reason) => return Err(Refusal::Denied(reason)),
            Verdict::Ask => {}
        }
        let Some(asker) = &self.asker else {
            return Err(Refusal::NobodyToAsk);
        };
        let question = Question {
            tool: tool.to_owned(),
            preview: plan.preview.clone(),
            always: Rule::for_call(tool, plan),
        };
        about_to_ask();
        match asker.ask(&question).await {
            Answer::Yes => Ok(None),
            Answer::No => Err(Refusal::ByTheUser),
            Answer::Always => {
                if let Some(rule) = &question.always {
                    lock(&self.policy).rules.push(rule.clone());
                }
                Ok(question.always)
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

    fn judge(mode: Mode, rules: &[(RuleEffect, &str)], access: Access) -> Verdict {
        let rules = rules.iter().map(|(effect, text)| Rule::parse(*effect, text).unwrap()).collect();
        Policy { mode, rules, protected: vec!["/w/own".into()] }.judge(
            "execute_bash",
            &plan(access),
            Path::new("/w"),
        )
    }

    #[test]
    fn modes_say_what_is_free() {
        let accesses = [
            Access::Read("/w/a".into()),
            Access::ReadOutside("/etc/x".into()),
            Access::Write("/w/a".into()),
            Access::Run("ls".into()),
            Access::Network("x".into()),
            Access::Memory,
        ];
        let said = |mode| {
            accesses
                .iter()
                .map(|access| match judge(mode, &[], access.clone()) {
                    Verdict::Allowed => 'a',
                    Verdict::Ask => '?',
                    Verdict::Denied(_) => 'd',
                })
                .collect::<String>()
        };
        assert_eq!(Mode::ALL.map(said), ["a?dd?a", "a????a", "a?a??a", "aaaaaa"]);
    }

    #[test]
    fn deny_beats_every_mode_and_allow_no_read_only() {
        let run = || Access::Run("git status".into());
        let (allow, deny) =
            ((RuleEffect::Allow, "execute_bash(git status)"), (RuleEffect::Deny, "execute_bash(git)"));
        assert_eq!(judge(Mode::Ask, &[allow], run()), Verdict::Allowed);
        assert!(matches!(judge(Mode::ReadOnly, &[allow], run()), Verdict::Denied(_)));
        for mode in Mode::ALL {
            assert!(matches!(judge(mode, &[allow, deny], run()), Verdict::Denied(_)), "{mode:?}");
        }
        for path in ["/w/own/config.toml", "/w/own", "/w"] {
            assert!(
                matches!(judge(Mode::Full, &[], Access::Write(path.into())), Verdict::Denied(_)),
                "{path}"
            );
        }
        let rules = vec![Rule::parse(RuleEffect::Deny, "search_memory").unwrap()];
        let nothing = Policy { mode: Mode::Full, rules, ..Policy::default() };
        assert!(matches!(
            nothing.judge("search_memory", &Plan::default(), Path::new("/w")),
            Verdict::Denied(_)
        ));
    }

    struct Says(Answer);

    #[async_trait]
    impl Asker for Says {
        async fn ask(&self, _question: &Question) -> Answer {
            self.0
        }
    }

    #[tokio::test]
    async fn without_anyone_to_ask_the_answer_is_no_and_always_is_remembered() {
        let run = plan(Access::Run("make test".into()));
        let decide = async |approvals: &Approvals, plan: &Plan| {
            approvals.decide("execute_bash", plan, Path::new("/w"), &mut || {}).await
        };
        let mut approvals = Approvals::default();
        assert!(decide(&approvals, &run).await.unwrap_err().to_string().contains("nobody is there"));
        approvals.asker = Some(Arc::new(Says(Answer::No)));
        assert!(decide(&approvals, &run).await.unwrap_err().to_string().contains("does not allow"));
        approvals.asker = Some(Arc::new(Says(Answer::Always)));
        decide(&approvals, &run).await.unwrap();
        approvals.asker = None;
        decide(&approvals, &run).await.unwrap();
        let more = plan(Access::Run("make test; rm x".into()));
        assert!(decide(&approvals, &more).await.is_err());
    }
}
