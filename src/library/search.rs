//! A search, from its settings to its sets.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, io};

use super::error::{Cause, Error};
use super::watch::{Heard, Watch, built, check, reading_settings};
use super::{root_paths, roots, time};
use crate::decide::{self, AlikeFile, DuplicateSet, Member};
use crate::engine::{self, CacheChoice, CacheUse, Config, Copies, Delivery, IgnoreTags, Trust};
use crate::event::Problem;
use crate::hash::ContentDigest;
use crate::media::{Other, Tags};
use crate::scan::FilterSpec;
use crate::scan::filter::Filter;
use crate::units::nanoseconds;

/// A search for files of equal content.
///
/// It blocks the calling thread and works on threads of its own, as many as the disks can use. Callbacks run on the
/// calling thread. The process stays as it is: its limits, its heap and its priorities are not changed.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path();
/// # std::fs::write(path.join("a"), "same")?;
/// # std::fs::write(path.join("b"), "same")?;
/// let filter = seekless::Filter {
///     excludes: vec!["*.tmp".to_owned()],
///     ..Default::default()
/// };
/// let found = seekless::Search::new([path]).filter(filter).run()?;
/// assert_eq!(found.sets.len(), 1);
/// let set = &found.sets[0];
/// assert_eq!(set.size, 4);
/// assert_eq!(set.files[1].path(), path.join("b"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is searched before `run` or `each`"]
pub struct Search<'a> {
    config: Config,
    filter: FilterSpec,
    watch: Watch<'a>,
}

