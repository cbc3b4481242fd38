//! Files without a name, of which nothing can be left behind.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::{Errno, Result};

/// Makes a file in this folder that has no name (`O_TMPFILE`): it is gone with its last
/// descriptor, however the process ends.
///
/// Where the file system does not know that, the file has the name `fallback` for as long as
/// it takes to remove it again. A file that has this name already is an error and stays.
pub fn unnamed(folder: impl AsFd, fallback: &CStr) -> Result<OwnedFd> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    match openat(&folder, c".", flags | OFlags::TMPFILE, mode) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {}
        other => return other,
    }
    let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let file = openat(&folder, fallback, flags, mode)?;
    unlinkat(&folder, fallback, AtFlags::empty())?;
    Ok(file)
}

/// Opens once more for reading what a descriptor leads to, named or not, so that it has flags,
/// hints and readahead of its own; `direct` is past the page cache.
pub fn reopened(fd: impl AsFd, direct: bool) -> Result<OwnedFd> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC;
    if direct {
        flags |= OFlags::DIRECT;
    }
    let path = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
    openat(CWD, path, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn the_file_has_no_name_and_can_be_opened_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let handle = File::open(folder.path()).expect("can be opened");
        let file = unnamed(&handle, c"scratch").expect("made");
        let mut file = File::from(file);
        file.write_all(b"bytes").expect("written");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
        let mut again = File::from(reopened(&file, false).expect("opened"));
        let mut text = String::new();
        again.read_to_string(&mut text).expect("read");
        assert_eq!(text, "bytes");
    }
}
