//! Files and folders in a temporary place.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat, unlinkat};

use tempfile::TempDir;

/// Every content of a file below a folder.
pub fn contents_below(top: &Path) -> BTreeSet<Vec<u8>> {
    let entries = walkdir::WalkDir::new(top).into_iter();
    let files = entries.map(|entry| entry.expect("an entry"));
    let files = files.filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| fs::read(entry.path()).expect("a file"))
        .collect()
}

/// Waits until no process has a file open for writing: a child that another thread has started holds this process's
/// descriptors until it runs its own program, and actions refuse files in use.
fn await_closed(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    // SAFETY: the command takes numbers only; the descriptor is borrowed for the call.
    let lease =
        |kind: libc::c_int| unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) };
    // Only a writer makes it wait. Other errors say that there are no leases here.
    while lease(libc::F_RDLCK) != 0 && io::Error::last_os_error().kind() == ErrorKind::WouldBlock {
        thread::sleep(Duration::from_millis(1));
    }
    lease(libc::F_UNLCK);
}

/// As [`fs::write`], for files that a program then acts on: returns when no process has the file open any more.
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<()> {
    fs::write(path.as_ref(), content)?;
    await_closed(path.as_ref());
    Ok(())
}

/// A file that this process has open for writing until the value is dropped; then no process has.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: Option<File>,
}

impl Writer {
    pub fn open(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let file = File::options().append(true).open(&path);
        Self {
            file: Some(file.expect("a file")),
            path,
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.file = None;
        await_closed(&self.path);
    }
}

/// A folder that goes when the test ends. Methods take names relative to it, as text or bytes, make the folders on the
/// way, and return the tree, so that one is written as one expression. Files that are made so have one time of
/// modification, whatever the clock does meanwhile.
#[derive(Debug)]
pub struct Tree {
    folder: TempDir,
    made: SystemTime,
}

impl Tree {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("seekless-test-")
            .tempdir()
            .expect("a temporary folder can be made");
        Self::at(folder)
    }

