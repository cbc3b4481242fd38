//! Checks the files again, right before the act: on open descriptors, below opened folders.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::{Expected, StepFile};
use crate::action::coherence::Location;
use crate::action::reads::Reads;
use crate::action::reason::{Code, IDENTITY, MODIFIED, Reason, SIZE, STATUS};
use crate::action::ways::folder_entry::{Identity, NameInFolder};
use crate::read::{self, OpenFile};
use crate::sys::attributes::{self, Attributes};
use crate::sys::open;
use crate::sys::stat::{self, Stat};
use crate::sys::statfs::{self, ServedBy};
use crate::sys::sync::{self, Lease};

/// Files that this run has changed itself, with the times after its change.
///
/// A further name for a keeper, or the removal of one of several names, sets the change time.
pub type OwnChanges = HashMap<Identity, Times>;

/// Times of a file, nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Last modification.
    pub mtime_ns: i64,
    /// Last change of the inode.
    pub ctime_ns: i64,
}

impl Times {
    /// The times of this file.
    pub fn of(stat: &Stat) -> Self {
        Self {
            mtime_ns: stat.mtime_ns,
            ctime_ns: stat.ctime_ns,
        }
    }
}

/// A file whose name, identity and state have been checked.
#[derive(Debug)]
pub struct Opened {
    /// The place of the file.
    pub place: NameInFolder,
    /// The file, open for reading.
    pub file: OwnedFd,
    /// The metadata at the time of the open call.
    pub stat: Stat,
    /// The attributes at the time of the open call.
    pub attributes: Attributes,
    /// The rules for reads of its bytes.
    pub reads: Reads,
    /// The kernel keeps its file system: while it is open, no other file has its number.
    pub is_kernels: bool,
    lease: Lease,
    identity: Cell<Identity>,
}

impl Opened {
    /// Opens a file and checks that it is the expected one.
    pub fn open(target: &StepFile, ours: &OwnChanges, reads: &Reads) -> Result<Self, Reason> {
        let place = NameInFolder::of(&target.path)?;
        // The kind comes first: opening may have effects on what is no regular file.
        let seen = place.stat().map_err(gone)?;
        if seen.kind != FileType::RegularFile {
            return Err(Code::NotRegular.into());
        }
        let file = open::file(&place.folder, &place.name, false).map_err(gone)?;
        let (stat, attributes) = attributes::both(&file).map_err(unreadable)?;
        match verify(&stat, &target.expected, ours) {
            // Also what this run linked to on an overlay.
            Err(why)
                if why.is_changed(IDENTITY) && statfs::served_by(&file) != ServedBy::Kernel =>
            {
                let times_alone = Expected {
                    ino: None,
                    ..target.expected
                };
                verify(&stat, &times_alone, ours)?;
            }
            verified => verified?,
        }
        if read::has_too_many_holes(&stat) {
            return Err(Reason::unreadable(&read::too_many_holes()));
        }
        Ok(Self {
            identity: Cell::new((stat.dev, stat.ino)),
            place,
            file,
            stat,
            attributes,
            reads: reads.clone(),
            is_kernels: false,
            lease: Lease::Unknown,
        })
    }

    /// The file, to be read as a whole.
    pub fn whole(&self) -> OpenFile<&OwnedFd> {
        self.reads.whole(&self.file, self.stat.dev, self.stat.size)
    }

    /// Device and inode number, as they were when the file was last recognized.
    pub fn identity(&self) -> Identity {
        self.identity.get()
    }

    /// True if this metadata belongs to the open file.
    ///
    /// An overlay gives a file with several names another number when it copies the file to its upper layer, for
    /// instance for a rename or a link. The open descriptor shows that number too.
    pub fn is(&self, seen: &Stat) -> bool {
        let seen = (seen.dev, seen.ino);
        if seen != self.identity()
            && statfs::served_by(&self.file) == ServedBy::Overlay
            && let Ok(now) = stat::fresh_descriptor(&self.file)
        {
            self.identity.set((now.dev, now.ino));
        }
        seen == self.identity()
    }

