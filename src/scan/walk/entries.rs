//! Lists a folder, and decides for each entry whether it takes part and how it is processed.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::event::ProblemKind;
use crate::file::{DirId, is_managed_folder, may_tell_folder};
use crate::scan::enter::numbering_of_name;
use crate::scan::filter::Verdict;
use crate::scan::found::{FoundIn, OtherEntry};
use crate::scan::ignore_file::{self, IgnoreRules};
use crate::scan::listing::{self, Listing};
use crate::sys::{names, stat};
use crate::tree::{EntryKind, Special, Unseen};

use super::walker::Walker;
use super::{Folder, Job, ReachedBy, count, found_file};

/// The context of all entries of a folder.
struct Here<'f> {
    dir: DirId,
    root: u32,
    fd: BorrowedFd<'f>,
    folder: &'f Folder,
    rules: Option<Arc<IgnoreRules>>,
    needs_path: bool,
    /// Its subfolders are listed.
    deeper: bool,
}

impl Here<'_> {
    /// The folder, or what a link of this name leads to.
    fn below(&self, name: &CStr, reached_by: ReachedBy) -> Job {
        Job::Folder(Folder {
            dir: self.dir,
            name: Some(name.to_owned()),
            depth: self.folder.depth + 1,
            root_dev: self.folder.root_dev,
            rules: self.rules.clone(),
            reached_by,
        })
    }
}

