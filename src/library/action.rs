//! Actions on duplicates, and the rules that say which files stay.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use super::error::{Cause, Error};
use super::plan::Plan;
use super::real;
use super::search::{Set, Sets};
use super::watch::reads;
use crate::acting::{Asked, ReportAbout, own_way, plan_report};
use crate::action::ActionKind;
use crate::action::keep::Rules;
use crate::action::plan::{Listed, Origin, Planner, Settings, Sidecars};
use crate::decide::{DuplicateSet, Member};
use crate::report::read::Source;
use crate::units::nanoseconds;

/// An action on duplicates, and the rules that say which files stay.
///
/// One file of each set always stays. Making a [`Plan`] changes nothing.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = std::fs::canonicalize(folder.path())?;
/// # std::fs::create_dir(path.join("photos"))?;
/// # std::fs::write(path.join("photos/a"), "same")?;
/// # std::fs::write(path.join("photos/b"), "same")?;
/// use seekless::{Action, Journals, Search};
///
/// let sets = Search::new([path.join("photos")]).run()?;
/// let plan = Action::hardlink().keep("oldest").plan(&sets)?;
/// assert_eq!(plan.totals().steps, 1);
///
/// let journals = Journals::new(path.join("journals"));
/// let applied = plan.apply(&journals)?;
/// assert_eq!(applied.done, 1);
/// assert_eq!(journals.undo(&applied.run)?.run()?.restored, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is planned before `plan` or `plan_report`"]
pub struct Action {
    asked: Asked,
    rules: Vec<String>,
    within: Vec<PathBuf>,
    bytes_per_second: Option<u64>,
}

impl Action {
    fn new(kind: ActionKind) -> Self {
        Self {
            asked: Asked::new(kind),
            rules: Vec::new(),
            within: Vec::new(),
            bytes_per_second: None,
        }
    }

    /// Removes duplicates permanently. Undo cannot restore them.
    pub fn remove() -> Self {
        Self::new(ActionKind::Remove)
    }

    /// Moves duplicates into the trash of their file system (freedesktop.org). Files on the file system of
    /// `home_trash`, usually `~/.local/share/Trash`, are moved there.
    pub fn trash(home_trash: Option<&Path>) -> Self {
        let mut action = Self::new(ActionKind::Trash);
        action.asked.settings.acting.home_trash =
            home_trash.map(|path| path.as_os_str().as_bytes().to_vec());
        action
    }

    /// Replaces duplicates with hard links to the kept file on the same file system.
    pub fn hardlink() -> Self {
        Self::new(ActionKind::Hardlink)
    }

    /// Replaces duplicates with symbolic links to the kept file.
    pub fn symlink() -> Self {
        Self::new(ActionKind::Symlink)
    }

    /// Lets duplicates share the blocks of the kept file, on file systems that support it (btrfs, XFS).
    pub fn reflink() -> Self {
        Self::new(ActionKind::Reflink)
    }

    /// Moves duplicates below this folder, each with its whole path. The folder is created if it does not exist.
    pub fn move_to(folder: impl Into<PathBuf>) -> Self {
        let mut action = Self::new(ActionKind::Move);
        action.asked.destination = Some(folder.into());
        action
    }

    /// Prefers files by this rule of `seekless --keep`, such as `newest` or `under DIR`. Each rule decides among the
    /// files that the rules before it leave tied.
    pub fn keep(mut self, rule: impl Into<String>) -> Self {
        self.rules.push(rule.into());
        self
    }

    /// The least number of files of each set that stay: 1 or more. The default is 1.
    pub fn copies(mut self, stay: usize) -> Self {
        self.asked.settings.policy.keep = stay;
        self
    }

    /// Keeps the files in this folder, and only acts on their copies.
    pub fn reference(mut self, folder: impl Into<PathBuf>) -> Self {
        self.asked.reference.push(folder.into());
        self
    }

    /// Never changes this file or folder, or files that match this pattern.
    pub fn protect(mut self, path: impl Into<PathBuf>) -> Self {
        self.asked.protected.push(path.into());
        self
    }

    /// Changes nothing outside this folder. Can be called several times, to allow several folders.
    pub fn only_under(mut self, folder: impl Into<PathBuf>) -> Self {
        self.asked.only_under.push(folder.into());
        self
    }

    /// Limits a report to the files below this path. Can be called several times, to allow several paths.
    pub fn within(mut self, path: impl Into<PathBuf>) -> Self {
        self.within.push(path.into());
        self
    }

    /// Sets how to treat files that belong together by name, such as a raw photo and its settings.
    pub fn sidecars(mut self, sidecars: Sidecars) -> Self {
        self.asked.settings.sidecars = sidecars;
        self
    }

    /// Also acts in hidden folders, and in folders that a program manages, such as a Git work tree.
    pub fn allow_managed(mut self, allow: bool) -> Self {
        self.asked.settings.allows_managed = allow;
        self
    }

    /// `remove`, `trash` and `move`: also removes the folders that are empty afterwards. They lie below what was
    /// searched, or for a report below [`within`](Self::within), and nothing else holds them.
    pub fn remove_empty_folders(mut self, remove: bool) -> Self {
        self.asked.settings.remove_empty_folders = remove;
        self
    }

    /// Also acts on files that have another owner than the kept file, or that other users may read or write.
    pub fn across_owners(mut self, across: bool) -> Self {
        self.asked.settings.acting.across_owners = across;
        self
    }

