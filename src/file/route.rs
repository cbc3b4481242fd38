//! The way to a file or folder: every folder and link on it that somebody else could change.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::io::Errno;

use super::trust::{self, Distrust};
use crate::sys::way::{PathPart, Way};
use crate::sys::{attributes, way};

/// A file or folder that another user could have created or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {why}", .path.display())]
pub struct Untrusted {
    /// The file or folder: the one that was asked for, or one on the way to it.
    pub path: PathBuf,
    /// Why it is not trusted.
    pub why: Distrust,
}

impl Untrusted {
    /// Advice that makes it the user's own; `variable` is the one that names another place.
    pub fn way_out(&self, variable: &str) -> String {
        let path = self.path.display();
        match self.why {
            Distrust::Owner { me: 0, .. } => {
                format!("use sudo -H, or set {variable} to a folder of root's")
            }
            Distrust::Owner { .. } => format!("set HOME or {variable} to a folder of your own"),
            Distrust::Writable(_) => format!("run chmod go-w {}", word(&self.path)),
            Distrust::Link
            | Distrust::NotFolder
            | Distrust::NotRegular
            | Distrust::FurtherNames
            | Distrust::OtherFileSystem
            | Distrust::OtherMount => format!("move {path} away"),
        }
    }
}

/// A path as one word of a command for a shell.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@,".contains(c);
    if text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Why a way could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// Somebody else could turn it elsewhere.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for RouteError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// Opens a folder (`O_PATH`) by a way that only we and root can change.
///
/// Links on the way are followed if they are ours or root's, in folders that are: a user may have all state on
/// another disk. What is missing is made for its owner only, if `make`.
///
/// # Errors
/// `NotFound` if something is missing; what is not to be trusted; and what the system says.
pub fn folder(path: &Path, make: bool) -> Result<OwnedFd, RouteError> {
    let mut way = begin(path)?;
    while let Some(name) = way.part() {
        let part = match way.look(&name) {
            Err(Errno::NOENT) if make => {
                way::make_folder(way.here(), &name, 0o700)?;
                way.look(&name)?
            }
            part => part?,
        };
        go(&mut way, &name, part)?;
    }
    Ok(way.into_here())
}

/// Looks whether anybody else could change what this path of a file leads to; links are followed.
///
/// # Errors
/// As [`folder`].
pub fn to_file(path: &Path) -> Result<(), RouteError> {
    let mut way = begin(path)?;
    while let Some(name) = way.part() {
        let part = way.look(&name)?;
        if way.left() == 0 && !part.is_link() {
            let trusted = trust::nobody_else_writes(&part.handle, &part.access);
            return trusted.map_err(untrusted(&way, Some(&name)));
        }
        go(&mut way, &name, part)?;
    }
    Ok(())
}

fn begin(path: &Path) -> Result<Way, RouteError> {
    let path = std::path::absolute(path)?;
    let way = Way::to(path.as_os_str().as_bytes())?;
    let now = attributes::get(way.here())?;
    trust::folder_is_safe(way.here(), &now).map_err(untrusted(&way, None))?;
    Ok(way)
}

/// One part further, if nobody else could have made it lead there.
fn go(way: &mut Way, name: &CStr, part: PathPart) -> Result<(), RouteError> {
    match part.stat.kind {
        FileType::Directory => {
            way.enter(name, part.handle);
            let safe = trust::folder_is_safe(way.here(), &part.access);
            safe.map_err(untrusted(way, None))
        }
        FileType::Symlink => {
            let safe = trust::is_trusted(part.access.uid);
            safe.map_err(untrusted(way, Some(name)))?;
            Ok(way.follow(&part)?)
        }
        _ => Err(Errno::NOTDIR.into()),
    }
}

/// Says what is not trusted: the folder that was reached, or a name in it.
fn untrusted(way: &Way, name: Option<&CStr>) -> impl FnOnce(Distrust) -> RouteError {
    let mut path = way.shown().to_owned();
    path.extend(name.map(|name| OsStr::from_bytes(name.to_bytes())));
    |why| Untrusted { path, why }.into()
}
