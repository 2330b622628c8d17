//! A run of the real binary.

use std::{
    ffi::OsStr,
    io::Write as _,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use serde::de::DeserializeOwned;

use crate::ScriptedProvider;

/// A run of the binary that has not started yet, created by [`TestHome::memoir`](crate::TestHome::memoir).
pub struct ProgramRun {
    command: Command,
    input: Option<Vec<u8>>,
}

impl ProgramRun {
    pub(crate) fn new(command: Command) -> Self {
        Self { command, input: None }
    }

    /// Sets OpenAI's base URL and key to those of `provider`.
    pub fn provider(self, provider: &ScriptedProvider) -> Self {
        self.env("OPENAI_BASE_URL", provider.base_url()).env("OPENAI_API_KEY", "sk-test")
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs in `directory` instead of the workspace.
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Simulates a full disk: no file can grow beyond 32 kB, which is enough to open a database but not to write to it.
    pub fn on_a_full_disk(self) -> Self {
        self.limit_file_size(64)
    }

    /// Simulates a full disk: no file can grow beyond `blocks` blocks of 512 bytes.
    pub fn limit_file_size(mut self, blocks: u64) -> Self {
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
        limited.arg(self.command.get_program()).args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        if let Some(directory) = self.command.get_current_dir() {
            limited.current_dir(directory);
        }
        self.command = limited;
        self
    }

    /// Pipes `input` to stdin. Without it, stdin is empty.
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Starts the run and returns without waiting for it.
    pub fn spawn(mut self) -> Child {
        self.command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let (Some(input), Some(mut stdin)) = (self.input, child.stdin.take()) {
            // A program that does not read its input closes the pipe. Tests check the output, so the error
            // doesn't matter.
            let _ = stdin.write_all(&input);
        }
        child
    }

    /// Starts the run and returns without waiting for it. Keeps stdin open after the input.
    pub fn spawn_with_open_stdin(mut self) -> Child {
        let input = self.input.take().unwrap_or_default();
        let mut child = self.spawn_with_pipes(Stdio::null());
        child.stdin.as_mut().unwrap().write_all(&input).unwrap();
        child
    }

    /// Starts the run with pipes for stdin and stdout.
    pub fn spawn_with_pipes(mut self, stderr: Stdio) -> Child {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap()
    }

    /// Starts the run and returns without waiting for it. Writes stderr to `file`, because an unread pipe
    /// fills up and blocks the program.
    pub fn spawn_logging_to(mut self, file: &Path) -> Child {
        let log = std::fs::File::create(file).unwrap();
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// Runs to completion and returns the exit status, stdout and stderr.
    pub fn output(self) -> Output {
        self.spawn().wait_with_output().unwrap()
    }

    /// Runs to completion and returns stdout.
    ///
    /// # Panics
    ///
    /// Panics with stderr if the exit code is not 0.
    pub fn succeed(self) -> String {
        let output = self.output();
        assert!(output.status.success(), "{:?}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs to completion and returns stderr.
    ///
    /// # Panics
    ///
    /// Panics with stderr if the exit code is not `code`.
    pub fn fail(self, code: i32) -> String {
        let output = self.output();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        stderr
    }

    /// Runs to completion and parses stdout as JSON.
    ///
    /// # Panics
    ///
    /// Panics if the exit code is not 0, or if stdout cannot be parsed as a `T`.
    pub fn json<T: DeserializeOwned>(self) -> T {
        parse_json(&self.succeed())
    }
}

pub(crate) fn parse_json<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}
