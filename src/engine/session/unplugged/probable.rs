//! Finds out, once all contents are known, which files may be equal to files of catalogs that have no digest of the
//! whole: their lengths, first and last bytes agree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::cache::Row;
use crate::decide::Want;
use crate::event::WantedFile;
use crate::file::FileIndex;
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
    /// The sizes of those files of catalogs, sorted.
    sizes: Vec<u64>,
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
}

impl Session<'_> {
    /// Records the sizes of the files of catalogs that have no digest of the whole.
    pub(super) fn know_open_sizes(&mut self) {
        let file_table = self.machine.file_table();
        let open = self.unplugged.without_digest.iter();
        let mut sizes: Vec<u64> = open.map(|&file| file_table.size(file)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        self.probable.sizes = sizes;
    }

    fn is_open_size(&self, size: u64) -> bool {
        self.probable.sizes.binary_search(&size).is_ok()
    }

    /// Keeps the samples of a file if a file of a catalog can only be compared with these.
    pub(in crate::engine::session) fn keep_samples(
        &mut self,
        file: FileIndex,
        want: Want,
        digests: [Option<Digest>; 2],
    ) {
        let size = self.machine.file_table().size(file);
        if self.is_open_size(size) {
            let read = row_of(want, digests);
            let kept = self.probable.samples.entry(file).or_default();
            *kept = (kept.0.or(read.head), kept.1.or(read.tail));
        }
    }

    /// Requests samples of the files that may be equal to files of catalogs, when all other work is done.
    pub(in crate::engine::session) fn sample_for_catalogs(&mut self) {
        if self.probable.has_begun || self.probable.sizes.is_empty() || !self.is_over() {
            return;
        }
        self.probable.has_begun = true;
        if self.control.is_cancelled() || self.reading_ended {
            return;
        }
        for files in self.of_open_sizes() {
            let is_sampled = |&file: &FileIndex| {
                let digests = self.unplugged.digests(file);
                digests.is_some_and(|it| it.content.is_none() && it.samples.is_some())
            };
            if !files.iter().any(is_sampled) {
                continue;
            }
            let mut row = Row::default();
            for file in files {
                if self.unplugged.has(file) {
                    continue;
                }
                if self.lookup(file, &mut row).is_some() {
                    let kept = self.probable.samples.entry(file).or_default();
                    *kept = (kept.0.or(row.head), kept.1.or(row.tail));
                }
                match self
                    .probable
                    .samples
                    .get(&file)
                    .copied()
                    .unwrap_or_default()
                {
                    (Some(_), Some(_)) => {}
                    (Some(_), None) => self.ask(file, Want::Tail),
                    (None, _) => self.ask(file, Want::HeadAndTail),
                }
            }
        }
        self.request();
    }

    /// The files of each size of which a file of a catalog has no digest, if there are others, in the order of sizes.
    fn of_open_sizes(&self) -> Vec<Vec<FileIndex>> {
        let file_table = self.machine.file_table();
        let all = (0..file_table.len() as u32).map(FileIndex);
        let sized = all.map(|file| (file_table.size(file), file));
        let open =
            sized.filter(|&(size, file)| self.is_open_size(size) && file_table.has_names(file));
        let mut open: Vec<(u64, FileIndex)> = open.collect();
        open.sort_unstable();
        let of_size = open.chunk_by(|one, other| one.0 == other.0);
        let files = of_size.filter(|files| files.len() > 1).map(|files| {
            let files = files.iter().map(|&(_, file)| file);
            files.collect::<Vec<_>>()
        });
        files.filter(|files| self.may_count(files)).collect()
    }

    /// True if several of these files could be a set.
    fn may_count(&self, files: &[FileIndex]) -> bool {
        let dirs = self.dirs.read();
        let file_table = self.machine.file_table();
        let roots = files.iter().flat_map(|&file| file_table.names(file));
        let roots: BTreeSet<u32> = roots.map(|(dir, _)| dirs.root(dir)).collect();
        files.len() > 1 && (!self.config.isolate || roots.len() > 1)
    }

    fn samples_of(&self, file: FileIndex) -> Option<Samples> {
        match self.unplugged.digests(file) {
            Some(digests) => digests.samples,
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
        for files in self.of_open_sizes() {
            let mut by_samples: BTreeMap<[[u8; 16]; 2], Vec<FileIndex>> = BTreeMap::new();
            let mut unsampled = Vec::new();
            for &file in &files {
                match self.samples_of(file) {
                    Some((head, tail)) => {
                        let key = [*head.as_bytes(), *tail.as_bytes()];
                        by_samples.entry(key).or_default().push(file);
                    }
                    None => unsampled.push(file),
                }
            }
            let open = |files: &[FileIndex]| files.iter().filter(|&&it| self.is_open(it)).count();
            let (all_open, unsampled_open) = (open(&files), open(&unsampled));
            let mut only_size = Vec::new();
            for sampled in by_samples.into_values() {
                only_size.extend(sampled.iter().copied().filter(|&file| {
                    unsampled_open > 0 || self.is_open(file) && !unsampled.is_empty()
                }));
                if open(&sampled) > 0 && self.may_count(&sampled) {
                    all.push(Candidates {
                        files: sampled,
                        unseen: Unseen::Probable,
                    });
                }
            }
            only_size.extend(unsampled.iter().copied().filter(|&file| {
                let others_open = all_open - usize::from(self.is_open(file));
                others_open > 0 || self.is_open(file)
            }));
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
                let open = files.iter().filter(|&&file| self.is_open(file)).count();
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

    /// True if a catalog has a file without a digest of the whole.
    fn is_open(&self, file: FileIndex) -> bool {
        let digests = self.unplugged.digests(file);
        digests.is_some_and(|digests| digests.content.is_none())
    }

    /// Tells what has to be read of disks that are not plugged in, before they can be compared.
    fn tell_wanted(&self, candidates: &[Candidates]) {
        let file_table = self.machine.file_table();
        let open = candidates.iter().flat_map(|these| &these.files);
        let open: BTreeSet<FileIndex> = open.copied().filter(|&file| self.is_open(file)).collect();
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

    /// Classes of files that cannot be told from files of catalogs.
    pub(in crate::engine::session) fn leave_open(&mut self, classes: &mut [Class]) {
        let candidates = self.candidates();
        self.tell_wanted(&candidates);
        for &file in &self.unplugged.without_digest {
            classes[file.0 as usize] = Class::Alone;
        }
        for Candidates { files, unseen } in candidates {
            for file in files {
                let class = &mut classes[file.0 as usize];
                if *class == Class::Alone {
                    *class = Class::Unanswered(unseen);
                }
            }
        }
    }
}
