//! Runs commands: in a process group of their own, without keys in their environment, ended with all their children, and
//! confined by Landlock where the kernel supports it.
//!
//! The confinement is applied by a process that becomes the command: this program, started again with [`CONFINED`]. So no
//! code runs between fork and exec. The caller provides the path of the program, the environment and the directory for
//! temporary files; this crate does not read them from its own process.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::Command,
};

use crate::{
    ToolError, Variables, Workspace,
    process_tree::{Leader, ProcessTree, spawn_registered},
};

/// The first argument that makes our program confine itself and become a command.
pub const CONFINED: &str = "__confined";

/// How commands are run.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// The path of this program, which confines itself and becomes the command. Without it commands run unconfined.
    pub helper: Option<PathBuf>,
    /// The environment of commands.
    pub variables: Variables,
    /// A directory outside the workspace in which commands may write.
    pub temporary: Option<PathBuf>,
}

/// The result of a command.
pub(crate) struct CommandOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// How it ended.
    pub(crate) end: CommandEnd,
}

pub(crate) enum CommandEnd {
    Code(i32),
    Signal,
    TimedOut,
}

/// More of an output than this is thrown away, so that a command that never stops talking does not fill memory.
const MOST_READ: usize = 1 << 20;

impl Sandbox {
    /// Runs a program until it ends, at most for `patience`.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be started. A program that fails or is ended is a result.
    pub(crate) async fn run(
        &self,
        workspace: &Workspace,
        program: &str,
        arguments: &[&str],
        patience: Duration,
    ) -> Result<CommandOutput, ToolError> {
        let failed = |error: io::Error| ToolError::Failed(format!("cannot run {program}: {error}"));
        let mut command = self.command(workspace, program, arguments);
        command
            .current_dir(workspace.project())
            .env_clear()
            .envs(self.variables.get().iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if self.helper.is_none() {
            // The helper makes a session of its own, which is more.
            command.process_group(0);
        }
        let mut processes = ProcessTree::prepare().map_err(failed)?;
        let mut child = spawn_registered(|| command.spawn(), tokio::process::Child::id).map_err(failed)?;
        processes.leader = child.id();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let outcome = tokio::time::timeout(patience, async {
            let (stdout, stderr, status) = tokio::join!(read(stdout), read(stderr), async {
                let status = child.wait().await;
                // Processes that are left would hold the pipes open.
                processes.end(Leader::Ended);
                status
            });
            (stdout, stderr, status)
        })
        .await;
        match outcome {
            Ok((stdout, stderr, status)) => {
                let end = status.map_err(failed)?.code().map_or(CommandEnd::Signal, CommandEnd::Code);
                Ok(CommandOutput { stdout, stderr, end })
            }
            Err(_) => {
                processes.end(Leader::Running);
                Ok(CommandOutput { stdout: String::new(), stderr: String::new(), end: CommandEnd::TimedOut })
            }
        }
    }

    fn command(&self, workspace: &Workspace, program: &str, arguments: &[&str]) -> Command {
        let Some(helper) = &self.helper else {
            let mut command = Command::new(program);
            command.args(arguments);
            return command;
        };
        let mut command = Command::new(helper);
        command.arg(CONFINED);
        let folders = workspace.folders().map(Path::to_owned).chain(self.temporary.clone());
        folders.for_each(|folder| {
            command.arg("--write").arg(folder);
        });
        command.arg("--").arg(program).args(arguments);
        command
    }

    /// Returns whether commands are confined.
    pub fn confines(&self) -> bool {
        self.helper.is_some() && crate::landlock::is_supported()
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let (mut output, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
    loop {
        match pipe.read(&mut buffer).await {
            Ok(0) => break,
            Ok(count) => {
                let room = MOST_READ.saturating_sub(output.len()).min(count);
                output.extend_from_slice(&buffer[..room]);
            }
            Err(error) => {
                // What was read so far is still of use to the model.
                tracing::debug!(%error, "the output of a command was not read to its end");
                break;
            }
        }
    }
    String::from_utf8_lossy(&output).into_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    async fn run(bench: &Bench, script: &str, patience: Duration) -> CommandOutput {
        let sandbox = Sandbox { variables: crate::testing::path(), ..Sandbox::default() };
        sandbox.run(&bench.context.workspace, "bash", &["-c", script], patience).await.unwrap()
    }

    /// Returns whether a process runs. One that has ended, and that the runtime has not waited for yet, does not.
    fn is_there(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.is_ok_and(|stat| {
            stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
        })
    }

    /// Runs a script that does not end, and cancels it as soon as `file` has so many lines.
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
            ran = run(bench, script, Duration::from_secs(120)) => panic!("it ended: {}", ran.stderr),
            () = waiting => {}
        }
    }

    #[tokio::test]
    async fn who_leaves_the_group_is_ended_too() {
        let bench = Bench::new().await;
        let ran =
            run(&bench, "setsid sleep 300 >/dev/null 2>&1 & echo $!; exit 3", Duration::from_secs(20)).await;
        assert!(matches!(ran.end, CommandEnd::Code(3)));
        assert!(!is_there(&ran.stdout), "{}", ran.stdout);
        // One that has two generations, and cleans its environment.
        let ran = run(
            &bench,
            "env -i setsid bash -c 'setsid sleep 301 & echo $! > pid; disown; exit' & while [ ! -s pid ]; do sleep 0.01; done; echo done",
            Duration::from_secs(20),
        )
        .await;
        assert_eq!(ran.stdout, "done\n");
        assert!(!is_there(&bench.read("pid")));
    }

    #[tokio::test]
    async fn a_command_that_takes_too_long_is_ended_whole() {
        let bench = Bench::new().await;
        for script in ["sleep 300 & echo $! > pid; wait", "setsid sleep 300 & echo $! > pid; wait"] {
            // Long enough to write down the number on a busy machine.
            let ran = run(&bench, script, Duration::from_secs(5)).await;
            assert!(matches!(ran.end, CommandEnd::TimedOut));
            assert!(!is_there(&bench.read("pid")), "{script}");
        }
    }

    #[tokio::test]
    async fn forty_generations_are_ended_whole() {
        let bench = Bench::new().await;
        // Each is in a session of its own.
        let many = "import os, time\nfor n in range(40):\n    open('pids', 'a').write(f'{os.getpid()}\\n')\n    if os.fork(): time.sleep(300)\n    os.setsid()\ntime.sleep(300)";
        cancel_at(&bench, &format!("python3 -c \"{many}\""), "pids", 40).await;
        let pids = bench.read("pids");
        assert!(pids.lines().count() >= 40 && pids.lines().all(|pid| !is_there(pid)), "{pids}");
    }

    #[tokio::test]
    async fn one_that_is_cancelled_is_ended_whole() {
        let bench = Bench::new().await;
        cancel_at(&bench, "setsid sleep 300 & echo $! > pid; sleep 300", "pid", 1).await;
        assert!(!is_there(&bench.read("pid")));
    }
}
