//! Runs commands in their own process group, without API keys in the environment, and confined by Landlock if the
//! kernel supports it. When a command ends, all its children are killed.
//!
//! To confine a command, this program is started again with [`CONFINE_ARGUMENT`]; see `confine.rs`. No code runs between
//! fork and exec. The caller provides the path of the program, the environment and the directory for temporary files.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Mutex,
    time::{Duration, Instant},
};

use memoir_core::lock;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::Command,
};

use crate::{
    CallReport, Reporter, ToolError, Variables, Workspace,
    confine::{CONFINE_ARGUMENT, LANDLOCK, NETWORK, PIN, PROTECT, WATCH, WRITE},
    process_tree::{Leader, ProcessTree, spawn_registered},
    protected::{CreatedName, NameWatch, find_protected},
};

/// Settings for running commands.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// Path of this program, which confines commands. Without it, they run unconfined.
    pub helper: Option<PathBuf>,
    /// Environment variables of commands.
    pub variables: Variables,
    /// Directory outside the workspace that commands may write to.
    pub temp_dir: Option<PathBuf>,
    /// Whether the user has approved the command, which may therefore change protected paths.
    pub is_approved: bool,
    /// Memoir's own directories, which are protected wherever they are.
    pub own_directories: Vec<PathBuf>,
}

/// A program to run.
pub(crate) struct Program<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: Vec<&'a str>,
    /// Whether it may use the network.
    pub(crate) network: bool,
    pub(crate) timeout: Duration,
}

pub(crate) struct CommandOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) end: CommandEnd,
    /// What the command created under protected names.
    pub(crate) created: Vec<CreatedName>,
}

pub(crate) enum CommandEnd {
    Code(i32),
    Signal,
    TimedOut,
}

/// Maximum size of each output stream in bytes. The rest is discarded, so that an endless output does not fill memory.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

