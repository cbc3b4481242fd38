//! Reads, compares and restores the metadata of files.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};

use super::check::Opened;
use crate::action::access::Rights;
use crate::action::journal::record::{Metadata, Raw, RecordedState};
use crate::file::trust;
use crate::sys::attributes::{self, ACL, Attributes};
use crate::sys::stat::Stat;
use crate::sys::statfs;

impl From<&Stat> for RecordedState {
    fn from(stat: &Stat) -> Self {
        Self {
            dev: stat.dev,
            ino: stat.ino,
            size: stat.size,
            mtime_ns: stat.mtime_ns,
        }
    }
}

/// All metadata of an opened file that undo has to restore.
pub fn of(opened: &Opened) -> Result<Metadata> {
    with(&opened.file, opened.attributes)
}

/// All metadata of an open file or folder that undo has to restore, given its attributes.
pub fn with(file: &OwnedFd, now: Attributes) -> Result<Metadata> {
    let xattrs = attributes::extended(file)?;
    let raw = |(name, value): (CString, Vec<u8>)| (Raw(name.into_bytes()), Raw(value));
    let mut metadata = Metadata {
        mode: now.mode,
        uid: now.uid,
        gid: now.gid,
        times: [now.accessed, now.modified],
        xattrs: xattrs.into_iter().map(raw).collect(),
        nosuid: false,
    };
    // Most files have none of this, and some file systems answer the question from afar.
    metadata.nosuid = metadata.has_set_id() && statfs::ignores_set_id(file);
    Ok(metadata)
}

impl Metadata {
    fn has_set_id(&self) -> bool {
        self.mode & SET_ID_BITS != 0 || self.xattrs.iter().any(is_capability)
    }

    /// The metadata without [`SET_ID`].
    fn without_set_id(&self) -> Self {
        let xattrs = self.xattrs.iter().filter(|pair| !is_capability(pair));
        Self {
            mode: self.mode & !SET_ID_BITS,
            xattrs: xattrs.cloned().collect(),
            ..self.clone()
        }
    }

    /// The access rights of the file; if `all`, with a digest of all metadata.
    pub(in crate::action) fn rights(&self, all: bool) -> Rights {
        let xattrs = self.xattrs.iter();
        let pairs = xattrs.map(|(name, value)| (&name.0[..], &value.0[..]));
        let bare = Rights {
            uid: self.uid,
            gid: self.gid,
            mode: self.mode,
            ..Rights::default()
        };
        let rights = bare.with(pairs.clone());
        if all {
            rights.with_all(self.times[1].ns(), pairs)
        } else {
            rights
        }
    }
}

/// The part of the metadata that makes a program run with rights that its caller lacks.
pub const SET_ID: &str = "set-user-ID and set-group-ID bits and capabilities";

/// The extended attribute that holds a file's capabilities.
const CAPABILITIES: &[u8] = b"security.capability";

fn is_capability((name, _): &(Raw, Raw)) -> bool {
    name.0 == CAPABILITIES
}

/// Set-user-ID and set-group-ID.
const SET_ID_BITS: u32 = 0o6000;

/// Applies all metadata to a file; returns the parts that this user may not set or that this file system cannot store.
///
/// The order matters: the owner must never be able to do more than in the end, a change of owner clears the set-user-ID
/// bits, an ACL changes the mode, and all of these calls change the times.
///
/// # Errors
/// Any other error of the system: the call may succeed at another time.
pub fn give(file: &OwnedFd, metadata: &Metadata) -> Result<Vec<&'static str>> {
    let mut missing = Vec::new();
    // Whoever made a disk chose this part, and its mount ignored it: it must not take effect on another mount.
    let without;
    let metadata = if metadata.nosuid && !statfs::ignores_set_id(file) {
        missing.push(SET_ID);
        without = metadata.without_set_id();
        &without
    } else {
        metadata
    };
    let mut mode = metadata.mode;
    // A new file lets its owner read and write. A process that opens it while the mode is wider keeps that right.
    if metadata.uid != trust::me() {
        may(attributes::set_mode(file, mode & 0o600))?;
    }
    // If the mount does not store owners and modes, nobody may set them, but they may be right already.
    let is_so = |so: &dyn Fn(Attributes) -> bool| attributes::get(file).is_ok_and(so);
    let owner = |now: Attributes| (now.uid, now.gid) == (metadata.uid, metadata.gid);
    if !may(attributes::set_owner(
        file,
        Some(metadata.uid),
        metadata.gid,
    ))? && !is_so(&owner)
    {
        // Nobody may give away a file, but its owner may give it to a group of his own.
        may(attributes::set_owner(file, None, metadata.gid))?;
        missing.push("owner");
        // Whoever runs it would run it as somebody else than before.
        mode &= may_set_id(file, metadata);
    }
    // An ACL that the folder gave to a new file would let in people who were not let in before.
    if !metadata
        .xattrs
        .iter()
        .any(|(name, _)| name.0 == ACL.to_bytes())
    {
        may(attributes::remove_extended(file, ACL))?;
    }
    for (name, value) in &metadata.xattrs {
        let name = CString::new(name.0.as_slice()).map_err(|_| Errno::INVAL)?;
        let set = may(attributes::set_extended(file, &name, &value.0))?;
        if !set && missing.last() != Some(&"extended attributes") {
            missing.push("extended attributes");
        }
    }
    let has_mode = may(attributes::set_mode(file, mode))? || is_so(&|now| now.mode == mode);
    if !has_mode || mode != metadata.mode {
        missing.push("mode");
    }
    let [accessed, modified] = metadata.times;
    if !may(attributes::set_times(file, accessed, modified))? {
        missing.push("times");
    }
    Ok(missing)
}

/// False if this user may not set it, or this file system cannot store it.
fn may(done: Result<()>) -> Result<bool> {
    match done {
        Ok(()) => Ok(true),
        // A namespace answers EINVAL for an owner that it does not know.
        Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP | Errno::NOSYS | Errno::INVAL) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The mode bits that may be set: set-user-ID and set-group-ID only for the intended owner and group.
fn may_set_id(file: &OwnedFd, metadata: &Metadata) -> u32 {
    let now = attributes::get(file).ok();
    let withheld = |same: bool, bit: u32| if same { 0 } else { bit };
    let user = withheld(now.is_some_and(|now| now.uid == metadata.uid), 0o4000);
    let group = withheld(now.is_some_and(|now| now.gid == metadata.gid), 0o2000);
    !(user | group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::attributes::Time;

    fn metadata(mode: u32, uid: u32, gid: u32) -> Metadata {
        Metadata {
            mode,
            uid,
            gid,
            times: [Time::default(); 2],
            xattrs: Vec::new(),
            nosuid: false,
        }
    }

    #[test]
    fn a_program_runs_as_its_owner_or_group_only_if_they_are_those_it_was_meant_for() {
        let file = OwnedFd::from(tempfile::tempfile().unwrap());
        let now = attributes::get(&file).unwrap();
        let allowed = |uid, gid| may_set_id(&file, &metadata(0o6755, uid, gid)) & 0o7777;
        assert_eq!(allowed(now.uid, now.gid), 0o7777);
        assert_eq!(allowed(now.uid + 1, now.gid), 0o3777);
        assert_eq!(allowed(now.uid, now.gid + 1), 0o5777);
        assert_eq!(allowed(now.uid + 1, now.gid + 1), 0o1777);
    }
}
