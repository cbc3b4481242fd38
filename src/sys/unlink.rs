//! `unlinkat`: taking a file's name away.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::fs::AtFlags;
use rustix::io::Result;

use super::fault;

/// Takes an empty folder away.
pub fn folder(parent: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// Takes a name away from what is no folder.
pub fn file(folder: impl AsFd, name: &CStr) -> Result<()> {
    fault::point()?;
    rustix::fs::unlinkat(folder, name, AtFlags::empty())
}
