//! Where a given path leads, and who decides that.
//!
//! The owner of a symbolic link on the way to a path can make the path lead elsewhere at any time. An action that
//! follows such a link does to other people's files what the owner of the link wants.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::sys::{open, way};

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootWay {
    /// Device and inode number of what it leads to.
    pub id: (u64, u64),
    /// The path of that, without links.
    pub real: PathBuf,
    /// The symbolic links on the way.
    pub links: Vec<RootLink>,
}

/// A symbolic link on the way to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootLink {
    /// Where it lies.
    pub path: PathBuf,
    /// What it leads to, without links.
    pub target: PathBuf,
    /// Who owns the link.
    pub owner: u32,
    /// Its owner could lead the path to files of others: the link belongs neither to root nor to the owner of what
    /// it leads to, or of what the path leads to in the end.
    pub is_a_strangers: bool,
}

impl RootWay {
    /// Follows a path.
    ///
    /// # Errors
    /// If it leads nowhere, or may not be followed.
    pub fn look(path: &Path) -> io::Result<Self> {
        let way = way::follow(path.as_os_str().as_bytes())?;
        let real = open::path_of(&way.end).ok_or(io::ErrorKind::NotFound)?;
        let end_owner = way.owner;
        let links = way.links.into_iter().map(|link| RootLink {
            path: path_from(link.path),
            target: path_from(link.target),
            owner: link.owner,
            is_a_strangers: link.owner != 0
                && (link.owner != link.target_owner || link.owner != end_owner),
        });
        Ok(Self {
            id: way.id,
            real: path_from(real),
            links: links.collect(),
        })
    }
}

fn path_from(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}
