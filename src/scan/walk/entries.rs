//! Lists a folder, and decides for each entry whether it takes part and how it is processed.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::event::ProblemKind;
use crate::file::{DirId, Member, Role, is_managed_folder, may_tell_folder};
use crate::scan::enter::numbering_of_name;
use crate::scan::filter::Verdict;
use crate::scan::found::{FoundIn, OtherEntry};
use crate::scan::ignore_file::{self, BadPart, IgnoreRules};
use crate::scan::listing::{self, Listing};
use crate::sys::{dirent, names, stat};
use crate::tree::{EntryKind, Special, Unseen};

use super::walker::Walker;
use super::{Folder, Job, ReachedBy, count, found_file};

/// The context of all entries of a folder.
struct FolderContext {
    dir: DirId,
    root: u32,
    rules: Option<Arc<IgnoreRules>>,
    needs_path: bool,
    /// Its subfolders are listed.
    deeper: bool,
}

impl Folder {
    /// The entry of this name.
    fn below(&self, here: &FolderContext, name: &CStr, reached_by: ReachedBy) -> Job {
        Job::Folder(Self {
            dir: here.dir,
            name: Some(name.to_owned()),
            depth: self.depth + 1,
            root_dev: self.root_dev,
            rules: here.rules.clone(),
            reached_by,
        })
    }
}

impl Walker {
    pub(super) fn list(&mut self, dir: DirId, fd: &OwnedFd, folder: &Folder) {
        let walk = Arc::clone(&self.walk);
        let mut listing = std::mem::take(&mut self.listing);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut entries = dirent::Entries::of(fd, &mut buffer);
        let (mut listed, mut here) = (0, None);
        let mut may_be_managed = false;
        loop {
            listing.clear();
            let stop = &*walk.stop;
            let ended = entries.each(|name, ino, kind| {
                listing.push(name, ino, kind);
                may_be_managed |= may_tell_folder(name.to_bytes());
                !listing.is_full() && !stop.load(Ordering::Relaxed)
            });
            let ended = ended.unwrap_or_else(|e| {
                self.unreadable_dir(dir, e);
                true
            });
            let here = here.get_or_insert_with(|| self.here(dir, fd, folder, &listing, ended));
            self.portion(fd, folder, here, &mut listing);
            listed += listing.entries().len() as u64;
            if ended || self.is_stopped() || self.is_too_much(dir, listed) {
                break;
            }
        }
        let is_root = folder.name.is_none() && folder.depth == 0;
        if may_be_managed && is_managed_folder(fd, is_root) {
            walk.dirs.write().mark_managed(dir);
        }
        (self.listing, self.buffer) = (listing, buffer);
        if let Some(here) = here {
            self.carry(fd, &here);
        }
    }

    /// Takes the sidecars of the photos of a folder that take part.
    fn carry(&mut self, fd: &OwnedFd, here: &FolderContext) {
        let stems = std::mem::take(&mut self.stems);
        for name in std::mem::take(&mut self.sidecars) {
            let bytes = name.to_bytes();
            let path = || [&self.path[..], bytes].concat();
            let stem = Member::of(bytes).map(|member| member.stem.to_ascii_lowercase());
            let is_ignored = |rules: &IgnoreRules| rules.is_ignored(&path(), false);
            let is_carried = stem.is_some_and(|stem| stems.contains(&stem))
                && self.walk.filter.carries(bytes, path)
                && !here.rules.as_deref().is_some_and(is_ignored);
            if is_carried {
                self.walked.left_out.filtered -= 1;
                self.file(here.dir, here.root, fd.as_fd(), &name);
            } else {
                self.unseen(here.dir, Some(&name), Unseen::Filtered);
            }
        }
    }

    /// The context of all entries of a folder. These are the first entries, or all of them if `is_whole`.
    fn here(
        &mut self,
        dir: DirId,
        fd: &OwnedFd,
        folder: &Folder,
        listing: &Listing,
        is_whole: bool,
    ) -> FolderContext {
        let rules = self.rules_of(dir, fd, folder, listing, is_whole);
        let needs_path = self.walk.filter.needs_path() || rules.is_some();
        if needs_path {
            self.walk.dirs.read().path(dir, &mut self.path);
        }
        FolderContext {
            dir,
            root: self.walk.dirs.read().root(dir),
            deeper: self.walk.max_depth.is_none_or(|max| folder.depth + 1 < max),
            rules,
            needs_path,
        }
    }

