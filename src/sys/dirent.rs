//! Listing a folder by `getdents64` into a large buffer.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::{FileType, RawDir};
use rustix::io::Result;

/// Room for the entries of one `getdents64` call.
///
/// 64 KiB holds about 2,000 entries, so that nearly every folder takes two calls (the second
/// says "end"). Reasoned from the size of an entry, not swept.
pub struct Buffer(Box<[MaybeUninit<u8>]>);

impl Default for Buffer {
    fn default() -> Self {
        Self(Box::new_uninit_slice(64 << 10))
    }
}

/// True if a folder holds nothing. Asks for its first entries only.
pub fn is_empty(folder: impl AsFd) -> Result<bool> {
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let mut entries = RawDir::new(folder, &mut buffer);
    while let Some(entry) = entries.next() {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Calls `each` with name, inode number and kind of every entry but `.` and `..`.
///
/// The kind is [`FileType::Unknown`] on file systems that do not tell.
///
/// # Errors
/// What the kernel said when the listing broke off; entries seen before remain valid.
pub fn list(
    folder: impl AsFd,
    buffer: &mut Buffer,
    mut each: impl FnMut(&CStr, u64, FileType),
) -> Result<()> {
    let mut entries = RawDir::new(folder, &mut buffer.0);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            each(name, entry.ino(), entry.file_type());
        }
    }
    Ok(())
}
