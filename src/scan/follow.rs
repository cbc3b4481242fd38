//! Walks folders with symbolic links followed, by walkdir, which knows a link that leads back to a
//! folder above it.
//!
//! One thread and a path for each entry: slower than [`super::walk`], and only for those who ask
//! for links.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::Sender;
use walkdir::{DirEntry, WalkDir};

use crate::event::{Problem, ProblemKind};
use crate::file::{DirId, FolderId, FoundFile};
use crate::pulse::Pulse;
use crate::sys::{dirent, open, stat, statfs};

use super::enter::{Entered, enter, enter_again, is_placeholder, is_same_place, numbering_of_name};
use super::filter::Verdict;
use super::found::{Outbox, Place, ScanMessage};
use super::ignore_file::IgnoreRules;
use super::limits;
use super::stamp::Stamp;
use super::walk::{Folder, LISTED_AGAIN, Left, Walk, Walked, count, found_file};

/// A walk with links followed.
pub struct Following {
    walk: Arc<Walk>,
    outbox: Outbox,
    pulse: Arc<Pulse>,
    /// Files reached through a link of their own: they come last, so that a file which is also
    /// reached by its real name is known by that.
    linked: Vec<(Place, CString, CString, FoundFile)>,
    /// The least depth at which each folder was met; roots are not in it.
    depths: HashMap<DirId, usize>,
    walked: Walked,
    /// Names met since it was looked how much memory is left.
    names: u64,
    /// They are listed again: what there is to say was said.
    is_quiet: bool,
}

impl Following {
    pub fn new(walk: &Arc<Walk>, to: &Sender<ScanMessage>, pulse: &Arc<Pulse>) -> Self {
        Self {
            walk: Arc::clone(walk),
            outbox: Outbox::new(to, pulse),
            pulse: Arc::clone(pulse),
            names: 0,
            linked: Vec::new(),
            depths: HashMap::new(),
            walked: Walked::default(),
            is_quiet: false,
        }
    }

    /// Walks all folders.
    pub fn run(mut self, roots: Vec<Folder>) -> Walked {
        for root in roots {
            let path = super::walk::path_of(&self.walk.dirs, root.dir, None);
            self.ask_about(&path);
            let stamped = self.stamped(&root);
            self.walked.listed.extend(stamped);
            self.below(&root);
        }
        if self.walk.list_again {
            self.list_again();
        }
        for (place, path, name, file) in std::mem::take(&mut self.linked) {
            let numbering = || numbering_of_name(open::CWD, &path, true);
            self.outbox.push(place, name.to_bytes(), file, numbering);
        }
        self.outbox.flush();
        self.walked
    }

    /// Whatever was found so far goes on its way first if something may not answer.
    fn ask_about(&mut self, path: &Path) {
        if !self.walk.remote_names.is_empty() {
            self.outbox.flush();
        }
        self.pulse.ask_about(0, path.as_os_str().as_bytes());
    }

    /// A folder that is about to be listed, with its times.
    fn stamped(&self, folder: &Folder) -> Option<Folder> {
        let fd = self.walk.dirs.open(folder.dir).ok()?;
        let stat = stat::descriptor(&fd).ok()?;
        Some(Folder {
            left: Left::Listed(Stamp::of(&stat, &fd)),
            name: None,
            rules: folder.rules.clone(),
            ..*folder
        })
    }

    /// Lists folders again that changed since they were listed.
    fn list_again(&mut self) {
        self.is_quiet = true;
        for _ in 0..LISTED_AGAIN {
            let changed_before = self.walked.changed.len();
            for folder in std::mem::take(&mut self.walked.listed) {
                if let Left::Listed(stamp) = folder.left {
                    self.pulse.rest();
                    stamp.wait_until_told_apart();
                    self.pulse.beat();
                }
                let Some(now) = self.changed(&folder) else {
                    self.walked.listed.push(folder);
                    continue;
                };
                self.walked.changed.push(folder.dir);
                // What is left out was counted when the folder was listed for the first time.
                let before = (self.walked.folders, self.walked.left_out);
                self.below(&now);
                (self.walked.folders, self.walked.left_out) = before;
                self.walked.listed.push(now);
            }
            if self.walked.changed.len() == changed_before {
                return;
            }
        }
        self.is_quiet = false;
        for folder in std::mem::take(&mut self.walked.listed) {
            if self.changed(&folder).is_some() {
                self.walked.left_out.unsettled += 1;
                let path = super::walk::path_of(&self.walk.dirs, folder.dir, None);
                self.tell(&path, ProblemKind::Unsettled, None);
            }
        }
    }

