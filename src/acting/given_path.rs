//! Paths that an action is given: where they lead, and who decides that.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::action::{RootLink, RootWay};
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::open::{self, CWD};
use crate::sys::statfs;

/// A folder that may not be there yet, with the links on the way to it resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFolder {
    /// Its path: what there is of it is real, and what is missing will be made there.
    pub path: PathBuf,
    /// `st_dev` of the file system of what is there of it.
    pub dev: u64,
}

/// Why a folder can neither be used nor made.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", .path.display(), .why)]
pub struct NoFolder {
    /// The folder as it was given.
    pub path: PathBuf,
    /// Why.
    pub why: &'static str,
}

impl NoFolder {
    fn because<E: From<Self>>(path: &Path, why: &'static str) -> E {
        let path = path.to_owned();
        Self { path, why }.into()
    }
}

impl FoundFolder {
    /// Looks for the part of this absolute path that is there. `look` says where a path leads, and on which file
    /// system.
    ///
    /// # Errors
    /// If there is something else, or nothing, or if `look` fails.
    pub fn look<E: From<NoFolder>>(
        whole: &Path,
        mut look: impl FnMut(&Path) -> Result<Option<(PathBuf, u64)>, E>,
    ) -> Result<Self, E> {
        for there in whole.ancestors() {
            let Some((real, dev)) = look(there)? else {
                continue;
            };
            let rest = whole.strip_prefix(there).unwrap_or(Path::new(""));
            let mut parts = rest.components();
            if !parts.all(|part| matches!(part, Component::Normal(_))) {
                return Err(NoFolder::because(
                    whole,
                    ".. after a folder that does not exist",
                ));
            }
            if !real.symlink_metadata().is_ok_and(|now| now.is_dir()) {
                return Err(NoFolder::because(whole, "not a folder"));
            }
            if is_pseudo(&real) {
                return Err(NoFolder::because(
                    whole,
                    "this is a pseudo file system: name a folder on a disk",
                ));
            }
            let path = match rest.as_os_str().is_empty() {
                true => real,
                false => real.join(rest),
            };
            return Ok(Self { path, dev });
        }
        Err(NoFolder::because(whole, "cannot be reached"))
    }
}

/// True if files cannot be kept there, as in `/proc`; false where it cannot be told.
fn is_pseudo(folder: &Path) -> bool {
    let name = CString::new(folder.as_os_str().as_bytes());
    let opened = name.map(|name| open::folder_handle(CWD, &name));
    matches!(opened, Ok(Ok(folder)) if statfs::is_pseudo(&folder))
}

/// A given path that leads through the link of another user, which root does not follow.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} is a link to {}, which other users can change: give the path without the link",
    .0.path.display(), .0.target.display()
)]
pub struct UntrustedLink(pub RootLink);

/// Where a path leads; as root through no link of another user.
///
/// # Errors
/// If it leads nowhere, which is the inner error, or through such a link.
pub fn own_way(path: &Path) -> Result<io::Result<RootWay>, UntrustedLink> {
    let way = match RootWay::look(path) {
        Ok(way) => way,
        nowhere => return Ok(nowhere),
    };
    match way.links.iter().find(|link| link.is_untrusted) {
        Some(link) if trust::is_root() => Err(UntrustedLink(link.clone())),
        _ => Ok(Ok(way)),
    }
}

/// Given folders, but for those that lie below others: they are seen there.
pub fn outermost(given: Vec<PathBuf>) -> Vec<PathBuf> {
    // Where a path cannot be looked at, the search says why.
    let real = |path: PathBuf| {
        current::ask_about(path.as_os_str().as_bytes());
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        (path, real)
    };
    let paths: Vec<(PathBuf, PathBuf)> = given.into_iter().map(real).collect();
    current::rest();
    // A folder comes before what lies below it, and the first of equal ones first.
    let mut order: Vec<usize> = (0..paths.len()).collect();
    order.sort_by_key(|&at| (&paths[at].1, at));
    let mut tops: Vec<usize> = Vec::new();
    for at in order {
        let is_below = |top: &usize| paths[at].1.starts_with(&paths[*top].1);
        if !tops.last().is_some_and(is_below) {
            tops.push(at);
        }
    }
    tops.sort_unstable();
    let mut paths: Vec<Option<PathBuf>> = paths.into_iter().map(|(path, _)| Some(path)).collect();
    let tops = tops.into_iter().filter_map(|at| paths[at].take());
    tops.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_folders_within_each_other_the_outer_ones_stay_in_their_order() {
        let outer = |given: &[&str]| outermost(given.iter().map(PathBuf::from).collect());
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(
            outer(&["/no/b", "/no/a/x", "/no/a", "/no/b"]),
            paths(&["/no/b", "/no/a"])
        );
        assert_eq!(
            outer(&["/no/a b", "/no/a", "/no/a/b"]),
            paths(&["/no/a b", "/no/a"])
        );
        assert_eq!(outer(&[]), paths(&[]));
    }
}
