//! What is said about folders, in paths and numbers, as reports need it.
//!
//! The keys of what is serialized here are a promise (`docs/reference/folders.md`): a field may be renamed, a key may
//! not.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::count::{Percent, Places};
use super::forms::{Forms, Names};
use super::groups::{CanGo, Entry, Member, entries};
use super::seen::Seen;
use super::tallies::Tallies;
use super::tree::Folder;
use super::verdict::{Question, Verdict};
use crate::file::{Name, serialize_path};

/// So many places or files are named of many.
const NAMED: usize = 3;

/// The requested verdicts.
pub struct Wanted<'a> {
    /// Folders of fewer bytes get no line.
    pub min_bytes: u64,
    /// How much of a folder has to be in another one.
    pub min_overlap: Percent,
    /// Which names of folders get a line.
    pub is_wanted: &'a dyn Fn(&[u8]) -> bool,
}

/// The answer of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldersAnswer {
    /// What can go first, and the largest gain first.
    pub entries: Vec<FolderEntry>,
    /// Folders that were looked at.
    pub folders: usize,
    /// Files whose content counts.
    pub files: usize,
}

/// One folder, or several that are much the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FolderEntry {
    /// Which of the folders can go.
    pub can_go: CanGo,
    /// Bytes that are freed if the files are removed that are also elsewhere; of several folders, in all but the one of
    /// the largest gain.
    pub gain: u64,
    /// The folders.
    pub folders: Vec<FolderFinding>,
}

/// One folder and its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FolderFinding {
    /// Its path, beginning with the path that was given.
    #[serde(serialize_with = "serialize_path")]
    pub path: PathBuf,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: FolderVerdict,
    /// Files below it, without noise.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that are freed if its files that are also elsewhere are removed.
    pub gain: u64,
    /// Files of noise below it.
    pub noise: usize,
    /// Symbolic links below it.
    pub links: usize,
    /// Photos below it that are elsewhere, and their sidecar files as well, but not beside each other.
    #[serde(skip_serializing_if = "is_none")]
    pub torn_photos: usize,
    /// One of them.
    #[serde(skip)]
    pub torn_photo: Option<PathBuf>,
}

/// The verdict about a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FolderVerdict {
    /// Other folders have the same names, structure, contents, targets of symbolic links and empty folders.
    Identical {
        /// The first of them.
        #[serde(serialize_with = "serialize_path")]
        other: PathBuf,
        /// The number of them.
        #[serde(flatten)]
        places: Places,
    },
    /// Other folders have the same contents, each as many times, in another layout or under other names.
    SameContents {
        /// The first of them.
        #[serde(serialize_with = "serialize_path")]
        other: PathBuf,
        /// The number of them.
        #[serde(flatten)]
        places: Places,
    },
    /// Other folders hold a copy of every file.
    Contained {
        /// The smallest of them.
        #[serde(serialize_with = "serialize_path")]
        other: PathBuf,
        /// The number of them.
        #[serde(flatten)]
        places: Places,
    },
    /// Every file has a copy elsewhere, but no single folder that stays holds all of them.
    InParts {
        /// The number of places that together hold all of it.
        #[serde(flatten)]
        places: Places,
        /// The places that hold most of it.
        #[serde(rename = "parts")]
        largest: Vec<PartPlace>,
    },
    /// Enough of it is also in another folder, and something is nowhere else.
    Overlaps {
        /// The folder that is most like it.
        #[serde(serialize_with = "serialize_path")]
        other: PathBuf,
        /// How much is in both.
        overlap: FolderOverlap,
    },
    /// All files that were seen are also elsewhere, but something was not seen.
    NotFullySeen {
        /// The places that were not seen.
        unseen: FolderGaps,
    },
}

impl FolderVerdict {
    /// The other folder, if there is one.
    pub fn other(&self) -> Option<&Path> {
        match self {
            Self::Identical { other, .. }
            | Self::SameContents { other, .. }
            | Self::Contained { other, .. }
            | Self::Overlaps { other, .. } => Some(other),
            Self::InParts { .. } | Self::NotFullySeen { .. } => None,
        }
    }

    /// The number of places that were found, of folders whose files are all elsewhere.
    pub fn places(&self) -> Option<Places> {
        match self {
            Self::Identical { places, .. }
            | Self::SameContents { places, .. }
            | Self::Contained { places, .. }
            | Self::InParts { places, .. } => Some(*places),
            Self::Overlaps { .. } | Self::NotFullySeen { .. } => None,
        }
    }
}

/// A folder that holds a part of another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PartPlace {
    /// Its path.
    #[serde(serialize_with = "serialize_path")]
    pub path: PathBuf,
    /// Bytes of the other folder that it holds, and that the places before it lack.
    pub bytes: u64,
    /// True if only files directly in the folder count.
    pub directly: bool,
}

