//! Queries after all reads, where every entry counts: metadata, shared blocks, and changes of folders.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};

use crate::device::VolumeId;
use crate::event::{Problem, ProblemKind};
use crate::file::{DirId, FileIndex, Fingerprint};
use crate::hash::PlacesDigest;
use crate::heartbeat::current;
use crate::read::places;
use crate::scan::{Stamp, is_same_place, path_of};
use crate::sys::attributes::{self, Attributes};
use crate::sys::{open, stat};
use crate::tree::{Metadata, Scope, Unseen};

use super::Session;

impl Session<'_> {
    /// Reads the metadata of files that may have copies: those with a common content, and empty ones.
    pub fn metadata(&mut self) -> HashMap<u32, Metadata> {
        let contents = self.machine.all_contents();
        let mut files: Vec<FileIndex> =
            contents.filter(|files| files.len() > 1).flatten().collect();
        let file_table = self.machine.file_table();
        files.extend(file_table.empty_files());
        let mut all = HashMap::new();
        for file in files {
            if self.is_left_open() {
                break;
            }
            match self.metadata_of(file) {
                Ok(metadata) => {
                    all.insert(file.0, metadata);
                }
                Err(error) => self.observer.problem(Problem {
                    path: self.path_of_first_name(file),
                    kind: ProblemKind::UnreadableMetadata,
                    cause: Some(error.into()),
                }),
            }
        }
        all
    }

    fn metadata_of(&mut self, file: FileIndex) -> Result<Metadata> {
        let (opened, attributes) = self.reopened(file)?;
        Ok(Metadata {
            mode: attributes.mode,
            owner: (attributes.uid, attributes.gid),
            modified_ns: attributes.modified.ns(),
            extended: attributes::extended(&opened)?.into(),
        })
    }

    /// Opens a file by its first name, if the name still leads to the file that was found.
    pub fn reopened(&mut self, file: FileIndex) -> Result<(OwnedFd, Attributes)> {
        let path = self.path_of_first_name(file);
        let _call = current::call(&path);
        let file_table = self.machine.file_table();
        let dir = file_table.dir(file);
        let name = CString::new(file_table.first_name(file)).map_err(|_| Errno::INVAL)?;
        let folder = self.names.handles.get_alone(dir, &self.dirs)?;
        let opened = open::file(folder, &name, false)?;
        let (stat, attributes) = attributes::both(&opened)?;
        if self.is_state_of(file, &Fingerprint::from(&stat)) {
            Ok((opened, attributes))
        } else {
            Err(Errno::STALE)
        }
    }

    /// Pairs of a file and another file in whose blocks it lies, and so is one physical copy with it. The search asks for
    /// blocks only where the answer may spare a read, which depends on the page cache; this must not depend on it. Only contents are checked that a file system which can
    /// share blocks has below several roots.
    pub fn in_same_blocks(&mut self) -> Vec<(FileIndex, FileIndex)> {
        let contents = (0_u32..).zip(self.machine.all_contents());
        let candidates = contents.flat_map(|(content, files)| {
            let files = self.may_share_across_roots(files).into_iter();
            files.map(move |file| (content, file))
        });
        let candidates: Vec<(u32, FileIndex)> = candidates.collect();
        let mut first_in: HashMap<(u32, PlacesDigest), FileIndex> = HashMap::new();
        let mut same = Vec::new();
        for (content, file) in candidates {
            if self.is_left_open() {
                break;
            }
            let Some(places) = self.places(file) else {
                continue;
            };
            let first = *first_in.entry((content, places)).or_insert(file);
            if first != file {
                same.push((file, first));
            }
        }
        same
    }

    /// The files of a content that may share blocks with a file below another root: no two file systems share any.
    fn may_share_across_roots(&self, mut files: Vec<FileIndex>) -> Vec<FileIndex> {
        if files.len() < 2 {
            return Vec::new();
        }
        let file_table = self.machine.file_table();
        let dirs = self.dirs.read();
        let mut roots: HashMap<VolumeId, HashSet<u32>> = HashMap::new();
        for &file in &files {
            if let Some(volume) = self.sharing_volume(file) {
                let names = file_table.names(file);
                let of_file = names.map(|(dir, _)| dirs.root(dir));
                roots.entry(volume).or_default().extend(of_file);
            }
        }
        files.retain(|&file| {
            let roots = self
                .sharing_volume(file)
                .and_then(|volume| roots.get(&volume));
            roots.is_some_and(|roots| roots.len() > 1)
        });
        files
    }

    /// The volume of a file, if the file may share blocks.
    fn sharing_volume(&self, file: FileIndex) -> Option<VolumeId> {
        let dev = self.machine.file_table().volume(file);
        let device = self.volumes.device(self.volumes.of(dev));
        device.shares_blocks.then_some(device.volume)
    }

    /// A digest of the places of a file's blocks, if others refer to all of them.
    fn places(&mut self, file: FileIndex) -> Option<PlacesDigest> {
        let volume = self.sharing_volume(file)?;
        // What cannot be opened is named when all names are looked up once more.
        let (opened, _) = self.reopened(file).ok()?;
        let size = self.machine.file_table().size(file);
        places(&opened, size, volume)
    }

    /// Checks every listed folder once more, and records those that have changed since.
    ///
    /// An entry that came into a folder after it was listed was not seen, and a symbolic link may have another target by
    /// now. Both changes also change the folder's times. If no folder and no file changed before this second check, all
    /// results hold for one moment: the end of the reads.
    /// Of file systems that the run gave up on,
    /// none is checked.
    pub fn check_folders(&mut self, scope: Scope) {
        // An open folder stays open when it is moved away: only its path says where it is.
        self.names.handles.close_all();
        for (dir, stamp) in std::mem::take(&mut self.listed) {
            if self.control.is_cancelled() {
                return;
            }
            if self.is_silent(dir) {
                // The answer of a comparison stays open anyway.
                if scope == Scope::AllFiles {
                    self.account.unseen(dir, b"", Unseen::Unanswered);
                }
                continue;
            }
            let cause = match self.holds_still(dir, stamp) {
                Ok(true) => continue,
                Ok(false) => None,
                Err(error) => Some(error.into()),
            };
            self.deliverer.summary.left_out.unsettled += 1;
            self.account.unseen(dir, b"", Unseen::Changed);
            self.observer.problem(Problem {
                path: path_of(&self.dirs, dir, None),
                kind: ProblemKind::ChangedFolder,
                cause,
            });
        }
    }

    /// True if a folder has the same times as when it was listed, and its path still leads to it.
    fn holds_still(&mut self, dir: DirId, stamp: Stamp) -> Result<bool> {
        let _call = current::call(&path_of(&self.dirs, dir, None));
        let folder = self.names.handles.get_alone(dir, &self.dirs)?;
        let now = stat::fresh_descriptor(folder)?;
        let listed = self.dirs.read().id(dir);
        Ok(is_same_place(listed, &now, folder) && stamp.still_holds(&now))
    }
}