    /// A folder with its times of now, if it is not what it was.
    fn changed(&self, folder: &Folder) -> Option<Folder> {
        let dirs = &*self.walk.dirs;
        if let (Left::Passed(id), Some(name)) = (folder.left, &folder.name) {
            let path = super::walk::path_of(dirs, folder.dir, Some(name));
            let path = CString::new(path.as_os_str().as_bytes()).ok()?;
            let here = stat::target(open::CWD, &path);
            let is_this = here.is_ok_and(|here| FolderId::from(&here) == id);
            return (!is_this).then(|| Folder {
                name: None,
                left: Left::Listed(Stamp::OUTDATED),
                ..folder.clone()
            });
        }
        let fd = dirs.open(folder.dir).ok()?;
        let stat = stat::descriptor(&fd).ok()?;
        let is_this = is_same_place(dirs.read().id(folder.dir), &stat, &fd);
        let still = matches!(folder.left, Left::Listed(stamp) if stamp.still_holds(&stat));
        if is_this && still {
            return None;
        }
        let dir = match is_this {
            true => folder.dir,
            // Something was mounted there or unmounted, which no folder's times tell.
            false => match enter_again(dirs, folder.dir, &stat, fd.as_fd()) {
                Entered::New(dir) | Entered::Before(dir) => dir,
                Entered::OneOfTooMany => folder.dir,
            },
        };
        Some(Folder {
            dir,
            left: Left::Listed(Stamp::of(&stat, &fd)),
            name: None,
            rules: folder.rules.clone(),
            ..*folder
        })
    }

