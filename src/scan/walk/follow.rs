//! Follows one symbolic link.

use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::event::ProblemKind;
use crate::file::FolderId;
use crate::heartbeat::current;
use crate::scan::enter::is_placeholder;
use crate::scan::found::FoundIn;
use crate::scan::limits;
use crate::scan::linked::LinkedFile;
use crate::sys::stat::{self, Stat};
use crate::sys::{names, open};

use super::walker::Walker;
use super::{Folder, count, found_file, path_of};

impl Walker {
    /// Resolves a link, and records its target if the filter keeps it.
    pub(super) fn follow(&mut self, folder: Folder) {
        if let Some(name) = folder.name.clone()
            && let Some(stat) = self.target(&folder, &name)
        {
            self.take_target(folder, &name, &stat);
        }
    }

    /// The target of a link; `None` if the link is broken.
    fn target(&mut self, folder: &Folder, name: &CStr) -> Option<Stat> {
        let walk = self.walk.clone();
        let target = self.with_folder(folder.dir, |above| names::read_link(above, name));
        if let Ok(target) = target {
            // If a call does not return, the file system of the target is to be named, not that of the link.
            let folder = path_of(&walk.dirs, folder.dir, None);
            let path = folder.join(std::ffi::OsStr::from_bytes(&target));
            current::ask_about(path.as_os_str().as_bytes());
        }
        let found = self.with_folder(folder.dir, |above| stat::target(above, name));
        let error = match found {
            Ok(stat) => return Some(stat),
            Err(error) => error,
        };
        let link = self.with_folder(folder.dir, |above| stat::entry(above, name));
        match link {
            Ok(link) if link.kind == FileType::Symlink => {
                self.walked.left_out.symlinks += 1;
                let cause = Some(error.into());
                self.tell(folder.dir, Some(name), ProblemKind::BrokenLink, cause);
            }
            Err(Errno::NOENT) => self.walked.left_out.vanished += 1,
            _ => self.unreadable(folder, ProblemKind::UnreadableMetadata, error),
        }
        None
    }

    fn take_target(&mut self, folder: Folder, name: &CStr, stat: &Stat) {
        let is_folder = stat.kind == FileType::Directory;
        let needs_path = self.walk.filter.needs_path() || folder.rules.is_some();
        if needs_path {
            self.walk.dirs.read().path(folder.dir, &mut self.path);
        }
        let rules = folder.rules.clone();
        if let Err(unseen) = self.wanted(name, is_folder, needs_path, rules.as_deref()) {
            return self.unseen(folder.dir, Some(name), unseen);
        }
        match stat.kind {
            FileType::Directory => self.take_folder(folder, name, stat),
            FileType::RegularFile => self.take_file(&folder, name, stat),
            _ => self.walked.left_out.special += 1,
        }
    }

    fn take_folder(&mut self, folder: Folder, name: &CStr, here: &Stat) {
        if folder.depth >= limits::DEPTH {
            self.walked.left_out.unreadable += 1;
            return self.tell(folder.dir, Some(name), ProblemKind::TooDeep, None);
        }
        if self.walk.max_depth.is_some_and(|max| folder.depth >= max) {
            self.walked.left_out.filtered += 1;
            return;
        }
        let opened = self.with_folder(folder.dir, |above| open::folder_handle(above, name));
        match opened {
            Ok(fd) if self.is_elsewhere(&folder, here, &fd) || is_placeholder(here, &fd) => {}
            Ok(_) => self.walk.links().add_folder(folder, FolderId::from(here)),
            Err(error) => self.unreadable(&folder, ProblemKind::UnreadableFolder, error),
        }
    }

    fn take_file(&mut self, folder: &Folder, name: &CStr, stat: &Stat) {
        let verdict = self.walk.filter.metadata(stat.size, stat.mtime_ns);
        if count(&mut self.walked.left_out, verdict).is_some() {
            return;
        }
        let mut file = found_file(stat, name.to_bytes());
        file.via_link = true;
        let dirs = self.walk.dirs.read();
        let mut path = Vec::new();
        dirs.path_of(folder.dir, name.to_bytes(), &mut path);
        let place = FoundIn {
            dir: folder.dir,
            root: dirs.root(folder.dir),
            dev: stat.dev,
        };
        drop(dirs);
        self.walk.links().add_file(LinkedFile { place, path, file });
    }
}
