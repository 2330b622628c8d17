//! What tools have in common that take one path, or two.

use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, ToolContext, ToolError,
    tool::{object, parse},
    workspace::WorkspacePath,
};

/// The arguments of a tool that takes one path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnePath {
    pub(crate) path: String,
}

/// A tool that takes one path.
pub(crate) fn one_path(name: &'static str, description: &'static str) -> ToolSpec {
    let path = json!({"path": {"type": "string", "description": "Path, relative to the workspace."}});
    ToolSpec::new(name, description, object(path, &["path"]))
}

/// The path of a call, and where it leads.
pub(crate) fn locate(arguments: &Value, context: &ToolContext) -> Result<(String, WorkspacePath), ToolError> {
    let OnePath { path } = parse(arguments)?;
    let inside = context.workspace.inside(&path)?;
    Ok((path, inside))
}

/// The plan of a call that reads what is there.
pub(crate) fn reads(arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
    Ok(Plan::new(Access::Read(locate(arguments, context)?.1.real)))
}

/// The plan of a call that changes what is there; `verb` says how.
pub(crate) fn changes(verb: &str, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
    let (path, inside) = locate(arguments, context)?;
    Ok(Plan::new(Access::Write(inside.real)).with_preview(format!("{verb} {path}")))
}

/// The arguments of a tool that takes two.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TwoPaths {
    from: String,
    to: String,
}

/// A tool that takes two paths.
pub(crate) fn two_paths(name: &'static str, description: &'static str) -> ToolSpec {
    let paths = json!({
        "from": {"type": "string", "description": "Path of what is there."},
        "to": {"type": "string", "description": "Path that it is to have."}
    });
    ToolSpec::new(name, description, object(paths, &["from", "to"]))
}

/// The two paths of a call, and where they lead.
pub(crate) struct PathPair {
    pub(crate) from: String,
    pub(crate) source: WorkspacePath,
    pub(crate) to: String,
    pub(crate) target: WorkspacePath,
}

impl PathPair {
    pub(crate) fn parse(arguments: &Value, context: &ToolContext) -> Result<Self, ToolError> {
        let TwoPaths { from, to } = parse(arguments)?;
        let (source, target) = (context.workspace.inside(&from)?, context.workspace.inside(&to)?);
        Ok(Self { from, source, to, target })
    }

    /// The plan of a call that does something to the first, and makes the second.
    pub(crate) fn plan(self, verb: &str, first: fn(std::path::PathBuf) -> Access) -> Plan {
        let preview = format!("{verb} {} to {}", self.from, self.to);
        Plan { accesses: vec![first(self.source.real), Access::Write(self.target.real)], preview }
    }

    /// Nothing is overwritten.
    pub(crate) fn target_is_free(&self) -> Result<(), ToolError> {
        match self.target.exists() {
            true => Err(ToolError::Failed(format!("{} exists; delete it first", self.to))),
            false => Ok(()),
        }
    }
}