/// How much of a folder is also in another one, and what is nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FolderOverlap {
    /// Bytes that are in both, each content counted once.
    pub shared: u64,
    /// Bytes of the folder, each content counted once.
    pub of: u64,
    /// The number of files whose contents are nowhere else.
    pub only_here_files: usize,
    /// Their bytes.
    pub only_here_bytes: u64,
    /// The paths of the first few.
    #[serde(serialize_with = "serialize_paths")]
    pub only_here: Vec<PathBuf>,
    /// True if a more similar folder may exist: some content has more copies than were examined.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bounded: bool,
}

/// Places below a folder that were not seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FolderGaps {
    /// The number of them.
    pub count: usize,
    /// The first few, with the reason.
    #[serde(serialize_with = "serialize_gaps")]
    pub first: Vec<(PathBuf, &'static str)>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

fn serialize_paths<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| Name::of_path(path)))
}

fn serialize_gaps<S: Serializer>(
    gaps: &[(PathBuf, &'static str)],
    to: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct GapRecord<'a> {
        path: Name<'a>,
        why: &'static str,
    }
    to.collect_seq(gaps.iter().map(|(path, why)| GapRecord {
        path: Name::of_path(path),
        why,
    }))
}

impl FoldersAnswer {
    /// Finds out.
    pub fn of(seen: &Seen<'_>, wanted: &Wanted<'_>) -> Self {
        let tree = seen.tree();
        let tallies = Tallies::of(tree);
        let forms = Forms::of(tree, seen);
        let question = Question {
            min_bytes: wanted.min_bytes,
            min_overlap: wanted.min_overlap,
            wanted: &|folder| seen.is_listed(folder) && (wanted.is_wanted)(own_name(seen, folder)),
        };
        let found = entries(tree, seen, &tallies, &forms, &question);
        let paths = |entry: Entry| FolderEntry {
            can_go: entry.can_go,
            gain: entry.gain,
            folders: entry
                .members
                .iter()
                .map(|member| line(seen, &tallies, member))
                .collect(),
        };
        Self {
            entries: found.into_iter().map(paths).collect(),
            folders: tree.folders().count(),
            files: tree.files_below(Folder::TOP).len(),
        }
    }
}

/// The last part of its path: a root is named by the path that was given.
fn own_name<'s>(seen: &'s Seen<'_>, folder: Folder) -> &'s [u8] {
    let name = seen.folder(folder);
    let end = name
        .iter()
        .rposition(|&byte| byte != b'/')
        .map_or(0, |last| last + 1);
    let name = &name[..end];
    let start = name
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |slash| slash + 1);
    &name[start..]
}

fn line(seen: &Seen<'_>, tallies: &Tallies, member: &Member) -> FolderFinding {
    let folder = member.finding.folder;
    let (torn_photos, first) = seen.torn_photos(folder);
    FolderFinding {
        path: path(seen.path(folder)),
        verdict: verdict(seen, tallies, member),
        files: seen.tree().files_below(folder).len(),
        bytes: tallies.get(folder).total_bytes,
        gain: member.gain,
        noise: seen.noise(folder),
        links: seen.links(folder),
        torn_photos,
        torn_photo: first.map(|file| path(seen.path_of_file(file))),
    }
}

fn verdict(seen: &Seen<'_>, tallies: &Tallies, member: &Member) -> FolderVerdict {
    let folder = member.finding.folder;
    let first = member.only_here.first.iter();
    match &member.finding.verdict {
        &Verdict::Identical { with, count } => FolderVerdict::Identical {
            other: path(seen.path(with)),
            places: count,
        },
        &Verdict::SameContents { with, count } => FolderVerdict::SameContents {
            other: path(seen.path(with)),
            places: count,
        },
        &Verdict::Contained { inside, count } => FolderVerdict::Contained {
            other: path(seen.path(inside)),
            places: count,
        },
        Verdict::InParts(parts) => {
            let largest = parts.places.iter().take(NAMED).map(|part| PartPlace {
                path: path(seen.path(part.folder)),
                bytes: part.bytes,
                directly: part.directly,
            });
            FolderVerdict::InParts {
                largest: largest.collect(),
                places: parts.count,
            }
        }
        Verdict::Overlaps(overlap) => FolderVerdict::Overlaps {
            other: path(seen.path(overlap.with)),
            overlap: FolderOverlap {
                shared: overlap.shared,
                of: tallies.get(folder).bytes,
                only_here_files: member.only_here.files,
                only_here_bytes: member.only_here.bytes,
                only_here: first.map(|&file| path(seen.path_of_file(file))).collect(),
                bounded: overlap.bounded,
            },
        },
        Verdict::NotFullySeen => {
            let gaps = seen.gaps(folder);
            let named = gaps.iter().take(NAMED);
            let first = named.map(|gap| (path(seen.path_of_gap(gap)), gap.why));
            FolderVerdict::NotFullySeen {
                unseen: FolderGaps {
                    count: gaps.len(),
                    first: first.collect(),
                },
            }
        }
    }
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}
