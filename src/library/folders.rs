//! Answers about folders: which are the same, lie in another one, or mostly do.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::cancel::Cancel;
use super::error::{Cause, Error};
use super::reading::{check, classified, reading_settings};
use super::watch::Watch;
use crate::acting::outermost;
use crate::engine::{Config, Root};
use crate::event::Problem;
use crate::folders::{self, CanGo, Count, FoldersAnswer, NOISE, Percent, Said, Seen, Wanted};
use crate::scan::{FilterSpec, Globs};
use crate::tree::Scope;

/// Finds folders that have files in common, among these folders and within them.
///
/// All files are compared by content, hidden ones included. Nothing is changed. Trash folders below the given ones are
/// not searched, and a folder that contains one is not fully seen.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (card, photos) = (folder.path().join("card"), folder.path().join("photos"));
/// # for (place, name) in [(&card, "a"), (&photos, "renamed"), (&photos, "more")] {
/// #     std::fs::create_dir_all(place)?;
/// #     std::fs::write(place.join(name), if name == "more" { "else" } else { "same" })?;
/// # }
/// let found = seekless::Folders::new([&card, &photos]).run()?;
/// let first = &found.entries[0].folders[0];
/// assert_eq!(first.path, card);
/// assert_eq!(first.verdict.other(), Some(photos.as_path()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is compared before `run`"]
pub struct Folders<'a> {
    config: Config,
    names: Vec<String>,
    noise: Option<Vec<String>>,
    min_bytes: u64,
    min_overlap: u8,
    watch: Watch<'a>,
}

/// The result of [`Folders`].
#[derive(Debug)]
#[non_exhaustive]
pub struct FoldersFound {
    /// True if the run was cancelled, or something in the folders was not seen, such as a trash folder, a file that
    /// could not be read, or another file system: more of the folders may have copies.
    pub incomplete: bool,
    /// The folders that have a verdict: first those that can go, and the largest gain first. All that can go may go at
    /// once: every content stays.
    pub entries: Vec<FolderEntry>,
    /// The number of folders that were searched.
    pub folders: usize,
    /// The number of files that were compared, without noise.
    pub files: usize,
    /// Paths that could not be read, or that changed during the run.
    pub problems: Vec<Problem>,
}

/// One folder, or several that are much the same.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderFinding {
    /// Its path, beginning with the path that was given.
    pub path: PathBuf,
    /// The verdict.
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
    pub torn_photos: usize,
}

/// The number of places that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// Their number.
    pub number: usize,
    /// True if there may be more: some content has more copies than were examined.
    pub at_least: bool,
}

/// The verdict about a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderVerdict {
    /// Other folders have the same names, structure, contents, targets of symbolic links and empty folders.
    Identical {
        /// The first of them.
        other: PathBuf,
        /// The number of them.
        places: Places,
    },
    /// Other folders have the same contents, each as many times, in another layout or under other names.
    SameContents {
        /// The first of them.
        other: PathBuf,
        /// The number of them.
        places: Places,
    },
    /// Other folders hold a copy of every file.
    Contained {
        /// The smallest of them.
        other: PathBuf,
        /// The number of them.
        places: Places,
    },
    /// Every file has a copy elsewhere, but no single folder that stays holds all of them.
    InParts {
        /// The places that hold most of it, with the bytes that those before them lack.
        largest: Vec<(PathBuf, u64)>,
        /// The number of places that together hold all of it.
        places: Places,
    },
    /// Enough of it is also in another folder, and something is nowhere else.
    Overlaps {
        /// The folder that is most like it.
        other: PathBuf,
        /// Bytes that are in both, each content counted once.
        shared: u64,
        /// Bytes of the folder, each content counted once.
        of: u64,
        /// Files whose contents are nowhere else.
        only_here_files: usize,
        /// Their bytes.
        only_here_bytes: u64,
        /// True if a more similar folder may exist: some content has more copies than were examined.
        bounded: bool,
    },
    /// All files that were seen are also elsewhere, but something was not seen.
    NotFullySeen {
        /// The number of places that were not seen.
        count: usize,
        /// The first few, with the reason.
        first: Vec<(PathBuf, &'static str)>,
    },
}

impl FolderVerdict {
    /// The other folder, if there is one.
    pub fn other(&self) -> Option<&std::path::Path> {
        match self {
            Self::Identical { other, .. }
            | Self::SameContents { other, .. }
            | Self::Contained { other, .. }
            | Self::Overlaps { other, .. } => Some(other),
            Self::InParts { .. } | Self::NotFullySeen { .. } => None,
        }
    }
}

impl<'a> Folders<'a> {
    /// Compares these folders with each other and within each other.
    pub fn new<P: Into<PathBuf>>(roots: impl IntoIterator<Item = P>) -> Self {
        Self {
            config: Config {
                roots: roots
                    .into_iter()
                    .map(|path| Root::from(path.into()))
                    .collect(),
                ..Config::default()
            },
            names: Vec::new(),
            noise: None,
            min_bytes: 0,
            min_overlap: 80,
            watch: Watch::default(),
        }
    }

    /// Only reports folders whose name matches this glob, or one of several. All folders are still compared.
    pub fn name(mut self, glob: impl Into<String>) -> Self {
        self.names.push(glob.into());
        self
    }

