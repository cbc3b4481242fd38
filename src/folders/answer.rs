//! What is said about folders, in paths and numbers, as reports need it.

use super::count::{Count, Percent};
use super::forms::{Forms, Names};
use super::groups::{CanGo, Entry, Member, entries};
use super::seen::Seen;
use super::tallies::Tallies;
use super::tree::Folder;
use super::verdict::{Question, Verdict};

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

/// Folders that are much the same, or one alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Which of its folders can go.
    pub can_go: CanGo,
    /// Bytes that are free once those files are gone that are elsewhere, too; of several folders, in all but the one of
    /// the largest gain.
    pub gain: u64,
    /// The folders.
    pub folders: Vec<FolderLine>,
}

/// What is said about one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderLine {
    /// Its path.
    pub path: Vec<u8>,
    /// The verdict.
    pub said: Said,
    /// Files below it whose content counts.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that are free once those of its files are gone that are elsewhere, too.
    pub gain: u64,
    /// Files of noise below it.
    pub noise: usize,
    /// Symbolic links below it.
    pub links: usize,
    /// Photos below it that are elsewhere, and their sidecars as well, but not beside each other.
    pub torn_photos: usize,
    /// One of them.
    pub torn_photo: Option<Vec<u8>>,
}

/// The verdict, with paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The same names, structure, contents and targets of links.
    Identical { with: Vec<u8>, places: Count },
    /// The same contents in another layout or under other names.
    SameContents { with: Vec<u8>, places: Count },
    /// Everything is in another folder.
    Contained { inside: Vec<u8>, places: Count },
    /// Everything is elsewhere, in several folders.
    InParts { best: Vec<PartPlace>, places: Count },
    /// Most of it is in another folder, and some of it nowhere else.
    Overlaps {
        with: Vec<u8>,
        shared: u64,
        of: u64,
        only_here: FilesOnlyHere,
        /// A content has more places than were looked at: another folder may be more like it.
        bounded: bool,
    },
    /// Something was not seen.
    NotFullySeen {
        unseen: Vec<(Vec<u8>, &'static str)>,
        count: usize,
    },
}

/// A folder that holds a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartPlace {
    /// Its path.
    pub path: Vec<u8>,
    /// Bytes of it.
    pub bytes: u64,
    /// Only files directly in the folder count.
    pub directly: bool,
}

/// Files whose contents are nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesOnlyHere {
    /// How many.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The first few.
    pub first: Vec<Vec<u8>>,
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

fn line(seen: &Seen<'_>, tallies: &Tallies, member: &Member) -> FolderLine {
    let folder = member.finding.folder;
    let (torn_photos, first) = seen.torn_photos(folder);
    FolderLine {
        path: seen.path(folder),
        said: said(seen, tallies, member),
        files: seen.tree().files_below(folder).len(),
        bytes: tallies.get(folder).total_bytes,
        gain: member.gain,
        noise: seen.noise(folder),
        links: seen.links(folder),
        torn_photos,
        torn_photo: first.map(|file| seen.path_of_file(file)),
    }
}

fn said(seen: &Seen<'_>, tallies: &Tallies, member: &Member) -> Said {
    let folder = member.finding.folder;
    let first = member.only_here.first.iter();
    match &member.finding.verdict {
        &Verdict::Identical { with, count } => Said::Identical {
            with: seen.path(with),
            places: count,
        },
        &Verdict::SameContents { with, count } => Said::SameContents {
            with: seen.path(with),
            places: count,
        },
        &Verdict::Contained { inside, count } => Said::Contained {
            inside: seen.path(inside),
            places: count,
        },
        Verdict::InParts(parts) => {
            let best = parts.places.iter().take(NAMED).map(|part| PartPlace {
                path: seen.path(part.folder),
                bytes: part.bytes,
                directly: part.directly,
            });
            Said::InParts {
                best: best.collect(),
                places: parts.count,
            }
        }
        Verdict::Overlaps(overlap) => Said::Overlaps {
            with: seen.path(overlap.with),
            shared: overlap.shared,
            of: tallies.get(folder).bytes,
            only_here: FilesOnlyHere {
                files: member.only_here.files,
                bytes: member.only_here.bytes,
                first: first.map(|&file| seen.path_of_file(file)).collect(),
            },
            bounded: overlap.bounded,
        },
        Verdict::NotFullySeen => {
            let gaps = seen.gaps(folder);
            let named = gaps.iter().take(NAMED);
            Said::NotFullySeen {
                unseen: named.map(|gap| (seen.path_of_gap(gap), gap.why)).collect(),
                count: gaps.len(),
            }
        }
    }
}
