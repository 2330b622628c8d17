//! Finds library code that does what only a front end may do: print, exit, read the environment.

use std::path::{Path, PathBuf};

use crate::{
    ChoreError,
    files::{list_files, read},
    source::{ProductCode, Token, read_product_code},
};

/// Macros that print to the terminal, which only a front end may do.
const PRINTING_MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// Functions that only a front end may call, each with the module it is in.
const FRONT_END_FUNCTIONS: [(&str, &[&str]); 4] = [
    ("process", &["exit", "abort"]),
    ("env", &["var", "var_os", "vars", "vars_os", "args", "args_os", "set_var", "remove_var"]),
    ("io", &["stdout", "stderr"]),
    ("anstream", &["stdout", "stderr"]),
];

/// Modules whose contents must be named one by one, so that every use of them is visible.
const NAMED_MODULES: [&str; 2] = ["process", "env"];

/// Returns each operation in the product code under `directory` that only front ends may perform, with file and line.
pub(crate) fn find_violations(directory: &Path) -> Result<Vec<String>, ChoreError> {
    let files = list_files(directory, "rs")?;
    let sources = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let codes: Vec<ProductCode<'_>> = sources.iter().map(|source| read_product_code(source)).collect();
    let tests: Vec<PathBuf> =
        files.iter().zip(&codes).flat_map(|(file, code)| test_files(file, code)).collect();
    let mut violations = Vec::new();
    for (file, code) in files.iter().zip(&codes) {
        if tests.iter().any(|test| file.with_extension("") == *test || file.starts_with(test)) {
            continue;
        }
        for violation in check_tokens(&code.tokens) {
            violations.push(format!("{}:{}: {}", file.display(), violation.line, violation.description));
        }
    }
    Ok(violations)
}

/// Returns the paths of the test modules that `file` declares, without their extension.
fn test_files(file: &Path, code: &ProductCode<'_>) -> Vec<PathBuf> {
    let is_root =
        file.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs" || name == "main.rs");
    let directory = if is_root { file.parent().unwrap_or(file).to_owned() } else { file.with_extension("") };
    code.test_modules.iter().map(|name| directory.join(name)).collect()
}

#[derive(Debug, PartialEq, Eq)]
struct Violation {
    line: usize,
    description: String,
}

fn check_tokens(tokens: &[Token<'_>]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        if token.text == "use" {
            let end = tokens[index..].iter().position(|token| token.text == ";");
            let end = end.map_or(tokens.len(), |length| index + length);
            violations.extend(check_import(&tokens[index + 1..end]));
            index = end;
            continue;
        }
        let text = |index: Option<usize>| index.and_then(|index| tokens.get(index)).map(|token| token.text);
        if PRINTING_MACROS.contains(&token.text) && text(Some(index + 1)) == Some("!") {
            violations
                .push(Violation { line: token.line, description: format!("prints with `{}!`", token.text) });
        } else if text(index.checked_sub(1)) == Some("::")
            && let Some(module) = text(index.checked_sub(2))
            && is_for_front_ends(module, token.text)
        {
            violations.push(Violation {
                line: token.line,
                description: format!("calls `{module}::{}`", token.text),
            });
        }
        index += 1;
    }
    violations
}

fn is_for_front_ends(module: &str, name: &str) -> bool {
    FRONT_END_FUNCTIONS.iter().any(|(owner, names)| *owner == module && names.contains(&name))
}

