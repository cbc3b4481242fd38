//! A search, from its settings to its sets.

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use super::Callback;
use super::cancel::Cancel;
use super::error::{Cause, Error};
use super::progress::Progress;
use super::search_run::{self, Calls};
use super::set::{self, FoundIn, Set, Sets, Summary};
use crate::engine::{Config, Delivery, LEAST_MEMORY, Replication, Root};
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
#[must_use = "nothing is searched before `run` or `each`"]
pub struct Search<'a> {
    config: Config,
    filter: FilterSpec,
    cancel: Cancel,
    on_progress: Option<Callback<'a, [Progress]>>,
    on_problem: Option<Callback<'a, Problem>>,
}

impl fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("config", &self.config)
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
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
            cancel: Cancel::default(),
            on_progress: None,
            on_problem: None,
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

    /// Obeys ignore files of this name (`.gitignore` syntax).
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

    /// Limits reading to this many bytes per second and device.
    pub fn bytes_per_second(mut self, bytes: u64) -> Self {
        self.config.bytes_per_second = Some(Bytes(bytes));
        self
    }

    /// Limits the memory for data in flight, in bytes: at least 8 MB (8,000,000 bytes). The default is a share of the
    /// memory of the machine.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.config.memory = Some(Bytes(bytes));
        self
    }

    /// Only reads while no other program uses the disk. It sets the I/O priority of the threads that the search
    /// starts.
    pub fn io_idle(mut self, idle: bool) -> Self {
        self.config.io_idle = idle;
        self
    }

    /// The time to wait for a file system that does not answer, once there is nothing else to do.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.config.patience = patience;
        self
    }

    /// Ends early when this is cancelled, and returns the sets found so far.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Calls this about ten times a second with the progress of each stage on each device.
    pub fn on_progress(mut self, tell: impl FnMut(&[Progress]) + 'a) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }

    /// Calls this for each path that could not be read or is skipped, with the reason. Without it, [`Sets::problems`]
    /// collects them.
    pub fn on_problem(mut self, tell: impl FnMut(&Problem) + 'a) -> Self {
        self.on_problem = Some(Box::new(tell));
        self
    }

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
        let mut told = self.on_problem.take();
        let mut heard = |problem: Problem| match &mut told {
            Some(tell) => tell(&problem),
            None => problems.push(problem),
        };
        let summary = self.drive(Delivery::default(), &mut heard, &mut |set| {
            sets.push(set);
            ControlFlow::Continue(())
        })?;
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
        let mut told = self.on_problem.take();
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
        let mut on_progress = self.on_progress;
        let progress: &mut dyn FnMut(&[Progress]) = match &mut on_progress {
            Some(tell) => tell,
            None => &mut |_| {},
        };
        let calls = Calls {
            each,
            heard,
            progress,
        };
        search_run::run(&config, delivery, &self.cancel, calls)
    }

    /// The settings, if they can be used.
    fn checked(&mut self) -> Result<Config, Error> {
        let config = std::mem::take(&mut self.config);
        if config.memory.is_some_and(|memory| memory < LEAST_MEMORY) {
            return Err(Cause::LittleMemory.into());
        }
        if config.bytes_per_second == Some(Bytes(0)) {
            return Err(Cause::NeverReads.into());
        }
        let is_no_name = |name: &&String| name.is_empty() || name.contains('/');
        if let Some(name) = config.ignore_files.iter().find(is_no_name) {
            return Err(Cause::IgnoreFile(name.clone()).into());
        }
        let filter = std::mem::take(&mut self.filter);
        Ok(Config {
            filter: filter.build().map_err(Cause::from)?,
            ..config
        })
    }
}
