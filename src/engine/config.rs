//! All settings of a run, fixed before it starts.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cache::CacheUse;
use crate::catalog::{Form, Rows};
use crate::decide::{Copies, Counting};
use crate::device::{Inner, Mounts, Overrides};
use crate::heartbeat::{current, within};
use crate::media::Identifiers;
use crate::read::PageUse;
use crate::scan::filter::Filter;
use crate::units::Bytes;

/// Time to wait for a file system that does not answer, unless the user says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run's settings. The binary makes one from its arguments; other programs fill it in directly. The default has no
/// roots, and includes every file but the empty ones.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The roots of the search.
    pub roots: Vec<Root>,
    /// The filter of files.
    pub filter: Filter,
    /// Maximum depth below a root that is listed, at least 1: a root's own entries.
    pub max_depth: Option<u32>,
    /// Stay on each root's file system.
    pub one_file_system: bool,
    /// Do not enter trash folders below the roots.
    pub skip_trash: bool,
    /// Follow symbolic links.
    pub follow_links: bool,
    /// Count the names of one inode as duplicates of each other.
    pub hard_links: bool,
    /// Count all replicas below one root as one.
    pub isolate: bool,
    /// Record every entry, including entries that are neither files nor folders, and entries that were not seen.
    pub every_entry: bool,
    /// Tell the observer of each symbolic link.
    pub tell_links: bool,
    /// With every entry, also read mode, owner, time and extended attributes of files that may have copies.
    pub metadata: bool,
    /// Which replica counts make a set worth reporting.
    pub copies: Copies,
    /// Only report sets with a file that was modified at this time or later (nanoseconds since 1970).
    pub newer_ns: Option<i64>,
    /// Names of ignore files to read (`.gitignore` syntax); none by default.
    pub ignore_files: Vec<String>,
    /// What becomes of files that show the same picture, film or sound under other tags.
    pub ignore_tags: IgnoreTags,
    /// Where the identifiers of Live Photos are left before the first set, for those who keep the halves together.
    pub identifiers: Option<Identifiers>,
    /// Compare the members of each set byte by byte at the end.
    pub verify: bool,
    /// Compute the digest of every member, also where comparing bytes would be faster.
    pub digests: bool,
    /// Read only while no other program uses the disk.
    pub io_idle: bool,
    /// Limit reads from each device to this many bytes per second.
    pub bytes_per_second: Option<Bytes>,
    /// Disabled mechanisms, to measure their effect.
    pub without: Vec<Mechanism>,
    /// How to treat pages that were not in the page cache before.
    pub page_use: PageUse,
    /// The cache in which the results of reads are stored from run to run; none by default.
    pub cache: Option<CacheUse>,
    /// Time to wait for a file system that does not answer, once no other work is left; a minute by default.
    pub patience: Option<Duration>,
    /// Pool sizes chosen by the user.
    pub overrides: Overrides,
}

impl Config {
    /// Time to wait for a file system that does not answer.
    pub fn patience(&self) -> Duration {
        self.patience.unwrap_or(PATIENCE)
    }

    /// True unless the mechanism is left out.
    pub(super) fn uses(&self, mechanism: Mechanism) -> bool {
        !self.without.contains(&mechanism)
    }

    /// True if the answer depends on having seen every file: few copies, or files below one root only.
    pub(super) fn needs_every_file(&self) -> bool {
        self.isolate || self.every_entry || self.copies.most.is_some()
    }

    /// True if roots must be the same files and folders as at an earlier check.
    pub(super) fn has_tied_roots(&self) -> bool {
        self.roots.iter().any(|root| root.id.is_some())
    }

    /// The rules that count replicas.
    pub(super) fn counting(&self) -> Counting {
        Counting {
            copies: self.copies,
            hard_links: self.hard_links,
            isolate: self.isolate,
        }
    }
}

/// What becomes of files that show the same picture, film or sound under other tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoreTags {
    /// They are not looked for.
    #[default]
    No,
    /// They are sets of their own, beside those of equal content.
    Beside,
    /// They are sets, and take in those of equal content: no file is in two sets.
    Joined,
}

/// A root of the search, as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Folder or file.
    pub path: PathBuf,
    /// Device and inode number of the path's target when the search of it was approved. If the path leads to something
    /// else later, the root is skipped.
    pub id: Option<(u64, u64)>,
    /// What was on a disk, if the path is that of its catalog.
    pub catalog: Option<CatalogRoot>,
}

impl From<PathBuf> for Root {
    /// A root without a check of its target.
    fn from(path: PathBuf) -> Self {
        Self {
            path,
            id: None,
            catalog: None,
        }
    }
}

