//! One run of the real binary.

use std::{
    ffi::OsStr,
    io::Write as _,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use serde::de::DeserializeOwned;

use crate::ScriptedProvider;

/// A run of the binary that has not started yet. [`TestHome::memoir`](crate::TestHome::memoir) makes one.
pub struct ProgramRun {
    command: Command,
    input: Option<Vec<u8>>,
}

impl ProgramRun {
    pub(crate) fn new(command: Command) -> Self {
        Self { command, input: None }
    }

    /// Points OpenAI's address and key at `provider`.
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
        self.with_files_up_to(64)
    }

    /// Simulates a full disk: no file can grow beyond `blocks` blocks of 512 bytes.
    pub fn with_files_up_to(mut self, blocks: u64) -> Self {
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

    /// Starts the run without waiting for its end.
    pub fn spawn(mut self) -> Child {
        self.command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let (Some(input), Some(mut stdin)) = (self.input, child.stdin.take()) {
            // A program that does not read its input closes the pipe; the test judges it by its output.
            let _ = stdin.write_all(&input);
        }
        child
    }

    /// Starts the run without waiting for its end, with stderr in `file`. A pipe that nobody reads fills up and blocks the program.
    pub fn spawn_logging_to(mut self, file: &Path) -> Child {
        let log = std::fs::File::create(file).unwrap();
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// Runs to the end and returns the exit status, stdout and stderr.
    pub fn output(self) -> Output {
        self.spawn().wait_with_output().unwrap()
    }

    /// Runs to the end and returns stdout.
    ///
    /// # Panics
    ///
    /// Panics with stderr if the exit code is not 0.
    pub fn succeed(self) -> String {
        let output = self.output();
        assert!(output.status.success(), "{:?}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs to the end and returns stderr.
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

    /// Runs to the end and returns stdout, read as JSON.
    ///
    /// # Panics
    ///
    /// Panics if the exit code is not 0, or if stdout is not the JSON of a `T`.
    pub fn json<T: DeserializeOwned>(self) -> T {
        parse_json(&self.succeed())
    }
}

/// Reads `text` as the JSON of a `T`.
pub(crate) fn parse_json<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}