    /// Walks what is below a folder that has its number.
    fn below(&mut self, root: &Folder) {
        let path = super::walk::path_of(&self.walk.dirs, root.dir, None);
        let mut walk = WalkDir::new(path).follow_links(true).sort_by_file_name();
        let deepest = self
            .walk
            .max_depth
            .map(|max| max.saturating_sub(root.depth));
        if let Some(max) = deepest {
            walk = walk.max_depth(max as usize);
        }
        let mut stack: Vec<(DirId, Option<Arc<IgnoreRules>>)> = Vec::new();
        let mut entries = walk.into_iter();
        while let Some(entry) = entries.next() {
            if self.is_stopped() {
                return;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.failed(&error);
                    continue;
                }
            };
            stack.truncate(entry.depth());
            let is_folder = entry.file_type().is_dir();
            if self.is_too_much(&entry, root, is_folder) {
                entries.skip_current_dir();
                continue;
            }
            self.ask_about(entry.path());
            if entry.depth() == 0 {
                self.walked.folders += 1;
                let rules = self.rules(entry.path(), root.rules.clone());
                stack.push((root.dir, rules));
                continue;
            }
            let Some((above, rules)) = stack.last().cloned() else {
                continue;
            };
            if !self.wanted(&entry, is_folder, rules.as_deref()) {
                if is_folder {
                    entries.skip_current_dir();
                }
                continue;
            }
            if !is_folder {
                self.file(&entry, above);
                continue;
            }
            if deepest == Some(entry.depth() as u32) {
                // It is not listed on this way, but may be on another that is shorter.
                self.walked.left_out.filtered += 1;
                continue;
            }
            match self.folder(&entry, above, root, rules.as_ref()) {
                Some(dir) => {
                    let rules = self.rules(entry.path(), rules);
                    stack.push((dir, rules));
                }
                None => entries.skip_current_dir(),
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.walk.stop.load(Ordering::Relaxed) || self.walk.full.load(Ordering::Relaxed)
    }

    /// True if an entry is not to be looked at: there is no end there, or no memory left.
    fn is_too_much(&mut self, entry: &DirEntry, root: &Folder, is_folder: bool) -> bool {
        self.names += 1;
        if self.names >= limits::LOOK {
            self.names = 0;
            if limits::is_memory_short() && !self.walk.full.swap(true, Ordering::Relaxed) {
                self.problem(entry.path(), ProblemKind::MemoryShort, None);
                return true;
            }
        }
        if !is_folder {
            return false;
        }
        if root.depth as usize + entry.depth() >= limits::DEPTH as usize {
            self.problem(entry.path(), ProblemKind::TooDeep, None);
            return true;
        }
        // walkdir holds all names of a folder at once.
        self.ask_about(entry.path());
        let too_many = has_too_many_names(entry.path(), &self.walk.stop, &self.pulse);
        if too_many {
            self.problem(entry.path(), ProblemKind::TooManyNames, None);
        }
        too_many
    }

    fn wanted(&mut self, entry: &DirEntry, is_folder: bool, rules: Option<&IgnoreRules>) -> bool {
        let path = entry.path().as_os_str().as_bytes();
        let filter = &self.walk.filter;
        let mut verdict = filter.entry(entry.file_name().as_bytes(), is_folder);
        if verdict == Verdict::Keep {
            if rules.is_some_and(|rules| rules.is_ignored(path, is_folder)) {
                self.walked.left_out.ignored += 1;
                return false;
            }
            if filter.needs_path() {
                verdict = filter.path(path, is_folder);
            }
        }
        count(&mut self.walked.left_out, verdict)
    }

    /// Enters a folder; nothing if it was entered before, by whatever way that was as short.
    fn folder(
        &mut self,
        entry: &DirEntry,
        above: DirId,
        root: &Folder,
        rules: Option<&Arc<IgnoreRules>>,
    ) -> Option<DirId> {
        let path = CString::new(entry.path().as_os_str().as_bytes()).ok()?;
        let opened = open::folder_following(open::CWD, &path);
        let here = opened.and_then(|fd| Ok((stat::descriptor(&fd)?, fd)));
        let (here, fd) = match here {
            Ok(both) => both,
            Err(e) => {
                self.problem(entry.path(), ProblemKind::UnreadableFolder, Some(e.into()));
                return None;
            }
        };
        if here.dev != self.walk.dirs.read().identity(above).0 {
            if self.walk.one_file_system && here.dev != root.root_dev {
                self.walked.left_out.other_file_system += 1;
                return None;
            }
            if statfs::is_pseudo(&fd) {
                self.walked.left_out.pseudo_file_system += 1;
                return None;
            }
        }
        if is_placeholder(&here, &fd) {
            return None;
        }
        let name = entry.file_name().as_bytes();
        let depth = root.depth as usize + entry.depth();
        let dir = match enter(&self.walk.dirs, above, name, &here, fd.as_fd()) {
            Entered::New(dir) => {
                self.walked.folders += 1;
                self.depths.insert(dir, depth);
                if self.walk.list_again {
                    self.walked.listed.push(Folder {
                        dir,
                        name: None,
                        depth: u32::try_from(depth).unwrap_or(u32::MAX),
                        root_dev: root.root_dev,
                        rules: rules.cloned(),
                        left: Left::Listed(Stamp::of(&here, &fd)),
                    });
                }
                return Some(dir);
            }
            Entered::Before(dir) => dir,
            Entered::OneOfTooMany => {
                self.problem(entry.path(), ProblemKind::TooManyAlike, None);
                return None;
            }
        };
        if self.walk.list_again
            && let Ok(name) = CString::new(name)
        {
            self.walked.listed.push(Folder {
                dir: above,
                name: Some(name),
                depth: u32::try_from(depth).unwrap_or(u32::MAX) - 1,
                root_dev: root.root_dev,
                rules: rules.cloned(),
                left: Left::Passed(FolderId::from(&here)),
            });
        }
        // Where depth counts, a shorter way leads further down. What it finds a second time is
        // known by then.
        self.walked.left_out.listed_before += 1;
        let best = self.depths.get_mut(&dir)?;
        let shorter = self.walk.max_depth.is_some() && depth < *best;
        if shorter {
            *best = depth;
        }
        shorter.then_some(dir)
    }

    fn file(&mut self, entry: &DirEntry, above: DirId) {
        let root = self.walk.dirs.read().root(above);
        if !entry.file_type().is_file() {
            self.walked.left_out.special += 1;
            return;
        }
        let Ok(path) = CString::new(entry.path().as_os_str().as_bytes()) else {
            return;
        };
        let stat = match stat::target(open::CWD, &path) {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT) => {
                self.walked.left_out.vanished += 1;
                return;
            }
            Err(e) => {
                let kind = ProblemKind::UnreadableMetadata;
                return self.problem(entry.path(), kind, Some(e.into()));
            }
        };
        let verdict = self.walk.filter.metadata(stat.size, stat.mtime_ns);
        if !count(&mut self.walked.left_out, verdict) {
            return;
        }
        let name = entry.file_name().as_bytes();
        let mut file = found_file(&stat, name);
        file.via_link = entry.path_is_symlink();
        let place = Place {
            dir: above,
            root,
            dev: stat.dev,
        };
        if !file.via_link {
            let numbering = || numbering_of_name(open::CWD, &path, true);
            self.outbox.push(place, name, file, numbering);
        } else if let Ok(name) = CString::new(name) {
            self.linked.push((place, path, name, file));
        }
    }

