//! What a file is besides its bytes: read, compared, given back.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::io::Result;

use super::check::Opened;
use super::record::{Metadata, Raw, State};
use crate::sys::attributes;
use crate::sys::stat::Stat;

impl From<&Stat> for State {
    fn from(stat: &Stat) -> Self {
        Self {
            dev: stat.dev,
            ino: stat.ino,
            size: stat.size,
            mtime_ns: stat.mtime_ns,
        }
    }
}

/// Everything about an opened file that has to be given back with it.
pub fn of(opened: &Opened) -> Result<Metadata> {
    let now = opened.attributes;
    let xattrs = attributes::extended(&opened.file)?;
    let raw = |(name, value): (CString, Vec<u8>)| (Raw(name.into_bytes()), Raw(value));
    Ok(Metadata {
        mode: now.mode,
        uid: now.uid,
        gid: now.gid,
        atime_ns: now.atime_ns,
        mtime_ns: now.mtime_ns,
        xattrs: xattrs.into_iter().map(raw).collect(),
    })
}

/// Gives a file all of it; returns what could not be given.
///
/// In this order: a new owner clears the set-user-ID bits, an ACL is part of the mode, and everything
/// before the times would be seen in them.
pub fn give(file: &OwnedFd, metadata: &Metadata) -> Vec<&'static str> {
    let mut missing = Vec::new();
    let mut mode = metadata.mode;
    if attributes::set_owner(file, Some(metadata.uid), metadata.gid).is_err() {
        // Nobody may give away a file, but its owner may give it to a group of his own.
        let _ = attributes::set_owner(file, None, metadata.gid);
        missing.push("owner");
        // Whoever runs it would run it as somebody else than before.
        mode &= may_set_id(file, metadata);
    }
    for (name, value) in &metadata.xattrs {
        let set = CString::new(name.0.as_slice())
            .is_ok_and(|name| attributes::set_extended(file, &name, &value.0).is_ok());
        if !set && missing.last() != Some(&"extended attributes") {
            missing.push("extended attributes");
        }
    }
    if attributes::set_mode(file, mode).is_err() || mode != metadata.mode {
        missing.push("mode");
    }
    if attributes::set_times(file, metadata.atime_ns, metadata.mtime_ns).is_err() {
        missing.push("times");
    }
    missing
}

/// The bits of a mode that may be given: set-user-ID and set-group-ID only to the owner and group that it was
/// meant for.
fn may_set_id(file: &OwnedFd, metadata: &Metadata) -> u32 {
    let now = attributes::get(file).ok();
    let withheld = |same: bool, bit: u32| if same { 0 } else { bit };
    let user = withheld(now.is_some_and(|now| now.uid == metadata.uid), 0o4000);
    let group = withheld(now.is_some_and(|now| now.gid == metadata.gid), 0o2000);
    !(user | group)
}

/// Names what two files do not have in common, the time of access aside.
pub fn differences(one: &Metadata, other: &Metadata) -> Vec<&'static str> {
    let differs = [
        (one.mode != other.mode, "mode"),
        (one.uid != other.uid, "owner"),
        (one.gid != other.gid, "group"),
        (one.mtime_ns != other.mtime_ns, "modification time"),
        (one.xattrs != other.xattrs, "extended attributes"),
    ];
    let differs = differs.into_iter().filter(|(differs, _)| *differs);
    differs.map(|(_, name)| name).collect()
}
