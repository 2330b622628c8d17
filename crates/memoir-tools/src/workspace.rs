//! The directories that file tools are confined to.
//!
//! A path is first resolved, including symbolic links, even if its last components do not exist yet. It is then
//! accessed through an open directory (cap-std) that no path can leave. If a link is created in between, the access
//! fails.

use std::{
    ffi::OsString,
    io::{self, Read as _, Write as _},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions, OpenOptionsExt as _},
};
use rustix::fs::OFlags;

use crate::ToolError;

/// Prevents opening a pipe from blocking.
pub(crate) const NONBLOCKING: i32 = OFlags::NONBLOCK.bits().cast_signed();

#[derive(Clone)]
struct Root {
    path: PathBuf,
    dir: Arc<Dir>,
}

/// The directories that file tools are confined to. The first is the project.
#[derive(Clone)]
pub struct Workspace {
    roots: Vec<Root>,
}

#[derive(Clone)]
pub(crate) enum PathLocation {
    Inside(WorkspacePath),
    /// The resolved path, which is outside the workspace.
    Outside(PathBuf),
}

/// A resolved path in the workspace.
#[derive(Clone)]
pub(crate) struct WorkspacePath {
    dir: Arc<Dir>,
    /// Path relative to `dir`, without links.
    relative: PathBuf,
    /// Absolute path, without links.
    pub(crate) real: PathBuf,
}

impl Workspace {
    /// Opens the project and further directories.
    ///
    /// # Errors
    ///
    /// Fails if one of them does not exist or cannot be opened.
    pub fn new(project: &Path, further: &[PathBuf]) -> io::Result<Self> {
        let open = |path: &Path| {
            let path = path.canonicalize()?;
            let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
            Ok(Root { path, dir: Arc::new(dir) })
        };
        let roots = std::iter::once(project).chain(further.iter().map(PathBuf::as_path));
        Ok(Self { roots: roots.map(open).collect::<io::Result<_>>()? })
    }

    /// Returns the project directory.
    pub fn project(&self) -> &Path {
        &self.roots[0].path
    }

    /// Returns all directories, the project first.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.path.as_path())
    }

    /// Resolves a path, which may be relative to the project.
    ///
    /// # Errors
    ///
    /// Fails if the path cannot be resolved.
    pub(crate) fn locate(&self, path: &str) -> Result<PathLocation, ToolError> {
        if path.contains('\0') {
            return Err(ToolError::Failed("a path cannot contain a NUL character".into()));
        }
        let real = resolve(&self.project().join(path))
            .map_err(|error| ToolError::Failed(format!("cannot use {path}: {error}")))?;
        let root = self.roots.iter().filter(|root| real.starts_with(&root.path)).max_by_key(|root| {
            // One directory may contain another.
            root.path.as_os_str().len()
        });
        Ok(match root.and_then(|root| Some((root, real.strip_prefix(&root.path).ok()?.to_owned()))) {
            Some((root, relative)) => {
                PathLocation::Inside(WorkspacePath { dir: Arc::clone(&root.dir), relative, real })
            }
            None => PathLocation::Outside(real),
        })
    }

    /// Resolves a path that must be in the workspace.
    ///
    /// # Errors
    ///
    /// Fails if the path leads out of the workspace or cannot be resolved.
    pub(crate) fn locate_inside(&self, path: &str) -> Result<WorkspacePath, ToolError> {
        match self.locate(path)? {
            PathLocation::Inside(location) => Ok(location),
            PathLocation::Outside(_) => Err(ToolError::OutsideWorkspace(path.into())),
        }
    }
}

