//! One JSON document (header, sets one on each line, summary), or the same objects one a line: how they are written,
//! and read.
//!
//! Their keys are a promise (`docs/reference/formats.md`): a field may be renamed, a key may not.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::bad_line::{BadLine, checked_name};
use super::objects::{Keyed, write_line};
use super::{Header, Layout, Objects, Report, SCHEMA, time};
use crate::decide::{AlikeFile, DuplicateSet, Member, Summary};
use crate::file::{Name, Raw};
use crate::hash::ContentDigest;
use crate::media::{Other, Tags};

/// Writes sets as they come, so that their number does not matter.
pub struct Json {
    objects: Objects<'static>,
    /// Sets of files that are alike, for the end of a document; `None` if there is none, or nobody asked for them.
    alike: Option<Vec<DuplicateSet>>,
    /// Sets of files that are probably equal, likewise; `None` if there is no catalog.
    probable: Option<Vec<DuplicateSet>>,
}

impl Json {
    pub fn new(layout: Layout) -> Self {
        Self {
            objects: Objects::new(layout, "set", "sets"),
            alike: None,
            probable: None,
        }
    }
}

/// What a report begins with.
fn start<T>(rest: T) -> Start<T> {
    Start {
        format: FORMAT.into(),
        schema: SCHEMA,
        rest,
    }
}

impl Report for Json {
    fn begin(&mut self, out: &mut dyn Write, header: &Header) -> io::Result<()> {
        let is_document = self.objects.layout() == Layout::Document;
        self.alike = (is_document && header.options.ignore_tags).then(Vec::new);
        self.probable = (is_document && !header.catalogs.is_empty()).then(Vec::new);
        match self.objects.layout() {
            Layout::Lines => self.objects.begin(out, "header", &start(header)),
            Layout::Document => self
                .objects
                .begin_document(out, &start(Keyed("header", header))),
        }
    }

    fn set(&mut self, out: &mut dyn Write, set: &DuplicateSet) -> io::Result<()> {
        if set.probable {
            match &mut self.probable {
                Some(probable) => probable.push(set.clone()),
                None => write_line(out, "probable", &SetRecord(set))?,
            }
            return Ok(());
        }
        if set.alike.is_empty() {
            return self.objects.item(out, &SetRecord(set));
        }
        match &mut self.alike {
            Some(alike) => alike.push(set.clone()),
            None => write_line(out, "alike", &AlikeRecord::of(set))?,
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
        let incomplete = summary.is_incomplete();
        let record = SummaryRecord {
            incomplete,
            summary,
        };
        if self.objects.layout() == Layout::Lines {
            return self.objects.end(out, "summary", &record);
        }
        let alike = self.alike.as_ref();
        let probable = self.probable.as_ref();
        let end = End {
            alike: alike.map(|sets| sets.iter().map(AlikeRecord::of).collect()),
            probable: probable.map(|sets| sets.iter().map(SetRecord).collect()),
            summary: record,
        };
        self.objects.end_document(out, &end)
    }
}

/// The name of the format in the header of a report of sets.
const FORMAT: &str = "seekless";

/// The first keys of a document. In a line, those of the header follow.
#[derive(Serialize, Deserialize)]
pub struct Start<T> {
    #[serde(deserialize_with = "known_format")]
    pub format: Cow<'static, str>,
    #[serde(deserialize_with = "known_schema")]
    pub schema: u32,
    #[serde(flatten)]
    pub rest: T,
}

/// Reads the name of the format.
pub fn known_format<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'static, str>, D::Error> {
    let name = String::deserialize(from)?;
    if name == FORMAT {
        Ok(FORMAT.into())
    } else {
        Err(D::Error::custom(BadLine::Foreign))
    }
}

/// Reads the number of a layout that this version knows.
pub fn known_schema<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    match u32::deserialize(from)? {
        SCHEMA => Ok(SCHEMA),
        other => Err(D::Error::custom(BadLine::Schema(other))),
    }
}

/// A set that is written, with the keys of [`SetKeys`].
#[derive(Serialize)]
struct SetRecord<'a>(#[serde(with = "SetKeys")] &'a DuplicateSet);

