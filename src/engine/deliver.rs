//! Turns classes of equal files into sets, and delivers them in the requested order.

use std::cmp::Reverse;
use std::ffi::CString;
use std::io;
use std::mem;
use std::sync::Arc;

use rustix::io::Errno;

use crate::decide::{ClassId, DuplicateSet, Member, Summary};
use crate::file::FileIndex;
use crate::sys::open;

use super::config::{Config, IgnoreTags};
use super::members::{ambiguous, freed};
use super::order::{self, BestNames, SetFacts, SetOrder};
use super::tables::Tables;

/// The time at which sets are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Each set as soon as it is final.
    AsFinal,
    /// All sets at the end, in this order.
    Sorted(SetOrder),
}

impl Default for Delivery {
    fn default() -> Self {
        Self::Sorted(SetOrder::default())
    }
}

/// Number of contents, and of sets, whose files are prefetched together. A guess: the columns of a few dozen files fit
/// into the processor's first cache.
const PREFETCHED: usize = 8;

/// Receives sets.
pub type Sink<'a> = dyn FnMut(&DuplicateSet) -> io::Result<()> + 'a;

/// A set before its members are written out.
pub struct SetDraft {
    about: About,
    /// Its members in their order.
    pub files: Vec<FileIndex>,
}

/// What is known of a set beside its members.
#[derive(Clone, Copy, Default)]
pub(super) struct About {
    /// The class of its content, from which the digest comes if it is to be shown.
    pub(super) content: Option<ClassId>,
    pub(super) reclaimable: u64,
}

/// A set that is kept for the end. There may be very many of them.
struct KeptSet {
    about: About,
    /// The position of its files among those of all kept sets, and their number.
    start: u32,
    count: u32,
}

/// All sets that are kept for the end.
#[derive(Default)]
struct KeptSets {
    sets: Vec<KeptSet>,
    files: Vec<FileIndex>,
}

impl KeptSet {
    fn files<'f>(&self, all: &'f [FileIndex]) -> &'f [FileIndex] {
        &all[self.start as usize..][..self.count as usize]
    }
}

/// Makes sets and hands them over.
pub struct Deliverer<'a> {
    config: &'a Config,
    delivery: Delivery,
    pub(super) sink: &'a mut Sink<'a>,
    kept: KeptSets,
    /// Sets whose members have to be compared first.
    pub unverified: Vec<SetDraft>,
    /// The set that was handed over last: its room is used again.
    pub(super) set: DuplicateSet,
    /// Counts of what was delivered.
    pub summary: Summary,
}

impl<'a> Deliverer<'a> {
    pub fn new(config: &'a Config, delivery: Delivery, sink: &'a mut Sink<'a>) -> Self {
        Self {
            config,
            delivery,
            sink,
            kept: KeptSets::default(),
            unverified: Vec::new(),
            set: DuplicateSet::default(),
            summary: Summary::default(),
        }
    }

    /// Takes all files of these sizes that were read.
    pub fn sizes(&mut self, sizes: &[ClassId], tables: &Tables<'_>) -> io::Result<()> {
        let mut all = sizes.iter().flat_map(|&size| tables.machine.contents(size));
        let mut contents = Vec::new();
        loop {
            // Of one size there may be very many.
            contents.extend(all.by_ref().take(PREFETCHED));
            if contents.is_empty() {
                return Ok(());
            }
            let files = contents.iter().flat_map(|(_, files)| files);
            tables.file_table().prefetch(files.copied());
            for (content, files) in contents.drain(..) {
                self.equal(Some(content), files, tables)?;
            }
        }
    }

    /// Takes the files that turned out to be unique before they were read to the end.
    pub fn alone(&mut self, tables: &Tables<'_>) -> io::Result<()> {
        let mut alone = tables.machine.alone();
        alone.try_for_each(|file| self.equal(None, vec![file], tables))
    }

