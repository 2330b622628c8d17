//! The directories that file tools are confined to.
//!
//! A path is resolved once, including symbolic links, even if its last components do not exist yet. The directory that
//! contains it is then opened without following any link, and everything that happens to the path happens in that open
//! directory. Links that appear later are never followed: the access fails.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    io::{self, Read as _, Write as _},
    os::fd::AsFd,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions, Permissions},
};
use memoir_core::{lock, reveal_on_one_line};
use rustix::{
    fs::{Mode, OFlags, openat},
    io::Errno,
};

use crate::ToolError;

#[derive(Clone)]
struct Root {
    path: PathBuf,
    dir: Arc<Dir>,
}

/// The directories that file tools are confined to. The first is the project.
#[derive(Clone)]
pub struct Workspace {
    roots: Arc<[Root]>,
    /// What each path meant when it was first used, if this workspace is for one call only.
    pinned: Option<Arc<Mutex<HashMap<String, PathLocation>>>>,
}

#[derive(Clone)]
pub(crate) enum PathLocation {
    Inside(ResolvedPath),
    Outside(ResolvedPath),
}

/// A path without links, below an open directory.
#[derive(Clone)]
pub(crate) struct ResolvedPath {
    /// The deepest directory above the path that existed when it was resolved.
    dir: Arc<Dir>,
    /// Path relative to `dir`. Empty if the path is a directory of the workspace.
    below: PathBuf,
    /// Absolute path.
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
        Ok(Self { roots: roots.map(open).collect::<io::Result<_>>()?, pinned: None })
    }

    /// Returns the workspace for one call. A path keeps the meaning that it had when the call was planned, even if a
    /// link is put in its place before the call runs.
    #[must_use]
    pub fn for_one_call(&self) -> Self {
        Self { roots: Arc::clone(&self.roots), pinned: Some(Arc::default()) }
    }

    /// Returns the project directory.
    pub fn project(&self) -> &Path {
        &self.roots[0].path
    }

    /// Returns how a path is shown to the user: relative to the project if possible, on one line.
    pub(crate) fn show(&self, path: &ResolvedPath) -> String {
        let relative = path.real.strip_prefix(self.project()).unwrap_or(&path.real);
        let path = if relative.as_os_str().is_empty() { &path.real } else { relative };
        reveal_on_one_line(&path.to_string_lossy()).into_owned()
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
        let Some(pinned) = &self.pinned else { return self.resolve(path) };
        if let Some(location) = lock(pinned).get(path) {
            return Ok(location.clone());
        }
        let location = self.resolve(path)?;
        lock(pinned).insert(path.to_owned(), location.clone());
        Ok(location)
    }

    fn resolve(&self, path: &str) -> Result<PathLocation, ToolError> {
        if path.contains('\0') {
            return Err(ToolError::Failed("a path cannot contain a NUL character".into()));
        }
        let failed = |error: io::Error| ToolError::Failed(format!("cannot use {path}: {error}"));
        let real = resolve_links(&self.project().join(path)).map_err(failed)?;
        let root = self.roots.iter().filter(|root| real.starts_with(&root.path)).max_by_key(|root| {
            // One directory may contain another.
            root.path.as_os_str().len()
        });
        if root.is_none() && real.starts_with("/proc") {
            // The environment of a process contains API keys.
            return Err(ToolError::Failed(format!("cannot use {path}: it belongs to a running process")));
        }
        Ok(match root {
            Some(root) => PathLocation::Inside(ResolvedPath::open(root, real).map_err(failed)?),
            None => {
                let dir = Dir::open_ambient_dir("/", ambient_authority()).map_err(failed)?;
                let root = Root { path: "/".into(), dir: Arc::new(dir) };
                PathLocation::Outside(ResolvedPath::open(&root, real).map_err(failed)?)
            }
        })
    }

    /// Resolves a path that must be in the workspace.
    ///
    /// # Errors
    ///
    /// Fails if the path leads out of the workspace or cannot be resolved.
    pub(crate) fn locate_inside(&self, path: &str) -> Result<ResolvedPath, ToolError> {
        match self.locate(path)? {
            PathLocation::Inside(location) => Ok(location),
            PathLocation::Outside(_) => Err(ToolError::OutsideWorkspace(path.into())),
        }
    }
}

/// Resolves the links in the part of the path that exists, and appends the rest unchanged.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
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

/// Opens a directory in a directory, unless its name is a link.
fn open_directory(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(dir.as_fd(), name, flags, Mode::empty()).map_err(explain)?;
    Ok(Dir::from_std_file(opened.into()))
}

/// Explains the error of opening a path that was resolved before and is a link now.
fn explain(error: Errno) -> io::Error {
    match error {
        Errno::LOOP => io::Error::other("it is a link now and was none when the call was planned"),
        error => error.into(),
    }
}

