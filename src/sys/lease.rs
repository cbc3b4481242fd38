//! Leases (`F_SETLEASE`): knowing that nobody has a file open for writing, and keeping it so.
//!
//! While a read lease is held, a program that opens the file for writing waits until the lease is
//! given back (at most `/proc/sys/fs/lease-break-time`, 45 s), and the holder can see that it waits.

use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;

const F_SETSIG: libc::c_int = 10;

/// The result of requesting a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// Nobody has the file open for writing, and nobody can without our seeing it.
    Held,
    /// Somebody has.
    Refused,
    /// The file is another user's, or the file system has no leases.
    Unknown,
}

/// Asks for a read lease on a file opened for reading; it ends when the descriptor is closed.
pub fn take(fd: impl AsFd) -> Lease {
    let fd = fd.as_fd().as_raw_fd();
    // SAFETY: these commands take numbers only; the descriptor is borrowed for both calls. The signal
    // that tells of a lease about to break becomes SIGURG, which is ignored unless asked for; the
    // default, SIGIO, would end the process.
    let done = unsafe {
        if libc::fcntl(fd, F_SETSIG, libc::SIGURG) != 0 {
            return Lease::Unknown;
        }
        libc::fcntl(fd, libc::F_SETLEASE, libc::F_RDLCK)
    };
    if done == 0 {
        return Lease::Held;
    }
    match Errno::from_io_error(&std::io::Error::last_os_error()) {
        Some(Errno::AGAIN) => Lease::Refused,
        _ => Lease::Unknown,
    }
}

/// True while nobody waits to write to a file on which a lease [was taken](take).
pub fn stands(fd: impl AsFd) -> bool {
    // SAFETY: this command takes no argument; the descriptor is borrowed for the call.
    unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_GETLEASE) == libc::F_RDLCK }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs::File;
    use std::os::unix::ffi::OsStrExt;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::sys::open::{self, CWD};

    #[test]
    fn a_file_under_a_write_lease_is_opened_when_the_lease_is_given_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let name = CString::new(path.as_os_str().as_bytes()).expect("no NUL");
        let held = File::create(&path).expect("created");
        let fd = held.as_raw_fd();
        // SAFETY: these commands take numbers only; the descriptor is open. SIGURG is ignored unless asked for.
        let done = unsafe {
            libc::fcntl(fd, F_SETSIG, libc::SIGURG) == 0
                && libc::fcntl(fd, libc::F_SETLEASE, libc::F_WRLCK) == 0
        };
        assert!(done, "{}", std::io::Error::last_os_error());
        let refused = open::file(CWD, &name, false).expect_err("it is in use");
        let said = open::error(refused).to_string();
        assert!(said.contains("in use by another program"), "{said}");
        let holder = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            drop(held);
        });
        assert!(open::file(CWD, &name, false).is_ok());
        holder.join().expect("it ends");
    }
}