    /// A tree inside a given folder, such as a mounted file system.
    pub fn inside(parent: &Path) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("seekless-test-")
            .tempdir_in(parent)
            .expect("a temporary folder can be made");
        Self::at(folder)
    }

    fn at(folder: TempDir) -> Self {
        let made = SystemTime::now();
        Self { folder, made }
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: impl AsRef<[u8]>) -> PathBuf {
        self.root().join(OsStr::from_bytes(name.as_ref()))
    }

    /// The path with its parent folder made.
    fn place(&self, name: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("folders can be made");
        }
        path
    }

    pub fn file(self, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        write(self.place(&name), content).expect("a file can be written");
        self.set_modified(name, self.made);
        self
    }

    /// Several files with the same content.
    pub fn copies<const N: usize>(self, names: [&str; N], content: impl AsRef<[u8]>) -> Self {
        let add = |tree: Self, name| tree.file(name, content.as_ref());
        names.into_iter().fold(self, add)
    }

    pub fn write(&self, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let place = self.place(name);
        write(&place, content).expect("a file can be written");
    }

    pub fn folder(self, name: impl AsRef<[u8]>) -> Self {
        fs::create_dir_all(self.path(name)).expect("a folder can be made");
        self
    }

    /// A further name of a file.
    pub fn hard_link(self, name: impl AsRef<[u8]>, existing: impl AsRef<[u8]>) -> Self {
        fs::hard_link(self.path(existing), self.place(name)).expect("a hard link can be made");
        self
    }

    /// A symbolic link; the target is stored as given.
    pub fn symlink(self, name: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> Self {
        let target = OsStr::from_bytes(target.as_ref());
        symlink(target, self.place(name)).expect("a symbolic link can be made");
        self
    }

    pub fn fifo(self, name: impl AsRef<[u8]>) -> Self {
        let mode = Mode::from_raw_mode(0o644);
        mknodat(CWD, self.place(name), FileType::Fifo, mode, 0).expect("a FIFO can be made");
        self
    }

    pub fn socket(self, name: impl AsRef<[u8]>) -> Self {
        drop(UnixListener::bind(self.place(name)).expect("a socket can be made"));
        self
    }

    /// A file of this length with bytes at some places and holes elsewhere.
    pub fn sparse(self, name: impl AsRef<[u8]>, length: u64, islands: &[(u64, &[u8])]) -> Self {
        let mut file = File::create(self.place(name)).expect("a file can be made");
        file.set_len(length).expect("a file can be lengthened");
        for (at, bytes) in islands {
            file.seek(SeekFrom::Start(*at))
                .expect("a file can be sought");
            file.write_all(bytes).expect("a file can be written");
        }
        self
    }

    /// Waits until the clock of this file system has moved on: what changes now is younger than what changed before.
    pub fn tick(&self) {
        let now = || {
            let file = tempfile::tempfile_in(self.root()).expect("a file without a name");
            let metadata = file.metadata().expect("metadata");
            (metadata.mtime(), metadata.mtime_nsec())
        };
        let began = now();
        while now() == began {
            thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn mode(self, name: impl AsRef<[u8]>, mode: u32) -> Self {
        self.set_mode(name, mode);
        self
    }

    pub fn set_mode(&self, name: impl AsRef<[u8]>, mode: u32) {
        let permissions = Permissions::from_mode(mode);
        fs::set_permissions(self.path(name), permissions).expect("permissions can be set");
    }

    /// Sets the time of last modification, in seconds since 1970.
    pub fn modified(self, name: impl AsRef<[u8]>, seconds: u64) -> Self {
        self.set_modified(name, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        self
    }

    fn set_modified(&self, name: impl AsRef<[u8]>, time: SystemTime) {
        let path = self.path(name);
        let file = File::options().write(true).open(&path);
        file.and_then(|file| file.set_times(FileTimes::new().set_modified(time)))
            .expect("times can be set");
        await_closed(&path);
    }
}

impl Drop for Tree {
    /// Gives back permissions that would keep the folder from being deleted.
    fn drop(&mut self) {
        for entry in walkdir::WalkDir::new(self.root()).max_depth(2).max_open(8) {
            let Ok(entry) = entry else { continue };
            if entry.file_type().is_dir() {
                let _ = fs::set_permissions(entry.path(), Permissions::from_mode(0o755));
            }
        }
    }
}

/// Folders of one name, each in the one before. Made and removed step by step from the folder
/// above: the system takes no path of this length.
#[derive(Debug)]
pub struct Chain {
    top: OwnedFd,
    link: String,
    depth: usize,
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

impl Chain {
    /// Nests `depth` folders called `link` below `top`.
    pub fn new(top: &Path, link: &str, depth: usize) -> Self {
        let top = openat(CWD, top, FOLDER, Mode::empty()).expect("the top folder can be opened");
        let chain = Self {
            top,
            link: link.to_owned(),
            depth,
        };
        let mut here = chain.top.try_clone().expect("a descriptor can be copied");
        for _ in 0..depth {
            mkdirat(&here, link, Mode::from_raw_mode(0o755)).expect("a folder can be made");
            here = openat(&here, link, FOLDER, Mode::empty()).expect("a folder can be opened");
        }
        chain
    }

    /// Writes a file into the deepest folder.
    pub fn write(&self, name: &str, content: &[u8]) {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o644);
        let file = openat(self.deepest(), name, flags, mode).expect("a file can be made");
        assert_eq!(rustix::io::write(&file, content), Ok(content.len()));
    }

    /// The deepest folder's path below the top, with a slash at its end.
    pub fn path(&self) -> String {
        format!("{}/", self.link).repeat(self.depth)
    }

    fn deepest(&self) -> OwnedFd {
        let mut here = self.top.try_clone().expect("a descriptor can be copied");
        for _ in 0..self.depth {
            let below = openat(&here, self.link.as_str(), FOLDER, Mode::empty());
            here = below.expect("a folder can be opened");
        }
        here
    }
}

impl Drop for Chain {
    /// Climbs from the bottom: deleting by path, or with a descriptor a level, would not get far.
    fn drop(&mut self) {
        let mut here = self.deepest();
        if let Ok(folder) = rustix::fs::Dir::read_from(&here) {
            for entry in folder.flatten() {
                let _ = unlinkat(&here, entry.file_name(), AtFlags::empty());
            }
        }
        for _ in 0..self.depth {
            let Ok(above) = openat(&here, "..", FOLDER, Mode::empty()) else {
                return;
            };
            here = above;
            let _ = unlinkat(&here, self.link.as_str(), AtFlags::REMOVEDIR);
        }
    }
}
