//! Files that wait for each other, either for a comparison, or because comparisons of earlier runs tell some of them
//! apart.
//!
//! Of the files with one token, only one is compared or read. When this file fails, another one takes its place, so a
//! class may be compared several times. The files of a class get a content only when one comparison tells all of them
//! apart.

use std::collections::HashMap;
use std::mem;

use crate::decide::by_file::removed;
use crate::decide::keyed_join::{Awaited, ClassId, ClassState, Content, SampleClass};
use crate::decide::rules::Want;
use crate::file::FileIndex;
use crate::hash::ContentToken;

use super::Machine;

/// Files of a tail class that wait for each other.
#[derive(Debug, Default)]
pub struct WaitingClass {
    /// Files in the order of arrival.
    pub(super) files: Vec<FileIndex>,
    /// Number of the comparison in progress.
    comparison: u128,
}

/// The token of a file, and what is known with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its token.
    pub token: ContentToken,
    /// Its digest is known as well.
    pub has_digest: bool,
    /// The file is certainly unchanged since it was compared.
    pub is_sure: bool,
    /// This run compared the file. If not, an earlier one did, or it is known to be equal to one that was.
    pub was_compared: bool,
}

/// A file whose content is known without its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equality {
    /// The file.
    pub file: FileIndex,
    /// Its token, if a comparison of this run found it.
    pub found: Option<ContentToken>,
    /// This run compared the file. If not, nothing of its content was read beside samples.
    pub was_compared: bool,
    /// The token does not depend on a file that may have been changed.
    pub is_sure: bool,
}

impl Machine {
    /// Records the result that a comparison of an earlier run has for a file, before its samples are known.
    pub fn token_recalled(&mut self, file: FileIndex, told: Told) {
        if self.rules.comparing.is_some() {
            self.told.insert(file, told);
        }
    }

    /// The files whose content became known without their digests since the last call.
    pub fn equalities(&mut self) -> Vec<Equality> {
        mem::take(&mut self.equalities)
    }

    /// Decides, when a class opens, whether its files wait for each other: to be compared, or since an earlier run
    /// compared some of them.
    pub(super) fn state_of(
        &mut self,
        size: ClassId,
        class: ClassId,
        files: &[FileIndex],
    ) -> ClassState {
        let comparable = files.iter().all(|&file| self.may_be_compared(file));
        let is_told = files.iter().any(|file| self.told.contains_key(file));
        if !comparable && !is_told {
            return ClassState::Whole { any: false };
        }
        self.waiting.insert(class, WaitingClass::default());
        self.waiting_of_size.entry(size).or_default().push(class);
        ClassState::Waiting
    }

    /// True if comparing a file costs no seeks: its samples were in the page cache, or known.
    fn may_be_compared(&self, file: FileIndex) -> bool {
        let is_near = self.cached.contains(file) || self.told.contains_key(&file);
        is_near && !self.rules.tails.seeks(self.file_table.volume(file))
    }

    /// Called when no file of the size is being read: continues with a class whose files waited for each other.
    pub(super) fn is_complete(&mut self, size: ClassId, class: ClassId) {
        let Some(waiting) = self.waiting.get_mut(&class) else {
            return;
        };
        let files = mem::take(&mut waiting.files);
        if let Some(state) = self.by_tail.state(class) {
            *state = ClassState::Whole { any: false };
        }
        let is_told = files.iter().any(|file| self.told.contains_key(file));
        let groups = self.by_token(&files);
        if files.is_empty() || self.are_told_apart(&files) {
            self.waiting.remove(&class);
            return self.join_told(size, groups);
        }
        let comparable = files.iter().all(|&file| self.may_be_compared(file));
        let most = self.rules.comparing.map_or(0, |comparing| comparing.most);
        if comparable && groups.len() <= most && !self.are_digests_known(&groups) {
            self.waiting_of_size.entry(size).or_default().push(class);
            return self.compare_one_of_each(size, class, groups);
        }
        self.waiting.remove(&class);
        if is_told {
            for group in groups {
                self.read_one_of(size, group);
            }
        } else {
            for file in files {
                self.want_whole(size, SampleClass::Tail(class), file);
            }
        }
    }

    /// The files in their order, grouped by token.
    fn by_token(&self, files: &[FileIndex]) -> Vec<Vec<FileIndex>> {
        let mut groups: Vec<Vec<FileIndex>> = Vec::new();
        let mut places: HashMap<ContentToken, usize> = HashMap::new();
        for &file in files {
            let next = groups.len();
            let told = self.told.get(&file);
            let place = told.map_or(next, |told| *places.entry(told.token).or_insert(next));
            match groups.get_mut(place) {
                Some(group) => group.push(file),
                None => groups.push(vec![file]),
            }
        }
        groups
    }

    /// True if one comparison tells all these files apart.
    fn are_told_apart(&self, files: &[FileIndex]) -> bool {
        let comparison = |file| self.told.get(file).map(|told| told.token.comparison());
        let first = files.first().and_then(comparison);
        first.is_some() && files.iter().all(|file| comparison(file) == first)
    }