    /// Processes some of a folder's entries.
    fn portion(
        &mut self,
        fd: &OwnedFd,
        folder: &Folder,
        here: &FolderContext,
        listing: &mut Listing,
    ) {
        let dir = here.dir;
        listing.sort();
        for (done, &entry) in listing.entries().iter().enumerate() {
            self.look_at_memory(dir);
            if self.is_stopped() {
                let left = (listing.entries().len() - done) as u64;
                let is_full = self.walk.full.load(Ordering::Relaxed);
                self.walked.left_out.memory_short += if is_full { left } else { 0 };
                return;
            }
            self.entry(fd, folder, here, listing.name(entry), entry.kind);
        }
    }

    /// Processes one of a folder's entries.
    fn entry(
        &mut self,
        fd: &OwnedFd,
        folder: &Folder,
        here: &FolderContext,
        name: &CStr,
        kind: FileType,
    ) {
        let &FolderContext {
            dir,
            root,
            deeper,
            needs_path,
            ref rules,
        } = here;
        let kind = match kind {
            FileType::Unknown => self.kind_of(dir, fd.as_fd(), name),
            kind => kind,
        };
        let is_folder = kind == FileType::Directory;
        match kind {
            FileType::Directory | FileType::RegularFile => {}
            FileType::Symlink if self.walk.follow_links => {
                self.link(dir, fd.as_fd(), name);
                return self.below.push(folder.below(here, name, ReachedBy::Link));
            }
            FileType::Symlink => {
                self.walked.left_out.symlinks += 1;
                return self.link(dir, fd.as_fd(), name);
            }
            FileType::Unknown => return,
            special => {
                self.walked.left_out.special += 1;
                let kind = EntryKind::Special(special_of(special));
                return self.other(dir, Some(name), kind);
            }
        }
        let wanted = self.wanted(name, is_folder, needs_path, rules.as_deref());
        if let Err(unseen) = wanted {
            let is_sidecar = unseen == Unseen::Filtered && !is_folder;
            if is_sidecar && self.walk.filter.is_carried(name.to_bytes()) {
                return self.sidecars.push(name.to_owned());
            }
            return self.unseen(dir, Some(name), unseen);
        }
        if !is_folder {
            self.file(dir, root, fd.as_fd(), name);
        } else if folder.depth + 1 >= listing::DEPTH {
            self.walked.left_out.unreadable += 1;
            self.tell(dir, Some(name), ProblemKind::TooDeep, None);
        } else if deeper {
            self.below.push(folder.below(here, name, ReachedBy::Entry));
        } else {
            self.walked.left_out.filtered += 1;
            self.unseen(dir, Some(name), Unseen::Filtered);
        }
    }

    /// Records a symbolic link and its target, if that is requested.
    fn link(&mut self, dir: DirId, fd: BorrowedFd<'_>, name: &CStr) {
        if !self.walk.tell_others && !self.walk.tell_links {
            return;
        }
        match names::read_link(fd, name) {
            Ok(target) => {
                let kind = EntryKind::Link(target.into());
                self.walked
                    .others
                    .push(OtherEntry::new(dir, Some(name), kind));
            }
            // Gone since the listing.
            Err(Errno::NOENT) => {}
            Err(_) => self.unseen(dir, Some(name), Unseen::Unreadable),
        }
    }

    /// True if a folder with this many names must not be listed any further.
    fn is_too_much(&mut self, dir: DirId, names: u64) -> bool {
        if names >= listing::MOST_NAMES {
            self.walked.left_out.unreadable += 1;
            self.tell(dir, None, ProblemKind::TooManyNames, None);
        }
        names >= listing::MOST_NAMES
    }

    /// Ends the listing when memory is nearly used up. This is asked before each name, and looked up now and then.
    fn look_at_memory(&mut self, dir: DirId) {
        self.unlooked += 1;
        if self.unlooked < listing::LOOK {
            return;
        }
        self.unlooked = 0;
        if listing::is_memory_short() && !self.walk.full.swap(true, Ordering::Relaxed) {
            self.tell(dir, None, ProblemKind::MemoryShort, None);
        }
    }

