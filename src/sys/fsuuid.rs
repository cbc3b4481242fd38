//! `FS_IOC_GETFSUUID`: the UUID of the file system that a file is on (Linux 6.9).

use std::os::fd::{AsFd, AsRawFd};

const FS_IOC_GETFSUUID: libc::c_ulong = 0x8011_1500;

#[repr(C)]
#[derive(Default)]
struct Answer {
    length: u8,
    bytes: [u8; 16],
}

/// The file system's UUID; none where the kernel or the file system does not tell, or has a
/// shorter one.
pub fn of(fd: impl AsFd) -> Option<[u8; 16]> {
    let mut answer = Answer::default();
    // SAFETY: the answer is live and laid out as `struct fsuuid2` of linux/fs.h, whose size is
    // part of the request's number; the kernel writes within it only.
    let done = unsafe {
        libc::ioctl(
            fd.as_fd().as_raw_fd(),
            FS_IOC_GETFSUUID as _,
            &raw mut answer,
        )
    };
    (done == 0 && answer.length == 16 && answer.bytes != [0; 16]).then_some(answer.bytes)
}
