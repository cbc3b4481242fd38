//! Finds out, once all contents are known, which files may be equal to files of catalogs that have no digest of the
//! whole: their lengths, first and last bytes agree.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::cache::Row;
use crate::decide::Want;
use crate::event::WantedFile;
use crate::file::{FileIndex, FileTable};
use crate::hash::{Digest, SampleDigest};
use crate::tree::{Class, Unseen};

use crate::catalog::SHORT;
use crate::engine::session::Session;
use crate::engine::session::cache_answers::row_of;

/// Digests of the first and of the last bytes.
type Samples = (SampleDigest, SampleDigest);

/// What is known of files as long as files of catalogs without a digest.
#[derive(Default)]
pub struct Probable {
    /// One of those files of catalogs for each size, in the order of sizes.
    open: Vec<FileIndex>,
    /// Samples that were read.
    samples: HashMap<FileIndex, (Option<SampleDigest>, Option<SampleDigest>)>,
    /// What is read from now on is read for this.
    has_begun: bool,
}

/// Files that cannot be told apart.
struct Candidates {
    files: Vec<FileIndex>,
    unseen: Unseen,
}

impl Probable {
    /// True if what is read is of no use for anything else.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// True if one of those files of catalogs is as long as this file.
    #[inline]
    pub(super) fn is_open_size(&self, file: FileIndex, file_table: &FileTable) -> bool {
        let size = |&file: &FileIndex| file_table.size(file);
        !self.open.is_empty() && self.open.binary_search_by_key(&size(&file), size).is_ok()
    }
}