impl<'a> Search<'a> {
    /// Searches these folders, with everything below them, and files. Relative paths start in the current folder.
    ///
    /// By default, the search includes all regular files that are not empty. It does not follow symbolic links, and
    /// does not count hard links as duplicates.
    pub fn new<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self {
            config: Config {
                roots: roots(paths),
                ..Config::default()
            },
            filter: FilterSpec::default(),
            watch: Watch::default(),
        }
    }

    /// Only these files take part.
    pub fn filter(mut self, filter: FilterSpec) -> Self {
        self.filter = filter;
        self
    }

    /// Obeys ignore files of this name (`.gitignore` syntax). One that is longer than 1 MiB, is not a regular file or
    /// cannot be read is a [`ProblemKind::UnusableIgnoreFile`](crate::ProblemKind::UnusableIgnoreFile), and files
    /// that it lists are found.
    pub fn ignore_file(mut self, name: impl Into<String>) -> Self {
        self.config.ignore_files.push(name.into());
        self
    }

    /// The number of levels below a searched folder that are listed: 1, the least, means its own entries.
    pub fn max_depth(mut self, levels: u32) -> Self {
        self.config.max_depth = Some(levels);
        self
    }

    /// Stays on the file system of each searched path.
    pub fn one_file_system(mut self, stay: bool) -> Self {
        self.config.one_file_system = stay;
        self
    }

    /// Follows symbolic links.
    pub fn follow_links(mut self, follow: bool) -> Self {
        self.config.follow_links = follow;
        self
    }

    /// Counts the names (hard links) of one file as duplicates of each other.
    pub fn hard_links(mut self, count: bool) -> Self {
        self.config.hard_links = count;
        self
    }

    /// Counts all copies below one searched path as one: a set has files below two paths or more. Needs two paths.
    pub fn isolate(mut self, isolate: bool) -> Self {
        self.config.isolate = isolate;
        self
    }

    /// Only sets with more copies than this. The default is 1.
    pub fn more_copies_than(mut self, copies: u64) -> Self {
        self.config.copies = Copies::at_least(copies.saturating_add(1));
        self
    }

    /// Only sets with fewer copies than this: 2 finds unique files.
    pub fn fewer_copies_than(mut self, copies: u64) -> Self {
        self.config.copies = Copies::at_most(copies.saturating_sub(1));
        self
    }

    /// Also finds pictures, films and sound that are the same but for their tags. They are sets of their own, with
    /// [`Set::alike`]; plans leave them out.
    ///
    /// ```no_run
    /// for set in seekless::Search::new(["/home/me/Pictures"]).ignore_tags(true).run()?.sets {
    ///     for (file, alike) in set.files.iter().zip(&set.alike) {
    ///         println!("{}: rating {:?}", file.path().display(), alike.tags.rating);
    ///     }
    /// }
    /// # Ok::<(), seekless::Error>(())
    /// ```
    pub fn ignore_tags(mut self, ignore: bool) -> Self {
        self.config.ignore_tags = if ignore {
            IgnoreTags::Beside
        } else {
            IgnoreTags::No
        };
        self
    }

    /// Computes the BLAKE3 digest of each set, even if comparing bytes would be faster.
    pub fn digests(mut self, digests: bool) -> Self {
        self.config.digests = digests;
        self
    }

    /// Compares the files of each set byte by byte at the end.
    pub fn verify(mut self, verify: bool) -> Self {
        self.config.verify = verify;
        self
    }

    /// Keeps the results of reads in this folder, which is created if it does not exist. A later search does not read a
    /// file again whose size, time of modification and time of change are the same.
    pub fn cache(self, folder: impl Into<PathBuf>) -> Self {
        self.cached(folder.into(), Trust::Change)
    }

    /// The same, and the time of change may differ: a file that another program changed and set back to its old time of
    /// modification is not read again. For file systems without a reliable time of change, such as FAT.
    pub fn cache_by_mtime(self, folder: impl Into<PathBuf>) -> Self {
        self.cached(folder.into(), Trust::Modification)
    }

    fn cached(mut self, folder: PathBuf, trust: Trust) -> Self {
        self.config.cache = Some(CacheUse {
            folder,
            trust,
            choice: CacheChoice::Named,
            ahead: Duration::ZERO,
        });
        self
    }

    reading_settings!();

    /// Searches, and returns all sets, most reclaimable disk space first.
    ///
    /// # Errors
    /// If a setting cannot be used, no path is there, or the limits of the process leave too little to work with.
    pub fn run(self) -> Result<Sets, Error> {
        let origin = FoundIn {
            folder: env::current_dir().unwrap_or_default(),
            roots: root_paths(&self.config),
            started_ns: nanoseconds(SystemTime::now()),
            isolate: self.config.isolate,
            hard_links: self.config.hard_links,
            newer_ns: self.filter.newer_ns,
            filter: built(self.filter.clone(), true)?,
            obeys_ignore_files: !self.config.ignore_files.is_empty(),
        };
        let mut sets = Vec::new();
        let (summary, problems) = self.search(Delivery::default(), |set| sets.push(set))?;
        Ok(Sets {
            sets,
            problems,
            summary,
            origin,
        })
    }

    /// Searches, and calls this on the calling thread with each set as soon as it is certain, in no particular order.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("a"), "same")?;
    /// # std::fs::write(folder.path().join("b"), "same")?;
    /// let search = seekless::Search::new([folder.path()]);
    /// let summary = search.each(|set| println!("{} × {}", set.files.len(), set.size))?;
    /// assert_eq!((summary.sets, summary.redundant_files), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn each(self, take: impl FnMut(Set)) -> Result<Summary, Error> {
        Ok(self.search(Delivery::AsFinal, take)?.0)
    }

    fn search(
        mut self,
        delivery: Delivery,
        take: impl FnMut(Set),
    ) -> Result<(Summary, Vec<Problem>), Error> {
        let config = self.checked()?;
        let found = self.watch.during(take, |listener, control| {
            engine::find(&config, delivery, listener, control, &mut |set| {
                if listener.tell(Heard::Result(Set::from(set))) {
                    Ok(())
                } else {
                    Err(io::ErrorKind::BrokenPipe.into())
                }
            })
        })?;
        let summary = found.map_err(Cause::from)?;
        let mut bad_roots = self.watch.bad_roots;
        if !bad_roots.is_empty() && bad_roots.len() >= config.roots.len() {
            return Err(Cause::NoPath(bad_roots.swap_remove(0)).into());
        }
        Ok((summary.into(), self.watch.problems))
    }

    /// The settings, if they can be used.
    fn checked(&mut self) -> Result<Config, Error> {
        let config = std::mem::take(&mut self.config);
        check(&config)?;
        let is_no_name = |name: &&String| name.is_empty() || name.contains('/');
        if let Some(name) = config.ignore_files.iter().find(is_no_name) {
            return Err(Cause::IgnoreFile(name.clone()).into());
        }
        if config.max_depth == Some(0) {
            return Err(Cause::NoDepth.into());
        }
        let places: BTreeSet<_> = config
            .roots
            .iter()
            .map(|root| std::path::absolute(&root.path).ok())
            .collect();
        if config.isolate && places.len() < 2 {
            return Err(Cause::FewPaths.into());
        }
        Ok(Config {
            // A set has its older files, too.
            newer_ns: self.filter.newer_ns,
            filter: built(self.filter.clone(), true)?,
            ..config
        })
    }
}

