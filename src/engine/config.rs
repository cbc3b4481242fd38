//! All settings of a run, fixed before it starts.

use std::path::PathBuf;
use std::time::Duration;

use crate::cache::Trust;
use crate::decide::{Counting, Replication};
use crate::device::{Overrides, SystemRoot};
use crate::read::{PageUse, SweepOrder};
use crate::scan::filter::Filter;

use super::mechanisms::Mechanism;
use crate::units::Bytes;

/// How long a file system that does not answer is waited for, unless somebody says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run's settings. The binary makes one from its arguments; other programs fill it in directly.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to look.
    pub roots: Vec<Root>,
    /// Which files take part.
    pub filter: Filter,
    /// Deepest level below a root that is listed; 0 lists only files given as roots, 1 a root's own entries.
    pub max_depth: Option<u32>,
    /// Stay on each root's file system.
    pub one_file_system: bool,
    /// Follow symbolic links.
    pub follow_links: bool,
    /// Count the names of one inode as duplicates of each other.
    pub hard_links: bool,
    /// Count all replicas below one root as one.
    pub isolate: bool,
    /// Keep account of every entry, also of those that are neither files nor folders or that were not seen.
    pub every_entry: bool,
    /// With every entry, also ask for mode, owner, time and extended attributes of files that may have copies.
    pub metadata: bool,
    /// Which replica counts make a set worth reporting.
    pub replication: Replication,
    /// Names of ignore files to obey (`.gitignore` syntax); none by default.
    pub ignore_files: Vec<String>,
    /// Compare the members of each set byte by byte in the end.
    pub verify: bool,
    /// Compute the digest of every member, also where comparing bytes would be faster.
    pub digests: bool,
    /// Take files for equal that lie in the same blocks of a file system that can share them.
    pub shared_blocks: bool,
    /// Read files whole on the first visit where a second one would probably cost more.
    pub read_whole: bool,
    /// By what the sweeps over a spinning disk are put in order.
    pub order: SweepOrder,
    /// Read only while nobody else does.
    pub io_idle: bool,
    /// Read no more than this from each device in a second.
    pub bytes_per_second: Option<Bytes>,
    /// Bytes that may be in flight: read ahead and not yet dealt with.
    pub memory: Option<Bytes>,
    /// Disabled mechanisms, to measure their effect.
    pub without: Vec<Mechanism>,
    /// How to treat pages that were not in the page cache before.
    pub page_use: PageUse,
    /// Where what was read is kept from run to run; nowhere if nothing is said.
    pub cache: Option<CacheUse>,
    /// How long a file system that does not answer is waited for once nothing else is left to do.
    pub patience: Duration,
    /// Pool sizes chosen by the user.
    pub overrides: Overrides,
    /// Below this folder lies the system's sysfs; `/sys` but for tests.
    pub sysfs: PathBuf,
}

impl Default for Config {
    /// Looks nowhere yet. Every file but the empty ones takes part.
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            filter: Filter::default(),
            max_depth: None,
            one_file_system: false,
            follow_links: false,
            hard_links: false,
            isolate: false,
            every_entry: false,
            metadata: false,
            replication: Replication::Over(1),
            ignore_files: Vec::new(),
            verify: false,
            digests: true,
            shared_blocks: true,
            read_whole: true,
            order: SweepOrder::default(),
            io_idle: false,
            bytes_per_second: None,
            memory: None,
            without: Vec::new(),
            page_use: PageUse::KeepShort,
            cache: None,
            patience: PATIENCE,
            overrides: Overrides::default(),
            sysfs: SystemRoot::default().sysfs,
        }
    }
}

impl Config {
    /// Where facts about disks are read.
    pub(super) fn system(&self) -> SystemRoot {
        SystemRoot {
            sysfs: self.sysfs.clone(),
            ..SystemRoot::default()
        }
    }

    /// True unless the mechanism is left out.
    pub(super) fn uses(&self, mechanism: Mechanism) -> bool {
        !self.without.contains(&mechanism)
    }

    /// True if the answer depends on having seen every file: what is unique, or below one root only.
    pub(super) fn needs_every_file(&self) -> bool {
        self.isolate || self.every_entry || matches!(self.replication, Replication::Under(_))
    }

    /// True if roots must be what they were when somebody looked.
    pub(super) fn has_tied_roots(&self) -> bool {
        self.roots.iter().any(|root| root.id.is_some())
    }

    /// How replicas are counted.
    pub(super) fn counting(&self) -> Counting {
        Counting {
            replication: self.replication,
            hard_links: self.hard_links,
            isolate: self.isolate,
        }
    }
}

/// What a run does with a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheUse {
    /// The folder that it is in.
    pub folder: PathBuf,
    /// What it says is believed as long as files are in the state in which they were. If not, everything is read, and what
    /// it comes to is kept.
    pub answers: bool,
    /// What counts as the state in which they were.
    pub trust: Trust,
    /// How far the clock by which it counts is ahead of the system's: no time but for tests.
    pub ahead: Duration,
}

/// A place to look, as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Folder or file.
    pub path: PathBuf,
    /// Device and inode number of what the path led to when somebody decided that it may be searched. What it leads
    /// to later is left out if it is something else.
    pub id: Option<(u64, u64)>,
}

impl From<PathBuf> for Root {
    /// Whatever the path leads to may be searched.
    fn from(path: PathBuf) -> Self {
        Self { path, id: None }
    }
}