/// Checks the tokens between `use` and its semicolon.
fn check_import(tokens: &[Token<'_>]) -> Vec<Violation> {
    let mut violations = Vec::new();
    // The module that each open brace belongs to, and the one before the current name.
    let mut groups: Vec<&str> = Vec::new();
    let mut module = "";
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map_or("", |token| token.text);
        let mut report = |description: String| violations.push(Violation { line: token.line, description });
        match token.text {
            "::" => {}
            "{" => groups.push(module),
            "}" => module = groups.pop().unwrap_or(""),
            "," => module = groups.last().copied().unwrap_or(""),
            name if next == "::" => module = name,
            "*" if NAMED_MODULES.contains(&module) => report(format!("imports all of `{module}`")),
            name if next == "as" && NAMED_MODULES.contains(&if name == "self" { module } else { name }) => {
                report(format!(
                    "imports `{}` under another name",
                    if name == "self" { module } else { name }
                ));
            }
            name if is_for_front_ends(module, name) => report(format!("imports `{module}::{name}`")),
            name if PRINTING_MACROS.contains(&name) && matches!(module, "std" | "anstream") => {
                report(format!("imports `{module}::{name}`"));
            }
            _ => {}
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(source: &str) -> Vec<String> {
        check_tokens(&read_product_code(source).tokens)
            .into_iter()
            .map(|violation| violation.description)
            .collect()
    }

    #[test]
    fn printing_is_found() {
        assert_eq!(check("println!(\"x\");"), ["prints with `println!`"]);
        assert_eq!(check("anstream::eprintln!(\"x\");"), ["prints with `eprintln!`"]);
        assert_eq!(check("let x = dbg !(y);"), ["prints with `dbg!`"]);
        assert_eq!(
            check("use anstream::{eprintln, println};"),
            ["imports `anstream::eprintln`", "imports `anstream::println`"]
        );
        assert_eq!(check("std::io::stderr().write_all(b\"x\")"), ["calls `io::stderr`"]);
    }

    #[test]
    fn exiting_is_found() {
        assert_eq!(check("std::process::exit(1)"), ["calls `process::exit`"]);
        assert_eq!(check("use std::process::exit;"), ["imports `process::exit`"]);
        assert_eq!(check("use std::{fs, process::{self, exit}};"), ["imports `process::exit`"]);
    }

    #[test]
    fn reading_the_environment_is_found() {
        assert_eq!(check("std::env::var(\"HOME\")"), ["calls `env::var`"]);
        assert_eq!(check("env :: args_os()"), ["calls `env::args_os`"]);
        assert_eq!(check("use std::{env::{vars, consts}, fs};"), ["imports `env::vars`"]);
        assert_eq!(check("use std::env::*;"), ["imports all of `env`"]);
        assert_eq!(check("use std::env as surroundings;"), ["imports `env` under another name"]);
        assert_eq!(check("use std::env::{self as e};"), ["imports `env` under another name"]);
        assert_eq!(check("fn f() { if true { std::env::vars_os() } }"), ["calls `env::vars_os`"]);
    }

    #[test]
    fn lookalikes_are_harmless() {
        for source in [
            "// println!(\"x\")\n/* std::env::var */",
            "/// `println!(\"x\")` prints.\nfn f() {}",
            "let code = \"println!(1); std::process::exit(1)\";",
            "let code = r#\"eprintln!(\"x\")\"#;",
            "#[cfg(test)]\nmod tests { fn f() { println!(\"x\"); std::env::var(\"X\"); } }",
            "use std::{env, fs, process};\nfn f() { process::id(); env::temp_dir(); }",
            "use std::process::{Command, Stdio};",
            "let out = child.stdout.take(); child.stderr();",
            "writeln!(out, \"x\")?; self.print(); print(1); settings.var(2); exit(3);",
            "env!(\"CARGO_PKG_VERSION\")",
            "use crate::io::{Reader, stdin};",
        ] {
            assert_eq!(check(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn a_directory_is_checked_without_its_test_modules() {
        let directory = std::env::temp_dir().join(format!("memoir-boundaries-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = directory.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&directory)).and_then(|()| fs::write(path, text))
        };
        let results = [
            write("lib.rs", "mod a;\n#[cfg(test)]\nmod cases;"),
            write("cases.rs", "println!();"),
            write("cases/more.rs", "println!();"),
            write("a.rs", "\nprintln!();\n#[cfg(test)] mod tests;"),
            write("a/tests.rs", "println!();"),
            write("a/real.rs", "std::env::args()"),
        ];
        assert!(results.iter().all(Result::is_ok));
        let violations = find_violations(&directory).unwrap_or_default();
        assert!(fs::remove_dir_all(&directory).is_ok());
        assert_eq!(
            violations,
            [
                format!("{}:1: calls `env::args`", directory.join("a/real.rs").display()),
                format!("{}:2: prints with `println!`", directory.join("a.rs").display()),
            ]
        );
    }
}
