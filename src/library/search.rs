//! A search, from its settings to its sets.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::beside::{Calls, beside};
use super::cancel::Cancel;
use super::error::{Cause, Error};
use super::reading::{Watch, check, heard, reading_settings};
use super::set::{self, FoundIn, Set, Sets, Summary};
use crate::engine::{self, Config, Delivery, Replication, Root};
use crate::event::Problem;
use crate::scan::FilterSpec;
use crate::units::Bytes;

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
/// let sets = seekless::Search::new([path]).exclude("*.tmp").run()?;
/// assert_eq!(sets.len(), 1);
/// assert_eq!(sets[0].size, 4);
/// assert_eq!(sets[0].files[1].path(), path.join("b"));
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
                roots: paths
                    .into_iter()
                    .map(|path| Root::from(path.into()))
                    .collect(),
                digests: false,
                ..Config::default()
            },
            filter: FilterSpec::from_current_folder(),
            watch: Watch::default(),
        }
    }

    /// Only files of this many bytes or more.
    pub fn min_size(mut self, bytes: u64) -> Self {
        self.filter.min_size = Some(Bytes(bytes));
        self
    }

    /// Only files of this many bytes or less.
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.filter.max_size = Some(Bytes(bytes));
        self
    }

    /// Includes empty files.
    pub fn empty(mut self, empty: bool) -> Self {
        self.filter.keep_empty = empty;
        self
    }

    /// Only files whose name matches this glob, or one of several.
    pub fn name(mut self, glob: impl Into<String>) -> Self {
        self.filter.names.push(glob.into());
        self
    }

    /// Only files whose whole path matches this glob, or one of several. A glob that starts with `/`, `./` or `../` is
    /// anchored; any other may start at any folder of the path.
    pub fn path(mut self, glob: impl Into<String>) -> Self {
        self.filter.paths.push(glob.into());
        self
    }

    /// Skips files and whole folders whose name matches this glob, or whose path does if the glob contains a slash. A
    /// trailing slash matches folders only.
    pub fn exclude(mut self, glob: impl Into<String>) -> Self {
        self.filter.excludes.push(glob.into());
        self
    }

    /// Skips files and folders whose name starts with a dot.
    pub fn skip_hidden(mut self, skip: bool) -> Self {
        self.filter.skip_hidden = skip;
        self
    }

    /// Obeys ignore files of this name (`.gitignore` syntax). One that is longer than 1 MiB, is not a regular file or
    /// cannot be read is a [`ProblemKind::UnusableIgnoreFile`](crate::ProblemKind::UnusableIgnoreFile), and files
    /// that it lists are found.
    pub fn ignore_file(mut self, name: impl Into<String>) -> Self {
        self.config.ignore_files.push(name.into());
        self
    }

    /// The number of levels below a searched folder that are listed: 1 means its own entries.
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

    /// Counts all copies below one searched path as one: a set has files below two paths or more.
    pub fn isolate(mut self, isolate: bool) -> Self {
        self.config.isolate = isolate;
        self
    }

    /// Only sets with more copies than this. The default is 1.
    pub fn more_copies_than(mut self, copies: u64) -> Self {
        self.config.replication = Replication::Over(copies);
        self
    }

    /// Only sets with fewer copies than this: 2 finds unique files.
    pub fn fewer_copies_than(mut self, copies: u64) -> Self {
        self.config.replication = Replication::Under(copies);
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

    /// Ends early when this is cancelled, and returns the sets found so far.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.watch.cancel = cancel.clone();
        self
    }

    reading_settings!();

    /// Searches, and returns all sets, most reclaimable disk space first.
    ///
    /// # Errors
    /// If a setting cannot be used, no path is there, or the limits of the process leave too little to work with.
    pub fn run(mut self) -> Result<Sets, Error> {
        let origin = FoundIn {
            folder: self.filter.working_folder.clone(),
            roots: self
                .config
                .roots
                .iter()
                .map(|root| root.path.clone())
                .collect(),
            started_ns: set::now_ns(),
            isolate: self.config.isolate,
            hard_links: self.config.hard_links,
        };
        let (mut sets, mut problems) = (Vec::new(), Vec::new());
        let mut heard = heard(self.watch.on_problem.take(), &mut problems);
        let summary = self.drive(Delivery::default(), &mut heard, &mut |set| {
            sets.push(set);
            ControlFlow::Continue(())
        })?;
        drop(heard);
        Ok(Sets {
            sets,
            summary,
            problems,
            origin,
        })
    }

    /// Searches, and hands over each set as soon as it is certain, in no particular order. Ends early when the
    /// callback breaks.
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("a"), "same")?;
    /// # std::fs::write(folder.path().join("b"), "same")?;
    /// let summary = seekless::Search::new([folder.path()]).each(|set| {
    ///     println!("{} × {}", set.files.len(), set.size);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!((summary.sets, summary.redundant_files), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn each(mut self, mut each: impl FnMut(Set) -> ControlFlow<()>) -> Result<Summary, Error> {
        let mut told = self.watch.on_problem.take();
        let mut heard = |problem: Problem| {
            if let Some(tell) = &mut told {
                tell(&problem);
            }
        };
        self.drive(Delivery::AsFinal, &mut heard, &mut each)
    }

    fn drive(
        mut self,
        delivery: Delivery,
        heard: &mut dyn FnMut(Problem),
        each: &mut dyn FnMut(Set) -> ControlFlow<()>,
    ) -> Result<Summary, Error> {
        let config = self.checked()?;
        let mut bad_roots = Vec::new();
        let mut ended_early = false;
        let calls = Calls {
            take: &mut |set| {
                let flow = each(set);
                ended_early = flow.is_break();
                flow
            },
            hear: &mut |problem: Problem| {
                if problem.kind.is_of_root() {
                    bad_roots.push(format!("{}: {problem}", problem.path.display()));
                }
                heard(problem);
            },
            progress: self.watch.on_progress,
        };
        let found = beside(&self.watch.cancel, calls, |to_sets, listener, control| {
            engine::find(&config, delivery, listener, control, &mut |set| {
                let sent = to_sets.send(Set::from(set));
                sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
            })
        })?;
        match found {
            found if ended_early => Ok(Summary {
                incomplete: true,
                ..found.map(Summary::from).unwrap_or_default()
            }),
            Ok(_) if !bad_roots.is_empty() && bad_roots.len() >= config.roots.len() => {
                Err(Cause::NoPath(bad_roots.swap_remove(0)).into())
            }
            found => Ok(found.map_err(Cause::from)?.into()),
        }
    }

    /// The settings, if they can be used.
    fn checked(&mut self) -> Result<Config, Error> {
        let config = std::mem::take(&mut self.config);
        check(&config)?;
        let is_no_name = |name: &&String| name.is_empty() || name.contains('/');
        if let Some(name) = config.ignore_files.iter().find(is_no_name) {
            return Err(Cause::IgnoreFile(name.clone()).into());
        }
        let filter = std::mem::take(&mut self.filter);
        match (filter.min_size, filter.max_size) {
            (Some(min), Some(max)) if min > max => return Err(Cause::NoSize(min, max).into()),
            _ => {}
        }
        Ok(Config {
            filter: filter.build().map_err(Cause::from)?,
            ..config
        })
    }
}