    /// True if an earlier run computed a digest for each token: then only the other files have to be read.
    fn are_digests_known(&self, groups: &[Vec<FileIndex>]) -> bool {
        let has_digest = |file| self.told.get(file).map(|told| told.has_digest);
        let mut told = groups
            .iter()
            .filter(|group| has_digest(&group[0]).is_some());
        told.clone().next().is_some()
            && told.all(|group| group.iter().any(|file| has_digest(file) == Some(true)))
    }

    fn compare_one_of_each(&mut self, size: ClassId, class: ClassId, groups: Vec<Vec<FileIndex>>) {
        self.comparisons_begun += 1;
        let run = self.rules.comparing.map_or(0, |comparing| comparing.run);
        if let Some(waiting) = self.waiting.get_mut(&class) {
            waiting.comparison = run.wrapping_add(self.comparisons_begun);
        }
        let mut compared = Vec::with_capacity(groups.len());
        for group in groups {
            let mut others = group.into_iter();
            let Some(first) = others.next() else { continue };
            self.awaited.insert(first, Awaited::Comparison(class));
            self.stands_for(first, others.collect());
            compared.push(first);
        }
        self.by_size.class_mut(size).pending += compared.len() as u32;
        self.comparisons.push(compared);
    }

    /// Requests the read of one file of a group for all of them.
    pub(super) fn read_one_of(&mut self, size: ClassId, mut group: Vec<FileIndex>) {
        let has_digest = |file| self.told.get(file).is_some_and(|told| told.has_digest);
        let best = group.iter().position(has_digest).unwrap_or(0);
        let file = group.swap_remove(best);
        self.stands_for(file, group);
        self.want(size, file, Want::Content);
    }

    /// Records that a file is compared or read for others with its token.
    fn stands_for(&mut self, file: FileIndex, others: Vec<FileIndex>) {
        if !others.is_empty() {
            self.represented.insert(file, others);
        }
    }

    /// Records that a file has the same content as another of its group (or is that one), and whether it had to be read
    /// for this result.
    pub fn compared(&mut self, file: FileIndex, with: FileIndex, was_read: bool) {
        if !was_read && file != with {
            self.unread.count(self.file_table.size(file));
        }
        let size = self.size_class(file);
        if let Some(Awaited::Comparison(class)) = removed(&mut self.awaited, &file)
            && let Some(waiting) = self.waiting.get_mut(&class)
        {
            let token = ContentToken::new(waiting.comparison, with.0);
            let before = self.told.get(&file).copied();
            let others = removed(&mut self.represented, &file).unwrap_or_default();
            for other in &others {
                if let Some(told) = self.told.get_mut(other) {
                    told.token = token;
                    told.is_sure &= before.is_some_and(|before| before.is_sure);
                }
            }
            let told = Told {
                token,
                has_digest: before.is_some_and(|before| before.has_digest),
                is_sure: true,
                was_compared: true,
            };
            self.told.insert(file, told);
            waiting.files.push(file);
            waiting.files.extend(others);
        }
        self.settle(size);
    }

    /// Records that neither a file nor any other file of its group could be compared.
    pub fn not_compared(&mut self, file: FileIndex) {
        let size = self.size_class(file);
        removed(&mut self.awaited, &file);
        self.want(size, file, Want::Content);
        self.settle(size);
    }

    /// Called when a file failed that was compared or read for others: another one replaces it.
    pub(super) fn replace(&mut self, size: ClassId, file: FileIndex, awaited: Option<Awaited>) {
        let Some(others) = removed(&mut self.represented, &file) else {
            return;
        };
        match awaited {
            Some(Awaited::Comparison(class)) => {
                if let Some(waiting) = self.waiting.get_mut(&class) {
                    waiting.files.extend(others);
                }
            }
            _ => self.read_one_of(size, others),
        }
    }

    /// Gives a content to each group of files with one token.
    fn join_told(&mut self, size: ClassId, groups: Vec<Vec<FileIndex>>) {
        for group in groups {
            let content = Content::Of(group[0]);
            for file in group {
                if let Some(told) = self.told.get(&file) {
                    self.equalities.push(Equality {
                        file,
                        found: Some(told.token).filter(|token| self.is_of_this_run(*token)),
                        was_compared: told.was_compared,
                        is_sure: told.is_sure,
                    });
                }
                self.join_content(size, file, content);
            }
        }
    }

    fn is_of_this_run(&self, token: ContentToken) -> bool {
        let run = self.rules.comparing.map_or(0, |comparing| comparing.run);
        let number = token.comparison().wrapping_sub(run);
        (1..=self.comparisons_begun).contains(&number)
    }

    /// Gives the content of a file to those that it was read for.
    pub(super) fn join_represented(&mut self, size: ClassId, file: FileIndex, content: Content) {
        removed(&mut self.told, &file);
        for other in removed(&mut self.represented, &file).unwrap_or_default() {
            self.equalities.push(Equality {
                file: other,
                found: None,
                was_compared: false,
                is_sure: false,
            });
            self.join_content(size, other, content);
        }
    }
}