    /// Ignores files with this name in verdicts; the first call replaces `.DS_Store`, `Thumbs.db`, `desktop.ini` and
    /// `.nomedia`. Empty files are always ignored.
    pub fn noise(mut self, glob: impl Into<String>) -> Self {
        self.noise.get_or_insert_default().push(glob.into());
        self
    }

    /// Only reports folders of this many bytes or more.
    pub fn min_size(mut self, bytes: u64) -> Self {
        self.min_bytes = bytes;
        self
    }

    /// Reports folders of which at least this percentage of the bytes is also in another folder. The default is 80;
    /// the least is 1, the most is 100.
    pub fn min_overlap(mut self, percent: u8) -> Self {
        self.min_overlap = percent;
        self
    }

    /// Stays on the file system of each given folder. A folder that contains a mount point counts as not fully seen.
    pub fn one_file_system(mut self, stay: bool) -> Self {
        self.config.one_file_system = stay;
        self
    }

    /// Ends early when this is cancelled, with no entries.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.watch.cancel = cancel.clone();
        self
    }

    reading_settings!();

    /// Compares. It blocks the calling thread.
    ///
    /// # Errors
    /// If a setting cannot be used, a given path is no folder, all of them are missing, or the limits of the process leave
    /// too little to work with.
    pub fn run(self) -> Result<FoldersFound, Error> {
        check(&self.config)?;
        if !(1..=100).contains(&self.min_overlap) {
            return Err(Cause::Overlap(self.min_overlap).into());
        }
        let paths: Vec<PathBuf> = self
            .config
            .roots
            .into_iter()
            .map(|root| root.path)
            .collect();
        let is_other = |path: &&PathBuf| path.metadata().is_ok_and(|found| !found.is_dir());
        if let Some(file) = paths.iter().find(is_other) {
            return Err(Cause::NoPath(format!("{}: not a folder", file.display())).into());
        }
        if paths.iter().all(|path| path.metadata().is_err()) {
            return Err(Cause::NoPath(format!("{}: no such folder", paths[0].display())).into());
        }
        let noise = self
            .noise
            .unwrap_or_else(|| NOISE.map(str::to_owned).into());
        let noise = Globs::new(&noise, false).map_err(Cause::from)?;
        let names = Globs::new(&self.names, false).map_err(Cause::from)?;
        let every_file = FilterSpec {
            keep_empty: true,
            ..FilterSpec::from_current_folder()
        };
        let config = Config {
            roots: outermost(paths).into_iter().map(Root::from).collect(),
            filter: every_file.build().map_err(Cause::from)?,
            ..self.config
        };
        let cancel = self.watch.cancel.clone();
        let (run, problems) = classified(config, Scope::AllFiles, self.watch)?;
        if cancel.is_cancelled() {
            return Ok(FoldersFound {
                incomplete: true,
                entries: Vec::new(),
                folders: 0,
                files: 0,
                problems,
            });
        }
        let seen = Seen::new(&run, |name| {
            noise.as_ref().is_some_and(|noise| noise.matches(name))
        });
        let is_wanted = |name: &[u8]| names.as_ref().is_none_or(|names| names.matches(name));
        let answer = FoldersAnswer::of(
            &seen,
            &Wanted {
                min_bytes: self.min_bytes,
                min_overlap: Percent(self.min_overlap),
                is_wanted: &is_wanted,
            },
        );
        Ok(FoldersFound {
            incomplete: !seen.is_whole(),
            entries: answer.entries.into_iter().map(entry).collect(),
            folders: answer.folders,
            files: answer.files,
            problems,
        })
    }
}

fn entry(entry: folders::FolderEntry) -> FolderEntry {
    let finding = |line: folders::FolderLine| FolderFinding {
        path: path(line.path),
        verdict: verdict(line.said),
        files: line.files,
        bytes: line.bytes,
        gain: line.gain,
        noise: line.noise,
        links: line.links,
        torn_photos: line.torn_photos,
    };
    FolderEntry {
        can_go: entry.can_go,
        gain: entry.gain,
        folders: entry.folders.into_iter().map(finding).collect(),
    }
}

fn verdict(said: Said) -> FolderVerdict {
    match said {
        Said::Identical { with, places: of } => FolderVerdict::Identical {
            other: path(with),
            places: places(of),
        },
        Said::SameContents { with, places: of } => FolderVerdict::SameContents {
            other: path(with),
            places: places(of),
        },
        Said::Contained { inside, places: of } => FolderVerdict::Contained {
            other: path(inside),
            places: places(of),
        },
        Said::InParts { best, places: of } => {
            let largest = best
                .into_iter()
                .map(|place| (path(place.path), place.bytes));
            FolderVerdict::InParts {
                largest: largest.collect(),
                places: places(of),
            }
        }
        Said::Overlaps {
            with,
            shared,
            of,
            only_here,
            bounded,
        } => FolderVerdict::Overlaps {
            other: path(with),
            shared,
            of,
            only_here_files: only_here.files,
            only_here_bytes: only_here.bytes,
            bounded,
        },
        Said::NotFullySeen { unseen, count } => {
            let first = unseen.into_iter().map(|(at, why)| (path(at), why));
            FolderVerdict::NotFullySeen {
                count,
                first: first.collect(),
            }
        }
    }
}

fn places(count: Count) -> Places {
    Places {
        number: count.number,
        at_least: count.at_least,
    }
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}