impl ResolvedPath {
    /// Opens the directory that contains a path below a root.
    fn open(root: &Root, real: PathBuf) -> io::Result<Self> {
        let relative = real.strip_prefix(&root.path).unwrap_or(&real).to_owned();
        let mut names = relative.components();
        let mut dir = Arc::clone(&root.dir);
        let mut below = names.as_path().to_owned();
        while let Some(name) = names.next()
            && !names.as_path().as_os_str().is_empty()
        {
            match open_directory(&dir, name.as_os_str()) {
                Ok(opened) => dir = Arc::new(opened),
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            }
            below = names.as_path().to_owned();
        }
        Ok(Self { dir, below, real })
    }

    /// Returns the directory that contains the path, and its name there.
    fn parent(&self) -> io::Result<(Arc<Dir>, &Path)> {
        let mut names = self.below.components();
        let Some(name) = names.next_back() else { return Ok((Arc::clone(&self.dir), Path::new("."))) };
        let mut dir = Arc::clone(&self.dir);
        for name in names {
            dir = Arc::new(open_directory(&dir, name.as_os_str())?);
        }
        Ok((dir, Path::new(name.as_os_str())))
    }

    pub(crate) fn metadata(&self) -> io::Result<cap_std::fs::Metadata> {
        let (dir, name) = self.parent()?;
        dir.symlink_metadata(name)
    }

    pub(crate) fn exists(&self) -> bool {
        self.metadata().is_ok()
    }

    pub(crate) fn is_root(&self) -> bool {
        self.below.as_os_str().is_empty()
    }

    /// Reads a file of at most `max_bytes`.
    pub(crate) fn read(&self, max_bytes: u64) -> io::Result<Vec<u8>> {
        read_file(self.open_file()?, max_bytes)
    }

    /// Opens a file without blocking, even if it is a pipe without a writer.
    pub(crate) fn open_file(&self) -> io::Result<std::fs::File> {
        let (dir, name) = self.parent()?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(dir.as_fd(), name, flags, Mode::empty()).map_err(explain)?.into())
    }

    /// Returns a path below this one.
    pub(crate) fn below(&self, relative: &Path) -> Self {
        let join =
            |path: &Path| if relative.as_os_str().is_empty() { path.to_owned() } else { path.join(relative) };
        Self { dir: Arc::clone(&self.dir), below: join(&self.below), real: join(&self.real) }
    }

    /// Writes a file atomically, through a temporary file in the same directory. Without `permissions`, those of an
    /// existing file are preserved.
    pub(crate) fn write(&self, contents: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
        let (dir, name) = self.parent()?;
        let label = self.below.file_name().ok_or_else(|| io::Error::other("it is a directory"))?;
        let permissions = permissions.or_else(|| {
            let metadata = dir.symlink_metadata(name).ok().filter(|metadata| !metadata.is_symlink());
            metadata.map(|metadata| metadata.permissions())
        });
        let temporary = PathBuf::from(format!(
            ".{}.{}-{}.tmp",
            label.to_string_lossy(),
            std::process::id(),
            NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
        ));
        let result = (|| {
            let mut file = dir.open_with(&temporary, OpenOptions::new().write(true).create_new(true))?;
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            file.write_all(contents)?;
            file.sync_all()?;
            dir.rename(&temporary, &dir, name)
        })();
        if result.is_err()
            && let Err(error) = dir.remove_file(&temporary)
        {
            // The caller gets the first error. The temporary file may not have been created at all.
            tracing::debug!(file = %temporary.display(), %error, "could not remove a temporary file");
        }
        result
    }

    /// Creates the directory and those above it.
    pub(crate) fn create_directory(&self) -> io::Result<()> {
        create_directories(&self.dir, &self.below)
    }

    /// Creates the directories above the path.
    pub(crate) fn create_parent(&self) -> io::Result<()> {
        create_directories(&self.dir, self.below.parent().unwrap_or(Path::new("")))
    }

    pub(crate) fn remove_file(&self) -> io::Result<()> {
        let (dir, name) = self.parent()?;
        dir.remove_file(name)
    }

    pub(crate) fn remove_directory(&self, with_contents: bool) -> io::Result<()> {
        let (dir, name) = self.parent()?;
        if with_contents { dir.remove_dir_all(name) } else { dir.remove_dir(name) }
    }

    pub(crate) fn rename_to(&self, to: &Self) -> io::Result<()> {
        let ((dir, name), (to_dir, to_name)) = (self.parent()?, to.parent()?);
        dir.rename(name, &to_dir, to_name)
    }

    /// Returns the contents of a directory, sorted by name.
    pub(crate) fn entries(&self) -> io::Result<Vec<(OsString, cap_std::fs::Metadata)>> {
        let (dir, name) = self.parent()?;
        let mut entries = Vec::new();
        for entry in open_directory(&dir, name.as_os_str())?.entries()? {
            let entry = entry?;
            entries.push((entry.file_name(), entry.metadata()?));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(entries)
    }
}

/// Creates directories below another without following links.
fn create_directories(dir: &Arc<Dir>, path: &Path) -> io::Result<()> {
    let mut dir = Arc::clone(dir);
    for name in path {
        match dir.create_dir(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => dir = Arc::new(open_directory(&dir, name)?),
        }
    }
    Ok(())
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
        assert!(file.write(b"x", None).is_err() && !directory.path().join("file").exists());
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
        workspace.locate_inside("hard").unwrap().write(b"changed", None).unwrap();
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