impl Walker {
    pub(super) fn list(&mut self, dir: DirId, fd: &OwnedFd, folder: &Folder) {
        let walk = Arc::clone(&self.walk);
        let mut listing = std::mem::take(&mut self.listing);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut entries = names::Entries::of(fd, &mut buffer);
        let here = self.here(dir, fd.as_fd(), folder);
        let mut listed = 0;
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
                self.problem(dir, None, ProblemKind::UnreadableFolder, Some(e));
                true
            });
            self.portion(&here, &mut listing);
            listed += listing.entries().len() as u64;
            if ended || self.is_stopped() {
                break;
            }
            if listed >= listing::MOST_NAMES {
                self.problem(dir, None, ProblemKind::TooManyNames, None);
                break;
            }
        }
        if may_be_managed && is_managed_folder(fd, folder.is_root()) {
            walk.dirs.write().mark_managed(dir);
        }
        (self.listing, self.buffer) = (listing, buffer);
    }

    /// The context of all entries of a folder.
    fn here<'f>(&mut self, dir: DirId, fd: BorrowedFd<'f>, folder: &'f Folder) -> Here<'f> {
        let rules = self.rules_of(dir, fd, folder);
        let needs_path = self.walk.filter.needs_path() || rules.is_some();
        if needs_path {
            self.walk.dirs.read().path(dir, &mut self.path);
        }
        Here {
            dir,
            root: self.walk.dirs.read().root(dir),
            fd,
            folder,
            rules,
            needs_path,
            deeper: self.walk.max_depth.is_none_or(|max| folder.depth + 1 < max),
        }
    }

    /// Processes some of a folder's entries.
    fn portion(&mut self, here: &Here<'_>, listing: &mut Listing) {
        listing.sort();
        for (done, &entry) in listing.entries().iter().enumerate() {
            self.look_at_memory(here.dir);
            if self.is_stopped() {
                return self.leave(listing.entries().len() - done);
            }
            self.entry(here, listing.name(entry), entry.kind);
        }
    }

    /// Processes one of a folder's entries.
    fn entry(&mut self, here: &Here<'_>, name: &CStr, kind: FileType) {
        let dir = here.dir;
        let kind = match kind {
            FileType::Unknown => self.kind_of(here, name),
            kind => kind,
        };
        let is_folder = kind == FileType::Directory;
        match kind {
            FileType::Directory | FileType::RegularFile => {}
            FileType::Symlink if self.walk.follow_links => {
                self.link(here, name);
                return self.below.push(here.below(name, ReachedBy::Link));
            }
            FileType::Symlink => {
                self.walked.left_out.symlinks += 1;
                return self.link(here, name);
            }
            FileType::Unknown => return,
            special => {
                self.walked.left_out.special += 1;
                let kind = EntryKind::Special(special_of(special));
                return self.other(dir, Some(name), kind);
            }
        }
        let wanted = self.wanted(name, is_folder, here.needs_path, here.rules.as_deref());
        if let Err(unseen) = wanted {
            return self.unseen(dir, Some(name), unseen);
        }
        if !is_folder {
            self.file(here, name);
        } else if here.folder.depth + 1 >= listing::DEPTH {
            self.problem(dir, Some(name), ProblemKind::TooDeep, None);
        } else if here.deeper {
            self.below.push(here.below(name, ReachedBy::Entry));
        } else {
            self.walked.left_out.filtered += 1;
            self.unseen(dir, Some(name), Unseen::Filtered);
        }
    }

    /// Records a symbolic link and its target, if that is requested.
    fn link(&mut self, here: &Here<'_>, name: &CStr) {
        if !self.walk.tell_others && !self.walk.tell_links {
            return;
        }
        match names::read_link(here.fd, name) {
            Ok(target) => {
                let kind = EntryKind::Link(target.into());
                let link = OtherEntry::new(here.dir, Some(name), kind);
                self.walked.others.push(link);
            }
            // Gone since the listing.
            Err(Errno::NOENT) => {}
            Err(_) => self.unseen(here.dir, Some(name), Unseen::Unreadable),
        }
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
    fn file(&mut self, here: &Here<'_>, name: &CStr) {
        let &Here { dir, root, fd, .. } = here;
        let stat = match stat::entry(fd, name) {
            Ok(stat) => stat,
            // Gone since the listing.
            Err(Errno::NOENT) => {
                self.walked.left_out.vanished += 1;
                return;
            }
            Err(e) => {
                return self.problem(dir, Some(name), ProblemKind::UnreadableMetadata, Some(e));
            }
        };
        if stat.kind != FileType::RegularFile {
            return self.unseen(dir, Some(name), Unseen::Changed);
        }
        let verdict = self.walk.filter.metadata(stat.size, stat.mtime_ns);
        if let Some(unseen) = count(&mut self.walked.left_out, verdict) {
            return self.unseen(dir, Some(name), unseen);
        }
        let file = found_file(&stat, name.to_bytes());
        let dev = stat.dev;
        let numbering = || numbering_of_name(fd, name, false);
        self.outbox
            .push(FoundIn { dir, root, dev }, name.to_bytes(), file, numbering);
    }

    fn kind_of(&mut self, here: &Here<'_>, name: &CStr) -> FileType {
        match stat::entry(here.fd, name) {
            Ok(stat) => stat.kind,
            Err(Errno::NOENT) => FileType::Unknown,
            Err(e) => {
                self.problem(
                    here.dir,
                    Some(name),
                    ProblemKind::UnreadableMetadata,
                    Some(e),
                );
                FileType::Unknown
            }
        }
    }

    /// The ignore rules that apply in a folder: those from above and those of its own ignore files.
    fn rules_of(
        &mut self,
        dir: DirId,
        fd: BorrowedFd<'_>,
        folder: &Folder,
    ) -> Option<Arc<IgnoreRules>> {
        let mut rules = folder.rules.clone();
        let walk = Arc::clone(&self.walk);
        for file in &walk.ignore_files {
            let Ok(name) = CString::new(file.as_str()) else {
                continue;
            };
            match ignore_file::read(fd, &name) {
                Ok(contents) => {
                    let mut path = Vec::new();
                    self.walk.dirs.read().path(dir, &mut path);
                    let bad = Arc::make_mut(rules.get_or_insert_default()).push(&path, &contents);
                    for words in bad {
                        let cause = std::io::Error::other(words);
                        self.tell(
                            dir,
                            Some(&name),
                            ProblemKind::UnusableIgnoreFile,
                            Some(cause),
                        );
                    }
                }
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
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
