//! Folders that a step made on its way: they go again if the step is not done.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use crate::sys::unlink;

/// Folders that were not there before, each with the one that it lies in.
#[derive(Debug, Default)]
pub struct Made(RefCell<Vec<(OwnedFd, CString)>>);

impl Made {
    /// Takes note of one.
    pub fn note(&self, parent: &OwnedFd, name: &CStr) {
        // Without a descriptor for it the folder stays.
        if let Ok(parent) = parent.try_clone() {
            self.0.borrow_mut().push((parent, name.to_owned()));
        }
    }

    /// Removes those that are empty; what somebody else put into one keeps it.
    pub fn take_back(&self) {
        for (parent, name) in self.0.borrow_mut().drain(..).rev() {
            let _ = unlink::folder(parent, &name);
        }
    }
}
