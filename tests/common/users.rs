//! Two users: root, who runs the tests that need this, and somebody else.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::XattrFlags;
use tempfile::TempDir;

use super::run::Seekless;
use super::stage::Stage;
use super::tree::Tree;

/// The user and the group of the same number that own nothing.
pub const NOBODY: u32 = 65534;

/// Somebody else, who owns files only.
pub const ALICE: u32 = 54321;

/// `cap_net_raw+p`, version 2.
pub const CAPABILITY: [u8; 20] = [
    1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

/// Makes this thread the other user's, or a child if it is called there before that starts. The C library would
/// change all threads.
pub fn become_nobody() -> io::Result<()> {
    let id = libc::c_long::from(NOBODY);
    // SAFETY: these calls take numbers and an empty list.
    let done = unsafe {
        libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()) == 0
            && libc::syscall(libc::SYS_setresgid, id, id, id) == 0
            && libc::syscall(libc::SYS_setresuid, id, id, id) == 0
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
        set_mode(folder.path(), 0o755);
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
        crate::common::write(&path, content).expect("written");
        give_away(&path);
        path
    }
}

/// A tree that others may reach.
pub fn open_stage(tree: Tree) -> Stage {
    let stage = Stage::new(tree);
    for folder in [stage.tree.root(), stage.state.path()] {
        set_mode(folder, 0o755);
    }
    stage
}

/// Gives a file or folder to somebody, with this mode.
pub fn give(path: &Path, uid: u32, bits: u32) {
    lchown(path, Some(uid), Some(uid)).expect("root gives files away");
    set_mode(path, bits);
}

/// Sets the permission bits.
pub fn set_mode(path: impl AsRef<Path>, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).expect("mode");
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

/// Owner, group and mode.
pub fn looks(path: &Path) -> (u32, u32, u32) {
    let metadata = fs::symlink_metadata(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
}

/// Runs a script as nobody; true if it succeeds.
pub fn nobody_does(script: &str, folder: &Path) -> bool {
    let mut command = Command::new("sh");
    command.args(["-euc", script]).current_dir(folder);
    command.uid(NOBODY).gid(NOBODY);
    command.status().expect("sh is there").success()
}

/// Rewrites a file as nobody: other bytes of the same length, and the times of before.
pub fn nobody_forges(path: &Path) {
    let script = "touch -r \"$0\" /dev/shm/seekless-times-$$
        size=$(stat -c %s \"$0\")
        head -c \"$size\" /dev/zero | tr '\\0' X > /dev/shm/seekless-bytes-$$
        dd if=/dev/shm/seekless-bytes-$$ of=\"$0\" conv=notrunc status=none
        touch -r /dev/shm/seekless-times-$$ \"$0\"
        rm /dev/shm/seekless-times-$$ /dev/shm/seekless-bytes-$$";
    let before = fs::metadata(path).expect("there");
    let mut command = Command::new("sh");
    command.args(["-euc", script]).arg(path);
    command.uid(NOBODY).gid(NOBODY);
    assert!(command.status().expect("sh is there").success());
    let after = fs::metadata(path).expect("there");
    let times = |m: &fs::Metadata| (m.ino(), m.len(), m.mtime(), m.mtime_nsec());
    assert_eq!(times(&before), times(&after));
}

/// An ACL in the form that the kernel takes: owner, one more user, group, mask, others.
pub fn acl(user: u32, rights: u16, mode: u32) -> Vec<u8> {
    let bits = |shift: u32| u16::try_from(mode >> shift & 7).expect("three bits");
    let none = u32::MAX;
    let entries = [
        (0x01, bits(6), none),
        (0x02, rights, user),
        (0x04, bits(3), none),
        (0x10, rights | bits(3), none),
        (0x20, bits(0), none),
    ];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        bytes.extend(u16::to_le_bytes(tag));
        bytes.extend(u16::to_le_bytes(rights));
        bytes.extend(u32::to_le_bytes(id));
    }
    bytes
}

pub fn set_extended(path: &Path, name: &str, value: &[u8]) {
    rustix::fs::setxattr(path, name, value, XattrFlags::empty()).expect("set");
}

pub fn extended(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(1024);
    let buffer = rustix::buffer::spare_capacity(&mut value);
    rustix::fs::lgetxattr(path, name, buffer).ok()?;
    Some(value)
}

/// The folder that `move --to` gives to a folder of this tree.
pub fn moved(to: &Path, from: &Path) -> PathBuf {
    let real = from.canonicalize().expect("a real path");
    to.join(real.strip_prefix("/").expect("absolute"))
}

impl Seekless {
    /// Runs as the other user.
    pub fn by_nobody(self) -> Self {
        self.before(become_nobody)
    }
}