/// Files of equal content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Set {
    /// Length of each file, bytes.
    pub size: u64,
    /// BLAKE3 of the content, as `b3sum` prints it. `None` where the answer was known without it: files are compared
    /// byte by byte where that is faster, unless [`Search::digests`](super::Search::digests) asks for digests.
    pub digest: Option<ContentDigest>,
    /// The files: two or more, unless [`Search::fewer_copies_than`](super::Search::fewer_copies_than) asks for less.
    /// Names of one file are one entry.
    pub files: Vec<File>,
    /// Bytes on disk that are freed when all files but the first go: allocated blocks; shared ones are counted once.
    pub reclaimable: u64,
    /// Facts about each file, if the files are the same but for their tags; empty if their contents are equal.
    pub alike: Vec<Alike>,
}

/// Facts about a file that shows the same as others.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Alike {
    /// Its length, bytes.
    pub size: u64,
    /// Files of equal content have one number.
    pub content: u32,
    /// The parts beside the picture in which it differs from the first file: `orientation`, `colours`, `maker-notes`,
    /// `further-parts`.
    pub differs: Vec<&'static str>,
    /// Its tags.
    pub tags: Tags,
}

/// One file (one inode) with all its names that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// Its paths, as reached from the searched paths; never empty.
    pub paths: Vec<PathBuf>,
    /// Device number of its file system (`st_dev`).
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// How many names (hard links) it has in all, inside and outside the searched paths.
    pub links: u64,
    /// Time of last modification.
    pub modified: SystemTime,
    /// Bytes allocated on disk.
    pub allocated: u64,
}

impl File {
    /// Its first path.
    pub fn path(&self) -> &Path {
        self.paths.first().map_or(Path::new(""), PathBuf::as_path)
    }
}

impl From<&DuplicateSet> for Set {
    fn from(set: &DuplicateSet) -> Self {
        Self {
            size: set.size,
            digest: set.digest,
            files: set.members.iter().map(File::from).collect(),
            reclaimable: set.reclaimable,
            alike: alike(&set.alike),
        }
    }
}

fn alike(files: &[AlikeFile]) -> Vec<Alike> {
    let differs = |file: &AlikeFile| {
        files[0]
            .parts
            .differences(&file.parts)
            .map(Other::name)
            .collect()
    };
    let alike = files.iter().map(|file| Alike {
        size: file.size,
        content: file.content,
        differs: differs(file),
        tags: file.tags.clone(),
    });
    alike.collect()
}

impl From<&Member> for File {
    fn from(member: &Member) -> Self {
        let path = |name: &Vec<u8>| PathBuf::from(OsString::from_vec(name.clone()));
        Self {
            paths: member.names.iter().map(path).collect(),
            device: member.dev,
            inode: member.ino,
            links: member.links,
            modified: time(member.mtime_ns),
            allocated: member.allocated,
        }
    }
}

/// Counts of a search. Sums saturate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// True if the search was cancelled, a file system did not answer, or memory ran short: the sets are correct, but
    /// there may be more.
    pub incomplete: bool,
    /// Regular files (inodes) that took part.
    pub files: u64,
    /// Sum of their sizes, bytes.
    pub bytes: u64,
    /// Sets found.
    pub sets: u64,
    /// Files that are not needed: all but one of each set.
    pub redundant_files: u64,
    /// Sum of their sizes, bytes.
    pub redundant_bytes: u64,
    /// Bytes that are freed on disk when they go.
    pub reclaimable: u64,
}

impl From<decide::Summary> for Summary {
    fn from(summary: decide::Summary) -> Self {
        Self {
            incomplete: summary.is_incomplete(),
            files: summary.files,
            bytes: summary.bytes_present,
            sets: summary.sets,
            redundant_files: summary.redundant_files,
            redundant_bytes: summary.redundant_bytes,
            reclaimable: summary.reclaimable,
        }
    }
}

/// The result of a search.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sets {
    /// All sets, those that free most disk space first; the same files always come in the same order. Those that are
    /// taken out take no part in a plan.
    pub sets: Vec<Set>,
    /// The counts of the search.
    pub summary: Summary,
    /// The files and folders that could not be read; empty if [`Search::on_problem`](super::Search::on_problem) took
    /// it.
    pub problems: Vec<Problem>,
    pub(super) origin: FoundIn,
}

/// Where sets come from; a plan needs to know.
#[derive(Clone, Debug)]
pub(super) struct FoundIn {
    /// Where relative paths start.
    pub folder: PathBuf,
    pub roots: Vec<PathBuf>,
    /// Nanoseconds since 1970.
    pub started_ns: i64,
    pub isolate: bool,
    pub hard_links: bool,
    pub newer_ns: Option<i64>,
    pub filter: Filter,
    pub obeys_ignore_files: bool,
}