    pub(super) fn wanted(
        &mut self,
        name: &CStr,
        is_folder: bool,
        needs_path: bool,
        rules: Option<&IgnoreRules>,
    ) -> Result<(), Unseen> {
        let filter = &self.walk.filter;
        let mut verdict = filter.entry(name.to_bytes(), is_folder);
        if verdict == Verdict::Keep && needs_path {
            let prefix = self.path.len();
            self.path.extend_from_slice(name.to_bytes());
            if rules.is_some_and(|rules| rules.is_ignored(&self.path, is_folder)) {
                self.path.truncate(prefix);
                self.walked.left_out.ignored += 1;
                return Err(Unseen::Ignored);
            }
            verdict = filter.path(&self.path, is_folder);
            self.path.truncate(prefix);
        }
        count(&mut self.walked.left_out, verdict).map_or(Ok(()), Err)
    }

    /// Looks a file up and hands it over if the filter keeps it.
    fn file(&mut self, dir: DirId, root: u32, fd: BorrowedFd<'_>, name: &CStr) {
        let stat = match stat::entry(fd, name) {
            Ok(stat) => stat,
            // Gone since the listing.
            Err(Errno::NOENT) => {
                self.walked.left_out.vanished += 1;
                return;
            }
            Err(e) => return self.problem(dir, Some(name), ProblemKind::UnreadableMetadata, e),
        };
        if stat.kind != FileType::RegularFile {
            return self.unseen(dir, Some(name), Unseen::Changed);
        }
        let filter = &self.walk.filter;
        let verdict = match filter.metadata(stat.size, stat.mtime_ns) {
            Verdict::Filtered if stat.size > 0 && filter.is_carried(name.to_bytes()) => {
                Verdict::Keep
            }
            verdict => verdict,
        };
        if let Some(unseen) = count(&mut self.walked.left_out, verdict) {
            return self.unseen(dir, Some(name), unseen);
        }
        if self.walk.filter.has_kinds()
            && let Some(member) = Member::of(name.to_bytes())
            && member.role != Role::Sidecar
        {
            self.stems.insert(member.stem.to_ascii_lowercase());
        }
        let file = found_file(&stat, name.to_bytes());
        let dev = stat.dev;
        let numbering = || numbering_of_name(fd, name, false);
        self.outbox
            .push(FoundIn { dir, root, dev }, name.to_bytes(), file, numbering);
    }

    fn kind_of(&mut self, dir: DirId, fd: BorrowedFd<'_>, name: &CStr) -> FileType {
        match stat::entry(fd, name) {
            Ok(stat) => stat.kind,
            Err(Errno::NOENT) => FileType::Unknown,
            Err(e) => {
                self.problem(dir, Some(name), ProblemKind::UnreadableMetadata, e);
                FileType::Unknown
            }
        }
    }

    /// The ignore rules that apply in a folder: those from above and those of its own ignore files.
    fn rules_of(
        &mut self,
        dir: DirId,
        fd: &OwnedFd,
        folder: &Folder,
        listing: &Listing,
        is_whole: bool,
    ) -> Option<Arc<IgnoreRules>> {
        let mut rules = folder.rules.clone();
        let walk = Arc::clone(&self.walk);
        for file in &walk.ignore_files {
            let is_listed = listing.contains(file.as_bytes());
            if !is_listed && is_whole {
                continue;
            }
            let Ok(name) = CString::new(file.as_str()) else {
                continue;
            };
            match ignore_file::read(fd.as_fd(), &name) {
                Ok(contents) => {
                    let mut path = Vec::new();
                    self.walk.dirs.read().path(dir, &mut path);
                    let (pushed, bad) = IgnoreRules::push(rules.take(), &path, &contents);
                    rules = Some(pushed);
                    for part in bad {
                        let kind = match part {
                            BadPart::Line { .. } => ProblemKind::BadIgnoreFile,
                            BadPart::Whole => ProblemKind::UnusableIgnoreFile,
                        };
                        let cause = std::io::Error::other(part);
                        self.tell(dir, Some(&name), kind, Some(cause));
                    }
                }
                // It may be among those that are listed later.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound && !is_listed => {}
                Err(e) => {
                    self.tell(dir, Some(&name), ProblemKind::UnusableIgnoreFile, Some(e));
                }
            }
        }
        rules
    }
}

fn special_of(kind: FileType) -> Special {
    match kind {
        FileType::Fifo => Special::Fifo,
        FileType::Socket => Special::Socket,
        FileType::BlockDevice => Special::BlockDevice,
        FileType::CharacterDevice => Special::CharacterDevice,
        _ => Special::Unknown,
    }
}