impl Session<'_> {
    /// Records the sizes of the files of catalogs that have no digest of the whole.
    pub(super) fn know_open_sizes(&mut self) {
        let file_table = self.machine.file_table();
        let mut open: Vec<FileIndex> = self.unplugged.open().collect();
        open.sort_unstable_by_key(|&file| file_table.size(file));
        open.dedup_by_key(|file| file_table.size(*file));
        self.probable.open = open;
    }

    /// Keeps the samples of a file if a file of a catalog can only be compared with these.
    pub(in crate::engine::session) fn keep_samples(
        &mut self,
        file: FileIndex,
        want: Want,
        digests: [Option<Digest>; 2],
    ) {
        if self.probable.is_open_size(file, self.machine.file_table()) {
            let read = row_of(want, digests);
            let kept = self.probable.samples.entry(file).or_default();
            *kept = (kept.0.or(read.head), kept.1.or(read.tail));
        }
    }

    /// Requests samples of the files that may be equal to files of catalogs, when all other work is done.
    pub(in crate::engine::session) fn sample_for_catalogs(&mut self) {
        if self.probable.has_begun || self.probable.open.is_empty() || !self.is_over() {
            return;
        }
        self.probable.has_begun = true;
        if self.control.is_cancelled() || self.reading_ended {
            return;
        }
        let all = self.of_open_sizes();
        let is_sampled = |&file: &FileIndex| self.is_sampled_only(file);
        let alike = self.of_one_size(&all);
        let alike = alike.filter(|files| files.iter().any(is_sampled));
        let here = alike.flatten().filter(|&&file| !self.unplugged.has(file));
        let mut row = Row::default();
        for file in here.copied().collect::<Vec<_>>() {
            let known = self.lookup(file, &mut row).is_some();
            let kept = self.probable.samples.entry(file).or_default();
            if known {
                *kept = (kept.0.or(row.head), kept.1.or(row.tail));
            }
            match kept {
                (Some(_), Some(_)) => {}
                (Some(_), None) => self.ask(file, Want::Tail),
                (None, _) => self.ask(file, Want::HeadAndTail),
            }
        }
        self.request();
    }

    /// True if a catalog has the samples of a file, and no digest of the whole.
    fn is_sampled_only(&self, file: FileIndex) -> bool {
        self.unplugged.is_open(file) && self.samples_of(file).is_some()
    }

    /// The files as long as one of a catalog that lacks the digest of the whole, in the order of sizes.
    fn of_open_sizes(&self) -> Vec<FileIndex> {
        if self.probable.open.is_empty() {
            return Vec::new();
        }
        let file_table = self.machine.file_table();
        let all = (0..file_table.len() as u32).map(FileIndex);
        let is_open = |file: &FileIndex| self.probable.is_open_size(*file, file_table);
        let open = all
            .filter(is_open)
            .filter(|&file| file_table.has_names(file));
        let mut open: Vec<FileIndex> = open.collect();
        open.sort_unstable_by_key(|&file| (file_table.size(file), file));
        open
    }

    /// Those of each size, among these, that could be a set.
    fn of_one_size<'f>(&'f self, files: &'f [FileIndex]) -> impl Iterator<Item = &'f [FileIndex]> {
        let file_table = self.machine.file_table();
        let of_size = files.chunk_by(|&one, &other| file_table.size(one) == file_table.size(other));
        of_size.filter(|files| self.may_count(files))
    }

    /// True if several of these files could be a set.
    fn may_count(&self, files: &[FileIndex]) -> bool {
        let dirs = self.dirs.read();
        let file_table = self.machine.file_table();
        let names = files.iter().flat_map(|&file| file_table.names(file));
        let mut roots = names.map(|(dir, _)| dirs.root(dir));
        let first = roots.next();
        files.len() > 1 && (!self.config.isolate || roots.any(|root| Some(root) != first))
    }

    fn samples_of(&self, file: FileIndex) -> Option<Samples> {
        match self.unplugged.digests(file) {
            Some(row) => row.head.zip(row.tail),
            None => {
                let kept = self.probable.samples.get(&file)?;
                kept.0.zip(kept.1)
            }
        }
    }

    /// The files that cannot be told from files of catalogs: those that are probably equal, and those of which only the
    /// sizes are known.
    fn candidates(&self) -> Vec<Candidates> {
        let mut all = Vec::new();
        let all_files = self.of_open_sizes();
        for files in self.of_one_size(&all_files) {
            let mut by_samples: BTreeMap<[[u8; 16]; 2], Vec<FileIndex>> = BTreeMap::new();
            let mut unsampled = Vec::new();
            for &file in files {
                match self.samples_of(file) {
                    Some((head, tail)) => {
                        let key = [*head.as_bytes(), *tail.as_bytes()];
                        by_samples.entry(key).or_default().push(file);
                    }
                    None => unsampled.push(file),
                }
            }
            let has_open = |files: &[FileIndex]| files.iter().any(|&it| self.unplugged.is_open(it));
            let unsampled_open = has_open(&unsampled);
            let mut only_size = Vec::new();
            for sampled in by_samples.into_values() {
                only_size.extend(sampled.iter().copied().filter(|&file| {
                    unsampled_open || self.unplugged.is_open(file) && !unsampled.is_empty()
                }));
                if has_open(&sampled) && self.may_count(&sampled) {
                    all.push(Candidates {
                        files: sampled,
                        unseen: Unseen::Probable,
                    });
                }
            }
            if has_open(files) {
                only_size.extend(unsampled);
            }
            if self.may_count(&only_size) {
                all.push(Candidates {
                    files: only_size,
                    unseen: Unseen::OnlySize,
                });
            }
        }
        all
    }

    /// The sets of files that are probably equal. What has to be read of catalogs' files goes to the observer.
    pub(in crate::engine::session) fn probable_sets(&mut self) -> Vec<Vec<FileIndex>> {
        let mut candidates = self.candidates();
        candidates.retain(|it| !self.is_one_file(&it.files));
        self.tell_wanted(&candidates);
        let mut sets = Vec::new();
        for Candidates { files, unseen } in candidates {
            if unseen == Unseen::Probable {
                self.settle_names(files.iter().copied());
                sets.push(files);
            } else {
                let open = self.unplugged.open_among(files.into_iter()).count();
                let tally = &mut self.sets.deliverer.summary.probable;
                tally.get_or_insert_default().only_size += open as u64;
            }
        }
        sets
    }

    /// True if these are one file, as several catalogs saw it: never are there two of its number.
    fn is_one_file(&self, files: &[FileIndex]) -> bool {
        let file_table = self.machine.file_table();
        let volume = |file| file_table.volume(file);
        files.windows(2).all(|pair| {
            let [one, other] = [pair[0], pair[1]];
            file_table.ino(one) == file_table.ino(other)
                && self.unplugged.are_one(volume(one), volume(other))
        })
    }

    /// Tells what has to be read of disks that are not plugged in, before they can be compared.
    fn tell_wanted(&self, candidates: &[Candidates]) {
        let file_table = self.machine.file_table();
        let open = candidates.iter().flat_map(|these| &these.files);
        let mut open: Vec<FileIndex> = self.unplugged.open_among(open.copied()).collect();
        open.sort_unstable();
        open.dedup();
        for file in open {
            let size = file_table.size(file);
            let is_whole = size <= SHORT || self.samples_of(file).is_some();
            for (dir, name) in file_table.names(file).take(1) {
                let root = &self.config.roots[self.dirs.read().root(dir) as usize];
                let path = self.path_of(dir, name).into_os_string().into_vec();
                let below = path.strip_prefix(root.path.as_os_str().as_bytes());
                let start = root
                    .catalog
                    .as_ref()
                    .map_or(&b""[..], |catalog| &catalog.dir);
                let start = start.strip_suffix(b"/").unwrap_or(start);
                let inner = [start, below.unwrap_or_default()].concat();
                let end = inner.len().saturating_sub(name.len() + 1).max(1);
                self.observer.wanted(&WantedFile {
                    size,
                    volume: self
                        .unplugged
                        .volume(file_table.volume(file))
                        .unwrap_or_default(),
                    dir: inner.get(..end).unwrap_or_default(),
                    name,
                    is_whole,
                });
            }
        }
    }

    /// Classes of files that cannot be told from files of catalogs. Between roots, files that are equal below one root
    /// only have no match.
    pub(in crate::engine::session) fn leave_open(&mut self, classes: &mut [Class]) {
        let candidates = self.candidates();
        self.tell_wanted(&candidates);
        let matched = self.matched(classes);
        for file in self.unplugged.open() {
            classes[file.0 as usize] = Class::Alone;
        }
        for Candidates { files, unseen } in candidates {
            for file in files {
                let class = &mut classes[file.0 as usize];
                let is_open = match *class {
                    Class::Alone => true,
                    Class::Set(set) => !matched.contains(&set),
                    Class::Unanswered(_) => false,
                };
                if is_open {
                    *class = Class::Unanswered(unseen);
                }
            }
        }
    }

    /// The sets of which a file is below another root than others, or all of them if roots do not matter.
    fn matched(&self, classes: &[Class]) -> HashSet<u32> {
        let dirs = self.dirs.read();
        let file_table = self.machine.file_table();
        let mut first = HashMap::new();
        let mut matched = HashSet::new();
        for (file, class) in (0..).map(FileIndex).zip(classes) {
            if let Class::Set(set) = *class {
                for (dir, _) in file_table.names(file) {
                    let root = dirs.root(dir);
                    if !self.config.isolate || *first.entry(set).or_insert(root) != root {
                        matched.insert(set);
                    }
                }
            }
        }
        matched
    }
}
