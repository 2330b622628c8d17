//! `/approval`: what is asked about, what is always allowed, and what never is.

use anstream::println;
use async_trait::async_trait;
use memoir_agent::{Policy, Rule, RuleEffect};

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    permissions,
    printable::printable,
};

pub(super) struct Approval;

#[async_trait]
impl Command for Approval {
    fn name(&self) -> &'static str {
        "approval"
    }

    fn arguments(&self) -> &'static str {
        "[read-only | ask | auto-edit | full | allow RULE | deny RULE | revoke N]"
    }

    fn summary(&self) -> &'static str {
        "Who may do what: the mode, and rules that allow or deny."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (word, rest) = arguments.split_once(' ').unwrap_or((arguments, ""));
        match (word, rest.trim()) {
            ("", _) => {}
            ("allow", rule) => add(RuleEffect::Allow, rule, app).await?,
            ("deny", rule) => add(RuleEffect::Deny, rule, app).await?,
            ("revoke", number) => revoke(number, app).await?,
            (mode, "") => {
                let mode = permissions::mode(mode)?;
                app.state.approvals.set_policy(Policy { mode, ..app.state.approvals.policy() });
            }
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/approval {arguments} is not understood"))
                    .hint("/help approval shows how it is used."));
            }
        }
        show(app).await?;
        Ok(Next::Prompt)
    }
}

async fn show(app: &App) -> Result<(), Failure> {
    let policy = app.state.approvals.policy();
    println!(
        "The mode is {}, until the program ends; --approval and the config set it for longer.",
        policy.mode.as_str()
    );
    let confined = match app.agent.sandbox.confines() {
        true => {
            "Commands are confined by Landlock: they write only in the workspace and the temporary directory."
        }
        false => "Commands are not confined here: this kernel has no Landlock.",
    };
    println!("{confined}");
    for kept in app.agent.store.approval_rules(&app.project).await? {
        let place = if kept.scope.is_empty() { "everywhere" } else { "in this project" };
        println!("{:>5}  {} {} {place}", kept.id, kept.effect, printable(&kept.rule));
    }
    let config = &app.models.config.approval;
    for (effect, rules) in [("allow", &config.allow), ("deny", &config.deny)] {
        rules.iter().for_each(|rule| println!("       {effect} {} by the config", printable(rule)));
    }
    Ok(())
}

async fn add(effect: RuleEffect, text: &str, app: &App) -> Result<(), Failure> {
    let rule = Rule::parse(effect, text).map_err(|reason| {
        Failure::new(Kind::Usage, reason.to_string())
            .hint("For example /approval allow execute_bash(git status), or file_edit(src/**).")
    })?;
    let now = app.agent.clock.now();
    app.agent.store.add_approval_rule(effect.as_str(), &rule.to_string(), &app.project, now).await?;
    let mut policy = app.state.approvals.policy();
    policy.rules.push(rule);
    app.state.approvals.set_policy(policy);
    Ok(())
}

async fn revoke(number: &str, app: &App) -> Result<(), Failure> {
    let missing = || {
        Failure::new(Kind::Usage, format!("\"{number}\" is no rule's number")).hint("/approval lists them.")
    };
    let id = number.parse().map_err(|_| missing())?;
    if !app.agent.store.remove_approval_rule(id).await? {
        return Err(missing());
    }
    let mode = app.state.approvals.policy().mode;
    let policy = permissions::policy(
        Some(mode.as_str()),
        &app.models.config.approval,
        app.agent.store.as_ref(),
        &app.project,
        &app.home,
    );
    app.state.approvals.set_policy(policy.await?);
    Ok(())
}
