//! Restores a file as a copy of another one: of the kept file, or of one that was moved to another file system.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::scene::{Made, Manner, Scene, is_as};
use super::{Slot, Source};
use crate::action::failure::failed;
use crate::action::journal::past::Lack;
use crate::action::journal::record::RecordedState;
use crate::action::reason::{Code, Reason};
use crate::action::step::check::Opened;
use crate::action::step::{bytes, metadata};
use crate::action::ways::folder_entry::NameInFolder;
use crate::file::trust;
use crate::heartbeat::current;
use crate::sys::{attributes, names, stat, sync, write};

impl Scene<'_> {
    /// Makes a copy beside the file's name, with all metadata in the journal, safe on the disk. In a preview it only
    /// looks at the source.
    ///
    /// Returns the metadata that the copy does not get.
    pub(super) fn copy_from(&self, source: Source) -> Result<Lack, Reason> {
        match source {
            Source::Keeper => self.copy_of_keeper(),
            Source::Destination => self.copy_of_moved(),
            Source::Victim => self.copy_of_victim().map_err(failed("restore it")),
        }
    }

    fn copy_of_keeper(&self) -> Result<Lack, Reason> {
        let intent = self.intent;
        let path = match intent.link_text {
            Some(_) => &intent.keeper.0,
            None => &intent.victim.0,
        };
        let unfit = |unfit: Reason| unfit.of_other(self.source());
        let mut was = intent.keeper_state;
        if intent.link_text.is_none()
            && let Ok(Some(here)) = self.stat(Slot::Name)
        {
            // A hard link has the kept file's number, whatever that is now.
            was.ino = here.ino;
        }
        // With a digest the bytes are proven whatever the times say, and only by that.
        let source = self.opened(path, &was, self.digest.is_some());
        let source = source.map_err(unfit)?;
        if self.context.manner != Manner::Act {
            return if is_as(&source.stat, &was) || self.has_digest(&source.file) {
                self.is_trusted(&source).map(|()| Lack::new())
            } else {
                Err(self.other_bytes())
            };
        }
        let lack = self.copy_here(&source)?;
        if self.digest.is_none() {
            source.unchanged().map_err(unfit)?;
        }
        Ok(lack)
    }

    fn copy_of_moved(&self) -> Result<Lack, Reason> {
        let path = self.intent.destination.as_ref();
        let Some(path) = path.filter(|_| self.context.manner == Manner::Act) else {
            return Ok(Lack::new());
        };
        current::ask_about(&path.0);
        let unfit = |unfit: Reason| unfit.of_other("the copy");
        let moved = self.stat(Slot::Destination).map_err(failed("examine it"))?;
        let moved = moved.ok_or_else(|| self.destination(Code::Gone))?;
        let source = self
            .opened(&path.0, &(&moved).into(), false)
            .map_err(unfit)?;
        let lack = self.copy_here(&source)?;
        current::ask_about(&path.0);
        source.still_there().map_err(unfit)?;
        Ok(lack)
    }

    /// The kept file lost its last name at the same moment. If this fails, what was copied stays.
    fn copy_of_victim(&self) -> rustix::io::Result<Lack> {
        let (Some(act), (folder, name)) = (self.act, self.ours()) else {
            return Err(Errno::INVAL);
        };
        let victim = &act.pair.victim;
        let file = write::create(folder, name)?;
        bytes::copy(victim, &file, false)?;
        // Whoever wrote it meanwhile gets no rights that the kernel has taken from it.
        let now = attributes::get(&victim.file)?;
        let missing = metadata::give(&file, &metadata::with(&victim.file, now)?)?;
        sync::file(&file)?;
        let copied = stat::descriptor(&file)?;
        self.made.set(Some(Made {
            copy: (copied.dev, copied.ino),
            source: RecordedState::from(&victim.stat),
        }));
        Ok(missing)
    }

    /// If the file had several names, and another one is restored already, the copy becomes a name of that file.
    fn copy_here(&self, source: &Opened) -> Result<Lack, Reason> {
        let joined = self.companion.and_then(|path| self.join(path, source));
        let lack = if joined.is_some() {
            Lack::new()
        } else {
            current::ask_about(&self.intent.victim.0);
            let (folder, name) = self.ours();
            let file = write::create(folder, name).map_err(failed("make a copy"))?;
            let filled = self.fill(source, &file);
            // Some daemons (rclone) write a file back when it is closed, also after it was removed.
            drop(file);
            filled.inspect_err(|_| {
                // What remains is cleared up when undo is called again.
                let _ = names::remove(folder, name);
            })?
        };
        let (folder, name) = self.ours();
        let copied = stat::fresh_entry(folder, name).map_err(failed("make a copy"))?;
        self.made.set(Some(Made {
            copy: (copied.dev, copied.ino),
            source: RecordedState::from(&source.stat),
        }));
        Ok(lack)
    }

    /// Fills a copy. Only a copy with the compared bytes gets an owner and a mode: it may be a program that runs as its
    /// owner.
    fn fill(&self, source: &Opened, file: &OwnedFd) -> Result<Lack, Reason> {
        self.is_trusted(source)?;
        let copied = bytes::copy(source, file, self.digest.is_some());
        if copied.map_err(failed("make a copy"))? != self.digest {
            return Err(self.other_bytes());
        }
        let missing = metadata::give(file, &self.intent.metadata);
        let missing = missing.and_then(|missing| sync::file(file).map(|()| missing));
        missing.map_err(failed("make a copy"))
    }

    /// Without a digest, a user who could write the source counts as the author of its bytes, which must get no rights.
    fn is_trusted(&self, source: &Opened) -> Result<(), Reason> {
        let theirs = trust::is_theirs_or_ours(&source.attributes, self.intent.metadata.uid);
        if self.digest.is_some()
            || theirs && !trust::others_may_write(&source.file, &source.attributes)
        {
            Ok(())
        } else {
            Err(Code::Unproven.about(self.source()))
        }
    }

    fn other_bytes(&self) -> Reason {
        Reason::changed("it has other bytes").of_other(self.source())
    }

    /// A description of the source of a copy.
    fn source(&self) -> &'static str {
        match self.intent.destination {
            Some(_) => "the moved file",
            None => "the file that was kept",
        }
    }

    /// Makes a further name of a restored file, if the file has the bytes that a copy would have.
    fn join(&self, path: &[u8], source: &Opened) -> Option<()> {
        let place = NameInFolder::of(path).ok()?;
        let there = place.stat().ok().filter(|there| self.is_whole(there))?;
        let file = self.opened(path, &(&there).into(), false).ok()?;
        // Another user may have put a file of his own there: it could be changed at any time.
        let was = &self.intent.metadata;
        let writable = file.attributes.mode & !was.mode & 0o022;
        if writable != 0 || !trust::is_theirs_or_ours(&file.attributes, was.uid) {
            return None;
        }
        let same = bytes::begins_with(&file.file, &source.file, self.context.reads).ok()??;
        if there.size != source.stat.size || self.digest.is_some_and(|digest| digest != same) {
            return None;
        }
        file.still_there().ok()?;
        let (folder, name) = self.ours();
        // A copy is as good where the file system has no further name to give.
        names::link_open_file(&file.file, folder, name).ok()
    }
}
