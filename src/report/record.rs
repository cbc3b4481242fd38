//! The documented JSON objects that `json` and `ndjson` share, and how they are written.
//!
//! They are spelled out apart from the types they are made of, because they are a promise
//! (`docs/reference/formats.md`): a field of [`Summary`] may be renamed, a key may not.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::ser::Formatter;

use super::printable::{characters, is_printable};
use super::{Header, Options, time};
use crate::decide::{DeviceTally, DuplicateSet, LeftOut, Member, StageTally, Summary};
use crate::file::Name;

#[derive(Serialize)]
pub struct HeaderRecord<'a> {
    pub version: Cow<'a, str>,
    pub command: Vec<Name<'a>>,
    pub folder: Name<'a>,
    pub roots: Vec<Name<'a>>,
    pub started: Cow<'a, str>,
    pub options: Options,
}

impl<'a> HeaderRecord<'a> {
    pub fn new(header: &'a Header) -> Self {
        Self {
            version: Cow::Borrowed(&header.version),
            command: Name::all(&header.command),
            folder: Name::new(&header.folder),
            roots: Name::all(&header.roots),
            started: Cow::Owned(time::rfc3339(header.started_ns)),
            options: header.options,
        }
    }
}

#[derive(Serialize)]
pub struct SetRecord<'a> {
    size: u64,
    digest: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cached: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sidecars: bool,
    replicas: u64,
    reclaimable: u64,
    #[serde(serialize_with = "members")]
    members: &'a [Member],
}

impl<'a> SetRecord<'a> {
    pub fn new(set: &'a DuplicateSet) -> Self {
        Self {
            size: set.size,
            digest: set.digest.map(|digest| digest.to_string()),
            cached: set.cached,
            sidecars: set.sidecars,
            replicas: set.replicas,
            reclaimable: set.reclaimable,
            members: &set.members,
        }
    }
}

fn members<S: Serializer>(members: &[Member], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(members.iter().map(MemberRecord::new))
}

#[derive(Serialize)]
struct MemberRecord<'a> {
    path: Name<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hard_links: Vec<Name<'a>>,
    mtime: String,
    dev: u64,
    ino: u64,
    links: u64,
    allocated: u64,
    disk: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ambiguous: bool,
    root: u32,
}

impl<'a> MemberRecord<'a> {
    fn new(member: &'a Member) -> Self {
        let (path, hard_links) = member
            .names
            .split_first()
            .map_or((&[][..], &[][..]), |(first, more)| (first, more));
        Self {
            path: Name::new(path),
            hard_links: Name::all(hard_links),
            mtime: time::rfc3339(member.mtime_ns),
            dev: member.dev,
            ino: member.ino,
            links: member.links,
            allocated: member.allocated,
            disk: &member.disk,
            ambiguous: member.ambiguous,
            root: member.root,
        }
    }
}

#[derive(Serialize)]
pub struct SummaryRecord<'a> {
    incomplete: bool,
    folders: u64,
    files: u64,
    extra_names: u64,
    bytes_present: u64,
    scan_seconds: f64,
    total_seconds: f64,
    stages: Vec<StageRecord>,
    devices: Vec<DeviceRecord<'a>>,
    sets: u64,
    redundant_files: u64,
    redundant_bytes: u64,
    reclaimable: u64,
    reclaimable_managed: u64,
    unread_files: u64,
    unread_bytes: u64,
    #[serde(skip_serializing_if = "is_none")]
    cached_files: u64,
    #[serde(skip_serializing_if = "is_none")]
    cached_bytes: u64,
    #[serde(skip_serializing_if = "is_none")]
    cached_by_mtime_files: u64,
    #[serde(skip_serializing_if = "is_none")]
    cached_by_mtime_bytes: u64,
    #[serde(with = "LeftOutRecord")]
    left_out: LeftOut,
}

