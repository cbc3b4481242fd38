//! Another user, for tests that run as root.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::run::Seekless;

/// The user and the group of the same number that own nothing.
pub const NOBODY: u32 = 65534;

/// To be called in the child before it starts: makes it the other user's process.
pub fn become_nobody() -> io::Result<()> {
    // SAFETY: numbers go in and nothing comes out; an empty list needs no place.
    let done = unsafe {
        libc::setgroups(0, std::ptr::null()) == 0
            && libc::setresgid(NOBODY, NOBODY, NOBODY) == 0
            && libc::setresuid(NOBODY, NOBODY, NOBODY) == 0
    };
    match done {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// A place that everybody can reach, with a folder of the other user's in it.
#[derive(Debug)]
pub struct Neighbours {
    folder: TempDir,
}

impl Neighbours {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::set_permissions(folder.path(), mode(0o755)).expect("mode");
        let neighbours = Self { folder };
        neighbours.nobodys_folder("nobody");
        neighbours
    }

    /// A folder of root's.
    pub fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a real path")
    }

    /// The other user's home.
    pub fn home(&self) -> PathBuf {
        self.top().join("nobody")
    }

    /// Makes a folder of the other user's.
    pub fn nobodys_folder(&self, name: &str) -> PathBuf {
        let path = self.top().join(name);
        fs::create_dir_all(&path).expect("a folder");
        give_away(&path);
        path
    }

    /// Makes a file of the other user's.
    pub fn nobodys_file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.top().join(name);
        fs::write(&path, content).expect("written");
        give_away(&path);
        path
    }
}

/// Permission bits.
pub fn mode(bits: u32) -> fs::Permissions {
    fs::Permissions::from_mode(bits)
}

/// Makes the other user the owner; of a link itself.
pub fn give_away(path: &Path) {
    lchown(path, Some(NOBODY), Some(NOBODY)).expect("root gives");
}

/// Makes the other user the owner of a folder and all that is in it.
pub fn give_all_away(path: &Path) {
    for entry in walkdir::WalkDir::new(path) {
        give_away(entry.expect("listed").path());
    }
}

impl Seekless {
    /// Runs as the other user.
    pub fn by_nobody(self) -> Self {
        self.before(become_nobody)
    }
}