    fn equal(
        &mut self,
        content: Option<ClassId>,
        mut files: Vec<FileIndex>,
        tables: &Tables<'_>,
    ) -> io::Result<()> {
        files.retain(|&file| tables.file_table().has_names(file));
        // Files on a volume that does not answer cannot be acted on.
        let before = files.len();
        files.retain(|&file| !tables.scheduler.has_given_up(tables.volume(file)));
        self.summary.left_out.unanswered += (before - files.len()) as u64;
        if !tables.is_reported(&files) {
            return Ok(());
        }
        // No action keeps a managed file for one elsewhere.
        let is_managed = |file| tables.is_managed(file);
        order::sort(&mut files, is_managed, tables.file_table(), tables.dirs);
        // What is not here cannot be the copy that stays.
        files.sort_by_key(|&file| tables.is_unplugged(file));
        // An action keeps the older ones of a set with newer files.
        files.sort_by_key(|&file| tables.machine.is_any_newer(&[file]));
        let about = About {
            content,
            ..About::default()
        };
        let draft = SetDraft { about, files };
        if self.config.verify && draft.files.len() > 1 {
            self.unverified.push(draft);
            return Ok(());
        }
        self.hand_over(draft, tables)
    }

    /// Takes a set whose members were compared.
    pub fn verified(&mut self, draft: SetDraft, tables: &Tables<'_>) -> io::Result<()> {
        if tables.is_reported(&draft.files) {
            self.hand_over(draft, tables)
        } else {
            Ok(())
        }
    }

    fn hand_over(&mut self, mut draft: SetDraft, tables: &Tables<'_>) -> io::Result<()> {
        let file_table = tables.file_table();
        let first = draft.files[0];
        let freed = self.freed(&draft.files, tables);
        let redundant = freed.len() as u64;
        for (file, bytes) in freed {
            draft.about.reclaimable = draft.about.reclaimable.saturating_add(bytes);
            if tables.is_managed(file) {
                self.summary.managed = self.summary.managed.saturating_add(bytes);
            }
        }
        // Whether a digest that was not requested is known depends on what lay in the page cache, and so does whether a
        // file that is alone was read as a whole. The same tree gives the same report.
        if !self.config.digests || draft.files.len() < 2 {
            draft.about.content = None;
        }
        let size = file_table.size(first);
        self.summary.count(redundant, size, draft.about.reclaimable);
        match self.delivery {
            Delivery::AsFinal => self.write_out(draft.about, &draft.files, tables),
            Delivery::Sorted(_) => {
                self.kept.sets.push(KeptSet {
                    about: draft.about,
                    start: self.kept.files.len() as u32,
                    count: draft.files.len() as u32,
                });
                self.kept.files.extend_from_slice(&draft.files);
                Ok(())
            }
        }
    }

    /// The files of a set that go if the first one stays, and what each frees.
    pub(super) fn freed(&self, files: &[FileIndex], tables: &Tables<'_>) -> Vec<(FileIndex, u64)> {
        let Tables { machine, dirs, .. } = *tables;
        let file_table = machine.file_table();
        let roots = tables.staying_roots(files);
        let stays = |file| {
            let is_beside = || tables.roots_of(file).any(|root| roots.contains(&root));
            file == files[0] || !roots.is_empty() && is_beside() || !machine.is_any_newer(&[file])
        };
        let open = |file| {
            let name = CString::new(file_table.first_name(file)).map_err(|_| Errno::INVAL)?;
            let dir = dirs.open(file_table.dir(file))?;
            open::file(dir, &name, self.config.follow_links)
        };
        let mut freed = freed(files, stays, file_table, tables.volumes, open);
        freed.retain(|&(file, _)| !tables.is_unplugged(file));
        freed
    }

