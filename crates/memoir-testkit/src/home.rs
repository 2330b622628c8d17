//! A temporary home with the real binary in it.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use sqlx::{AssertSqlSafe, Connection as _, Row as _};
use tempfile::TempDir;

use crate::ScriptedProvider;

/// A home directory that goes away, with a workspace in it, and the binary to run there.
pub struct Home {
    directory: TempDir,
    binary: PathBuf,
    #[cfg(target_os = "linux")]
    bad_disk: std::sync::OnceLock<PathBuf>,
}

impl Home {
    /// A fresh home for `binary`.
    pub fn new(binary: impl AsRef<Path>) -> Self {
        let directory = TempDir::new().unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        Self {
            directory,
            binary: binary.as_ref().to_owned(),
            #[cfg(target_os = "linux")]
            bad_disk: std::sync::OnceLock::new(),
        }
    }

    /// Where Memoir keeps its things.
    pub fn memoir_home(&self) -> PathBuf {
        self.directory.path().join("memoir")
    }

    /// The directory it is run in.
    pub fn workspace(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.memoir_home().join("memoir.db")
    }

    /// A file beside all that, for what a run says that nobody listens to.
    pub fn log(&self) -> PathBuf {
        self.directory.path().join("said.log")
    }

    /// The environment of a run: nothing of the machine's but the path.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        [
            ("PATH", path),
            ("HOME", text(self.directory.path().to_owned())),
            ("MEMOIR_HOME", text(self.memoir_home())),
            ("TZ", "UTC".to_owned()),
            // Whatever listens on this machine is none of a test's business.
            ("MEMOIR_LOCAL_SERVERS", "none".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// What makes a disk go wrong beneath a run.
    #[cfg(target_os = "linux")]
    pub(crate) fn bad_disk(&self) -> &Path {
        self.bad_disk.get_or_init(|| crate::torture::compile(self.directory.path()))
    }

    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// A run of the binary with these arguments.
    pub fn memoir(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env_clear().envs(self.environment()).current_dir(self.workspace());
        Run { command, input: None }
    }

    /// Writes the user's config.
    pub fn write_config(&self, text: &str) {
        std::fs::create_dir_all(self.memoir_home()).unwrap();
        std::fs::write(self.memoir_home().join("config.toml"), text).unwrap();
    }

    /// Every row of every table as text, by table.
    pub fn dump(&self) -> BTreeMap<String, Vec<String>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(dump(&self.database()))
    }

    /// Runs SQL on the memory from outside: for tests that need another time, or damage.
    pub fn execute(&self, sql: &'static str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(self.database());
            let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        });
    }

    /// The rows of one table as text.
    pub fn rows(&self, table: &str) -> Vec<String> {
        self.dump().remove(table).unwrap_or_default()
    }
}

async fn dump(database: &Path) -> BTreeMap<String, Vec<String>> {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    let check: String =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
    assert_eq!(check, "ok", "the database is damaged");
    let names: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .fetch_all(&mut connection)
            .await
            .unwrap();
    let mut tables = BTreeMap::new();
    for name in names {
        let columns: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT 'coalesce(quote(\"' || name || '\"), ''NULL'')' FROM pragma_table_info('{name}')"
        )))
        .fetch_all(&mut connection)
        .await
        .unwrap();
        let mut rows: Vec<String> =
            sqlx::query(AssertSqlSafe(format!("SELECT {} FROM \"{name}\"", columns.join(" || '|' || "))))
                .fetch_all(&mut connection)
                .await
                .unwrap_or_else(|error| panic!("{name}: {error}"))
                .iter()
                .map(|row| row.get::<String, _>(0))
                .collect();
        // By id where there is one: the rows come back in the order of their first column.
        rows.sort_by_key(|row| row.split('|').next().and_then(|id| id.parse::<i64>().ok()));
        tables.insert(name, rows);
    }
    connection.close().await.unwrap();
    tables
}

/// A run of the binary, not started yet.
pub struct Run {
    command: Command,
    input: Option<Vec<u8>>,
}

impl Run {
    /// Answers come from this provider.
    pub fn provider(self, provider: &ScriptedProvider) -> Self {
        self.env("OPENAI_BASE_URL", provider.base_url()).env("OPENAI_API_KEY", "sk-test")
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it elsewhere.
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Lets no file grow beyond 32 kB, as if the disk were full: enough to open a database, and not to write to it.
    pub fn on_a_full_disk(self) -> Self {
        self.with_files_up_to(64)
    }

    /// Lets no file grow beyond so many blocks of 512 bytes, as if the disk were full.
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

    /// What stands on stdin.
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Starts it and does not wait.
    pub fn spawn(mut self) -> std::process::Child {
        self.command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let (Some(input), Some(mut stdin)) = (self.input, child.stdin.take()) {
            // A program that does not read its input is judged by what it says, not by this.
            let _ = stdin.write_all(&input);
        }
        child
    }

    /// Starts it and does not wait. What it says goes to a file: a pipe that nobody reads is full some day, and then it waits for ever.
    pub fn spawn_saying_to(mut self, file: &Path) -> std::process::Child {
        let said = std::fs::File::create(file).unwrap();
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn().unwrap()
    }

    /// Runs it to its end.
    pub fn output(self) -> Output {
        self.spawn().wait_with_output().unwrap()
    }

    /// Runs it, insists that it succeeds, and gives what it printed.
    pub fn succeed(self) -> String {
        let output = self.output();
        assert!(output.status.success(), "{:?}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it, insists on this exit code, and gives what it said on stderr.
    pub fn fail(self, code: i32) -> String {
        let output = self.output();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    }
}
