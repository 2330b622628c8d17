//! `/approval`: what is asked about, what is always allowed, and what never is.

use anstream::println;
use memoir_agent::{Mode, Policy, Rule, RuleEffect};

use super::{Next, RunCommand};
use memoir_runtime::{
    failure::{Failure, FailureKind},
    permissions, printable,
};

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
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let set_mode = |mode| {
            let approvals = &app.session.state.approvals;
            approvals.set_policy(Policy { mode, ..approvals.policy() });
        };
        match self.action {
            None => {}
            Some(Action::ReadOnly) => set_mode(Mode::ReadOnly),
            Some(Action::Ask) => set_mode(Mode::Ask),
            Some(Action::AutoEdit) => set_mode(Mode::AutoEdit),
            Some(Action::Full) => set_mode(Mode::Full),
            Some(Action::Allow { rule }) => add(RuleEffect::Allow, &rule.join(" "), app).await?,
            Some(Action::Deny { rule }) => add(RuleEffect::Deny, &rule.join(" "), app).await?,
            Some(Action::Revoke { rule }) => revoke(rule, app).await?,
        }
        show(app).await?;
        Ok(Next::Prompt)
    }
}

async fn show(app: &App) -> Result<(), Failure> {
    let policy = app.session.state.approvals.policy();
    println!(
        "The mode is {}, until the program ends; --approval and the config set it for longer.",
        policy.mode.as_str()
    );
    let confined = match app.session.agent.sandbox.confines() {
        true => {
            "Commands are confined by Landlock: they write only in the workspace and the temporary directory."
        }
        false => "Commands are not confined here: this kernel has no Landlock.",
    };
    println!("{confined}");
    for kept in app.session.agent.store.approval_rules(&app.session.project).await? {
        let place = if kept.scope.is_empty() { "everywhere" } else { "in this project" };
        println!("{:>5}  {} {} {place}", kept.id, kept.effect, printable(&kept.rule));
    }
    let config = &app.session.runtime.models().config.approval;
    for (effect, rules) in [("allow", &config.allow), ("deny", &config.deny)] {
        rules.iter().for_each(|rule| println!("       {effect} {} by the config", printable(rule)));
    }
    Ok(())
}

async fn add(effect: RuleEffect, text: &str, app: &App) -> Result<(), Failure> {
    let rule = Rule::parse(effect, text).map_err(|reason| {
        Failure::new(FailureKind::Usage, reason.to_string())
            .hint("For example /approval allow execute_bash(git status), or file_edit(src/**).")
    })?;
    let now = app.session.agent.clock.now();
    app.session
        .agent
        .store
        .add_approval_rule(effect.as_str(), &rule.to_string(), &app.session.project, now)
        .await?;
    let mut policy = app.session.state.approvals.policy();
    policy.rules.push(rule);
    app.session.state.approvals.set_policy(policy);
    Ok(())
}

async fn revoke(id: i64, app: &App) -> Result<(), Failure> {
    if !app.session.agent.store.remove_approval_rule(id).await? {
        return Err(Failure::new(FailureKind::Usage, format!("\"{id}\" is no rule's number"))
            .hint("/approval lists them."));
    }
    let mode = app.session.state.approvals.policy().mode;
    let policy = permissions::policy(
        Some(mode.as_str()),
        &app.session.runtime.models().config.approval,
        app.session.agent.store.as_ref(),
        &app.session.project,
        app.session.runtime.home(),
    );
    app.session.state.approvals.set_policy(policy.await?);
    Ok(())
}