    /// Hands over the sets that were kept for the end, but for those whose first file is left out.
    pub fn finish(
        &mut self,
        is_left_out: impl Fn(FileIndex) -> bool,
        tables: &Tables<'_>,
    ) -> io::Result<()> {
        let file_table = tables.machine.file_table();
        let KeptSets { mut sets, files } = mem::take(&mut self.kept);
        let order = match self.delivery {
            Delivery::Sorted(order) => order,
            Delivery::AsFinal => SetOrder::default(),
        };
        let first = |kept: &KeptSet| files[kept.start as usize];
        sets.retain(|kept| !is_left_out(first(kept)));
        let facts = |kept: &KeptSet| SetFacts {
            reclaimable: kept.about.reclaimable,
            size: file_table.size(first(kept)),
            replicas: match order {
                SetOrder::Count => tables.replicas(kept.files(&files)),
                _ => 0,
            },
        };
        let sets = order::sort_sets(
            sets,
            |kept| order.key(&facts(kept)),
            |kept| kept.files(&files),
            file_table,
            tables.dirs,
        );
        let sets = match self.config.ignore_tags {
            IgnoreTags::No => sets,
            _ => order::put_bursts_together(sets, first, file_table),
        };
        for (nth, kept) in sets.iter().enumerate() {
            if nth.is_multiple_of(PREFETCHED) {
                let next = sets[nth..].iter().take(PREFETCHED);
                let files = next.flat_map(|kept| kept.files(&files));
                file_table.prefetch(files.copied());
            }
            self.write_out(kept.about, kept.files(&files), tables)?;
        }
        Ok(())
    }

    /// Hands over sets of files that are probably equal.
    pub fn probable(
        &mut self,
        mut sets: Vec<Vec<FileIndex>>,
        tables: &Tables<'_>,
    ) -> io::Result<()> {
        let (file_table, dirs) = (tables.file_table(), tables.dirs);
        for files in &mut sets {
            files.retain(|&file| file_table.has_names(file));
            order::sort(files, |file| tables.is_managed(file), file_table, dirs);
            files.sort_by_key(|&file| tables.is_unplugged(file));
        }
        sets.retain(|files| tables.is_reported(files));
        let order = order::sort_sets(
            (0..sets.len()).collect(),
            |&set| Reverse(file_table.size(sets[set][0])),
            |&set| &sets[set],
            file_table,
            dirs,
        );
        self.set.probable = true;
        for set in order {
            self.summary.probable.get_or_insert_default().sets += 1;
            self.write_out(About::default(), &sets[set], tables)?;
        }
        Ok(())
    }

    /// Writes out a set with its paths, the best of each file's names first.
    fn write_out(
        &mut self,
        about: About,
        files: &[FileIndex],
        tables: &Tables<'_>,
    ) -> io::Result<()> {
        self.fill(about, files, tables);
        (self.sink)(&self.set)
    }

    pub(super) fn fill(&mut self, about: About, files: &[FileIndex], tables: &Tables<'_>) {
        let Tables { machine, dirs, .. } = *tables;
        let set = &mut self.set;
        let file_table = machine.file_table();
        let ambiguous = ambiguous(files, file_table, dirs, tables.volumes);
        let best_names = BestNames::of_set(files, file_table, dirs);
        set.members.resize_with(files.len(), Member::default);
        for (member, &file) in set.members.iter_mut().zip(files) {
            let best = best_names.of(file);
            let mut names = mem::take(&mut member.names);
            names.resize_with(1, Vec::new);
            dirs.path_of(best.0, best.1, &mut names[0]);
            if file_table.has_further_names(file) {
                for (dir, name) in file_table.names(file).filter(|&name| name != best) {
                    let mut path = Vec::new();
                    dirs.path_of(dir, name, &mut path);
                    names.push(path);
                }
                names[1..].sort_unstable();
            }
            let fingerprint = file_table.fingerprint(file);
            *member = Member {
                names,
                ambiguous: ambiguous.contains(&file),
                dev: fingerprint.dev,
                ino: fingerprint.ino,
                links: file_table.links(file).into(),
                mtime_ns: fingerprint.mtime_ns,
                allocated: file_table.allocated(file),
                disk: Arc::clone(tables.volumes.disks(tables.volume(file))),
                root: dirs.root(best.0),
            };
        }
        let digest = about.content.and_then(|content| machine.digest(content));
        let is_recalled = |&file: &FileIndex| machine.is_recalled(file);
        set.size = file_table.size(files[0]);
        set.digest = digest;
        set.cached = digest.is_some() && files.iter().any(is_recalled);
        set.replicas = tables.replicas(files);
        set.reclaimable = about.reclaimable;
    }
}
