//! `file_edit`: changes part of a text file with one of eight operations.

use std::ops::Range;

use async_trait::async_trait;
use memoir_core::ToolSpec;
use regex::RegexBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput, change,
    file_read::MAX_FILE_BYTES,
    output,
    tool::{object, parse},
    workspace::ResolvedPath,
};

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    Append,
    Prepend,
    InsertAfter,
    InsertBefore,
    InsertLine,
    Replace,
    ReplaceLine,
    ReplaceRange,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    path: String,
    operation: Operation,
    text: String,
    anchor: Option<String>,
    #[serde(default)]
    regex: bool,
    line: Option<usize>,
    last_line: Option<usize>,
}

pub(crate) struct FileEdit;

#[async_trait]
impl Tool for FileEdit {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "file_edit",
            "Change part of a text file in the workspace. append and prepend add text at the end or the beginning; \
             insert_after and insert_before add lines after or before the line that contains the anchor; replace replaces \
             the anchor with text; insert_line adds text before a line (use one past the last line to add at the end); \
             replace_line and replace_range replace whole lines. If the anchor is missing or occurs more than once, the call \
             fails and nothing is changed.",
            object(
                json!({
                    "path": {"type": "string", "description": "Path of the file, relative to the workspace."},
                    "operation": {"type": "string", "enum": ["append", "prepend", "insert_after", "insert_before", "insert_line", "replace", "replace_line", "replace_range"]},
                    "text": {"type": "string", "description": "Text to insert."},
                    "anchor": {"type": "string", "description": "For insert_after, insert_before and replace: text that occurs exactly once."},
                    "regex": {"type": "boolean", "description": "Treat the anchor as a regular expression; $1 in text refers to its first group. By default the anchor is literal."},
                    "line": {"type": "integer", "minimum": 1, "description": "For insert_line, replace_line and replace_range: number of the (first) line."},
                    "last_line": {"type": "integer", "minimum": 1, "description": "For replace_range: number of the last line."}
                }),
                &["path", "operation", "text"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let arguments: ToolArguments = parse(arguments)?;
        let PlannedEdit { file, before, after } = plan_edit(&arguments, context)?;
        let preview = change::diff(&context.workspace.show(&file), &before, &after);
        Ok(Plan::new(Access::Write(file.real)).with_preview(preview))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let arguments: ToolArguments = parse(&arguments)?;
        let PlannedEdit { file, before, after } = plan_edit(&arguments, context)?;
        let path = &arguments.path;
        file.write(after.as_bytes(), None)
            .map_err(|error| ToolError::Failed(format!("cannot write {path}: {error}")))?;
        let text = format!(
            "Changed {path} ({} lines)\n{}",
            change::size(&before, &after),
            output::truncate_output(&change::diff(path, &before, &after), output::MAX_TOOL_OUTPUT_BYTES)
        );
        Ok(text.into())
    }
}

/// A file with its content before and after the edit.
struct PlannedEdit {
    file: ResolvedPath,
    before: String,
    after: String,
}

/// Reads the file of a call and applies the edit without writing it.
fn plan_edit(arguments: &ToolArguments, context: &ToolContext) -> Result<PlannedEdit, ToolError> {
    let path = &arguments.path;
    let file = context.workspace.locate_inside(path)?;
    let bytes = file
        .read(MAX_FILE_BYTES)
        .map_err(|error| ToolError::Failed(format!("cannot read {path}: {error}")))?;
    let before = String::from_utf8(bytes).map_err(|_| ToolError::Failed(format!("{path} is not text")))?;
    let after = apply(&before, arguments)?;
    Ok(PlannedEdit { file, before, after })
}

fn apply(before: &str, arguments: &ToolArguments) -> Result<String, ToolError> {
    // Preserve the file's line endings.
    let has_crlf = before.contains("\r\n");
    let ending = if has_crlf { "\r\n" } else { "\n" };
    let text = match has_crlf {
        true => arguments.text.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => arguments.text.clone(),
    };
    let whole_lines =
        || if text.is_empty() || text.ends_with('\n') { text.clone() } else { format!("{text}{ending}") };
    let (start, end, new) = match arguments.operation {
        Operation::Append => {
            let gap = if before.is_empty() || before.ends_with('\n') { "" } else { ending };
            (before.len(), before.len(), format!("{gap}{text}"))
        }
        Operation::Prepend => (0, 0, whole_lines()),
        Operation::InsertAfter => {
            let end = find_anchor(before, arguments, "")?.0.end;
            let rest = &before[end..];
            match rest.find('\n') {
                Some(offset) => (end + offset + 1, end + offset + 1, whole_lines()),
                None => (before.len(), before.len(), format!("{ending}{text}")),
            }
        }
        Operation::InsertBefore => {
            let start = find_anchor(before, arguments, "")?.0.start;
            let start = before[..start].rfind('\n').map_or(0, |newline| newline + 1);
            (start, start, whole_lines())
        }
        Operation::Replace => {
            let (range, new) = find_anchor(before, arguments, &text)?;
            (range.start, range.end, new)
        }
        Operation::InsertLine => {
            let line = require(arguments.line, "line")?;
            let (start, _) = locate_lines(before, line, line, true)?;
            let gap = if start > 0 && !before[..start].ends_with('\n') { ending } else { "" };
            (start, start, format!("{gap}{}", whole_lines()))
        }
        Operation::ReplaceLine => {
            let line = require(arguments.line, "line")?;
            let (start, end) = locate_lines(before, line, line, false)?;
            (start, end, whole_lines())
        }
        Operation::ReplaceRange => {
            let (first, last) =
                (require(arguments.line, "line")?, require(arguments.last_line, "last_line")?);
            let (start, end) = locate_lines(before, first, last, false)?;
            (start, end, whole_lines())
        }
    };
    // If the last line had no line ending, its replacement does not get one either.
    let replaces_lines = matches!(arguments.operation, Operation::ReplaceLine | Operation::ReplaceRange);
    let new = match replaces_lines && end == before.len() && end > start && !before.ends_with('\n') {
        true => new.strip_suffix(ending).unwrap_or(&new).to_owned(),
        false => new,
    };
    Ok(format!("{}{new}{}", &before[..start], &before[end..]))
}

fn require<T>(value: Option<T>, name: &str) -> Result<T, ToolError> {
    value.ok_or_else(|| ToolError::Arguments(format!("this operation needs {name}")))
}

/// Returns the position of the only match of the anchor, and `text` with the groups of the match filled in.
fn find_anchor(
    before: &str,
    arguments: &ToolArguments,
    text: &str,
) -> Result<(Range<usize>, String), ToolError> {
    let anchor = require(arguments.anchor.as_deref(), "anchor")?;
    if anchor.is_empty() {
        return Err(ToolError::Arguments("the anchor is empty".into()));
    }
    let pattern = if arguments.regex { anchor.to_owned() } else { regex::escape(anchor) };
    let pattern =
        RegexBuilder::new(&pattern).multi_line(true).size_limit(1 << 20).build().map_err(|error| {
            ToolError::Arguments(format!("the anchor is not a valid regular expression: {error}"))
        })?;
    let mut matches = pattern.captures_iter(before);
    let Some(first) = matches.next() else {
        return Err(ToolError::Failed(format!("the anchor does not occur in {}", arguments.path)));
    };
    let others = matches.count();
    if others > 0 {
        return Err(ToolError::Failed(format!(
            "the anchor occurs {} times in {}; include more of the surrounding text",
            others + 1,
            arguments.path
        )));
    }
    let mut new = String::new();
    if arguments.regex {
        first.expand(text, &mut new);
    } else {
        new.push_str(text);
    }
    let whole = first.get(0).map_or(0..0, |whole| whole.range());
    Ok((whole, new))
}

/// Returns the byte offsets at which a range of lines begins and ends. `allow_end` also accepts the line after the
/// last, for inserting.
fn locate_lines(
    before: &str,
    first: usize,
    last: usize,
    allow_end: bool,
) -> Result<(usize, usize), ToolError> {
    let starts: Vec<usize> = before
        .split_inclusive('\n')
        .scan(0, |offset, line| {
            let start = *offset;
            *offset += line.len();
            Some(start)
        })
        .collect();
    let count = starts.len();
    if allow_end && first == count + 1 {
        return Ok((before.len(), before.len()));
    }
    if first == 0 || last < first || last > count {
        let lines = output::count(count as u64, "line");
        return Err(ToolError::Failed(format!("the file has {lines}; lines {first} to {last} do not exist")));
    }
    Ok((starts[first - 1], starts.get(last).copied().unwrap_or(before.len())))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    async fn edit(content: &str, mut arguments: Value) -> Result<String, ToolError> {
        let bench = Bench::new().await;
        bench.file("f", content);
        arguments["path"] = json!("f");
        match bench.run(&FileEdit, arguments).await {
            Ok(_) => Ok(bench.read("f")),
            Err(error) => {
                assert_eq!(bench.read("f"), content, "a failed edit changes nothing");
                Err(error)
            }
        }
    }

    #[tokio::test]
    async fn every_operation_edits_the_file() {
        let text = "one\ntwo\nthree\n";
        for (arguments, expected) in [
            (json!({"operation": "append", "text": "four\n"}), "one\ntwo\nthree\nfour\n"),
            (json!({"operation": "prepend", "text": "zero"}), "zero\none\ntwo\nthree\n"),
            (json!({"operation": "insert_after", "anchor": "tw", "text": "2.5"}), "one\ntwo\n2.5\nthree\n"),
            (json!({"operation": "insert_before", "anchor": "wo", "text": "1.5"}), "one\n1.5\ntwo\nthree\n"),
            (json!({"operation": "insert_line", "line": 4, "text": "four"}), "one\ntwo\nthree\nfour\n"),
            (json!({"operation": "insert_line", "line": 1, "text": "zero\n"}), "zero\none\ntwo\nthree\n"),
            (json!({"operation": "replace", "anchor": "wo\nth", "text": "$1"}), "one\nt$1ree\n"),
            (
                json!({"operation": "replace", "anchor": "^t(w)o$", "regex": true, "text": "$1$1"}),
                "one\nww\nthree\n",
            ),
            (json!({"operation": "replace_line", "line": 2, "text": "TWO"}), "one\nTWO\nthree\n"),
            (json!({"operation": "replace_range", "line": 1, "last_line": 2, "text": ""}), "three\n"),
        ] {
            assert_eq!(edit(text, arguments.clone()).await.unwrap(), expected, "{arguments}");
        }
    }

    #[tokio::test]
    async fn line_endings_are_preserved() {
        let edited =
            edit("a\r\nb\r\n", json!({"operation": "replace_line", "line": 2, "text": "x\ny"})).await;
        assert_eq!(edited.unwrap(), "a\r\nx\r\ny\r\n");
        let edited = edit("a\nb", json!({"operation": "replace_line", "line": 2, "text": "c"})).await;
        assert_eq!(edited.unwrap(), "a\nc");
        let edited = edit("a\nb", json!({"operation": "append", "text": "c"})).await;
        assert_eq!(edited.unwrap(), "a\nb\nc");
    }

    #[tokio::test]
    async fn missing_and_ambiguous_places_are_errors() {
        let text = "one\ntwo\none\n";
        for (arguments, expected) in [
            (json!({"operation": "replace", "anchor": "four", "text": "x"}), "does not occur"),
            (json!({"operation": "replace", "anchor": "one", "text": "x"}), "occurs 2 times"),
            (json!({"operation": "insert_after", "anchor": "o", "text": "x"}), "occurs 3 times"),
            (json!({"operation": "replace", "text": "x"}), "needs anchor"),
            (json!({"operation": "replace", "anchor": "", "text": "x"}), "anchor is empty"),
            (
                json!({"operation": "replace", "anchor": "(", "regex": true, "text": "x"}),
                "not a valid regular expression",
            ),
            (json!({"operation": "replace_line", "line": 4, "text": "x"}), "the file has 3 lines"),
            (
                json!({"operation": "replace_range", "line": 3, "last_line": 2, "text": "x"}),
                "the file has 3 lines",
            ),
            (json!({"operation": "explode", "text": "x"}), "invalid arguments"),
        ] {
            let error = edit(text, arguments.clone()).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{arguments}: {error}");
        }
    }
}