    fn rules(
        &mut self,
        folder: &Path,
        above: Option<Arc<IgnoreRules>>,
    ) -> Option<Arc<IgnoreRules>> {
        let mut rules = above;
        let walk = Arc::clone(&self.walk);
        for name in &walk.ignore_files {
            let path = folder.join(name);
            let contents = match read_ignore_file(folder, name) {
                Ok(contents) => Some(contents),
                Err(rustix::io::Errno::NOENT) => None,
                Err(e) => {
                    self.problem(&path, ProblemKind::UnreadableFile, Some(e.into()));
                    None
                }
            };
            if let Some(contents) = contents {
                let folder = folder.as_os_str().as_bytes();
                let (pushed, bad) = IgnoreRules::push(rules.take(), folder, &contents);
                rules = Some(pushed);
                for line in bad {
                    let said = format!("line {}: {}", line.number, line.reason);
                    let cause = std::io::Error::other(said);
                    self.tell(&path, ProblemKind::BadIgnoreFile, Some(cause));
                }
            }
        }
        rules
    }

    fn failed(&mut self, error: &walkdir::Error) {
        let path = error.path().map_or_else(PathBuf::new, Path::to_owned);
        if error.loop_ancestor().is_some() {
            self.walked.left_out.symlinks += 1;
            return self.tell(&path, ProblemKind::LinkLoop, None);
        }
        let cause = error.io_error();
        let code = cause.and_then(std::io::Error::raw_os_error);
        let cause = code.map(std::io::Error::from_raw_os_error);
        let is_link = std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink());
        if is_link {
            self.walked.left_out.symlinks += 1;
            return self.tell(&path, ProblemKind::BrokenLink, cause);
        }
        self.problem(&path, ProblemKind::UnreadableFolder, cause);
    }

    fn problem(&mut self, path: &Path, kind: ProblemKind, cause: Option<std::io::Error>) {
        self.walked.left_out.unreadable += 1;
        self.tell(path, kind, cause);
    }

    fn tell(&self, path: &Path, kind: ProblemKind, cause: Option<std::io::Error>) {
        if self.is_quiet {
            return;
        }
        self.outbox.problem(Problem {
            path: path.to_owned(),
            kind,
            cause,
        });
    }
}

/// True if a folder has more names than can be held; it is read only as far as needed to tell.
fn has_too_many_names(folder: &Path, stop: &AtomicBool, pulse: &Pulse) -> bool {
    let path = CString::new(folder.as_os_str().as_bytes());
    let folder = path
        .ok()
        .and_then(|p| open::folder_following(open::CWD, &p).ok());
    let Some(folder) = folder else { return false };
    let mut names = 0;
    let counted = dirent::Entries::of(folder, &mut dirent::Buffer::default()).each(|_, _, _| {
        names += 1;
        pulse.beat();
        names < limits::NAMES_WITH_LINKS && !stop.load(Ordering::Relaxed)
    });
    counted == Ok(false) && !stop.load(Ordering::Relaxed)
}

/// Reads an ignore file by its folder's descriptor: never a link's target, never a pipe.
fn read_ignore_file(folder: &Path, name: &str) -> rustix::io::Result<Vec<u8>> {
    let invalid = |_| rustix::io::Errno::NOENT;
    let folder = CString::new(folder.as_os_str().as_bytes()).map_err(invalid)?;
    let name = CString::new(name).map_err(invalid)?;
    let folder = open::folder_following(open::CWD, &folder)?;
    super::ignore_file::read(folder.as_fd(), &name)
}
