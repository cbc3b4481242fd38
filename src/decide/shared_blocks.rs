//! Files that are known to be equal because they lie in the same blocks.
//!
//! The search queries the blocks of every file of a class of equal samples that could share its blocks. The answer is a
//! digest of all extents of the file, or says that nothing is known. Files with one answer are candidates, and the
//! search reads only the first of them. A second query makes this safe. It runs when no file of the size is being read
//! any more: candidates count as equal only if all their extents are the same as before
//! (`docs/explanation/correctness.md`).

use std::collections::HashMap;

use crate::file::FileIndex;
use crate::hash::PlacesDigest;

use super::by_file::FileMap;
use super::keyed_join::Content;

/// The next reads.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BlocksStep {
    /// Files whose blocks are to be queried again.
    pub look_again: Vec<FileIndex>,
    /// Files to be read as a whole.
    pub read: Vec<FileIndex>,
    /// Files that have a content.
    pub have: Vec<(FileIndex, Content)>,
}

/// The files of one class of samples that lie in blocks which others may share.
#[derive(Debug)]
pub struct BlocksClass {
    /// Candidates by the answer of the first query; the first file of each group is read for all.
    candidates: HashMap<PlacesDigest, Vec<FileIndex>>,
    first_file: FirstFile,
    phase: Phase,
}

/// Whether the first file of the class is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstFile {
    /// The first file may wait when it comes: it need not be read as long as all files of the class are candidates
    /// with it.
    MayWait,
    /// This first file waits until a file comes that is no candidate with it.
    Waits(FileIndex),
    /// It is read at once, since some file of the class is read.
    IsRead,
}

/// The phase of a class.
#[derive(Debug)]
enum Phase {
    /// Files may still come.
    Gathering,
    /// The second query is in progress; its answers.
    LookingAgain(HashMap<FileIndex, PlacesDigest>),
    /// The remaining candidates are equal.
    Confirmed,
}

impl BlocksClass {
    /// A class without files. `all_spared` says that no file is read as long as all lie in the same blocks.
    pub fn new(all_spared: bool) -> Self {
        Self {
            candidates: HashMap::new(),
            first_file: if all_spared {
                FirstFile::MayWait
            } else {
                FirstFile::IsRead
            },
            phase: Phase::Gathering,
        }
    }

    /// Records that a file of the class is read; returns another file that must be read for this reason.
    pub fn reads(&mut self) -> Option<FileIndex> {
        match std::mem::replace(&mut self.first_file, FirstFile::IsRead) {
            FirstFile::Waits(file) => Some(file),
            FirstFile::MayWait | FirstFile::IsRead => None,
        }
    }

    /// Takes the answer of a query of a file's blocks, `None` if nothing is known; returns the files that must be read.
    pub fn seen(&mut self, file: FileIndex, blocks: Option<PlacesDigest>) -> Vec<FileIndex> {
        if let Phase::LookingAgain(again) = &mut self.phase {
            again.extend(blocks.map(|blocks| (file, blocks)));
            return Vec::new();
        }
        if let Some(blocks) = blocks {
            let candidates = self.candidates.entry(blocks).or_default();
            candidates.push(file);
            if candidates.len() > 1 {
                return Vec::new();
            }
            if self.first_file == FirstFile::MayWait {
                self.first_file = FirstFile::Waits(file);
                return Vec::new();
            }
        }
        self.reads().into_iter().chain([file]).collect()
    }

    /// The next reads when no file of this size is being read or queried. The step is empty if the class is done.
    /// `contents` has those of the files that were read for others.
    pub fn idle(&mut self, contents: &mut FileMap<Content>) -> BlocksStep {
        let mut step = BlocksStep::default();
        if let Phase::Gathering = self.phase {
            let several = self.candidates.values().filter(|files| files.len() > 1);
            step.look_again = several.flatten().copied().collect();
            self.phase = Phase::LookingAgain(HashMap::new());
            if !step.look_again.is_empty() {
                return step;
            }
        }
        if let Phase::LookingAgain(again) = &mut self.phase {
            let again = std::mem::take(again);
            self.phase = Phase::Confirmed;
            let doubtful = self.drop_doubtful(&again);
            if !doubtful.is_empty() {
                step.read.extend(self.reads());
                step.read.extend(doubtful);
                return step;
            }
        }
        self.conclude(contents, &mut step);
        step
    }

    /// Removes candidates that were not found in the same blocks again.
    fn drop_doubtful(&mut self, again: &HashMap<FileIndex, PlacesDigest>) -> Vec<FileIndex> {
        let mut doubtful = Vec::new();
        for (blocks, files) in &mut self.candidates {
            let is_sure = |file: &FileIndex| again.get(file) == Some(blocks);
            let first = files[0];
            let first_is_sure = is_sure(&first);
            files.retain(|file| {
                let stays = *file == first || first_is_sure && is_sure(file);
                if !stays {
                    doubtful.push(*file);
                }
                stays
            });
        }
        doubtful
    }

    /// Gives the content of each first file to all candidates after it.
    fn conclude(&mut self, contents: &mut FileMap<Content>, step: &mut BlocksStep) {
        if let FirstFile::Waits(file) = self.first_file {
            self.first_file = FirstFile::IsRead;
            contents.insert(file, Content::Of(file));
            step.have.push((file, Content::Of(file)));
        }
        self.candidates.retain(|_, files| {
            let first = files.remove(0);
            match contents.remove(&first) {
                Some(content) => {
                    step.have.extend(files.iter().map(|&file| (file, content)));
                    false
                }
                // It could not be read: the next one is read for the others.
                None => {
                    step.read.extend(files.first());
                    !files.is_empty()
                }
            }
        });
    }

    /// True if no work is left.
    pub fn is_over(&self) -> bool {
        self.candidates.is_empty()
    }
}
