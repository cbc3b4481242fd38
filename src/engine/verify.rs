//! Compares the members of sets byte by byte before the sets are delivered (`--verify`).

use std::collections::HashMap;

use rustix::io::Errno;

use crate::decide::Want;
use crate::event::{Problem, ProblemKind};
use crate::file::FileIndex;
use crate::hash::Digest;
use crate::read::{self, Failure, Job, Outcome};
use crate::sys::open;

use super::answers::to_path;
use super::deliver::Draft;
use super::order::SetNames;
use super::session::Session;
use super::tally::Stage;
use super::verification::Compared;

impl Session<'_> {
    /// Starts the comparison of the members of sets.
    pub fn verify(&mut self, drafts: Vec<Draft>) {
        for draft in drafts {
            let number = self.verification.next;
            self.verification.next += 1;
            let file_table = self.machine.file_table();
            let mut set = Vec::with_capacity(draft.files.len());
            for &file in &draft.files {
                let volume = self.volumes.of(file_table.volume(file));
                let size = file_table.size(file);
                self.tally.wanted(volume, Stage::Verify, size);
                self.verification.of.insert(file, number);
                let job = Job {
                    file,
                    want: Want::Verify,
                    bulk: true,
                };
                set.push((volume, job));
            }
            let position = draft.files.first().map_or(0, |&file| file_table.ino(file));
            self.scheduler.push_set(position, set);
            let compared = Compared {
                left: draft.files.len(),
                draft,
                refused: HashMap::new(),
            };
            self.verification.sets.insert(number, compared);
        }
    }

    /// Takes the result of comparing a file with the others of its set.
    pub fn verified(&mut self, file: FileIndex, outcome: Outcome<Digest>) {
        let Some(number) = self.verification.of.remove(&file) else {
            return;
        };
        let Some(set) = self.verification.sets.get_mut(&number) else {
            return;
        };
        match outcome {
            Outcome::Verified { equal: true, .. } => None,
            Outcome::Failed(failure) => set.refused.insert(file, Some(failure)),
            _ => set.refused.insert(file, None),
        };
        set.left -= 1;
        if set.left > 0 {
            return;
        }
        if let Some(set) = self.verification.sets.remove(&number) {
            self.end_set(set);
        }
    }

    fn end_set(&mut self, set: Compared) {
        let Compared {
            mut draft, refused, ..
        } = set;
        let is_member = |file: &FileIndex| !refused.contains_key(file);
        let (members, others) = draft.files.into_iter().partition::<Vec<_>, _>(is_member);
        draft.files = members;
        for (file, failure) in others
            .iter()
            .filter_map(|&file| Some((file, *refused.get(&file)?)))
        {
            let (kind, cause) = match failure {
                // The run was interrupted before it was compared.
                Some(Failure::Refused(Errno::CANCELED)) => continue,
                // Its file system is named.
                Some(Failure::Unanswered) => {
                    self.left_out.unanswered += 1;
                    continue;
                }
                None => (ProblemKind::NotVerified, None),
                Some(Failure::Changed) => (ProblemKind::Changed, None),
                Some(Failure::Holes) => (ProblemKind::UnreadableFile, Some(read::too_many_holes())),
                Some(Failure::Vanished) => (ProblemKind::UnreadableFile, Some(Errno::NOENT.into())),
                Some(Failure::Refused(e)) => (ProblemKind::UnreadableFile, Some(open::error(e))),
            };
            match kind {
                ProblemKind::UnreadableFile => self.left_out.unreadable += 1,
                _ => self.left_out.changed += 1,
            }
            let dirs = self.dirs.read();
            let names = SetNames::new(&[file], self.machine.file_table(), &dirs);
            let (dir, name) = names.best(file);
            let mut path = Vec::new();
            dirs.path_of(dir, name, &mut path);
            self.observer.problem(Problem {
                path: to_path(path),
                kind,
                cause,
            });
        }
        self.verification.done.push(draft);
    }
}
