//! Shared code of the tools that take one or two paths.

use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, ToolContext, ToolError, Workspace,
    tool::{object, parse},
    workspace::ResolvedPath,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnePath {
    pub(crate) path: String,
}

/// Returns the description of a tool that takes one path.
pub(crate) fn one_path_spec(name: &'static str, description: &'static str) -> ToolSpec {
    let path = json!({"path": {"type": "string", "description": "Path relative to the workspace."}});
    ToolSpec::new(name, description, object(path, &["path"]))
}

/// Returns the path argument of a call and its location in the workspace.
pub(crate) fn locate(arguments: &Value, context: &ToolContext) -> Result<(String, ResolvedPath), ToolError> {
    let OnePath { path } = parse(arguments)?;
    let location = context.workspace.locate_inside(&path)?;
    Ok((path, location))
}

/// Returns the plan of a call that reads its path.
pub(crate) fn plan_read(arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
    Ok(Plan::new(Access::Read(locate(arguments, context)?.1.real)))
}

/// Returns the plan of a call that changes its path. `verb` describes the change in the preview.
pub(crate) fn plan_change(verb: &str, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
    let (_, location) = locate(arguments, context)?;
    let preview = format!("{verb} {}", context.workspace.show(&location));
    Ok(Plan::new(Access::Write(location.real)).with_preview(preview))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TwoPaths {
    from: String,
    to: String,
}

/// Returns the description of a tool that takes two paths.
pub(crate) fn two_path_spec(name: &'static str, description: &'static str) -> ToolSpec {
    let paths = json!({
        "from": {"type": "string", "description": "Existing path, relative to the workspace."},
        "to": {"type": "string", "description": "New path, relative to the workspace."}
    });
    ToolSpec::new(name, description, object(paths, &["from", "to"]))
}

/// The two path arguments of a call and their locations in the workspace.
pub(crate) struct PathPair {
    pub(crate) from: String,
    pub(crate) source: ResolvedPath,
    pub(crate) to: String,
    pub(crate) target: ResolvedPath,
}

impl PathPair {
    pub(crate) fn parse(arguments: &Value, context: &ToolContext) -> Result<Self, ToolError> {
        let TwoPaths { from, to } = parse(arguments)?;
        let (source, target) =
            (context.workspace.locate_inside(&from)?, context.workspace.locate_inside(&to)?);
        Ok(Self { from, source, to, target })
    }

    /// Returns the plan of a call that accesses the source in the given way and writes the target.
    pub(crate) fn plan(
        self,
        verb: &str,
        source_access: fn(std::path::PathBuf) -> Access,
        workspace: &Workspace,
    ) -> Plan {
        let preview = format!("{verb} {}\nto {}", workspace.show(&self.source), workspace.show(&self.target));
        Plan { accesses: vec![source_access(self.source.real), Access::Write(self.target.real)], preview }
    }

    /// Fails if the target exists, so that nothing is overwritten.
    pub(crate) fn check_target_is_free(&self) -> Result<(), ToolError> {
        match self.target.exists() {
            true => Err(ToolError::Failed(format!("{} already exists; delete it first", self.to))),
            false => Ok(()),
        }
    }
}
