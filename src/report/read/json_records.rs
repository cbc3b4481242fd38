//! The records of the JSON formats, as they are read and checked: header, set, member, summary.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{SeqAccess, Visitor};

use super::room::Room;
use super::{BadLine, Ending, Facts, ReadMember, ReadSet, checked_name, digest};
use crate::file::Name;
use crate::report::{Header, Options, time};

#[derive(Deserialize)]
pub(super) struct SummaryIn {
    incomplete: bool,
}

impl SummaryIn {
    pub(super) fn ending(&self) -> Ending {
        if self.incomplete {
            Ending::Interrupted
        } else {
            Ending::Complete
        }
    }
}

#[derive(Deserialize)]
pub(super) struct SetIn {
    size: u64,
    digest: Option<String>,
    #[serde(default)]
    cached: bool,
    #[serde(default)]
    sidecars: bool,
    replicas: u64,
    reclaimable: u64,
    members: Members,
}

impl SetIn {
    pub(super) fn check(self) -> Result<ReadSet, BadLine> {
        let digest = self.digest.as_deref().map(digest).transpose()?;
        self.members.room.check(self.size, digest.as_ref())?;
        let members = self.members.list;
        if members.is_empty() {
            return Err(BadLine::NoMember);
        }
        Ok(ReadSet {
            size: self.size,
            digest,
            cached: self.cached,
            sidecars: self.sidecars,
            replicas: self.replicas,
            reclaimable: self.reclaimable,
            members: members
                .into_iter()
                .map(MemberIn::check)
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Members, as many as there is room for.
struct Members {
    list: Vec<MemberIn>,
    room: Room,
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let (list, room) = json.deserialize_seq(Few(MemberIn::takes, PhantomData))?;
        Ok(Self { list, room })
    }
}

/// Names, as many as there is room for.
#[derive(Default)]
struct Names {
    list: Vec<Name<'static>>,
    room: Room,
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: serde::Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let (list, room) = json.deserialize_seq(Few(name_takes, PhantomData))?;
        Ok(Self { list, room })
    }
}

/// Reads an array as long as there is room; what goes beyond that is counted and dropped, and so is the rest.
struct Few<T, F: Fn(&T, &mut Room) -> bool>(F, PhantomData<T>);

impl<'de, T: Deserialize<'de>, F: Fn(&T, &mut Room) -> bool> Visitor<'de> for Few<T, F> {
    type Value = (Vec<T>, Room);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let (mut list, mut room) = (Vec::new(), Room::default());
        while let Some(next) = seq.next_element()? {
            match (self.0)(&next, &mut room) {
                true => list.push(next),
                false => list = Vec::new(),
            }
        }
        Ok((list, room))
    }
}

fn name_takes(name: &Name<'static>, room: &mut Room) -> bool {
    let (Name::Text(text) | Name::Bytes(text)) = name;
    room.take(1, text.len())
}

#[derive(Deserialize)]
struct MemberIn {
    path: Name<'static>,
    #[serde(default)]
    hard_links: Names,
    mtime: String,
    dev: u64,
    ino: u64,
    links: u64,
    allocated: u64,
    disk: String,
    #[serde(default)]
    ambiguous: bool,
    root: u32,
}

impl MemberIn {
    fn takes(&self, room: &mut Room) -> bool {
        let said = self.mtime.len() + self.disk.len();
        let links = &self.hard_links.room;
        name_takes(&self.path, room) & room.take(0, said) & room.add(links)
    }

    fn check(self) -> Result<ReadMember, BadLine> {
        let names = std::iter::once(self.path).chain(self.hard_links.list);
        Ok(ReadMember {
            names: names
                .map(|name| checked_name(bytes(name)?))
                .collect::<Result<_, _>>()?,
            facts: Some(Facts {
                dev: self.dev,
                ino: self.ino,
                links: self.links,
                mtime_ns: nanoseconds(self.mtime)?,
                allocated: self.allocated,
                disk: self.disk,
                ambiguous: self.ambiguous,
                root: self.root,
            }),
            marked: false,
        })
    }
}

fn bytes(name: Name<'_>) -> Result<Vec<u8>, BadLine> {
    name.into_bytes().ok_or(BadLine::Base64)
}

fn nanoseconds(text: String) -> Result<i64, BadLine> {
    time::from_rfc3339(&text).ok_or(BadLine::Time(text))
}

/// The header; as a line it also says what it is a header of.
#[derive(Deserialize)]
pub(super) struct HeaderIn {
    pub(super) format: Option<String>,
    pub(super) schema: Option<u32>,
    version: String,
    command: Names,
    folder: Name<'static>,
    roots: Names,
    started: String,
    #[serde(default)]
    options: Options,
}

impl HeaderIn {
    pub(super) fn check(self) -> Result<Header, BadLine> {
        if !self.command.room.is_enough() || !self.roots.room.is_enough() {
            return Err(BadLine::LargeHeader);
        }
        let all = |names: Names| names.list.into_iter().map(bytes).collect::<Result<_, _>>();
        Ok(Header {
            version: self.version,
            command: all(self.command)?,
            folder: bytes(self.folder)?,
            roots: all(self.roots)?,
            started_ns: nanoseconds(self.started)?,
            options: self.options,
        })
    }
}

pub(super) fn known_format(name: &str) -> Result<(), BadLine> {
    if name == "seekless" {
        Ok(())
    } else {
        Err(BadLine::Foreign)
    }
}