/// Resolves the links in the part of the path that exists, and appends the rest unchanged.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut rest: Vec<OsString> = Vec::new();
    let mut existing = path.to_owned();
    loop {
        match existing.canonicalize() {
            Ok(real) => {
                let mut real = real;
                real.extend(rest.into_iter().rev());
                return Ok(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // The target of a dangling link cannot be resolved.
                if existing.symlink_metadata().is_ok() {
                    return Err(io::Error::other("it is a link whose target does not exist"));
                }
                match existing.components().next_back() {
                    Some(Component::Normal(name)) => rest.push(name.to_owned()),
                    _ => return Err(io::Error::other("it has `..` after a directory that does not exist")),
                }
                if !existing.pop() {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

impl WorkspacePath {
    fn name(&self) -> &Path {
        if self.relative.as_os_str().is_empty() { Path::new(".") } else { &self.relative }
    }

    pub(crate) fn metadata(&self) -> io::Result<cap_std::fs::Metadata> {
        self.dir.metadata(self.name())
    }

    pub(crate) fn exists(&self) -> bool {
        self.dir.symlink_metadata(self.name()).is_ok()
    }

    pub(crate) fn is_root(&self) -> bool {
        self.relative.as_os_str().is_empty()
    }

    /// Reads a file of at most `max_bytes`.
    pub(crate) fn read(&self, max_bytes: u64) -> io::Result<Vec<u8>> {
        read_file(self.open()?, max_bytes)
    }

    /// Opens a file without blocking, even if it is a pipe without a writer.
    pub(crate) fn open(&self) -> io::Result<std::fs::File> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(NONBLOCKING);
        Ok(self.dir.open_with(self.name(), &options)?.into_std())
    }

    /// Returns a path below this one.
    pub(crate) fn below(&self, relative: &Path) -> Self {
        let join =
            |path: &Path| if relative.as_os_str().is_empty() { path.to_owned() } else { path.join(relative) };
        Self { dir: Arc::clone(&self.dir), relative: join(&self.relative), real: join(&self.real) }
    }

    pub(crate) fn copy_mode_from(&self, other: &Self) -> io::Result<()> {
        self.dir.set_permissions(self.name(), other.metadata()?.permissions())
    }

    /// Writes a file atomically, through a temporary file in the same directory. An existing file's mode is preserved.
    pub(crate) fn write(&self, contents: &[u8]) -> io::Result<()> {
        let mode = self.dir.metadata(self.name()).ok().map(|metadata| metadata.permissions());
        let name = self.relative.file_name().ok_or_else(|| io::Error::other("it is a directory"))?;
        let temporary = self.relative.with_file_name(format!(
            ".{}.{}-{}.tmp",
            name.to_string_lossy(),
            std::process::id(),
            NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
        ));
        let result = (|| {
            let mut file = self.dir.open_with(&temporary, OpenOptions::new().write(true).create_new(true))?;
            if let Some(mode) = mode {
                file.set_permissions(mode)?;
            }
            file.write_all(contents)?;
            file.sync_all()?;
            self.dir.rename(&temporary, &self.dir, &self.relative)
        })();
        if result.is_err()
            && let Err(error) = self.dir.remove_file(&temporary)
        {
            // The caller gets the first error. The temporary file may not have been created at all.
            tracing::debug!(file = %temporary.display(), %error, "could not remove a temporary file");
        }
        result
    }

    pub(crate) fn create_directory(&self) -> io::Result<()> {
        self.dir.create_dir_all(self.name())
    }

    pub(crate) fn create_parent(&self) -> io::Result<()> {
        match self.relative.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => self.dir.create_dir_all(parent),
            _ => Ok(()),
        }
    }

    pub(crate) fn remove_file(&self) -> io::Result<()> {
        self.dir.remove_file(self.name())
    }

    pub(crate) fn remove_directory(&self, with_contents: bool) -> io::Result<()> {
        if with_contents { self.dir.remove_dir_all(self.name()) } else { self.dir.remove_dir(self.name()) }
    }

    pub(crate) fn rename_to(&self, to: &Self) -> io::Result<()> {
        self.dir.rename(self.name(), &to.dir, to.name())
    }

    /// Returns the contents of a directory, sorted by name.
    pub(crate) fn entries(&self) -> io::Result<Vec<(String, cap_std::fs::Metadata)>> {
        let mut entries = Vec::new();
        for entry in self.dir.read_dir(self.name())? {
            let entry = entry?;
            entries.push((entry.file_name().to_string_lossy().into_owned(), entry.metadata()?));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(entries)
    }
}

static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Reads a regular file of at most `max_bytes`.
pub(crate) fn read_file(file: std::fs::File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.len() > max_bytes {
        return Err(io::Error::other(format!("it is too large ({} bytes)", metadata.len())));
    }
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::{fs, os::unix::fs::symlink};

    use tempfile::TempDir;

    use super::*;

    fn fixture() -> (TempDir, Workspace) {
        let directory = TempDir::new().unwrap();
        fs::create_dir_all(directory.path().join("work/deep")).unwrap();
        fs::write(directory.path().join("secret"), "secret").unwrap();
        let workspace = Workspace::new(&directory.path().join("work"), &[]).unwrap();
        (directory, workspace)
    }

    #[test]
    fn paths_outside_the_workspace_are_rejected() {
        let (directory, workspace) = fixture();
        let work = directory.path().join("work");
        symlink(directory.path(), work.join("out")).unwrap();
        symlink(directory.path().join("nothing"), work.join("dangling")).unwrap();
        let absolute = directory.path().join("secret");
        for path in [
            "../secret",
            "deep/../../secret",
            "out/secret",
            "out/new",
            "dangling",
            "/etc/passwd",
            "/proc/self/root/etc/passwd",
            "new/../../secret",
            "deep/../../work2/x",
            absolute.to_str().unwrap(),
            "/dev/stdin",
            "a\0b",
        ] {
            assert!(workspace.locate_inside(path).is_err(), "{path}");
        }
        for path in ["deep", "deep/new/er", ".", "deep/../x", work.join("deep/y").to_str().unwrap()] {
            assert!(workspace.locate_inside(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn links_created_after_resolution_are_not_followed() {
        let (directory, workspace) = fixture();
        let work = directory.path().join("work");
        let file = workspace.locate_inside("deep/file").unwrap();
        fs::remove_dir(work.join("deep")).unwrap();
        symlink(directory.path(), work.join("deep")).unwrap();
        assert!(file.write(b"x").is_err() && !directory.path().join("file").exists());
        let secret = workspace.locate_inside("other").unwrap();
        symlink(directory.path().join("secret"), work.join("other")).unwrap();
        assert!(secret.read(100).is_err());
        assert!(secret.remove_file().is_ok(), "a link itself may be removed");
        assert_eq!(fs::read_to_string(directory.path().join("secret")).unwrap(), "secret");
    }

    #[test]
    fn writing_preserves_the_mode_and_other_hard_links() {
        use std::os::unix::fs::PermissionsExt as _;
        let (directory, workspace) = fixture();
        let (inside, outside) = (directory.path().join("work/hard"), directory.path().join("secret"));
        fs::hard_link(&outside, &inside).unwrap();
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o640)).unwrap();
        workspace.locate_inside("hard").unwrap().write(b"changed").unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "secret");
        assert_eq!(fs::read_to_string(&inside).unwrap(), "changed");
        assert_eq!(fs::metadata(&inside).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(
            fs::read_dir(directory.path().join("work")).unwrap().count(),
            2,
            "no temporary file remains"
        );
    }
}
