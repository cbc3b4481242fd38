//! Finds a root that lies in another one, whatever filters hide on the way there.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::device::{Inner, Mounts};
use crate::heartbeat::current;
use crate::heartbeat::within;

use super::config::Root;

/// A root lies in another one.
#[derive(Debug, thiserror::Error)]
#[error("{}: lies in {}; compare it with what is outside that folder", inner.display(), outer.display())]
pub struct Nested {
    inner: PathBuf,
    outer: PathBuf,
}

/// Where a root lies: its real path, and its place on its file system.
struct Place(PathBuf, Option<Inner>);

impl Place {
    /// `None` if its file system does not say so in time: the search says why it sees nothing there.
    fn of(path: &Path, mounts: &Mounts, patience: Duration) -> Option<Self> {
        let path = path.to_owned();
        let real = within(Some(patience), move || std::fs::canonicalize(path));
        let real = real.ok()?.ok()?;
        let inner = mounts.inner(real.as_os_str().as_bytes());
        Some(Self(real, inner))
    }

    /// True if everything in the other one is in this one, too.
    fn holds(&self, other: &Self) -> bool {
        let by_mount = self.1.as_ref().zip(other.1.as_ref());
        other.0.starts_with(&self.0) || by_mount.is_some_and(|(here, there)| here.holds(there))
    }
}

/// Refuses roots of which one lies in another one. The same root twice is for the caller to see.
pub fn check(roots: &[Root], patience: Duration) -> Result<(), Nested> {
    let mounts = Mounts::read();
    let place = |root: &Root| {
        let _call = current::limited_call(&root.path);
        Place::of(&root.path, &mounts, patience)
    };
    let places: Vec<Option<Place>> = roots.iter().map(place).collect();
    for (outer, here) in roots.iter().zip(&places) {
        for (inner, there) in roots.iter().zip(&places) {
            if let (Some(here), Some(there)) = (here, there)
                && here.holds(there)
                && !there.holds(here)
            {
                let (inner, outer) = (inner.path.clone(), outer.path.clone());
                return Err(Nested { inner, outer });
            }
        }
    }
    Ok(())
}
