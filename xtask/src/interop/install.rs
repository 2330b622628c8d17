//! Installs packages from the registries of npm, PyPI and Rust, once.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

/// Installs into a directory that is kept between runs.
pub(super) struct Installer {
    pub(super) cache: PathBuf,
}

impl Installer {
    /// Installs a package of npm, and returns the directory of its programs.
    pub(super) fn npm(&self, package: &str, version: &str) -> Result<PathBuf, String> {
        let directory = self.cache.join(format!("{}-{version}", package.replace('/', "_")));
        let programs = directory.join("node_modules/.bin");
        let install = || {
            let mut command = Command::new("npm");
            command.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]);
            run(command.arg(&directory).arg(format!("{package}@{version}")))
        };
        self.once(&directory, install)?;
        Ok(programs)
    }

    /// Installs packages of npm for a script, and returns the directory that it must be in.
    pub(super) fn npm_packages(&self, name: &str, packages: &[String]) -> Result<PathBuf, String> {
        let directory = self.cache.join(name);
        let install = || {
            let mut command = Command::new("npm");
            command.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]);
            run(command.arg(&directory).args(packages))
        };
        self.once(&directory, install)?;
        Ok(directory)
    }

    /// Installs packages of PyPI into an environment of their own, and returns the directory of its programs. With
    /// `is_alone`, the last one is installed without its dependencies.
    pub(super) fn python(&self, name: &str, packages: &[&str], is_alone: bool) -> Result<PathBuf, String> {
        let directory = self.cache.join(name);
        let programs = directory.join("bin");
        let install = || {
            run(Command::new("python3").args(["-m", "venv"]).arg(&directory))?;
            let pip = |packages: &[&str], options: &[&str]| match packages.is_empty() {
                true => Ok(()),
                false => run(Command::new(programs.join("pip"))
                    .args(["install", "-q"])
                    .args(options)
                    .args(packages)),
            };
            match (packages.split_last(), is_alone) {
                (Some((last, others)), true) => pip(others, &[]).and_then(|()| pip(&[last], &["--no-deps"])),
                _ => pip(packages, &[]),
            }
        };
        self.once(&directory, install)?;
        Ok(programs)
    }

    /// Builds a program from the registry of Rust, and returns the directory that it is in.
    pub(super) fn cargo(&self, package: &str, version: &str) -> Result<PathBuf, String> {
        let directory = self.cache.join(format!("{package}-{version}"));
        let install = || {
            let mut command = Command::new("cargo");
            command.env("CARGO_TARGET_DIR", directory.join("target"));
            command.args(["install", "-q", "--locked", "--debug", "--version", version, "--root"]);
            run(command.arg(&directory).arg(package))
        };
        self.once(&directory, install)?;
        Ok(directory.join("bin"))
    }

    /// Runs an installation, unless it has succeeded before.
    fn once(
        &self,
        directory: &std::path::Path,
        install: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        let marker = directory.join(".installed");
        if marker.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
        install()?;
        std::fs::write(marker, "").map_err(|error| error.to_string())
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| format!("{} cannot be run: {error}", command.get_program().display()))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
