//! Running commands: in a process group of their own, without keys in their environment, ended whole, and confined by Landlock
//! where the kernel has it.
//!
//! Landlock is put on by a process that becomes the command: ours, started once more with [`CONFINED`]. So no code runs
//! between fork and exec.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use memoir_redact::redact;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group,
    set_child_subreaper, waitid, waitpid,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::Command,
};

use crate::{ToolError, Workspace};

/// The first argument that makes our program confine itself and become a command.
pub const CONFINED: &str = "__confined";

/// How commands are run.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// Our program, which confines itself and becomes the command; without it commands run unconfined.
    pub helper: Option<PathBuf>,
    /// What commands find in their environment.
    pub variables: Variables,
    /// Where they may write besides the workspace.
    pub temporary: Option<PathBuf>,
}

/// What commands find in their environment: everything but keys. Looking for them takes a few milliseconds, and is left until
/// something is run.
#[derive(Debug, Clone, Default)]
pub struct Variables(Arc<Unscrubbed>);

#[derive(Debug, Default)]
struct Unscrubbed {
    all: Vec<(OsString, OsString)>,
    known_keys: Vec<String>,
    without_keys: OnceLock<Vec<(OsString, OsString)>>,
}

impl Variables {
    /// Of `all`, those that do not look like a key by name or by value, and are not among `known_keys`.
    pub fn without_keys(all: impl Iterator<Item = (OsString, OsString)>, known_keys: Vec<String>) -> Self {
        Self(Arc::new(Unscrubbed { all: all.collect(), known_keys, without_keys: OnceLock::new() }))
    }

    /// Those that are left.
    pub fn get(&self) -> &[(OsString, OsString)] {
        let Unscrubbed { all, known_keys, without_keys } = self.0.as_ref();
        without_keys.get_or_init(|| {
            let is_key = |name: &OsStr| known_keys.iter().any(|known| name == OsStr::new(known));
            let harmless =
                |(name, value): &&(OsString, OsString)| !is_key(name) && !looks_like_a_key(name, value);
            all.iter().filter(harmless).cloned().collect()
        })
    }
}

fn looks_like_a_key(name: &OsStr, value: &OsStr) -> bool {
    const TELLING: [&str; 11] = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASS",
        "_PWD",
        "_PAT",
        "CREDENTIAL",
        "AUTH",
        "COOKIE",
        "SESSION",
        "PRIVATE",
    ];
    // These tell where something is, and are of use to commands.
    const HARMLESS: [&str; 4] = ["SSH_AUTH_SOCK", "XDG_SESSION_ID", "XDG_SESSION_TYPE", "DESKTOP_SESSION"];
    let upper = name.to_string_lossy().to_uppercase();
    let telling = TELLING.iter().any(|word| upper.contains(word)) && !HARMLESS.contains(&upper.as_str());
    // Some are told by what they are called together with what they are.
    let whole = format!("{}={}", name.to_string_lossy(), value.to_string_lossy());
    telling || !redact(&whole).findings.is_empty()
}

/// What came of a command.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// How it ended.
    pub(crate) end: End,
}

pub(crate) enum End {
    Code(i32),
    Signal,
    TimedOut,
}

/// More of an output than this is thrown away, so that a command that never stops talking does not fill memory.
const MOST_READ: usize = 1 << 20;

