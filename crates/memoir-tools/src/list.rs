//! The list of all tools.

use std::sync::Arc;

use memoir_core::ToolSpec;
use memoir_store::Inspectable;
use serde_json::Value;

use crate::{
    Plan, Skills, Summarizer, Tool, ToolContext, ToolError, ToolOutput, UnknownTool,
    agent_summarizer::AgentSummarizer, core_memory::CoreMemoryTool, database_message::DatabaseMessage,
    database_query::DatabaseQuery, database_schema::DatabaseSchema, database_tables::DatabaseTables,
    dir_create::DirCreate, dir_delete::DirDelete, dir_list::DirList, execute_bash::ExecuteBash,
    execute_python::ExecutePython, fetch_conversation_details::FetchConversationDetails,
    fetch_document::FetchDocument, file_copy::FileCopy, file_delete::FileDelete, file_edit::FileEdit,
    file_glob::FileGlob, file_grep::FileGrep, file_move::FileMove, file_read::FileRead, file_stat::FileStat,
    file_tree::FileTree, file_write::FileWrite, run_subagent::RunSubagent, search_internet::SearchInternet,
    search_memory::SearchMemory, skill::LoadSkill,
};

/// The tools offered to a model.
#[derive(Clone)]
pub struct ToolSet {
    tools: Vec<Arc<dyn Tool>>,
}

impl ToolSet {
    /// Returns every tool that does not need configuration. Register new tools here.
    pub fn all() -> Self {
        Self {
            tools: vec![
                Arc::new(FileRead),
                Arc::new(FileWrite),
                Arc::new(FileEdit),
                Arc::new(FileCopy),
                Arc::new(FileMove),
                Arc::new(FileDelete),
                Arc::new(FileStat),
                Arc::new(FileGlob),
                Arc::new(FileGrep),
                Arc::new(FileTree),
                Arc::new(DirList),
                Arc::new(DirCreate),
                Arc::new(DirDelete),
                Arc::new(ExecuteBash),
                Arc::new(ExecutePython),
                Arc::new(DatabaseQuery::default()),
                Arc::new(DatabaseSchema),
                Arc::new(DatabaseTables),
                Arc::new(DatabaseMessage),
                Arc::new(SearchInternet),
                Arc::new(SearchMemory),
                Arc::new(FetchConversationDetails),
                Arc::new(FetchDocument),
                Arc::new(CoreMemoryTool),
                Arc::new(RunSubagent),
            ],
        }
    }

    /// Creates a set of the given tools.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools }
    }

    /// Adds a tool, unless there is already one with its name. Providers reject duplicate names.
    pub fn with(mut self, tool: Arc<dyn Tool>) -> Self {
        let name = tool.spec().name;
        if self.tools.iter().all(|existing| existing.spec().name != name) {
            self.tools.push(tool);
        }
        self
    }

    /// Returns the set without the named tool.
    pub fn without(&self, name: &str) -> Self {
        let others = self.tools.iter().filter(|tool| tool.spec().name != name);
        Self { tools: others.cloned().collect() }
    }

    /// Returns the set of the named tools.
    ///
    /// # Errors
    ///
    /// Fails if one of the names is not the name of a tool.
    pub fn only(&self, names: &[String]) -> Result<Self, UnknownTool> {
        let find = |name: &String| {
            let tool = self.tools.iter().find(|tool| tool.spec().name == name.as_str());
            tool.cloned().ok_or_else(|| UnknownTool(name.clone()))
        };
        let mut unique: Vec<&String> = Vec::new();
        for name in names {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        Ok(Self { tools: unique.into_iter().map(find).collect::<Result<_, _>>()? })
    }

    /// Adapts the database tools to the store: their descriptions name its SQL dialect, and they are removed if it does
    /// not support SQL.
    pub fn for_store(mut self, store: &dyn Inspectable) -> Self {
        let Some(inspect) = store.inspect() else {
            return ["database_query", "database_schema", "database_tables"]
                .iter()
                .fold(self, |tools, name| tools.without(name));
        };
        let query: Arc<dyn Tool> = Arc::new(DatabaseQuery { dialect: inspect.dialect() });
        let name = query.spec().name;
        for tool in self.tools.iter_mut().filter(|tool| tool.spec().name == name) {
            *tool = Arc::clone(&query);
        }
        self
    }

    /// Adds the tool that reports on summaries and writes them.
    pub fn with_summaries(self, summaries: Arc<dyn Summarizer>) -> Self {
        self.with(Arc::new(AgentSummarizer(summaries)))
    }

    /// Adds the tool that loads skills, if there are any.
    pub fn with_skills(self, skills: &Skills) -> Self {
        if skills.all.is_empty() { self } else { self.with(Arc::new(LoadSkill(skills.clone()))) }
    }

    /// Returns the descriptions of the tools in list order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }

    /// Returns whether any description comes from an untrusted source.
    pub fn has_untrusted_descriptions(&self) -> bool {
        self.tools.iter().any(|tool| tool.has_untrusted_description())
    }

    /// Returns what a call would access.
    ///
    /// # Errors
    ///
    /// Fails if the tool does not exist or the arguments are invalid.
    pub async fn plan(
        &self,
        name: &str,
        arguments: &Value,
        context: &ToolContext,
    ) -> Result<Plan, ToolError> {
        self.find(name, arguments)?.plan(arguments, context).await
    }

    /// Runs the tool called `name`.
    ///
    /// # Errors
    ///
    /// Fails if the tool does not exist, the arguments are invalid, or the tool fails.
    pub async fn run(
        &self,
        name: &str,
        arguments: Value,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        self.find(name, &arguments)?.run(arguments, context).await
    }

    fn find(&self, name: &str, arguments: &Value) -> Result<&dyn Tool, ToolError> {
        let tool = self.tools.iter().find(|tool| tool.spec().name == name);
        let tool = tool.ok_or_else(|| ToolError::Unknown(name.to_owned()))?;
        match arguments {
            Value::String(text) => Err(ToolError::Arguments(format!("not valid JSON: {text}"))),
            _ => Ok(tool.as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_schemas_are_objects() {
        let specs = ToolSet::all().specs();
        let names: HashSet<_> = specs.iter().map(|spec| spec.name.clone()).collect();
        assert_eq!(names.len(), specs.len());
        for spec in specs {
            assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
        }
    }
}
