//! The ladder: the table in ARCHITECTURE.md says on which rung each crate stands, the manifests say what
//! each depends on, and no crate may reach sideways or up.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use serde_json::Value;

use crate::Outcome;

pub(crate) fn check(root: &Path) -> Outcome {
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).map_err(|error| error.to_string())?;
    let faults = faults(&rungs(&page), &dependencies(root)?);
    if faults.is_empty() { Ok("The ladder holds.".into()) } else { Err(faults.join("\n")) }
}

/// The rung of each crate: rows that begin with a number, or with "beside" for crates beside the ladder.
fn rungs(page: &str) -> BTreeMap<String, Option<u32>> {
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

/// What each crate of ours depends on among ours, tests aside.
fn dependencies(root: &Path) -> Result<BTreeMap<String, Vec<String>>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    Ok(packages
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().cloned().unwrap_or_default();
            let ours =
                all.iter().filter(|dependency| dependency["kind"] != "dev" && dependency["path"].is_string());
            (name(package), ours.map(name).collect())
        })
        .collect())
}

fn faults(
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
                // Beside the ladder one may look at everything on it.
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
        faults(&rungs(PAGE), &map)
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
}
