//! `/approval`: what is asked about, what is always allowed, and what never is.

use anstream::println;
use memoir_agent::{Mode, RuleEffect};
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
    /// Allow reading only
    ReadOnly,
    /// Ask before anything is changed
    Ask,
    /// Edit files without asking
    AutoEdit,
    /// Do everything without asking
    Full,
    /// Always allow what a rule describes
    Allow {
        /// Tool, or tool and what it may do: file_edit(src/**)
        #[arg(value_name = "RULE", required = true, num_args = 1.., add = ValueSource::FreeText)]
        rule: Vec<String>,
    },
    /// Always deny what a rule describes
    Deny {
        /// Tool, or tool and what it may not do: execute_bash(git push)
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
            Some(Action::ReadOnly) => session.set_approval_mode(Mode::ReadOnly),
            Some(Action::Ask) => session.set_approval_mode(Mode::Ask),
            Some(Action::AutoEdit) => session.set_approval_mode(Mode::AutoEdit),
            Some(Action::Full) => session.set_approval_mode(Mode::Full),
            Some(Action::Allow { rule }) => session.add_rule(RuleEffect::Allow, &rule.join(" ")).await?,
            Some(Action::Deny { rule }) => session.add_rule(RuleEffect::Deny, &rule.join(" ")).await?,
            Some(Action::Revoke { rule }) => session.revoke_rule(rule).await?,
        }
        show(&session.approvals().await?);
        Ok(Next::Prompt)
    }
}

fn show(report: &ApprovalReport) {
    println!(
        "The mode is {}, until the program ends; --approval and the config set it for longer.",
        report.mode.as_str()
    );
    println!(
        "{}",
        match report.is_confined {
            true =>
                "Commands are confined by Landlock: they write only in the workspace and the temporary directory.",
            false => "Commands are not confined here: this kernel has no Landlock.",
        }
    );
    for kept in &report.rules {
        let place = if kept.scope.is_empty() { "everywhere" } else { "in this project" };
        println!("{:>5}  {} {} {place}", kept.id, kept.effect, printable(&kept.rule));
    }
    for (effect, rules) in [("allow", &report.allowed_by_config), ("deny", &report.denied_by_config)] {
        rules.iter().for_each(|rule| println!("       {effect} {} by the config", printable(rule)));
    }
}
