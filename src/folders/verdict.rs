//! What is said about folders.
//!
//! The keys of what is serialized here are a promise (`docs/reference/folders.md`): a field may be renamed, a key may
//! not.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

use crate::file::{Name, serialize_path};

/// One folder, or several that hold the same.
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

/// Which folders of an entry can go. All of a report can go at once, and every content stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanGo {
    /// All of them.
    All,
    /// All but one.
    AllButOne,
    /// None of them.
    None,
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
}

/// The verdict about a folder. "Elsewhere" is always outside of it.
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
    InParts,
    /// Enough of it is also in another folder, and something is nowhere else.
    Overlaps {
        /// The folder that is most like it.
        #[serde(serialize_with = "serialize_path")]
        other: PathBuf,
        /// How much is in both.
        overlap: FolderOverlap,
    },
    /// All files that were seen are also elsewhere, but something was not seen. So nothing is said about the whole.
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
            | Self::Contained { other, .. }
            | Self::Overlaps { other, .. } => Some(other),
            Self::InParts | Self::NotFullySeen { .. } => None,
        }
    }
}

/// The number of places that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Places {
    /// Their number.
    #[serde(rename = "places")]
    pub number: usize,
    /// True if there may be more: some content has more copies than were examined.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
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
