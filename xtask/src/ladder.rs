//! Checks the boundaries between crates.
//!
//! The table in ARCHITECTURE.md gives the rung of each crate, the manifests give its dependencies, and no crate may depend on
//! one that is not on a lower rung. Only front ends print, exit or read the environment. Some crates may not depend on
//! an HTTP client, even indirectly. Every unsafe block must be listed with its proof.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{ChoreError, ChoreResult, boundaries::find_violations, unsafe_blocks::find_unlisted};

/// Crates that may print, exit and read the environment.
const FRONT_ENDS: [&str; 4] = ["memoir-cli", "memoir-testkit", "memoir-fuzz", "xtask"];

/// Crates that may not depend on any of [`HTTP_CRATES`], so that a front end without a network can use them.
const WITHOUT_HTTP: [&str; 2] = ["memoir-recall", "memoir-embed"];

/// HTTP clients and the libraries they are built on.
const HTTP_CRATES: [&str; 7] = ["reqwest", "hyper", "ureq", "curl", "rustls", "native-tls", "openssl"];

/// A crate of this workspace.
struct Package {
    directory: PathBuf,
    /// The crates of this workspace that it depends on, excluding test dependencies.
    dependencies: Vec<String>,
}

pub(crate) fn check(root: &Path) -> ChoreResult {
    let table = root.join("ARCHITECTURE.md");
    let page = fs::read_to_string(&table).map_err(|error| ChoreError::file(&table, error))?;
    let packages = read_packages(root)?;
    let dependencies = packages.iter().map(|(name, package)| (name.clone(), package.dependencies.clone()));
    let mut faults = find_faults(&read_rungs(&page), &dependencies.collect());
    for package in WITHOUT_HTTP {
        faults.extend(find_http(package, &list_dependencies(root, package)?));
    }
    for (_, package) in packages.iter().filter(|(name, _)| !FRONT_ENDS.contains(&name.as_str())) {
        let violations = find_violations(&package.directory.join("src"))?;
        faults.extend(violations.into_iter().map(|what| format!("{what}; only a front end may do this.")));
    }
    faults.extend(find_unlisted(root)?);
    if faults.is_empty() {
        Ok("Every crate keeps to its rung, and only front ends print, exit or read the environment.".into())
    } else {
        Err(ChoreError::Failed(faults.join("\n")))
    }
}

/// Runs cargo and returns what it wrote to its standard output.
fn run_cargo(root: &Path, arguments: &[&str]) -> Result<Vec<u8>, ChoreError> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let failed =
        |reason: String| ChoreError::Failed(format!("`cargo {}` failed: {reason}", arguments.join(" ")));
    let output = Command::new(cargo).args(arguments).current_dir(root).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

/// Returns the names of all crates that `package` depends on, directly or not, excluding test and build dependencies.
fn list_dependencies(root: &Path, package: &str) -> Result<Vec<String>, ChoreError> {
    let arguments = ["tree", "--offline", "--edges", "normal", "--prefix", "none", "--package", package];
    let tree = run_cargo(root, &arguments)?;
    let tree = String::from_utf8_lossy(&tree);
    Ok(tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

/// Returns a fault for each HTTP crate among the `dependencies` of `package`.
fn find_http(package: &str, dependencies: &[String]) -> Vec<String> {
    let present = HTTP_CRATES.iter().filter(|name| dependencies.iter().any(|dependency| dependency == *name));
    present.map(|name| format!("{package} depends on {name}, but must not need an HTTP client.")).collect()
}

/// Returns the rung of each crate. Rows of the table begin with a number, or with "beside" for crates beside the ladder.
fn read_rungs(page: &str) -> BTreeMap<String, Option<u32>> {
    page.lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
            let (rung, name) = (cells.next()?, cells.next()?);
            let name = name.strip_prefix('`')?.strip_suffix('`')?;
            let rung = if rung == "beside" { None } else { Some(rung.parse().ok()?) };
            Some((name.to_owned(), rung))
        })
        .collect()
}

/// Returns the crates of this workspace by name.
fn read_packages(root: &Path) -> Result<BTreeMap<String, Package>, ChoreError> {
    let output = run_cargo(root, &["metadata", "--no-deps", "--offline", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_slice(&output).map_err(|error| {
        ChoreError::Failed(format!("cannot read the output of `cargo metadata`: {error}"))
    })?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    Ok(packages
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().cloned().unwrap_or_default();
            let ours =
                all.iter().filter(|dependency| dependency["kind"] != "dev" && dependency["path"].is_string());
            let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
            let directory = manifest.parent().unwrap_or(root).to_owned();
            (name(package), Package { directory, dependencies: ours.map(name).collect() })
        })
        .collect())
}

fn find_faults(
    rungs: &BTreeMap<String, Option<u32>>,
    dependencies: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for name in rungs.keys().filter(|name| !dependencies.contains_key(*name)) {
        faults.push(format!("ARCHITECTURE.md names {name}, which does not exist."));
    }
    for (name, below) in dependencies {
        let Some(rung) = rungs.get(name) else {
            faults.push(format!("{name} is missing from the crate table in ARCHITECTURE.md."));
            continue;
        };
        for other in below {
            let allowed = match (rung, rungs.get(other).copied().flatten()) {
                // Crates beside the ladder may depend on everything.
                (None, _) => true,
                (Some(rung), Some(lower)) => lower < *rung,
                (Some(_), None) => false,
            };
            if !allowed {
                faults.push(format!("{name} depends on {other}, which is not on a lower rung."));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "| rung | crate | owns |\n| --- | --- | --- |\n| 0 | `core` | x |\n| 1 | `store` | x |\n\
                        | 1 | `models` | x |\n| beside | `kit` | x |\n";

    fn check(dependencies: &[(&str, &[&str])]) -> Vec<String> {
        let all = ["core", "store", "models", "kit"].map(|name| (name.to_owned(), Vec::new()));
        let mut map: BTreeMap<String, Vec<String>> = all.into_iter().collect();
        for (name, below) in dependencies {
            map.insert((*name).to_owned(), below.iter().map(|name| (*name).to_owned()).collect());
        }
        find_faults(&read_rungs(PAGE), &map)
    }

    #[test]
    fn downwards_is_fine_and_beside_sees_all() {
        assert!(check(&[("store", &["core"]), ("kit", &["store"])]).is_empty());
    }

    #[test]
    fn sideways_up_and_unlisted_are_faults() {
        assert_eq!(
            check(&[("store", &["models"])]),
            ["store depends on models, which is not on a lower rung."]
        );
        assert_eq!(check(&[("core", &["store"])]), ["core depends on store, which is not on a lower rung."]);
        assert_eq!(check(&[("store", &["kit"])]), ["store depends on kit, which is not on a lower rung."]);
        assert_eq!(check(&[("new", &[])]), ["new is missing from the crate table in ARCHITECTURE.md."]);
    }

    #[test]
    fn an_http_client_among_the_dependencies_is_a_fault() {
        let tree = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(find_http("recall", &tree(&["serde", "rustls-pki-types", "http"])).is_empty());
        assert_eq!(
            find_http("recall", &tree(&["serde", "reqwest"])),
            ["recall depends on reqwest, but must not need an HTTP client."]
        );
    }
}
