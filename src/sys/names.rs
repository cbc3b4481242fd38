//! Names in folders: listing, links, renames, removal.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, RawDir, RenameFlags};
use rustix::io::{Errno, Result};

use crate::heartbeat::current;

use super::fault;

// Listing a folder by `getdents64` into a large buffer.

/// Bytes of room for the entries of one `getdents64` call.
///
/// 64 KiB holds about 2,000 entries, so that nearly every folder takes two calls (the second
/// says "end"). Reasoned from the size of an entry, not swept.
const ROOM: usize = 64 << 10;

/// Takes entries as they come from the kernel. It has no room before it is used: one that only holds the place
/// of another costs nothing.
#[derive(Default)]
pub struct EntryBuffer(Box<[MaybeUninit<u8>]>);

/// True if a folder holds nothing. Asks for its first entries only.
pub fn is_empty_folder(folder: impl AsFd) -> Result<bool> {
    let mut buffer = [MaybeUninit::uninit(); 1024];
    Entries(RawDir::new(folder, &mut buffer)).each(|_, _, _| false)
}

/// The first of several names that end with a NUL byte each. Several times as fast as the search for this byte in the
/// standard library, and every file comes through here.
pub fn first_name(names: &[u8]) -> &CStr {
    if names.last() != Some(&0) {
        return c"";
    }
    // SAFETY: The slice is live, and its last byte is NUL, so that the search for NUL ends within it.
    unsafe { CStr::from_ptr(names.as_ptr().cast()) }
}

/// A folder that is being listed.
pub struct Entries<'buffer, F: AsFd>(RawDir<'buffer, F>);

impl<'buffer, F: AsFd> Entries<'buffer, F> {
    /// Lists an open folder from where it stands.
    pub fn of(folder: F, buffer: &'buffer mut EntryBuffer) -> Self {
        if buffer.0.is_empty() {
            buffer.0 = Box::new_uninit_slice(ROOM);
        }
        Self(RawDir::new(folder, &mut buffer.0))
    }

    /// Calls `each` with name, inode number and kind of every further entry but `.` and `..`, until it returns false;
    /// true if there are no more.
    ///
    /// The kind is [`FileType::Unknown`] on file systems that do not tell.
    ///
    /// # Errors
    /// What the kernel said when the listing broke off; entries seen before remain valid.
    pub fn each(&mut self, mut each: impl FnMut(&CStr, u64, FileType) -> bool) -> Result<bool> {
        loop {
            if self.0.is_buffer_empty() {
                current::beat();
            }
            let Some(entry) = self.0.next().transpose()? else {
                return Ok(true);
            };
            let name = entry.file_name();
            if name != c"." && name != c".." && !each(name, entry.ino(), entry.file_type()) {
                return Ok(false);
            }
        }
    }
}

// Hard and symbolic links.

/// Gives a file a further name. A symbolic link is not followed.
pub fn link(from: impl AsFd, old: &CStr, to: impl AsFd, new: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::linkat(from, old, to, new, AtFlags::empty())
}

/// Gives an open file a further name, whatever its other names lead to by now.
///
/// `ENOENT` where `/proc` is not mounted, or the file has no name any more.
pub fn link_open_file(file: impl AsFd, to: impl AsFd, new: &CStr) -> Result<()> {
    fault::point()?;
    // The short way is for administrators, and since Linux 6.10 for the process that opened the file.
    match rustix::fs::linkat(&file, c"", &to, new, AtFlags::EMPTY_PATH) {
        Err(Errno::NOENT | Errno::INVAL) => {}
        linked => return linked,
    }
    let link = super::open::link_to(file);
    rustix::fs::linkat(rustix::fs::CWD, link, to, new, AtFlags::SYMLINK_FOLLOW)
}

/// Makes a symbolic link that holds this text.
pub fn symlink(text: &CStr, folder: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::symlinkat(text, folder, name)
}

/// Reads the text of a symbolic link. The name of one that is open is empty.
pub fn read_link(folder: impl AsFd, name: &CStr) -> Result<Vec<u8>> {
    fault::point()?;
    rustix::fs::readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Opens a symbolic link itself (`O_PATH`).
pub fn open_link(folder: impl AsFd, name: &CStr) -> Result<OwnedFd> {
    fault::point()?;
    super::open::any_handle(folder, name, false)
}

/// Gives an open file or symbolic link another owner, whatever its name leads to by now. A handle (`O_PATH`) will do.
pub fn give(file: impl AsFd, uid: u32, gid: u32) -> Result<()> {
    fault::point()?;
    let (uid, gid) = (
        rustix::fs::Uid::from_raw(uid),
        rustix::fs::Gid::from_raw(gid),
    );
    rustix::fs::chownat(file, c"", Some(uid), Some(gid), AtFlags::EMPTY_PATH)
}

// `renameat2`: giving names, taking them, exchanging them.

/// Renames unless the new name is taken (`EEXIST`).
///
/// If the file system does not support that (`EINVAL`), the new name is looked up first. A file that gets this name
/// between the two calls is replaced. To reserve the name with an empty file would be worse: a daemon may write that
/// file back after it was closed (rclone), over the renamed one.
pub fn rename_no_replace(from: impl AsFd, old: &CStr, to: impl AsFd, new: &CStr) -> Result<()> {
    fault::point()?;
    match rustix::fs::renameat_with(&from, old, &to, new, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => match super::stat::fresh_entry(&to, new) {
            Err(Errno::NOENT) => rustix::fs::renameat(from, old, to, new),
            Ok(_) => Err(Errno::EXIST),
            Err(error) => Err(error),
        },
        done => done,
    }
}

/// Exchanges two names of one folder at once; `None` where the file system cannot.
pub fn exchange(folder: impl AsFd, one: &CStr, other: &CStr) -> Result<Option<()>> {
    fault::point()?;
    match rustix::fs::renameat_with(&folder, one, &folder, other, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(None),
        done => done.map(Some),
    }
}

/// Renames within a folder; what had the new name loses it.
pub fn rename(folder: impl AsFd, old: &CStr, new: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::renameat(&folder, old, &folder, new)
}

// `unlinkat`: taking a file's name away.

/// Takes an empty folder away, if it is there.
///
/// After an error it asks again: the reply of a server may have been lost, and the kernel may still remember a folder
/// that its server has removed, so that a look does not tell.
pub fn remove_folder(parent: impl AsFd, name: &CStr) -> Result<()> {
    let remove = || {
        fault::point()?;
        rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)
    };
    match remove() {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error @ (Errno::NOTEMPTY | Errno::EXIST)) => Err(error),
        Err(error) => match remove() {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(again @ (Errno::NOTEMPTY | Errno::EXIST)) => Err(again),
            Err(_) => Err(error),
        },
    }
}

/// Takes a name away from what is no folder.
pub fn remove(folder: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::unlinkat(folder, name, AtFlags::empty())
}
