//! `/approval`: shows and changes the approval mode and permission rules.

use memoir_agent::{ApprovalMode, RuleEffect};
use memoir_runtime::{ApprovalReport, Failure, printable};

use super::{Next, RunCommand};
use crate::{app::App, completion_source::ValueSource};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Allow only reading
    ReadOnly,
    /// Ask before any change
    Ask,
    /// Allow editing files without asking
    AutoEdit,
    /// Allow everything without asking
    Full,
    /// Add a rule that always allows a tool call
    Allow {
        /// Tool, optionally with a pattern: file_edit(src/**)
        #[arg(value_name = "RULE", required = true, num_args = 1.., add = ValueSource::FreeText)]
        rule: Vec<String>,
    },
    /// Add a rule that always denies a tool call
    Deny {
        /// Tool, optionally with a pattern: execute_bash(git push)
        #[arg(value_name = "RULE", required = true, num_args = 1.., add = ValueSource::FreeText)]
        rule: Vec<String>,
    },
    /// Remove a rule
    Revoke {
        /// Number of the rule
        #[arg(value_name = "N")]
        rule: i64,
    },
}

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        match self.action {
            None => {}
            Some(Action::ReadOnly) => session.set_approval_mode(ApprovalMode::ReadOnly),
            Some(Action::Ask) => session.set_approval_mode(ApprovalMode::Ask),
            Some(Action::AutoEdit) => session.set_approval_mode(ApprovalMode::AutoEdit),
            Some(Action::Full) => session.set_approval_mode(ApprovalMode::Full),
            Some(Action::Allow { rule }) => session.add_rule(RuleEffect::Allow, &rule.join(" ")).await?,
            Some(Action::Deny { rule }) => session.add_rule(RuleEffect::Deny, &rule.join(" ")).await?,
            Some(Action::Revoke { rule }) => session.revoke_rule(rule).await?,
        }
        show(&session.approvals().await?);
        Ok(Next::Prompt)
    }
}

fn show(report: &ApprovalReport) {
    say!(
        "The approval mode is {} until you exit. `/approval read-only`, `ask`, `auto-edit` or `full` changes it; `--approval` sets \
         it at startup, and the config permanently.",
        report.mode.as_str()
    );
    say!(
        "{}",
        match report.is_confined {
            true =>
                "Commands run in a Landlock sandbox and can write only to the workspace and the temporary directory.",
            false => "Commands run without a sandbox, because this kernel does not support Landlock.",
        }
    );
    for rule in &report.rules {
        let place = if rule.scope.is_empty() { "everywhere" } else { "in this project" };
        say!("{:>5}  {} {} {place}", rule.id, rule.effect, printable(&rule.rule));
    }
    for (effect, rules) in [("allow", &report.allowed_by_config), ("deny", &report.denied_by_config)] {
        rules.iter().for_each(|rule| say!("       {effect} {} in the config", printable(rule)));
    }
}