/// A catalog that takes the place of a folder.
#[derive(Clone)]
pub struct CatalogRoot {
    /// Its rows.
    pub rows: Arc<dyn Rows>,
    /// The folder on its file system that the root stands for: paths below the root start from there. Empty if the
    /// catalog is of several folders.
    pub dir: Vec<u8>,
    /// The machine that it was made on.
    pub host: String,
    /// When the disk was looked at, RFC 3339.
    pub scan: String,
    /// How much of each file was read.
    pub form: Form,
    /// The names of the file systems that it is of; `None` for one without a name.
    pub volumes: Vec<Option<String>>,
    /// Some files have no digest of the whole.
    pub lacks_digests: bool,
}

impl fmt::Debug for CatalogRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CatalogRoot({})", self.dir.escape_ascii())
    }
}

impl PartialEq for CatalogRoot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rows, &other.rows)
    }
}

impl Eq for CatalogRoot {}

/// A mechanism that makes a run fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Scattered reads through a ring, instead of by many threads.
    Ring,
    /// Folders kept open, so that files are opened by their name alone.
    OpenFolders,
    /// Tails sampled before whole files are read.
    Tails,
    /// On spinning disks, files read on after their heads where a second visit would probably cost more.
    ReadOn,
    /// Short files read whole at once where this is likely to be necessary.
    WholeAtOnce,
    /// Large cached files compared with each other, and only as far as they are equal.
    LockStep,
    /// Files in the same blocks known as equal.
    SharedBlocks,
    /// Reading ahead: announced to the kernel, or left to its readahead.
    ReadAhead,
    /// Reads past the page cache of data that is hardly read a second time.
    PastCache,
    /// Holes hashed without being read.
    Holes,
    /// Files read while folders are still being listed.
    Overlap,
}

/// Each mechanism with its name on the command line.
pub const MECHANISMS: [(Mechanism, &str); 11] = [
    (Mechanism::Ring, "ring"),
    (Mechanism::OpenFolders, "open-folders"),
    (Mechanism::Tails, "tails"),
    (Mechanism::ReadOn, "read-on"),
    (Mechanism::WholeAtOnce, "whole-at-once"),
    (Mechanism::LockStep, "lock-step"),
    (Mechanism::SharedBlocks, "shared-blocks"),
    (Mechanism::ReadAhead, "read-ahead"),
    (Mechanism::PastCache, "past-cache"),
    (Mechanism::Holes, "holes"),
    (Mechanism::Overlap, "overlap"),
];

/// A root lies in another one, or is the same.
#[derive(Debug, thiserror::Error)]
#[error("{}: is in {}, or the same; compare it with what is outside that folder", inner.display(), outer.display())]
pub struct Nested {
    inner: PathBuf,
    outer: PathBuf,
}

/// Where a root lies: its real path, and its place on its file system.
struct Place(PathBuf, Option<Inner>);

impl Place {
    /// `None` if its file system does not say so in time: the search says why it sees nothing there.
    fn of(path: &Path, mounts: &Mounts, patience: Duration) -> Option<Self> {
        let path = path.to_owned();
        let real = within(Some(patience), move || std::fs::canonicalize(path));
        let real = real.ok()?.ok()?;
        let inner = mounts.inner(real.as_os_str().as_bytes());
        Some(Self(real, inner))
    }

    /// True if everything in the other one is in this one, too.
    fn holds(&self, other: &Self) -> bool {
        let by_mount = self.1.as_ref().zip(other.1.as_ref());
        other.0.starts_with(&self.0) || by_mount.is_some_and(|(here, there)| here.holds(there))
    }
}

/// Refuses roots of which one lies in another one, or is the same.
pub fn check_nesting(roots: &[Root], patience: Duration) -> Result<(), Nested> {
    let mounts = Mounts::read();
    let place = |root: &Root| {
        if root.catalog.is_some() {
            return None;
        }
        let _call = current::limited_call(&root.path);
        Place::of(&root.path, &mounts, patience)
    };
    let places: Vec<Option<Place>> = roots.iter().map(place).collect();
    for (first, (outer, here)) in roots.iter().zip(&places).enumerate() {
        for (second, (inner, there)) in roots.iter().zip(&places).enumerate() {
            if let (Some(here), Some(there)) = (here, there)
                && first != second
                && here.holds(there)
            {
                let (inner, outer) = (inner.path.clone(), outer.path.clone());
                return Err(Nested { inner, outer });
            }
        }
    }
    Ok(())
}
