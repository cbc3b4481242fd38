//! Reads what pictures, films and sound show, apart from their tags.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

use crate::media::{self, LookError, PartDigests, Source};

use super::access::Access;
use super::open_file::OpenFile;
use super::reader::{Reader, finished, refused};
use super::shown::Shown;
use super::task::{Depth, Failure, Outcome, SPANS, Task};

/// An open picture, film or sound.
pub struct MediaFile<'a, Fd> {
    file: &'a OpenFile<Fd>,
    access: &'a Access,
    length: u64,
    /// Whether its reads are taken out of the budget.
    pays: bool,
    read: Cell<u64>,
}

impl<'a, Fd: AsFd> MediaFile<'a, Fd> {
    /// A file of this many bytes.
    pub fn new(file: &'a OpenFile<Fd>, access: &'a Access, length: u64) -> Self {
        Self {
            file,
            access,
            length,
            pays: false,
            read: Cell::new(0),
        }
    }

    /// Reads and digests its parts.
    ///
    /// # Errors
    /// Why it is an ordinary file, or cannot be read. `None` if its format is not known.
    pub fn parts(&self) -> media::Result<Option<PartDigests>> {
        let media = media::look(self)?;
        let parts = media.map(|media| PartDigests::of(&media, self));
        Ok(parts.transpose()?)
    }

    fn shown(&self, depth: Depth) -> media::Result<Shown> {
        let shown = match depth {
            Depth::Key => {
                media::look_at_headers(self)?.map(|(key, identifier)| Shown::Key(key, identifier))
            }
            Depth::Parts => self.parts()?.map(|parts| Shown::Parts(parts.into())),
            Depth::Tags => media::tags(self)?.map(|tags| Shown::Tags(tags.into())),
        };
        Ok(shown.unwrap_or(Shown::Unknown))
    }
}

impl<Fd: AsFd> Source for MediaFile<'_, Fd> {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if self.access.stopped() {
            return Err(Errno::CANCELED.into());
        }
        let len = buffer.len();
        let unpaid = if self.pays { len as u64 } else { 0 };
        let read = self.file.read(self.access, unpaid, buffer, len, offset)?;
        self.read.set(self.read.get() + read as u64);
        if read < len {
            return Err(Errno::STALE.into());
        }
        Ok(())
    }
}

impl Reader {
    /// Reads what a file shows, and leaves the answer among the results.
    pub fn show(&mut self, task: &Task, fd: BorrowedFd<'_>, depth: Depth) -> Outcome {
        let access = &self.settings.access;
        let missing = self.uncached_bytes(task, fd);
        let is_cached = missing == Some(0);
        let mut file = OpenFile::new(fd, task.device.volume, false);
        file.drops_behind = self.drops_behind(task, missing);
        let source = MediaFile {
            pays: access.budgets.are_limited() && !is_cached,
            ..MediaFile::new(&file, access, task.expect.size)
        };
        let shown = source.shown(depth);
        file.leave(task.expect.size);
        let shown = match shown {
            Ok(shown) => shown,
            Err(LookError::Damaged(why) | LookError::Unsupported(why)) => Shown::Refused(why),
            Err(LookError::Io(error)) => {
                let failure = match Errno::from_io_error(&error) {
                    // Shorter than the scan said: cut off meanwhile.
                    Some(Errno::STALE) => Failure::Changed,
                    other => refused(task, fd, other.unwrap_or(Errno::IO)),
                };
                return Outcome::Failed(failure);
            }
        };
        self.settings.shown.put(task.file, shown);
        finished(task, fd, [None; SPANS], source.read.get(), is_cached)
    }
}