impl<'a> SummaryRecord<'a> {
    pub fn new(summary: &'a Summary) -> Self {
        Self {
            incomplete: summary.is_incomplete(),
            folders: summary.folders,
            files: summary.files,
            extra_names: summary.extra_names,
            bytes_present: summary.bytes_present,
            scan_seconds: seconds(summary.scan_time),
            total_seconds: seconds(summary.total_time),
            stages: summary.stages.iter().map(StageRecord::new).collect(),
            devices: summary.devices.iter().map(DeviceRecord::new).collect(),
            sets: summary.sets,
            redundant_files: summary.redundant_files,
            redundant_bytes: summary.redundant_bytes,
            reclaimable: summary.reclaimable,
            reclaimable_managed: summary.managed,
            unread_files: summary.unread.files,
            unread_bytes: summary.unread.bytes,
            cached_files: summary.cached.files,
            cached_bytes: summary.cached.bytes,
            cached_by_mtime_files: summary.cached_by_mtime.files,
            cached_by_mtime_bytes: summary.cached_by_mtime.bytes,
            left_out: summary.left_out,
        }
    }
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize)]
struct StageRecord {
    name: &'static str,
    files: u64,
    bytes_read: u64,
    seconds: f64,
}

impl StageRecord {
    fn new(stage: &StageTally) -> Self {
        Self {
            name: stage.name,
            files: stage.files,
            bytes_read: stage.bytes_read,
            seconds: seconds(stage.time),
        }
    }
}

#[derive(Serialize)]
struct DeviceRecord<'a> {
    name: &'a str,
    class: &'a str,
    bytes_read: u64,
    busy_seconds: f64,
}

impl<'a> DeviceRecord<'a> {
    fn new(device: &'a DeviceTally) -> Self {
        Self {
            name: &device.name,
            class: &device.class,
            bytes_read: device.bytes_read,
            busy_seconds: seconds(device.busy),
        }
    }
}

#[derive(Serialize)]
#[serde(remote = "LeftOut")]
struct LeftOutRecord {
    hidden: u64,
    ignored: u64,
    filtered: u64,
    empty: u64,
    symlinks: u64,
    special: u64,
    other_file_system: u64,
    pseudo_file_system: u64,
    listed_before: u64,
    vanished: u64,
    unsettled: u64,
    unreadable: u64,
    unanswered: u64,
    memory_short: u64,
    changed: u64,
}

/// Whole microseconds: more digits would be noise.
fn seconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e6
}

/// Writes one object on one line, without the line's end.
///
/// # Errors
/// Those of `out`.
pub fn write_json(out: &mut dyn Write, record: &impl Serialize) -> io::Result<()> {
    let mut gather = Gather {
        out,
        bytes: Vec::with_capacity(1024),
    };
    let mut serializer = serde_json::Serializer::with_formatter(&mut gather, Printable);
    record.serialize(&mut serializer)?;
    gather.flush()
}

/// Gathers the many small pieces of an object.
///
/// A virtual call for each of them took a third of the time of a million members.
struct Gather<'a> {
    out: &'a mut dyn Write,
    bytes: Vec<u8>,
}

impl Gather<'_> {
    /// A set of any size passes through so much memory.
    const FULL: usize = 1 << 15;
}

impl Write for Gather<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() < Self::FULL {
            Ok(())
        } else {
            self.flush()
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

/// Compact JSON that is safe on a terminal.
///
/// JSON wants only the first 32 control characters escaped; the others that a terminal obeys or
/// cannot show are escaped as well, which no JSON reader notices.
struct Printable;

impl Formatter for Printable {
    fn write_string_fragment<W>(&mut self, out: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        if is_printable(fragment) {
            return out.write_all(fragment.as_bytes());
        }
        let mut plain = 0;
        for (at, c, _) in characters(fragment).filter(|&(_, _, stays)| !stays) {
            out.write_all(&fragment.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        out.write_all(&fragment.as_bytes()[plain..])
    }
}
