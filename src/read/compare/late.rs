//! Descriptors that are closed after the answers about their files were sent: the call may not return.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

use crate::lock::locked;

/// Descriptors that are no longer needed, and are to be closed.
#[derive(Debug)]
pub struct Left(Mutex<Vec<OwnedFd>>);

impl Left {
    /// No descriptors.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// A descriptor that comes here when it is dropped.
    pub fn late(&self, fd: OwnedFd) -> Late<'_> {
        Late {
            fd: Some(fd),
            left: self,
        }
    }

    /// Closes all of them.
    pub fn close(&self) {
        let left = std::mem::take(&mut *locked(&self.0));
        drop(left);
    }
}

/// A descriptor that is not closed when it is dropped, but kept to be closed later.
#[derive(Debug)]
pub struct Late<'a> {
    /// `None` once it is dropped.
    fd: Option<OwnedFd>,
    left: &'a Left,
}

impl AsFd for Late<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_ref().expect("it is not dropped yet").as_fd()
    }
}

impl Drop for Late<'_> {
    fn drop(&mut self) {
        locked(&self.left.0).extend(self.fd.take());
    }
}
