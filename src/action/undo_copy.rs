//! Restores a file as a copy of another one: of the kept file, or of one that was moved to another file system.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::FileType;

use super::check::Opened;
use super::folder_entry::NameInFolder;
use super::record::Metadata;
use super::undo_step::{Manner, Refusal, Scene, is_as, said, unfollowed};
use super::undone::{Lack, Undone};
use super::{compare, copy, metadata};
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::stat::Stat;
use crate::sys::{names, sync, write};

impl Scene<'_> {
    pub(super) fn copy_back(&self) -> Result<Undone, Refusal> {
        self.may_come("it stays removed: copy the kept file yourself")?;
        let kept = |unfit| format!("the file that was kept {unfit}");
        let intent = self.intent;
        let was = &intent.keeper_state;
        let source = match self.digest {
            Some(_) => self.opened_by_size(&intent.keeper.0, was.size),
            None => self.opened(&intent.keeper.0, was),
        };
        let source = source.map_err(kept)?;
        if self.how.manner == Manner::Look {
            return match is_as(&source.stat, was) || self.is_proven(&source.file) {
                true => Ok(self.foretold(&source)),
                false => Err(other_bytes(self.source())),
            };
        }
        // Half a copy of an undo that was killed.
        self.drop_copy();
        let lack = self.copy_here(&source)?;
        let unchanged = match self.digest {
            Some(_) => Ok(()),
            None => source.unchanged().map_err(kept),
        };
        unchanged
            .and_then(|()| self.rename_back(&self.ours))
            .inspect_err(|_| self.drop_copy())?;
        Ok(Undone::restored(lack))
    }

    /// Makes a copy beside the file's name, with all metadata in the journal, safe on the disk.
    ///
    /// If the file had several names, and another one is restored already, the copy becomes a name of that file.
    ///
    /// Returns the metadata that the copy does not get.
    pub(super) fn copy_here(&self, source: &Opened) -> Result<Lack, Refusal> {
        if self
            .companion
            .is_some_and(|path| self.join(path, source).is_some())
        {
            return Ok(Lack::NOTHING);
        }
        current::ask_about(&self.intent.victim.0);
        let file = write::create(&self.place.folder, &self.ours).map_err(said("make a copy"))?;
        let filled = self.fill(source, &file);
        // Some daemons (rclone) write a file back when it is closed, also after it was removed.
        drop(file);
        filled.inspect_err(|_| self.drop_copy())
    }

    /// Fills a copy. Only a copy with the compared bytes gets an owner and a mode: it may be a program that runs as its
    /// owner.
    ///
    /// If no digest proves the bytes, a user who could write the source counts as their author.
    fn fill(&self, source: &Opened, file: &OwnedFd) -> Result<Lack, Refusal> {
        match self.digest {
            None => copy::contents(source, file).map_err(said("make a copy"))?,
            Some(digest) => {
                let copied = copy::hashed(source, file);
                if copied.map_err(said("make a copy"))? != digest {
                    return Err(other_bytes(self.source()));
                }
            }
        }
        let (given, mut lack) = self.allowed(source);
        let missing = metadata::give(file, &given);
        let missing = missing.and_then(|missing| sync::file(file).map(|()| missing));
        for what in missing.map_err(said("make a copy"))? {
            if !lack.missing.contains(&what) {
                lack.missing.push(what);
            }
        }
        Ok(lack)
    }

    /// The metadata that a copy of a source may get, and the metadata that it lacks.
    fn allowed(&self, source: &Opened) -> (Metadata, Lack) {
        let was = &self.intent.metadata;
        if self.digest.is_some() || trust::only_they_or_we_write(&source.attributes, was.uid) {
            return (was.clone(), Lack::NOTHING);
        }
        let given = metadata::unproven(was, &source.attributes);
        let missing = metadata::differences(was, &given);
        let proven = false;
        (given, Lack { missing, proven })
    }

    /// The outcome of an undo that copies this source.
    pub(super) fn foretold(&self, source: &Opened) -> Undone {
        Undone::restored(self.allowed(source).1)
    }

    /// A description of the source of a copy.
    fn source(&self) -> &'static str {
        match self.intent.destination {
            Some(_) => "the moved file",
            None => "the file that was kept",
        }
    }

    /// True if a file has the compared bytes. A failed check counts as no.
    pub(super) fn is_proven(&self, file: &OwnedFd) -> bool {
        self.digest.is_some_and(|digest| {
            compare::digest(file, self.how.reads).is_ok_and(|now| now == digest)
        })
    }

    /// Makes a further name of a restored file, if the file has the bytes that a copy would have.
    fn join(&self, path: &[u8], source: &Opened) -> Option<()> {
        let place = NameInFolder::of(path).ok()?;
        let there = place.stat().ok().filter(|there| self.is_whole(there))?;
        let file = self.opened(path, &(&there).into()).ok()?;
        // Another user may have put a file of his own there: it could be changed at any time.
        let was = &self.intent.metadata;
        let writable = file.attributes.mode & !was.mode & 0o022;
        if writable != 0 || !trust::is_theirs_or_ours(&file.attributes, was.uid) {
            return None;
        }
        let same = compare::begins_with(&file.file, &source.file, self.how.reads).ok()??;
        if there.size != source.stat.size || self.digest.is_some_and(|digest| digest != same) {
            return None;
        }
        file.still_there().ok()?;
        // A copy is as good where the file system has no further name to give.
        names::link_open_file(&file.file, &self.place.folder, &self.ours).ok()
    }

    pub(super) fn drop_copy(&self) {
        // What remains is cleared up when undo is called again.
        let here_is_ours = self
            .at(&self.ours)
            .is_ok_and(|left| left.is_some_and(|left| left.kind == FileType::RegularFile));
        let is_link = self
            .at(&self.ours)
            .is_ok_and(|left| self.is_link(&self.ours, left.as_ref()));
        if here_is_ours && !is_link {
            let _ = names::remove(&self.place.folder, &self.ours);
        }
    }

    /// True if the file itself begins with all the bytes of a copy. A failed check counts as no.
    pub(super) fn has_the_bytes(&self, here: &Stat, folder: &OwnedFd, copy: &CStr) -> bool {
        let compared = || {
            let file = self.intent.victim.0.as_slice();
            let file = self.opened(file, &here.into()).ok()?;
            let other = unfollowed(folder, copy).ok()?;
            let begins = compare::begins_with(&file.file, &other, self.how.reads).ok()?;
            file.still_there().ok().map(|()| begins.is_some())
        };
        compared().unwrap_or(false)
    }
}

pub(super) fn other_bytes(what: &str) -> Refusal {
    format!("{what} has changed since it was compared (it has other bytes)")
}
