//! The way to a file or folder: every folder and link on it that somebody else could change.

use std::collections::VecDeque;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::trust::{self, Distrust};
use crate::sys::{attributes, open, parent};

/// What somebody else could have made or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {why}", .path.display())]
pub struct Untrusted {
    /// The file or folder: the one that was asked for, or one on the way to it.
    pub path: PathBuf,
    /// Why it is not trusted.
    pub why: Distrust,
}

impl Untrusted {
    /// What makes it the user's own; `variable` is the one that names another place.
    pub fn way_out(&self, variable: &str) -> String {
        let path = self.path.display();
        match self.why {
            Distrust::Owner { me: 0, .. } => {
                format!("use sudo -H, or set {variable} to a folder of root's")
            }
            Distrust::Owner { .. } => format!("set HOME or {variable} to a folder of your own"),
            Distrust::Writable(_) => format!("chmod go-w {path}"),
            Distrust::Link
            | Distrust::NotFolder
            | Distrust::NotRegular
            | Distrust::FurtherNames => format!("move {path} away"),
        }
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

/// As many links as the kernel follows.
const LINKS: usize = 40;

/// Opens a folder (`O_PATH`) by a way that only we and root can change.
///
/// Links on the way are followed if they are ours or root's, in folders that are: a user may have all state on
/// another disk. What is missing is made for its owner only, if `make`.
///
/// # Errors
/// `NotFound` if something is missing; what is not to be trusted; and what the system says.
pub fn folder(path: &Path, make: bool) -> Result<OwnedFd, RouteError> {
    let mut way = Way::to(path)?;
    while let Some(part) = way.left.pop_front() {
        way.go(&part, make)?;
    }
    Ok(way.at)
}

/// Looks whether anybody else could change what this path of a file leads to; links are followed.
///
/// # Errors
/// As [`folder`].
pub fn to_file(path: &Path) -> Result<(), RouteError> {
    let mut way = Way::to(path)?;
    while let Some(part) = way.left.pop_front() {
        match way.left.is_empty() {
            true => way.end(&part)?,
            false => way.go(&part, false)?,
        }
    }
    Ok(())
}

/// A way that was gone in part.
struct Way {
    at: OwnedFd,
    /// Where that is, for messages.
    shown: PathBuf,
    left: VecDeque<Vec<u8>>,
    links: usize,
}

impl Way {
    fn to(path: &Path) -> Result<Self, RouteError> {
        let path = std::path::absolute(path)?;
        let mut way = Self {
            at: parent::open(b"/")?,
            shown: PathBuf::from("/"),
            left: VecDeque::new(),
            links: 0,
        };
        way.look()?;
        way.lead(path.as_os_str().as_bytes());
        Ok(way)
    }

    /// Puts the parts of a path in front of what is left of the way.
    fn lead(&mut self, path: &[u8]) {
        let parts = path.split(|&b| b == b'/').rev();
        for part in parts.filter(|part| !matches!(*part, b"" | b".")) {
            self.left.push_front(part.to_vec());
        }
    }

    /// One part further.
    fn go(&mut self, part: &[u8], make: bool) -> Result<(), RouteError> {
        let name = CString::new(part).map_err(|_| Errno::INVAL)?;
        let stepped = match parent::step(&self.at, &name) {
            Err(Errno::NOENT) if make => {
                parent::make_folder(&self.at, &name, 0o700)?;
                parent::step(&self.at, &name)
            }
            stepped => stepped,
        };
        match stepped {
            Ok(next) => {
                self.at = next;
                match part {
                    b".." => drop(self.shown.pop()),
                    part => self.shown.push(OsStr::from_bytes(part)),
                }
                self.look()
            }
            // `O_DIRECTORY` says so of a link, too.
            Err(Errno::NOTDIR | Errno::LOOP) => self.follow(&name),
            Err(error) => Err(error.into()),
        }
    }

    /// The last part, which may be a file.
    fn end(&mut self, part: &[u8]) -> Result<(), RouteError> {
        let name = CString::new(part).map_err(|_| Errno::INVAL)?;
        let file = open::any_handle(&self.at, &name, false)?;
        if open::link_target(&self.at, &name).is_ok() {
            return self.follow(&name);
        }
        let now = attributes::get(&file)?;
        let trusted = trust::file_is_safe(&file, &now);
        trusted.map_err(|why| self.untrusted(part, why).into())
    }

    fn follow(&mut self, name: &CString) -> Result<(), RouteError> {
        let part = name.to_bytes();
        let link = open::any_handle(&self.at, name, false)?;
        let target = match open::link_target(&link, c"") {
            // No link, and no folder.
            Err(Errno::NOENT | Errno::INVAL) => return Err(Errno::NOTDIR.into()),
            target => target?,
        };
        // Every link has mode 777; what counts is whose it is.
        let now = attributes::get(&link)?;
        let now = attributes::Attributes { mode: 0o700, ..now };
        trust::file_is_safe(&link, &now).map_err(|why| self.untrusted(part, why))?;
        self.links += 1;
        if self.links > LINKS {
            return Err(Errno::LOOP.into());
        }
        if target.starts_with(b"/") {
            self.at = parent::open(b"/")?;
            self.shown = PathBuf::from("/");
        }
        self.lead(&target);
        Ok(())
    }

    fn look(&self) -> Result<(), RouteError> {
        let now = attributes::get(&self.at)?;
        let trusted = trust::folder_is_safe(&self.at, &now);
        trusted.map_err(|why| {
            let path = self.shown.clone();
            Untrusted { path, why }.into()
        })
    }

    fn untrusted(&self, part: &[u8], why: Distrust) -> Untrusted {
        let path = self.shown.join(OsStr::from_bytes(part));
        Untrusted { path, why }
    }
}
