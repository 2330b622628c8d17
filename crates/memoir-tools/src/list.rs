//! The one list of tools.

use memoir_core::ToolSpec;
use serde_json::Value;

use crate::{
    Tool, ToolContext, ToolError, ToolOutput, core_memory::CoreMemory, database_tables::DatabaseTables,
    fetch_conversation_details::FetchConversationDetails, file_read::FileRead, search_memory::SearchMemory,
};

/// The tools that a model is offered.
pub struct ToolSet {
    tools: Vec<Box<dyn Tool>>,
}

impl ToolSet {
    /// Every tool there is. To add one, write its file and add its line here.
    pub fn all() -> Self {
        Self {
            tools: vec![
                Box::new(FileRead),
                Box::new(DatabaseTables),
                Box::new(SearchMemory),
                Box::new(FetchConversationDetails),
                Box::new(CoreMemory),
            ],
        }
    }

    /// A set of one's own.
    pub fn of(tools: Vec<Box<dyn Tool>>) -> Self {
        Self { tools }
    }

    /// How the tools are described, in the order of the list.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }

    /// Runs the tool called `name`.
    pub async fn run(
        &self,
        name: &str,
        arguments: Value,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let tool = self.tools.iter().find(|tool| tool.spec().name == name);
        let tool = tool.ok_or_else(|| ToolError::Unknown(name.to_owned()))?;
        if let Value::String(broken) = &arguments {
            return Err(ToolError::Arguments(format!("not valid JSON: {broken}")));
        }
        tool.run(arguments, context).await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_schemas_are_objects() {
        let specs = ToolSet::all().specs();
        let names: HashSet<_> = specs.iter().map(|spec| spec.name).collect();
        assert_eq!(names.len(), specs.len());
        for spec in specs {
            assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
        }
    }
}