/// The same, read.
#[derive(Deserialize)]
pub struct SetIn(#[serde(with = "SetKeys")] pub DuplicateSet);

#[derive(Serialize, Deserialize)]
#[serde(remote = "DuplicateSet")]
struct SetKeys {
    #[serde(skip)]
    alike: Vec<AlikeFile>,
    #[serde(skip)]
    probable: bool,
    size: u64,
    #[serde(default)]
    digest: Option<ContentDigest>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cached: bool,
    replicas: u64,
    reclaimable: u64,
    #[serde(with = "members")]
    members: Vec<Member>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Member")]
struct MemberKeys {
    #[serde(flatten, with = "names_of_member")]
    names: Vec<Vec<u8>>,
    #[serde(rename = "mtime", with = "time")]
    mtime_ns: i64,
    dev: u64,
    ino: u64,
    links: u64,
    allocated: u64,
    disk: Arc<str>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ambiguous: bool,
    root: u32,
}

mod members {
    use super::*;

    #[derive(Serialize)]
    struct MemberRecord<'a>(#[serde(with = "MemberKeys")] &'a Member);

    #[derive(Deserialize)]
    struct MemberIn(#[serde(with = "MemberKeys")] Member);

    pub fn serialize<S: Serializer>(members: &[Member], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(members.iter().map(MemberRecord))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Member>, D::Error> {
        let members: Vec<MemberIn> = Vec::deserialize(from)?;
        if members.is_empty() {
            Err(D::Error::custom(BadLine::NoMember))
        } else {
            Ok(members.into_iter().map(|member| member.0).collect())
        }
    }
}

mod names_of_member {
    use super::*;

    #[derive(Serialize)]
    struct NamesRecord<'a> {
        path: Name<'a>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        hard_links: Vec<Name<'a>>,
    }

    #[derive(Deserialize)]
    struct NamesIn {
        path: Raw,
        #[serde(default)]
        hard_links: Vec<Raw>,
    }

    pub fn serialize<S: Serializer>(names: &[Vec<u8>], to: S) -> Result<S::Ok, S::Error> {
        let (first, more) = names
            .split_first()
            .map_or((&[][..], &[][..]), |it| (it.0, it.1));
        let (path, hard_links) = (Name(first), Name::all(more));
        NamesRecord { path, hard_links }.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<u8>>, D::Error> {
        let read = NamesIn::deserialize(from)?;
        let names = [read.path].into_iter().chain(read.hard_links);
        let names: Result<_, BadLine> = names.map(|name| checked_name(name.0)).collect();
        names.map_err(D::Error::custom)
    }
}

/// A set of files that show the same.
#[derive(Serialize)]
struct AlikeRecord<'a> {
    replicas: u64,
    reclaimable: u64,
    members: Vec<AlikeMember<'a>>,
}

#[derive(Serialize)]
struct AlikeMember<'a> {
    #[serde(flatten, with = "MemberKeys")]
    member: &'a Member,
    size: u64,
    content: u32,
    differs: Vec<&'static str>,
    tags: &'a Tags,
}

impl<'a> AlikeRecord<'a> {
    fn of(set: &'a DuplicateSet) -> Self {
        let first = &set.alike[0].parts;
        let members = set.members.iter().zip(&set.alike);
        let members = members.map(|(member, alike)| AlikeMember {
            member,
            size: alike.size,
            content: alike.content,
            differs: first.differences(&alike.parts).map(Other::name).collect(),
            tags: &alike.tags,
        });
        Self {
            replicas: set.replicas,
            reclaimable: set.reclaimable,
            members: members.collect(),
        }
    }
}

/// The last keys of a document.
#[derive(Serialize)]
struct End<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    alike: Option<Vec<AlikeRecord<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probable: Option<Vec<SetRecord<'a>>>,
    summary: SummaryRecord<'a>,
}

#[derive(Serialize)]
struct SummaryRecord<'a> {
    incomplete: bool,
    #[serde(flatten)]
    summary: &'a Summary,
}