impl Sandbox {
    /// Runs a program to its end, or for `patience`.
    pub(crate) async fn run(
        &self,
        workspace: &Workspace,
        program: &str,
        arguments: &[&str],
        patience: Duration,
    ) -> Result<Ran, ToolError> {
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
        let mut family = Family::expect().map_err(failed)?;
        let mut child = keeping(|| command.spawn(), tokio::process::Child::id).map_err(failed)?;
        family.leader = child.id();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let outcome = tokio::time::timeout(patience, async {
            let (stdout, stderr, status) = tokio::join!(read(stdout), read(stderr), async {
                let status = child.wait().await;
                // Whoever is left holds the pipes open.
                family.end(Leader::Gone);
                status
            });
            (stdout, stderr, status)
        })
        .await;
        match outcome {
            Ok((stdout, stderr, status)) => {
                let end = status.map_err(failed)?.code().map_or(End::Signal, End::Code);
                Ok(Ran { stdout, stderr, end })
            }
            Err(_) => {
                family.end(Leader::There);
                Ok(Ran { stdout: String::new(), stderr: String::new(), end: End::TimedOut })
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

    /// Whether commands are confined here.
    pub fn confines(&self) -> bool {
        self.helper.is_some() && crate::landlock::is_there()
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
    // A pipe that breaks is at its end.
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        let room = MOST_READ.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(&buffer[..room]);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Children of ours that are meant to be there.
static KNOWN: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

/// Starts a child that may stay until it is over. Nobody takes it for a stray meanwhile.
pub fn keeping<T, E>(
    start: impl FnOnce() -> Result<T, E>,
    pid: impl FnOnce(&T) -> Option<u32>,
) -> Result<T, E> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let child = start()?;
    known.get_or_insert_default().extend(pid(&child));
    Ok(child)
}

/// Ends all of them: the program ends.
pub fn end_children() {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    for child in known.into_iter().filter_map(|pid| i32::try_from(pid).ok().and_then(Pid::from_raw)) {
        // One that is over already is not there.
        let _ = kill_process(child, Signal::KILL);
    }
}

/// Whether the one who began is still there to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leader {
    There,
    /// It is over, and was waited for.
    Gone,
}

/// How long ending a family may take.
const LONGEST_END: Duration = Duration::from_secs(5);

/// A command and all that it starts. When this ends, so do they: the process group, and whoever left it. Orphans come to us
/// and are told from our own by not having been there before.
struct Family {
    leader: Option<u32>,
    before: HashSet<u32>,
}

impl Family {
    fn expect() -> io::Result<Self> {
        // Orphans of our children become our children.
        set_child_subreaper(Some(getpid()))?;
        Ok(Self { leader: None, before: children() })
    }

    /// Ends them, once: afterwards the leader's number may be anybody's.
    fn end(&mut self, state: Leader) {
        let pid = |number: u32| i32::try_from(number).ok().and_then(Pid::from_raw);
        let Some(number) = self.leader.take() else { return };
        if let Some(leader) = pid(number) {
            // A group that is empty is not there.
            let _ = kill_process_group(leader, Signal::KILL);
            if state == Leader::There {
                // Its children come to us when it is really gone.
                let _ = kill_process(leader, Signal::KILL);
                let _ = waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            }
        }
        // Each generation that is killed gives its children to us.
        let deadline = Instant::now() + LONGEST_END;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        known.remove(&number);
        if state == Leader::There {
            // It is still ours to wait for.
            self.before.insert(number);
        }
        while Instant::now() < deadline {
            let strays: Vec<u32> = children()
                .into_iter()
                .filter(|child| !known.contains(child) && !self.before.contains(child))
                .collect();
            if strays.is_empty() {
                break;
            }
            for stray in strays.into_iter().filter_map(pid) {
                let _ = kill_process(stray, Signal::KILL);
                let _ = waitpid(Some(stray), WaitOptions::empty());
            }
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        self.end(Leader::There);
    }
}

/// The children of this process, as far as they can be told.
fn children() -> HashSet<u32> {
    let own = getpid().as_raw_nonzero().get().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return HashSet::new() };
    let number = |name: &OsStr| name.to_str()?.parse::<u32>().ok();
    processes
        .filter_map(|entry| number(&entry.ok()?.file_name()))
        .filter(|pid| {
            // The name of a command is in brackets, and may have anything in it.
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let after = stat.rsplit_once(')').map(|(_, after)| after).unwrap_or_default();
            after.split_whitespace().nth(1) == Some(own.as_str())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    async fn run(bench: &Bench, script: &str, patience: Duration) -> Ran {
        let sandbox = Sandbox { variables: crate::testing::path(), ..Sandbox::default() };
        sandbox.run(&bench.context.workspace, "bash", &["-c", script], patience).await.unwrap()
    }

    fn is_there(pid: &str) -> bool {
        Path::new(&format!("/proc/{}", pid.trim())).exists()
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
        assert!(matches!(ran.end, End::Code(3)));
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
            assert!(matches!(ran.end, End::TimedOut));
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

    #[test]
    fn keys_do_not_reach_commands() {
        let variables = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "x"),
            ("MY_TOKEN", "x"),
            ("DB_PASSWORD", "x"),
            ("HARMLESS", "sk-ant-api03-aB3dE6gH9jKmN2pQ5rSt"),
            ("HOME", "/home/me"),
            ("DATABASE_URL", "postgres://me:pw@db/x"),
            ("SSH_AUTH_SOCK", "/run/s"),
            ("MY_LLM", "x"),
            ("MYSQL_PWD", "x"),
            ("SMTP_PASS", "x"),
            ("GITHUB_PAT", "x"),
        ];
        let named = vec!["MY_LLM".to_owned()];
        let all = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let variables = Variables::without_keys(all, named);
        let kept: Vec<&str> = variables.get().iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(kept, ["PATH", "HOME", "SSH_AUTH_SOCK"]);
    }
}
