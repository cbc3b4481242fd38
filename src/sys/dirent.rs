//! Listing a folder by `getdents64` into a large buffer.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::{FileType, RawDir};
use rustix::io::Result;

use crate::heartbeat::current;

/// Bytes of room for the entries of one `getdents64` call.
///
/// 64 KiB holds about 2,000 entries, so that nearly every folder takes two calls (the second
/// says "end"). Reasoned from the size of an entry, not swept.
const ROOM: usize = 64 << 10;

/// Takes entries as they come from the kernel. It has no room before it is used: one that only holds the place
/// of another costs nothing.
#[derive(Default)]
pub struct Buffer(Box<[MaybeUninit<u8>]>);

/// True if a folder holds nothing. Asks for its first entries only.
pub fn is_empty(folder: impl AsFd) -> Result<bool> {
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
    pub fn of(folder: F, buffer: &'buffer mut Buffer) -> Self {
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
