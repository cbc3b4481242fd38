//! The way to a file or folder: every folder and link on it that somebody else could change. A folder at the end of
//! such a way is for what this user alone writes: journals, answers.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::io::Errno;

use super::trust::{self, Distrust};
use crate::sys::way::{PathPart, Way};
use crate::sys::{attributes, names, open, sync, way};

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

/// A folder that belongs to the effective user, with a way to it that nobody else can change.
///
/// What it holds is read and written only if it is the user's own as well: a regular file that nobody else may
/// write to, by no link, without waiting for a pipe's other end.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
    at: OwnedFd,
}

impl OwnFolder {
    /// Opens it; `None` if it is not there.
    ///
    /// # Errors
    /// If somebody else could have made it or could change it, or if the system refuses.
    pub fn open(path: &Path) -> Result<Option<Self>, RouteError> {
        match Self::reach(path, false) {
            Err(RouteError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            reached => reached.map(Some),
        }
    }

    /// Opens it, and makes it for its owner only if it is missing, with what is missing above it.
    ///
    /// # Errors
    /// As [`OwnFolder::open`].
    pub fn make(path: &Path) -> Result<Self, RouteError> {
        Self::reach(path, true)
    }

    fn reach(path: &Path, make: bool) -> Result<Self, RouteError> {
        let path = &std::path::absolute(path)?;
        let (above, name) = match (path.parent(), path.file_name()) {
            (Some(above), Some(name)) => (above, CString::new(name.as_bytes())),
            // `/`, or a path that ends in `..`: the way is all there is.
            _ => (path.as_path(), Ok(c".".to_owned())),
        };
        let name = name.map_err(|_| Errno::INVAL)?;
        let above = folder(above, make)?;
        let untrusted = |why| {
            let path = path.to_owned();
            RouteError::from(Untrusted { path, why })
        };
        if make {
            way::make_folder(&above, &name, 0o700)?;
        }
        let handle = match way::step(&above, &name) {
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err(untrusted(match names::read_link(&above, &name) {
                    Ok(_) => Distrust::Link,
                    Err(_) => Distrust::NotFolder,
                }));
            }
            stepped => stepped?,
        };
        let now = attributes::get(&handle)?;
        trust::ours_alone(&now).map_err(untrusted)?;
        Ok(Self {
            path: path.to_owned(),
            at: open::folder(&handle, c".")?,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder itself, opened for listing.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.at
    }

    /// The names in it.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        // No other user can change where the path leads.
        let entries = fs::read_dir(&self.path)?;
        entries.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// `NotFound` if there is none; if it is not the user's own; if the system refuses.
    pub fn read(&self, name: &str) -> Result<File, RouteError> {
        let opened = open::file(&self.at, &c_name(name)?, false);
        self.own(name, opened, false)
    }

    /// Opens a file for reading, and for writing to its end.
    ///
    /// # Errors
    /// As [`OwnFolder::read`].
    pub fn append(&self, name: &str) -> Result<File, RouteError> {
        let opened = sync::journal(&self.at, &c_name(name)?, false);
        self.own(name, opened, true)
    }

    /// The same, and makes the file if it is missing.
    ///
    /// # Errors
    /// As [`OwnFolder::read`].
    pub fn append_or_make(&self, name: &str) -> Result<File, RouteError> {
        match sync::journal(&self.at, &c_name(name)?, true) {
            Err(Errno::EXIST) => self.append(name),
            made => self.own(name, made, true),
        }
    }

    /// Makes sure that files can be created in it.
    ///
    /// # Errors
    /// If not: the file system is read-only, or the user has removed the permission.
    pub fn may_write(&self) -> io::Result<()> {
        Ok(attributes::may_write(&self.at, c".")?)
    }

    /// Sets the time of modification of a file to now.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn touch(&self, name: &str) -> io::Result<()> {
        Ok(attributes::touch(&self.at, &c_name(name)?)?)
    }

    fn own(
        &self,
        name: &str,
        opened: rustix::io::Result<OwnedFd>,
        is_written: bool,
    ) -> Result<File, RouteError> {
        let untrusted = |why| {
            let path = self.path.join(name);
            RouteError::from(Untrusted { path, why })
        };
        let file = match opened {
            Err(Errno::LOOP) => return Err(untrusted(Distrust::Link)),
            // A socket, a device that is not there, or a folder.
            Err(Errno::NXIO | Errno::ISDIR) => return Err(untrusted(Distrust::NotRegular)),
            opened => opened?,
        };
        let (stat, now) = attributes::both(&file)?;
        let checked = trust::regular_file(&stat).and_then(|()| trust::ours_alone(&now));
        checked.map_err(untrusted)?;
        if is_written && stat.links > 1 {
            return Err(untrusted(Distrust::FurtherNames));
        }
        Ok(File::from(file))
    }
}

/// A name is not a path.
pub(super) fn c_name(name: &str) -> Result<CString, Errno> {
    if name.contains('/') {
        Err(Errno::NOENT)
    } else {
        CString::new(name).map_err(|_| Errno::NOENT)
    }
}
