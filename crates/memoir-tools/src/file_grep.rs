//! `file_grep`: searches files for a regular expression, with ripgrep's library.

use async_trait::async_trait;
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, SearcherBuilder, sinks::Lossy};
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, DeniedPaths, Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{MAX_TOOL_OUTPUT_BYTES, truncate_output},
    tool::{object, parse},
    walk::{display_path, walk},
    workspace::ResolvedPath,
};

const MAX_LINES: usize = 300;

/// Maximum length of a line, in characters. Longer lines are truncated.
const MAX_LINE_CHARS: usize = 300;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    pattern: String,
    #[serde(default = "default_path")]
    path: String,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
}

fn default_path() -> String {
    ".".into()
}

pub(crate) struct FileGrep;

#[async_trait]
impl Tool for FileGrep {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "file_grep",
            "Search the text files of the workspace for a regular expression, like ripgrep. Files excluded by .gitignore are skipped.",
            object(
                json!({
                    "pattern": {"type": "string", "description": "Regular expression."},
                    "path": {"type": "string", "description": "File or directory to search; the workspace by default."},
                    "glob": {"type": "string", "description": "Search only files whose names match this pattern, such as *.rs."},
                    "ignore_case": {"type": "boolean", "description": "Ignore case."}
                }),
                &["pattern"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { path, .. } = parse(arguments)?;
        Ok(Plan::new(Access::Read(context.workspace.locate_inside(&path)?.real)))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let arguments: ToolArguments = parse(&arguments)?;
        let start = context.workspace.locate_inside(&arguments.path)?;
        let denied = context.denied.clone();
        // Reading many files blocks for a while.
        let result = tokio::task::spawn_blocking(move || search(&start, &arguments, denied)).await;
        result.map_err(|error| ToolError::Failed(error.to_string()))?.map(Into::into)
    }
}

fn search(
    start: &ResolvedPath,
    arguments: &ToolArguments,
    denied: Option<DeniedPaths>,
) -> Result<String, ToolError> {
    let matcher = RegexMatcherBuilder::new()
        .case_insensitive(arguments.ignore_case)
        .size_limit(10 << 20)
        .build(&arguments.pattern)
        .map_err(|error| {
            ToolError::Arguments(format!("pattern is not a valid regular expression: {error}"))
        })?;
    let failed =
        |error: std::io::Error| ToolError::Failed(format!("cannot search {}: {error}", arguments.path));
    let is_file = start.metadata().map_err(failed)?.is_file();
    let mut searcher = SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).build();
    let (mut text, mut count) = (String::new(), 0);
    let mut search_file = |name: &str, file: &std::fs::File| {
        let sink = Lossy(|number, line: &str| {
            let line = line.trim_end();
            let cut = line.char_indices().nth(MAX_LINE_CHARS).map_or(line, |(end, _)| &line[..end]);
            count += 1;
            if count <= MAX_LINES {
                text.push_str(&format!("{name}:{number}: {cut}\n"));
            }
            Ok(count <= MAX_LINES)
        });
        if let Err(error) = searcher.search_file(&matcher, file, sink) {
            // Like ripgrep, skip files that cannot be read.
            tracing::debug!(file = name, %error, "skipped a file");
        }
        count <= MAX_LINES
    };
    if is_file {
        search_file(&arguments.path, &start.open_file().map_err(failed)?);
    } else {
        for entry in walk(start, arguments.glob.as_deref(), None, denied)?.filter(|entry| !entry.is_directory)
        {
            // Open the file through the open directory, so that a link created since the walk is not followed.
            let name = display_path(&arguments.path, &entry.relative);
            match start.below(&entry.relative).open_file() {
                Ok(file) if search_file(&name, &file) => {}
                Ok(_) => break,
                Err(error) => tracing::debug!(file = name, %error, "skipped a file"),
            }
        }
    }
    if count > MAX_LINES {
        text.push_str(&format!("[cut: the first {MAX_LINES} lines shown]\n"));
    }
    match text.is_empty() {
        true => Ok(format!("Nothing matches {}.", arguments.pattern)),
        false => Ok(truncate_output(&text, MAX_TOOL_OUTPUT_BYTES)),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn lines_are_found_and_gitignore_is_respected() {
        let bench = Bench::new().await;
        bench.file("a.txt", "one\nTwo three\n");
        bench.file("deep/b.rs", "fn two() {}\n");
        bench.file("ignored/c.txt", "two\n");
        bench.file("binary", "two\0two\n");
        bench.file(".gitignore", "ignored\n");
        let find = async |arguments| bench.run(&FileGrep, arguments).await;
        let all = find(json!({"pattern": "two", "ignore_case": true})).await.unwrap();
        assert!(all.contains("a.txt:2: Two three\n") && all.contains("deep/b.rs:1: fn two() {}\n"), "{all}");
        assert!(!all.contains("ignored"), "{all}");
        assert_eq!(
            find(json!({"pattern": "two", "glob": "*.rs"})).await.unwrap(),
            "deep/b.rs:1: fn two() {}\n"
        );
        assert_eq!(find(json!({"pattern": "^one", "path": "a.txt"})).await.unwrap(), "a.txt:1: one\n");
        assert_eq!(find(json!({"pattern": "four"})).await.unwrap(), "Nothing matches four.");
        assert!(find(json!({"pattern": "("})).await.is_err());
        assert!(find(json!({"pattern": "root", "path": "/etc/passwd"})).await.is_err());
        bench.file("many.txt", &"line\n".repeat(MAX_LINES + 10));
        assert!(
            find(json!({"pattern": "line"})).await.unwrap().ends_with("[cut: the first 300 lines shown]\n")
        );
    }

    #[tokio::test]
    async fn links_out_of_the_workspace_and_pipes_are_not_searched() {
        let bench = Bench::new().await;
        std::os::unix::fs::symlink("/etc", bench.path("etc")).unwrap();
        // A pipe would block the search. No command creates it, because a test of the sandbox could kill that command.
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
        rustix::fs::mknodat(rustix::fs::CWD, bench.path("pipe"), kind, mode, 0).unwrap();
        assert_eq!(bench.run(&FileGrep, json!({"pattern": "root"})).await.unwrap(), "Nothing matches root.");
        assert!(bench.run(&FileGrep, json!({"pattern": "root", "path": "pipe"})).await.is_ok());
        assert!(bench.run(&crate::file_read::FileRead, json!({"path": "pipe"})).await.is_err());
    }
}