    /// As root, also acts where other users than root and the owner of a file may change a folder on the way to it, to
    /// its kept copy or to its destination.
    pub fn in_shared_folders(mut self, shared: bool) -> Self {
        self.asked.settings.acting.shared = shared;
        self
    }

    /// `hardlink` and `symlink`: only where owner, mode, time of modification and extended attributes are equal.
    pub fn same_metadata(mut self, same: bool) -> Self {
        self.asked.settings.acting.same_metadata = same;
        self
    }

    /// `symlink`: the links hold absolute paths.
    pub fn absolute_links(mut self, absolute: bool) -> Self {
        self.asked.settings.acting.absolute_links = absolute;
        self
    }

    /// Limits the comparison of files to this many bytes per second and device.
    pub fn bytes_per_second(mut self, bytes: u64) -> Self {
        self.bytes_per_second = Some(bytes);
        self
    }

    /// Only reads while no other program uses the disk. It sets the I/O priority of the threads that compare and act.
    pub fn io_idle(mut self, idle: bool) -> Self {
        self.asked.settings.acting.io_idle = idle;
        self
    }

    /// Plans for the sets of a search.
    ///
    /// No lock is held between the search and [`Plan::apply`]. What another run or program changes meanwhile is found
    /// there: each step compares its files again, and is skipped if they differ from the plan.
    ///
    /// Files in a trash folder are left alone, and no file goes because of a copy there, unless the search was given
    /// the path of the trash, or a path in it.
    ///
    /// # Errors
    /// If a rule, pattern or folder cannot be used, or root would follow a link of another user.
    pub fn plan(self, sets: &Sets) -> Result<Plan<'static>, Error> {
        let found_in = &sets.origin;
        let mut roots = Vec::new();
        for root in &found_in.roots {
            let root = found_in.folder.join(root);
            let way = own_way(&root).map_err(Cause::from)?;
            roots.push(way.map_or(root, |way| way.real));
        }
        let origin = Origin {
            folder: Some(found_in.folder.clone()),
            not_after_ns: Some(found_in.started_ns),
            isolate: found_in.isolate,
            hard_links: found_in.hard_links,
            newer_ns: found_in.newer_ns,
            filter: found_in.filter.clone(),
            obeys_ignore_files: found_in.obeys_ignore_files,
            ..Origin::default()
        };
        let origin = origin.with_roots(roots.iter().map(PathBuf::as_path));
        let settings = self.settings(roots)?;
        let mut planner = Planner::new(settings, origin);
        for set in sets.sets.iter().filter(|set| set.alike.is_empty()) {
            planner.add(&found(set), Listed::FOUND);
        }
        Ok(Plan::new(planner))
    }

    /// Plans for the sets of a report in a file, in any format that `seekless find` writes and that can be read back.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and if the report cannot be read or is not whole, or if other users could have written
    /// it: then [`within`](Self::within) must say which paths may be acted on.
    pub fn plan_report(self, report: impl AsRef<Path>) -> Result<Plan<'static>, Error> {
        let report = report.as_ref();
        let opened = Source::open(report).map_err(|error| Cause::Open {
            path: report.to_owned(),
            error,
        })?;
        let mut about = ReportAbout {
            untrusted: opened.untrusted,
            ..ReportAbout::default()
        };
        let limits = self.within.iter().map(|path| real(path));
        let limits = limits.collect::<Result<Vec<_>, Error>>()?;
        let settings = self.settings(limits.clone())?;
        let mut planner = Planner::new(settings, Origin::default());
        let planned = plan_report(opened.input, &mut planner, &limits, &AtomicU64::new(0));
        let planned = planned.map_err(|error| Cause::Report {
            path: report.to_owned(),
            error,
        })?;
        let header = planned.header.as_ref();
        about.note(header, &limits);
        if let Some(untrusted) = about.may_mislead() {
            return Err(Cause::UntrustedReport(untrusted.clone()).into());
        }
        Ok(Plan::new(planner))
    }

    /// `tops` are the real paths below which folders may go.
    fn settings(self, tops: Vec<PathBuf>) -> Result<Settings, Error> {
        let mut asked = self.asked;
        let settings = &mut asked.settings;
        if settings.policy.keep == 0 {
            return Err(Cause::NoCopies.into());
        }
        // Joined to the current folder, it would be that folder.
        let destination = asked.destination.as_ref();
        if destination.is_some_and(|to| to.as_os_str().is_empty()) {
            return Err(Cause::NoPath("the path of the destination is empty".to_owned()).into());
        }
        settings.policy.rules = Rules::parse(&self.rules).map_err(Cause::from)?;
        settings.acting.reads = reads(self.bytes_per_second)?;
        asked.tops = tops;
        asked.folder = std::env::current_dir().unwrap_or_default();
        Ok(asked.settings(|path| own_way(path).map_err(Cause::from))?)
    }
}

/// The set as a search found it.
fn found(set: &Set) -> DuplicateSet {
    let bytes = |path: &PathBuf| AsRef::<OsStr>::as_ref(path).as_bytes().to_vec();
    let members = set.files.iter().map(|file| Member {
        names: file.paths.iter().map(bytes).collect(),
        dev: file.device,
        ino: file.inode,
        mtime_ns: nanoseconds(file.modified),
        ..Member::default()
    });
    DuplicateSet {
        alike: Vec::new(),
        probable: false,
        size: set.size,
        digest: set.digest,
        cached: false,
        members: members.collect(),
        replicas: 0,
        reclaimable: 0,
    }
}