    /// True if this name in a folder belongs to the open file.
    pub fn is_at(&self, folder: &OwnedFd, name: &CStr) -> bool {
        stat::fresh_entry(folder, name)
            .is_ok_and(|now| now.kind == FileType::RegularFile && self.is(&now))
    }

    /// The file system and the mount of its name. Links and renames never cross either.
    pub fn volume(&self) -> Location {
        let location = self.location();
        if self.is_kernels {
            return location;
        }
        Location {
            dev: self.place.volume(location.dev),
            ..location
        }
    }

    /// The location of the file. The files of an overlay may have other device numbers than their names.
    pub fn location(&self) -> Location {
        Location::of(&self.stat)
    }

    /// Checks that no process has the file open for writing, and detects a process that opens it later. Best effort:
    /// for other users' files and on some file systems this is not known.
    pub fn guard(&mut self) -> Result<(), Reason> {
        self.lease = sync::take_lease(&self.file);
        match self.lease {
            Lease::Refused => Err(Code::OpenForWriting.into()),
            Lease::Held | Lease::Unknown => Ok(()),
        }
    }

    /// Checks that the file may be changed, and with `its_name` that names may be created, exchanged and removed beside
    /// it.
    pub fn changeable(&self, its_name: bool) -> Result<(), Reason> {
        let folder = its_name.then(|| attributes::get(&self.place.folder));
        let folder = folder.transpose().map_err(unreadable)?;
        let is_fixed = |it: &Attributes| it.immutable || it.append_only;
        if is_fixed(&self.attributes) || folder.as_ref().is_some_and(is_fixed) {
            Err(Code::Immutable.into())
        } else {
            Ok(())
        }
    }

    /// Checks that the open file has the same bytes as when it was opened.
    pub fn unchanged(&self) -> Result<Stat, Reason> {
        let now = stat::fresh_descriptor(&self.file).map_err(unreadable)?;
        self.as_opened(now)
    }

    fn as_opened(&self, now: Stat) -> Result<Stat, Reason> {
        if self.lease == Lease::Held && !sync::lease_stands(&self.file) {
            Err(Code::OpenForWriting.into())
        } else if now.size != self.stat.size {
            Err(Reason::changed(SIZE))
        } else if now.mtime_ns != self.stat.mtime_ns {
            Err(Reason::changed(MODIFIED))
        } else {
            Ok(now)
        }
    }

    /// Checks that the name still leads to the open file, and that its bytes did not change.
    pub fn still_there(&self) -> Result<Stat, Reason> {
        let now = self.place.stat().map_err(gone)?;
        if !self.is(&now) {
            Err(Reason::changed(IDENTITY))
        } else if self.is_kernels {
            self.as_opened(now)
        } else {
            self.unchanged()
        }
    }

    /// As [`Opened::still_there`], and learns the state of the inode again, of which other users may have changed the
    /// rest.
    ///
    /// A victim must be as it was when it was opened, unless this run changed it.
    pub(in crate::action) fn look_again(
        &mut self,
        is_victim: bool,
        ours: &OwnChanges,
    ) -> Result<(), Reason> {
        let now = self.still_there()?;
        let is_same = now.ctime_ns == self.stat.ctime_ns;
        let is_ours = || ours.get(&self.identity()) == Some(&Times::of(&now));
        if is_victim && !is_same && !is_ours() {
            return Err(Reason::changed(STATUS));
        }
        if !is_same {
            (self.stat, self.attributes) = attributes::both(&self.file).map_err(unreadable)?;
        }
        Ok(())
    }

    /// Checks that this path still leads to the folder in which the file was found.
    pub(in crate::action) fn is_on_its_way(&self, path: &[u8]) -> Result<(), Reason> {
        let now = NameInFolder::of(path)?;
        let [was, now] = [&self.place, &now].map(|place| stat::descriptor(&place.folder));
        let identity = |folder: Stat| (folder.dev, folder.ino);
        if was.map(identity) == now.map(identity) {
            Ok(())
        } else {
            Err(Reason::changed(IDENTITY))
        }
    }
}

pub(in crate::action) fn gone(error: Errno) -> Reason {
    match error {
        Errno::NOENT | Errno::NOTDIR => Code::Gone.into(),
        Errno::LOOP => Code::NotRegular.into(),
        error => Reason::unreadable(&open::error(error)),
    }
}

