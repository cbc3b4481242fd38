//! Paths as callers give them, and as the rooms below have them.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::error::{Cause, Error};
use crate::acting::own_way;

/// The real path of something that must be there.
pub(super) fn real(path: &Path) -> Result<PathBuf, Error> {
    let way: io::Result<_> = own_way(path).map_err(Cause::from)?;
    let way = way.map_err(|cause| Cause::NoPath(format!("{}: {cause}", path.display())))?;
    Ok(way.real)
}

pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}
