//! A folder whose files this user reads and does not write.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::own_folder::c_name;
use super::route::{self, RouteError, Untrusted};
use super::trust;
use crate::sys::{attributes, open, parent};

/// Whose files are believed, apart from the user's own and root's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Believed {
    /// Nobody's.
    NobodyElses,
    /// Those of the owner of the folder, unless this runs as root.
    ItsOwners,
}

/// A folder that only its owner and root can change, with a way to it that nobody else can change.
#[derive(Debug)]
pub struct ReadableFolder {
    path: PathBuf,
    at: OwnedFd,
    owner: u32,
    /// The owner, if this is neither the user nor root.
    trusted: Option<u32>,
}

impl ReadableFolder {
    /// Opens it.
    ///
    /// # Errors
    /// `NotFound` if it is missing; if it belongs to somebody who is not believed, if others than its owner and root
    /// could change it, or if the system refuses.
    pub fn open(path: &Path, believed: Believed) -> Result<Self, RouteError> {
        let path = &std::path::absolute(path)?;
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Errno::INVAL.into());
        };
        let name = CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
        let trusted = match believed {
            Believed::ItsOwners if !trust::is_root() => {
                let owner = fs::symlink_metadata(path)?.uid();
                (!trust::is_ours_or_roots(owner)).then_some(owner)
            }
            _ => None,
        };
        let above = route::folder_trusting(trusted, above)?;
        let handle = parent::step(&above, &name)?;
        let now = attributes::get(&handle)?;
        let path = path.clone();
        match trust::only_owner_writes(trusted, &now) {
            Ok(()) => Ok(Self {
                path,
                at: open::folder(&handle, c".")?,
                owner: now.uid,
                trusted,
            }),
            Err(why) => Err(Untrusted { path, why }.into()),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder itself, opened for listing.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.at
    }

    /// Whose it is.
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// True if it belongs neither to this user nor to root.
    pub fn is_a_third_users(&self) -> bool {
        self.trusted.is_some()
    }

    /// The names in it.
    ///
    /// # Errors
    /// If it cannot be listed.
    pub fn names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        let entries = fs::read_dir(&self.path)?;
        entries.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// True if there is a file of this name.
    ///
    /// # Errors
    /// If it is no regular file, or if others than its owner and root could change it; if the system refuses.
    pub fn has(&self, name: &str) -> Result<bool, RouteError> {
        let (stat, now) = match attributes::entry(&self.at, &c_name(name)?) {
            Err(Errno::NOENT) => return Ok(false),
            entry => entry?,
        };
        let checked = trust::regular_file(&stat);
        match checked.and_then(|()| trust::only_owner_writes(self.trusted, &now)) {
            Ok(()) => Ok(true),
            Err(why) => {
                let path = self.path.join(name);
                Err(Untrusted { path, why }.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::trust::Distrust;
    use super::*;

    fn why<T: std::fmt::Debug>(result: Result<T, RouteError>) -> Distrust {
        match result.expect_err("refused") {
            RouteError::Untrusted(untrusted) => untrusted.why,
            RouteError::Io(error) => panic!("{error}"),
        }
    }

    #[test]
    fn only_what_nobody_but_its_owner_and_root_can_change_is_read() {
        let top = tempfile::tempdir().expect("a folder");
        let path = top.path().join("cache");
        fs::create_dir(&path).expect("is made");
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("is set");
        };
        let open = || ReadableFolder::open(&path, Believed::ItsOwners);
        set(&path, 0o755);
        let folder = open().expect("is opened");
        assert_eq!(
            (folder.owner(), folder.is_a_third_users()),
            (trust::me(), false)
        );
        fs::write(path.join("rows"), "x").expect("is written");
        symlink("rows", path.join("link")).expect("a link");
        rustix::fs::mkfifoat(folder.descriptor(), "pipe", rustix::fs::Mode::RWXU).expect("made");
        set(&path.join("rows"), 0o644);
        assert!(folder.has("rows").expect("is readable"));
        assert!(!folder.has("missing").expect("is queried"));
        assert_eq!(why(folder.has("link")), Distrust::Link);
        assert_eq!(why(folder.has("pipe")), Distrust::NotRegular);
        for mode in [0o664, 0o646] {
            set(&path.join("rows"), mode);
            assert_eq!(why(folder.has("rows")), Distrust::Writable(mode));
        }
        for mode in [0o775, 0o757, 0o1777] {
            set(&path, mode);
            assert_eq!(why(open()), Distrust::Writable(mode));
        }
        symlink("cache", top.path().join("other")).expect("a link");
        assert!(ReadableFolder::open(&top.path().join("other"), Believed::ItsOwners).is_err());
    }
}