pub(in crate::action) fn unreadable(error: Errno) -> Reason {
    Reason::unreadable(&error.into())
}

/// Compares a file with its expected state.
fn verify(stat: &Stat, expected: &Expected, ours: &OwnChanges) -> Result<(), Reason> {
    if stat.kind != FileType::RegularFile {
        return Err(Code::NotRegular.into());
    }
    let same = |known: Option<u64>, now| known.is_none_or(|known| known == now);
    let same_time = |known: Option<i64>, now| known.is_none_or(|known| known == now);
    let is_ours = || ours.get(&(stat.dev, stat.ino)) == Some(&Times::of(stat));
    let changed = if !same(expected.dev, stat.dev) || !same(expected.ino, stat.ino) {
        IDENTITY
    } else if stat.size != expected.size {
        SIZE
    } else if !same_time(expected.mtime_ns, stat.mtime_ns) && !is_ours() {
        MODIFIED
    } else if !same_time(expected.ctime_ns, stat.ctime_ns) && !is_ours() {
        STATUS
    } else {
        return Ok(());
    };
    Err(Reason::changed(changed))
}

#[cfg(test)]
pub(in crate::action) mod tests {
    use std::fs::{self, File};
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::*;

    const STAT: Stat = Stat {
        kind: FileType::RegularFile,
        dev: 1,
        ino: 2,
        size: 3,
        atime_ns: 60,
        mtime_ns: 40,
        ctime_ns: 50,
        links: 1,
        blocks: 8,
        mount: 0,
        mount_root: false,
    };

    fn change(expected: Expected, ours: &OwnChanges) -> Option<Reason> {
        verify(&STAT, &expected, ours).err()
    }

    #[test]
    fn what_is_known_must_be_as_it_was() {
        let all = Expected {
            size: 3,
            dev: Some(1),
            ino: Some(2),
            mtime_ns: Some(40),
            ctime_ns: Some(50),
        };
        let none = OwnChanges::new();
        let strict = |expected| change(expected, &none);
        assert_eq!(strict(all), None);
        assert_eq!(
            strict(Expected {
                dev: Some(9),
                ..all
            }),
            Some(Reason::changed(IDENTITY))
        );
        assert_eq!(
            strict(Expected {
                ino: Some(9),
                ..all
            }),
            Some(Reason::changed(IDENTITY))
        );
        assert_eq!(
            strict(Expected { size: 9, ..all }),
            Some(Reason::changed(SIZE))
        );
        let later = Expected {
            mtime_ns: Some(9),
            ..all
        };
        assert_eq!(strict(later), Some(Reason::changed(MODIFIED)));
        let later = Expected {
            ctime_ns: Some(9),
            ..all
        };
        assert_eq!(strict(later), Some(Reason::changed(STATUS)));
        let left = |mtime_ns, ctime_ns| {
            let times = Times { mtime_ns, ctime_ns };
            OwnChanges::from([((1, 2), times)])
        };
        assert_eq!(change(later, &left(40, 50)), None);
        // Somebody wrote to it since.
        let written = change(later, &left(39, 50));
        assert_eq!(written, Some(Reason::changed(STATUS)));
        let cut = Expected {
            mtime_ns: Some(44),
            ..later
        };
        assert_eq!(change(cut, &left(40, 50)), None);
        let strict = change(cut, &none);
        assert_eq!(strict, Some(Reason::changed(MODIFIED)));
    }

    /// A folder with these files of equal content.
    pub(in crate::action) fn folder(names: &[&str]) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        for name in names {
            fs::write(real.join(name), "equal").unwrap();
        }
        (folder, real)
    }

    pub(in crate::action) fn opened(path: &Path) -> Opened {
        let target = StepFile {
            path: path.as_os_str().as_bytes().to_vec(),
            expected: Expected {
                size: fs::metadata(path).unwrap().len(),
                ..Expected::default()
            },
        };
        Opened::open(&target, &OwnChanges::new(), &Reads::default()).unwrap()
    }

    /// Gives a file other bytes of the same length, and another time.
    pub(in crate::action) fn rewrite(path: &Path) {
        fs::write(path, "other").unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH)
            .unwrap();
    }
}
