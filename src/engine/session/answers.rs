//! Handles the results of reads: digests go to the machine, problems to the observer.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::decide::Want;
use crate::device::{Class, VolumeId};
use crate::event::{Problem, ProblemKind};
use crate::file::{DirId, FileIndex};
use crate::hash::Digest;
use crate::read::{self, Failure, Finished, Job, Outcome};
use crate::sys::open;

use super::Session;

impl Session<'_> {
    /// Takes a read that ended.
    pub fn finished(&mut self, finished: &Finished<Want>) {
        let Job {
            file, volume, want, ..
        } = finished.job;
        let size = self.machine.file_table().size(file);
        let read = match finished.outcome {
            Outcome::Read { bytes, .. } | Outcome::Compared { bytes, .. } => bytes,
            _ => 0,
        };
        if want != Want::BlocksAgain {
            self.reads.tally.done(volume, want, size, read);
        }
        if want == Want::Verify {
            return self.verified(file, finished.outcome);
        }
        if want.is_of_shown() {
            return self.shown(file, finished.outcome);
        }
        if let Outcome::Read { may_be_stored, .. } | Outcome::Compared { may_be_stored, .. } =
            finished.outcome
            && !may_be_stored
        {
            self.keep_nothing_of(file);
        }
        match finished.outcome {
            Outcome::Read {
                digests, cached, ..
            } => self.read(file, want, digests, cached),
            Outcome::Compared { with, bytes, .. } => self.machine.compared(file, with, bytes > 0),
            Outcome::NotCompared => self.machine.not_compared(file),
            // Nothing here requests it.
            Outcome::StaysCached => {}
            Outcome::Blocks { places } => self.machine.blocks_seen(file, places),
            // Whatever it was, it comes again when the file is read, or nothing was lost.
            Outcome::Failed(_) if matches!(want, Want::Blocks | Want::BlocksAgain) => {
                self.machine.blocks_seen(file, None);
            }
            // The rest of a file may be unreadable and unneeded: first only its samples are read.
            Outcome::Failed(Failure::Refused(e))
                if want == Want::HeadAndContent && e != Errno::CANCELED =>
            {
                self.reads.sample_only.insert(file);
                self.ask(file, Want::Head);
            }
            Outcome::Failed(failure) => self.failed(file, failure),
            // The scheduler keeps it until it is read.
            Outcome::NotCached { .. } => self.failed(file, Failure::Changed),
        }
    }

    fn read(&mut self, file: FileIndex, want: Want, digests: [Option<Digest>; 2], cached: bool) {
        if cached || self.reads.volumes.get(self.volume_of(file)).class == Class::Memory {
            self.machine.was_cached(file);
        }
        self.keep_in_cache(file, want, digests);
        self.keep_samples(file, want, digests);
        if self.probable.has_begun() {
            return;
        }
        if self.inventory.is_some() {
            return self.inventoried(file, want, digests);
        }
        match (want, digests) {
            (Want::Whole | Want::Content, [Some(Digest::Content(digest)), _]) => {
                self.machine.content_read(file, digest);
            }
            (Want::Tail, [Some(Digest::Sample(tail)), _]) => {
                self.machine.tail_sampled(file, tail);
            }
            // It was not read on since its head is not that of the others.
            (Want::HeadAndContent, [Some(Digest::Sample(head)), None]) => {
                self.machine.sampled(file, head, None);
            }
            (Want::Head | Want::HeadAndTail, [Some(Digest::Sample(head)), tail]) => {
                self.machine
                    .sampled(file, head, tail.and_then(Digest::sample));
            }
            (
                Want::HeadAndContent,
                [Some(Digest::Sample(head)), Some(Digest::Content(content))],
            ) => self.machine.read_whole(file, head, content),
            // A digest of another kind than asked for is as good as none.
            _ => self.failed(file, Failure::Changed),
        }
    }

    fn failed(&mut self, file: FileIndex, failure: Failure) {
        if self.inventory.is_none() && !self.probable.has_begun() {
            self.machine.failed(file);
        }
        self.account.file_failed(file, &failure);
        self.not_read(file, failure);
    }

    /// Counts and names a file that could not be read.
    pub fn not_read(&mut self, file: FileIndex, failure: Failure) {
        let (kind, cause) = match failure {
            // The run was interrupted before it was read.
            Failure::Refused(Errno::CANCELED) => return,
            // Its file system is named.
            Failure::Unanswered => {
                self.sets.deliverer.summary.left_out.unanswered += 1;
                return;
            }
            Failure::Refused(e) => (ProblemKind::UnreadableFile, Some(open::error(e))),
            Failure::Holes => (ProblemKind::UnreadableFile, Some(read::too_many_holes())),
            Failure::Vanished => (ProblemKind::Vanished, None),
            Failure::Changed => (ProblemKind::Changed, None),
        };
        self.leave_out(self.path_of_first_name(file), kind, cause);
    }

    /// Counts and names what takes no further part.
    pub fn leave_out(&mut self, path: PathBuf, kind: ProblemKind, cause: Option<io::Error>) {
        let left_out = &mut self.sets.deliverer.summary.left_out;
        match kind {
            ProblemKind::UnreadableFile => left_out.unreadable += 1,
            ProblemKind::ChangedFolder => left_out.unsettled += 1,
            _ => left_out.changed += 1,
        }
        self.observer.problem(Problem { path, kind, cause });
    }

    /// The volume that a file lies on.
    pub fn volume_of(&self, file: FileIndex) -> VolumeId {
        self.reads
            .volumes
            .of(self.machine.file_table().volume(file))
    }

    /// The path of the first name of a file.
    pub fn path_of_first_name(&self, file: FileIndex) -> PathBuf {
        let file_table = self.machine.file_table();
        self.path_of(file_table.dir(file), file_table.first_name(file))
    }

    /// The path of an entry of a folder.
    pub fn path_of(&self, dir: DirId, name: &[u8]) -> PathBuf {
        let mut path = Vec::new();
        self.dirs.read().path_of(dir, name, &mut path);
        to_path(path)
    }
}

/// A path of raw bytes.
pub fn to_path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}
