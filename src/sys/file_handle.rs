//! The handle of a file, by which a server finds it again: inode number and generation, on btrfs the subvolume as well.
//!
//! A file system gives an inode number to a new file once the old one is gone, but with another generation. The call
//! opens nothing and needs no privilege.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd};

/// `MAX_HANDLE_SZ` (linux/exportfs.h).
const LONGEST: usize = 128;

#[repr(C)]
struct Answer {
    length: libc::c_uint,
    kind: libc::c_int,
    bytes: [u8; LONGEST],
}

/// The handle of what a name in a folder leads to, with its kind in front. `None` where the file system has no handles, or
/// if the name is gone.
pub fn of_name(at: impl AsFd, name: &CStr, follow: bool) -> Option<Vec<u8>> {
    super::fault::point().ok()?;
    let flags = if follow { libc::AT_SYMLINK_FOLLOW } else { 0 };
    let mut answer = Answer {
        length: LONGEST as libc::c_uint,
        kind: 0,
        bytes: [0; LONGEST],
    };
    let mut mount: libc::c_int = 0;
    // SAFETY: the name ends with NUL; the answer is live and laid out as `struct file_handle` with as many bytes behind it
    // as its length says, and the kernel writes within these and into `mount` only.
    let done = unsafe {
        libc::name_to_handle_at(
            at.as_fd().as_raw_fd(),
            name.as_ptr(),
            (&raw mut answer).cast(),
            &raw mut mount,
            flags,
        )
    };
    let bytes = answer.bytes.get(..answer.length as usize)?;
    let kind = answer.kind.to_le_bytes();
    (done == 0).then(|| [&kind[..], bytes].concat())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn names_of_one_file_have_one_handle_and_other_files_others() {
        let place = tempfile::tempdir().expect("a folder");
        for name in ["a", "b"] {
            fs::write(place.path().join(name), "x").expect("is written");
        }
        fs::hard_link(place.path().join("a"), place.path().join("c")).expect("a link");
        let folder = OwnedFd::from(File::open(place.path()).expect("is there"));
        std::os::unix::fs::symlink("a", place.path().join("link")).expect("a link");
        let [a, b, c, link] = [c"a", c"b", c"c", c"link"].map(|name| of_name(&folder, name, false));
        assert_eq!(of_name(&folder, c"link", true), a);
        assert_eq!(a, c);
        // A file system without handles has none for either.
        assert!(a.is_none() && b.is_none() || a != b && a != link);
        assert_eq!(of_name(&folder, c"missing", false), None);
    }
}
