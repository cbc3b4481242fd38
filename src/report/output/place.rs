//! Where a report goes: a name in an opened folder, found through no link that another user may have made; and whether
//! what is there is an earlier result of seekless, which a new one may replace.
//!
//! The path is resolved once, part by part. After that only the name in the opened folder counts, so nobody can
//! swap a folder of the path for another one.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::error::Cause;
use crate::catalog::wanted::HEADER;
use crate::file::trust;
use crate::sys::attributes::{self, Attributes};
use crate::sys::stat::Stat;
use crate::sys::way::{PathPart, Way};
use crate::sys::{open, statfs};

/// Where a path leads.
#[derive(Debug)]
pub enum Found {
    /// To a name in a folder.
    Name(OutputPlace),
    /// To a file that some process has open already: `/dev/stdout`, `/dev/fd/3`.
    Open(OwnedFd),
}

/// The earlier results that a new one may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// Reports, plans and lists.
    Reports,
    /// Catalogs: nothing else knows the disk that one is of.
    Catalogs,
}

/// A name in a folder that stays open.
#[derive(Debug)]
pub struct OutputPlace {
    /// The folder, as a starting point for calls.
    pub folder: OwnedFd,
    /// Its access rights.
    pub access: Attributes,
    /// The name in it.
    pub name: CString,
    /// The existing file of that name, which is neither a folder nor a symbolic link.
    pub existing: Option<(Stat, Attributes)>,
    /// The results that may be replaced there.
    pub replaced: Replaced,
}

impl OutputPlace {
    /// True if nobody but this user and root can give this name to something else.
    pub fn is_safe(&self) -> bool {
        trust::only_we_write(&self.folder, &self.access)
    }
}

/// Finds the folder and the name that a path leads to.
pub fn find(path: &Path) -> Result<Found, Cause> {
    let mut way = Way::to(path.as_os_str().as_bytes())?;
    while let Some(name) = way.part() {
        let is_last = way.left() == 0;
        let part = match way.look(&name) {
            Err(Errno::NOENT) if is_last => return in_folder(way, name, None),
            part => part?,
        };
        match part.stat.kind {
            FileType::Directory => way.enter(&name, part.handle),
            FileType::Symlink if statfs::is_proc(&part.handle) => {
                if is_last {
                    let file = open::for_appending(way.here(), &name, true)?;
                    return Ok(Found::Open(file));
                }
                let folder = open::folder_handle(way.here(), &name)?;
                way.enter(&name, folder);
            }
            FileType::Symlink => follow(&mut way, &name, &part)?,
            _ if !is_last => return Err(Errno::NOTDIR.into()),
            _ => return in_folder(way, name, Some((part.stat, part.access))),
        }
    }
    Err(Errno::ISDIR.into())
}

/// Goes on where a link leads, unless another user may have made it.
fn follow(way: &mut Way, name: &CStr, part: &PathPart) -> Result<(), Cause> {
    let folder = attributes::get(way.here())?;
    if !trust::link_is_ours(way.here(), &folder, &part.stat, &part.access) {
        let name = OsStr::from_bytes(name.to_bytes());
        return Err(Cause::Link(way.shown().join(name)));
    }
    Ok(way.follow(part)?)
}

fn in_folder(
    way: Way,
    name: CString,
    existing: Option<(Stat, Attributes)>,
) -> Result<Found, Cause> {
    let folder = way.into_here();
    Ok(Found::Name(OutputPlace {
        access: attributes::get(&folder)?,
        folder,
        name,
        existing,
        replaced: Replaced::Reports,
    }))
}

/// Number of bytes at the start of a file that are examined.
pub const START: u64 = 1 << 14;

/// The bytes in which a report names seekless.
const NAMED: usize = 512;

/// The beginnings of reports and of tables.
const BEGINNINGS: [&str; 3] = ["# seekless ", "set,file,replicas,size,", HEADER];

/// The end of the first line of a plan.
pub const PLAN: &str = ": this is a plan; nothing was done";

/// The bytes at both ends of a Parquet file, and how seekless names itself near the end of one.
pub const PARQUET: &[u8] = b"PAR1";
const MAKER: &[u8] = b"seekless ";

/// True if a Parquet file that ends like this is a catalog of seekless.
pub fn is_catalog(end: &[u8]) -> bool {
    end.ends_with(PARQUET) && holds(end, MAKER)
}

/// True if a file that begins like this is a report or a plan of seekless. Lists of names cannot be
/// recognized in this way.
pub fn is_result(start: &[u8]) -> bool {
    let start = &start[..start.len().min(NAMED)];
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let mut beginnings = BEGINNINGS.iter();
    beginnings.any(|beginning| start.starts_with(beginning.as_bytes()))
        || first.starts_with(b"# ") && first.ends_with(PLAN.as_bytes())
        || start.starts_with(b"{") && holds(start, b"\"format\":\"seekless")
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_seekless_is_a_result() {
        for (start, expected) in [
            ("# seekless 0.1.0 report, text, schema 1\n", true),
            ("\u{feff}# seekless 0.1.0 report, text, schema 1\r\n", true),
            ("{\"type\":\"header\",\"format\":\"seekless\",", true),
            ("{\"format\":\"seekless-plan\",", true),
            ("set,file,replicas,size,digest,", true),
            ("# remove: this is a plan; nothing was done\n", true),
            ("", false),
            ("# notes\n", false),
            ("#!/bin/sh\n# Written by hand", false),
            ("{\"format\":\"other\"}", false),
            ("/a/b\n", false),
            ("Found it", false),
        ] {
            assert_eq!(is_result(start.as_bytes()), expected, "{start}");
        }
    }
}