impl Sandbox {
    /// Runs a program until it ends or `timeout` has passed. Reports its output while it runs.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be started. A failed or killed program is a normal result.
    pub(crate) async fn run(
        &self,
        workspace: &Workspace,
        program: &Program<'_>,
        reporter: Option<&Reporter>,
    ) -> Result<CommandOutput, ToolError> {
        let failed = |error: io::Error| ToolError::Failed(format!("cannot run {}: {error}", program.name));
        let mut command = self.command(workspace, program);
        command
            .current_dir(workspace.project())
            .env_clear()
            .envs(self.variables.get().iter().cloned())
            .stdin(if self.helper.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if self.helper.is_none() {
            // The helper creates a new session, which includes a process group.
            command.process_group(0);
        }
        let watch = || NameWatch::start(workspace.directories()).map_err(failed);
        // If this future is dropped, it ends after the processes.
        let mut names = FinishOnDrop((!self.is_approved).then(watch).transpose()?);
        let mut processes = ProcessTree::prepare().map_err(failed)?;
        let mut child = spawn_registered(|| command.spawn(), tokio::process::Child::id).map_err(failed)?;
        processes.leader = child.id();
        // If this program ends for any reason, the pipe is closed, and the supervisor ends the command.
        let _pipe = child.stdin.take();
        let pipes = (child.stdout.take(), child.stderr.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let tail = OutputTail { state: Mutex::default(), reporter };
        let status = tokio::time::timeout(program.timeout, async {
            let wait = async {
                let status = child.wait().await;
                // Remaining processes would keep the pipes open.
                processes.kill_all(Leader::Ended);
                status
            };
            let (stdout, stderr) =
                (read_pipe(pipes.0, &mut stdout, &tail), read_pipe(pipes.1, &mut stderr, &tail));
            tokio::join!(stdout, stderr, wait).2
        })
        .await;
        let end = match status {
            Ok(status) => status.map_err(failed)?.code().map_or(CommandEnd::Signal, CommandEnd::Code),
            Err(_) => {
                processes.kill_all(Leader::Running);
                CommandEnd::TimedOut
            }
        };
        let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(CommandOutput { stdout, stderr, end, created: names.finish() })
    }

    fn command(&self, workspace: &Workspace, program: &Program<'_>) -> Command {
        let Some(helper) = &self.helper else {
            let mut command = Command::new(program.name);
            command.args(&program.arguments);
            return command;
        };
        let mut command = Command::new(helper);
        command.arg(CONFINE_ARGUMENT);
        if crate::confine::is_supported() {
            command.arg(LANDLOCK);
        }
        if program.network {
            command.arg(NETWORK);
        }
        let mut add = |option: &str, path: &Path| {
            command.arg(option).arg(path);
        };
        let temporary = self.temp_dir.as_ref().and_then(|path| path.canonicalize().ok());
        let writable: Vec<&Path> = workspace.directories().chain(temporary.as_deref()).collect();
        if !self.is_approved {
            let own = self.own_directories.iter().flat_map(|path| outside(path, workspace));
            let protected: Vec<PathBuf> =
                workspace.directories().flat_map(|path| find_protected(path, &writable)).chain(own).collect();
            pinned(&protected, workspace, &writable).iter().for_each(|path| add(PIN, path));
            protected.iter().for_each(|path| add(PROTECT, path));
            workspace.directories().for_each(|path| add(WATCH, path));
        }
        writable.iter().for_each(|path| add(WRITE, path));
        command.arg("--").arg(program.name).args(&program.arguments);
        command
    }

    /// Returns whether commands are confined.
    pub fn confines(&self) -> bool {
        self.helper.is_some() && crate::confine::is_supported()
    }
}

/// Returns what must be protected to protect a directory of Memoir's: the directory if it exists, or its contents if it
/// contains the workspace, which remains writable.
fn outside(directory: &Path, workspace: &Workspace) -> Vec<PathBuf> {
    match directory.canonicalize() {
        Ok(directory) => outside_of(&directory, workspace),
        Err(_) => Vec::new(),
    }
}

fn outside_of(directory: &Path, workspace: &Workspace) -> Vec<PathBuf> {
    if !workspace.directories().any(|inner| inner != directory && inner.starts_with(directory)) {
        return vec![directory.to_owned()];
    }
    // A mount covers what a link leads to, which may be anything.
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let others = entries
        .filter(|path| !path.is_symlink() && !workspace.directories().any(|directory| directory == path));
    others.flat_map(|path| outside_of(&path, workspace)).collect()
}

/// Returns the directories that must keep their place: those above protected paths, and the workspace itself.
fn pinned(protected: &[PathBuf], workspace: &Workspace, writable: &[&Path]) -> BTreeSet<PathBuf> {
    let above = protected.iter().flat_map(|path| path.ancestors().skip(1));
    let paths = above.chain(workspace.directories().flat_map(Path::ancestors));
    let can_be_renamed =
        |path: &&Path| writable.iter().any(|directory| path.starts_with(directory) && path != directory);
    paths.filter(can_be_renamed).map(Path::to_owned).collect()
}

/// Finishes a watch in any case: a cancelled command has ended too.
struct FinishOnDrop(Option<NameWatch>);

impl FinishOnDrop {
    fn finish(&mut self) -> Vec<CreatedName> {
        self.0.take().map(NameWatch::finish).unwrap_or_default()
    }
}

impl Drop for FinishOnDrop {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The end of what a command has printed so far, on both streams.
struct OutputTail<'a> {
    state: Mutex<TailState>,
    reporter: Option<&'a Reporter>,
}

#[derive(Default)]
struct TailState {
    text: String,
    last_report: Option<Instant>,
    /// Whether something was printed too soon after the last report.
    is_pending: bool,
}

impl OutputTail<'_> {
    /// Number of bytes to keep, which are enough for the last lines.
    const MAX_BYTES: usize = 4096;

    /// Time between two reports.
    const INTERVAL: Duration = Duration::from_millis(50);

    fn push(&self, bytes: &[u8]) {
        let mut state = lock(&self.state);
        state.text.push_str(&String::from_utf8_lossy(bytes));
        let excess = state.text.ceil_char_boundary(state.text.len().saturating_sub(Self::MAX_BYTES));
        state.text.drain(..excess);
        if state.last_report.is_none_or(|last_report| last_report.elapsed() >= Self::INTERVAL) {
            self.report(&mut state);
        } else {
            state.is_pending = true;
        }
    }

    fn report(&self, state: &mut TailState) {
        (state.last_report, state.is_pending) = (Some(Instant::now()), false);
        if let Some(report) = self.reporter {
            report(CallReport::Output(state.text.clone()));
        }
    }

    /// Waits until what is pending may be reported, and reports it. Never completes if nothing is pending.
    async fn report_pending(&self) {
        if !lock(&self.state).is_pending {
            return std::future::pending().await;
        }
        tokio::time::sleep(Self::INTERVAL).await;
        let mut state = lock(&self.state);
        if state.is_pending {
            self.report(&mut state);
        }
    }
}

/// Appends everything from a pipe to `output`.
async fn read_pipe(pipe: Option<impl AsyncRead + Unpin>, output: &mut Vec<u8>, tail: &OutputTail<'_>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = tokio::select! {
            biased;
            read = pipe.read(&mut buffer) => read,
            () = tail.report_pending() => continue,
        };
        match read {
            Ok(0) => break,
            Ok(count) => {
                tail.push(&buffer[..count]);
                let length = MAX_OUTPUT_BYTES.saturating_sub(output.len()).min(count);
                output.extend_from_slice(&buffer[..length]);
            }
            Err(error) => {
                // The output so far is still useful to the model.
                tracing::debug!(%error, "could not read all output of a command");
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    async fn run(bench: &Bench, script: &str, timeout: Duration) -> CommandOutput {
        let sandbox = Sandbox { variables: crate::testing::path(), ..Sandbox::default() };
        let program = Program { name: "bash", arguments: vec!["-c", script], network: false, timeout };
        sandbox.run(&bench.context.workspace, &program, None).await.unwrap()
    }

    /// Returns whether a process is running. A zombie that the runtime has not waited for yet does not count.
    fn is_running(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.is_ok_and(|stat| {
            stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
        })
    }

    /// Runs a script that does not end, and cancels it as soon as `file` has `lines` lines.
    async fn cancel_at(bench: &Bench, script: &str, file: &str, lines: usize) {
        let path = bench.path(file);
        let has_lines =
            || std::fs::read_to_string(&path).is_ok_and(|text| text.matches('\n').count() >= lines);
        let waiting = async {
            while !has_lines() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            output = run(bench, script, Duration::from_secs(120)) => panic!("the script ended: {}", output.stderr),
            () = waiting => {}
        }
    }

    #[tokio::test]
    async fn processes_that_leave_the_group_are_killed() {
        let bench = Bench::new().await;
        let output =
            run(&bench, "setsid sleep 300 >/dev/null 2>&1 & echo $!; exit 3", Duration::from_secs(20)).await;
        assert!(matches!(output.end, CommandEnd::Code(3)));
        assert!(!is_running(&output.stdout), "{}", output.stdout);
        // The process is a grandchild with an empty environment.
        let output = run(
            &bench,
            "env -i setsid bash -c 'setsid sleep 301 & echo $! > pid; disown; exit' & while [ ! -s pid ]; do sleep 0.01; done; echo done",
            Duration::from_secs(20),
        )
        .await;
        assert_eq!(output.stdout, "done\n");
        assert!(!is_running(&bench.read("pid")));
    }

    #[tokio::test]
    async fn a_command_that_times_out_is_killed_with_its_children() {
        let bench = Bench::new().await;
        for script in ["sleep 300 & echo $! > pid; wait", "setsid sleep 300 & echo $! > pid; wait"] {
            // Long enough for the script to write the PID on a busy machine.
            let output = run(&bench, script, Duration::from_secs(5)).await;
            assert!(matches!(output.end, CommandEnd::TimedOut));
            assert!(!is_running(&bench.read("pid")), "{script}");
        }
    }

    #[tokio::test]
    async fn forty_generations_are_killed() {
        let bench = Bench::new().await;
        // Each generation creates its own session.
        let program = "import os, time\nfor n in range(40):\n    open('pids', 'a').write(f'{os.getpid()}\\n')\n    if os.fork(): time.sleep(300)\n    os.setsid()\ntime.sleep(300)";
        cancel_at(&bench, &format!("python3 -c \"{program}\""), "pids", 40).await;
        let pids = bench.read("pids");
        assert!(pids.lines().count() >= 40 && pids.lines().all(|pid| !is_running(pid)), "{pids}");
    }

    #[tokio::test]
    async fn a_cancelled_command_is_killed_with_its_children() {
        let bench = Bench::new().await;
        cancel_at(&bench, "setsid sleep 300 & echo $! > pid; sleep 300", "pid", 1).await;
        assert!(!is_running(&bench.read("pid")));
    }
}
