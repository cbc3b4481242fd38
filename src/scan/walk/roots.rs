//! The roots of a search: the files and folders that the user names.

use std::ffi::{CString, OsStr};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use crate::event::{Problem, ProblemKind};
use crate::file::{DirId, FolderId, FolderPlace};
use crate::heartbeat::current;
use crate::scan::enter::{Entered, enter, numbering_of_path};
use crate::scan::filter::Verdict;
use crate::scan::found::{FoundIn, LinkedFile, unseen_by_problem};
use crate::sys::open;
use crate::sys::stat::{self, Stat};
use crate::tree::Unseen;

use super::walker::Walker;
use super::{Folder, Given, ReachedBy, count, found_file};

impl Walker {
    /// Checks a root: enters a folder in the table, so that no walk from elsewhere lists it a second time, and hands a
    /// file over.
    pub(super) fn look_at_root(&mut self, root: &Given) {
        current::ask_about(root.path.as_os_str().as_bytes());
        let unseen = self.root(root).map(|unseen| (root.number, unseen));
        self.walked.unseen.extend(unseen);
    }

    /// Returns the reason why a root is skipped, if it is.
    fn root(&mut self, given: &Given) -> Option<Unseen> {
        let path = given.path.as_os_str().as_bytes();
        let (named, stat) = match metadata(path) {
            Ok(both) => both,
            Err(error) => {
                let kind = ProblemKind::of_root(error.kind());
                let cause = (kind != ProblemKind::MissingRoot).then_some(error);
                return self.root_problem(given, kind, cause);
            }
        };
        if given.id.is_some_and(|id| id != (stat.dev, stat.ino)) {
            return self.root_problem(given, ProblemKind::ReplacedRoot, None);
        }
        // As a walk from elsewhere spells it. Some programs number a file anew for each spelling.
        let spelled = &self.known_paths.spellings.path(path)[..];
        let (named, stat) = if path == spelled {
            (named, stat)
        } else {
            metadata(spelled).unwrap_or((named, stat))
        };
        let is_folder = stat.kind == FileType::Directory;
        let is_link = named.kind == FileType::Symlink;
        if !is_folder && stat.kind != FileType::RegularFile {
            return self.root_problem(given, ProblemKind::UnsuitableRoot, None);
        }
        if !is_folder && is_link && !self.walk.follow_links {
            return self.root_problem(given, ProblemKind::LinkRoot, None);
        }
        let devices = &mut self.walked.devices;
        if devices.iter().all(|&(known, _)| known != stat.dev) {
            devices.push((stat.dev, given.number as usize));
        }
        if !is_folder {
            self.walk.dirs.write().mark_given_file(given.number);
        }
        let filter = &self.walk.filter;
        let verdict = match (filter.root(spelled, is_folder), is_folder) {
            (Verdict::Keep, false) => filter.metadata(stat.size, stat.mtime_ns),
            (verdict, _) => verdict,
        };
        if verdict != Verdict::Keep {
            return count(&mut self.walked.left_out, verdict);
        }
        if is_folder {
            return self.root_folder(given, spelled, &stat);
        }
        self.root_file(given, spelled, &stat, is_link);
        None
    }

    fn root_problem(
        &mut self,
        given: &Given,
        kind: ProblemKind,
        cause: Option<Errno>,
    ) -> Option<Unseen> {
        let left_out = &mut self.walked.left_out;
        match kind {
            ProblemKind::LinkRoot => left_out.symlinks += 1,
            _ => left_out.unreadable += 1,
        }
        self.outbox.problem(Problem {
            path: given.path.clone(),
            kind,
            cause: cause.map(Into::into),
        });
        unseen_by_problem(kind)
    }

    fn root_folder(&mut self, given: &Given, path: &[u8], stat: &Stat) -> Option<Unseen> {
        let Ok(name) = CString::new(path) else {
            return self.root_problem(given, ProblemKind::MissingRoot, None);
        };
        let dirs = &self.walk.dirs;
        let place = FolderPlace::Root(path, given.number);
        let entered = match open::folder_handle(open::CWD, &name) {
            Ok(fd) => enter(dirs, place, stat, fd.as_fd()),
            // It is added, so that the walker that lists it reports why it cannot be opened.
            Err(_) => Entered::New(dirs.write().add_root(path, given.number, stat)),
        };
        match entered {
            Entered::New(dir) => {
                self.mark(dir, path, true);
                self.walked.roots.push(Folder {
                    dir,
                    name: None,
                    depth: 0,
                    root_dev: stat.dev,
                    rules: None,
                    reached_by: ReachedBy::Entry,
                });
                None
            }
            Entered::Before(_) => {
                self.walked.left_out.listed_before += 1;
                Some(Unseen::ListedBefore)
            }
            Entered::OneOfTooMany => self.root_problem(given, ProblemKind::TooManyAlike, None),
        }
    }

    fn root_file(&mut self, given: &Given, path: &[u8], stat: &Stat, is_link: bool) {
        let cut = path.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(cut);
        let mut file = found_file(stat, name);
        file.via_link = is_link;
        let place = FoundIn {
            dir: self.folder_of_file(folder, given),
            root: given.number,
            dev: stat.dev,
        };
        let numbering = || numbering_of_path(path);
        if is_link {
            self.walked.linked.push(LinkedFile {
                place,
                numbering: numbering(),
                path: path.to_vec(),
                file,
            });
        } else {
            self.outbox.push(place, name, file, numbering);
        }
    }

    /// Records whether a folder lies in a trash, and whether a program manages it or a folder above it. The entries of
    /// a folder that is listed are looked at there.
    fn mark(&mut self, dir: DirId, path: &[u8], is_listed: bool) {
        // The empty path is the current folder.
        let folder = if path.is_empty() { b"." } else { path };
        let Ok(real) = fs::canonicalize(OsStr::from_bytes(folder)) else {
            return;
        };
        let real = real.into_os_string().into_vec();
        current::ask_about(&real);
        let inside = [&real[..], b"/"].concat();
        let is_in_trash = self.walk.trash.lead_into(&inside, 0);
        let place = if is_listed { &real } else { &inside };
        let is_managed = self.known_paths.managed.hold_folder(place);
        let mut dirs = self.walk.dirs.write();
        if is_in_trash {
            dirs.mark_trash(dir);
        }
        if is_managed {
            dirs.mark_managed(dir);
        }
    }

    fn folder_of_file(&mut self, folder: &[u8], given: &Given) -> DirId {
        let number = given.number;
        let root = if given.keep_apart { number } else { 0 };
        let key = (folder.to_vec(), root);
        if let Some(&dir) = self.known_paths.file_folders.get(&key) {
            return dir;
        }
        let place = CString::new(if folder.is_empty() { b"." } else { folder });
        let place = place.ok().and_then(|p| stat::target(open::CWD, &p).ok());
        let id = place
            .map(|place| FolderId::from(&place))
            .unwrap_or_default();
        let dir = self.walk.dirs.write().add_unlisted(folder, number, id);
        self.mark(dir, folder, false);
        *self.known_paths.file_folders.entry(key).or_insert(dir)
    }
}

/// Metadata of a path itself and of its target.
fn metadata(path: &[u8]) -> Result<(Stat, Stat)> {
    let path = CString::new(path).map_err(|_| Errno::NOENT)?;
    let named = stat::entry(open::CWD, &path)?;
    let target = match named.kind {
        FileType::Symlink => stat::target(open::CWD, &path)?,
        _ => named,
    };
    Ok((named, target))
}
