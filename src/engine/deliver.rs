//! Turns classes of equal files into sets, and delivers them in the requested order.

use std::collections::HashSet;
use std::io;
use std::mem;
use std::sync::Arc;

use crate::decide::{ClassId, Counting, DuplicateSet, Machine, Member, Summary, Want};
use crate::device::VolumeId;
use crate::file::{DirTable, FileIndex, FileTable, is_managed_file};

use crate::read::Scheduler;

use super::config::Config;
use super::members::{ambiguous, reclaimable};
use super::order::{self, SetFacts, SetNames, SetOrder};
use super::volumes::Volumes;

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
const TOGETHER: usize = 8;

/// Receives sets.
pub type Sink<'a> = dyn FnMut(&DuplicateSet) -> io::Result<()> + 'a;

/// What a run knows of its files.
pub struct Known<'r> {
    pub machine: &'r Machine,
    pub dirs: &'r DirTable,
    pub volumes: &'r Volumes,
    pub scheduler: &'r Scheduler<Want>,
}

impl Known<'_> {
    fn volume(&self, file: FileIndex) -> VolumeId {
        self.volumes.of(self.machine.file_table().volume(file))
    }

    fn is_given_up(&self, file: FileIndex) -> bool {
        self.scheduler.has_given_up(self.volume(file))
    }
}

/// A set before its members are written out.
pub struct Draft {
    about: About,
    /// Its members in their order.
    pub files: Vec<FileIndex>,
}

/// What is known of a set beside its members.
#[derive(Clone, Copy, Default)]
struct About {
    /// The class of its content, from which the digest comes if it is to be shown.
    content: Option<ClassId>,
    reclaimable: u64,
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

impl KeptSets {
    fn keep(&mut self, draft: &Draft) {
        self.sets.push(KeptSet {
            about: draft.about,
            start: self.files.len() as u32,
            count: draft.files.len() as u32,
        });
        self.files.extend_from_slice(&draft.files);
    }
}

impl KeptSet {
    fn files<'f>(&self, all: &'f [FileIndex]) -> &'f [FileIndex] {
        &all[self.start as usize..][..self.count as usize]
    }
}

/// Makes sets and hands them over.
pub struct Deliverer<'a> {
    config: &'a Config,
    counting: Counting,
    delivery: Delivery,
    sink: &'a mut Sink<'a>,
    kept: KeptSets,
    /// Sets whose members have to be compared first.
    pub unverified: Vec<Draft>,
    /// The set that was handed over last: its room is used again.
    set: DuplicateSet,
    /// Counts of what was delivered.
    pub summary: Summary,
}

impl<'a> Deliverer<'a> {
    pub fn new(config: &'a Config, delivery: Delivery, sink: &'a mut Sink<'a>) -> Self {
        Self {
            config,
            counting: config.counting(),
            delivery,
            sink,
            kept: KeptSets::default(),
            unverified: Vec::new(),
            set: DuplicateSet::default(),
            summary: Summary::default(),
        }
    }

    /// Takes all files of these sizes that were read.
    pub fn sizes(&mut self, sizes: &[ClassId], known: &Known<'_>) -> io::Result<()> {
        let mut all = sizes.iter().flat_map(|&size| known.machine.contents(size));
        let mut contents = Vec::new();
        loop {
            // Of one size there may be very many.
            contents.extend(all.by_ref().take(TOGETHER));
            if contents.is_empty() {
                return Ok(());
            }
            let files = contents.iter().flat_map(|(_, files)| files);
            known.machine.file_table().prefetch(files.copied());
            for (content, files) in contents.drain(..) {
                self.equal(Some(content), files, known)?;
            }
        }
    }

    /// Takes the files that turned out to be unique before they were read to the end.
    pub fn alone(&mut self, known: &Known<'_>) -> io::Result<()> {
        let mut alone = known.machine.alone();
        alone.try_for_each(|file| self.equal(None, vec![file], known))
    }

    fn equal(
        &mut self,
        content: Option<ClassId>,
        mut files: Vec<FileIndex>,
        known: &Known<'_>,
    ) -> io::Result<()> {
        let Known { machine, dirs, .. } = *known;
        let file_table = machine.file_table();
        files.retain(|&file| file_table.has_names(file));
        // Files on a volume that does not answer cannot be acted on.
        let before = files.len();
        files.retain(|&file| !known.is_given_up(file));
        self.summary.left_out.unanswered += (before - files.len()) as u64;
        if !self.is_reported(&files, known) {
            return Ok(());
        }
        // No action keeps a managed file for one elsewhere.
        let is_managed = |file| is_managed(file, file_table, dirs);
        order::sort(&mut files, is_managed, file_table, dirs);
        // An action keeps the older ones of a set with newer files.
        files.sort_by_key(|&file| machine.is_any_newer(&[file]));
        let about = About {
            content,
            ..About::default()
        };
        let draft = Draft { about, files };
        if self.config.verify && draft.files.len() > 1 {
            self.unverified.push(draft);
            return Ok(());
        }
        self.hand_over(draft, known)
    }

    fn is_reported(&self, files: &[FileIndex], known: &Known<'_>) -> bool {
        let inodes = files.len() as u64;
        inodes > 0
            && self.counting.reported(inodes, self.replicas(files, known))
            && known.machine.is_any_newer(files)
    }

    /// Takes a set whose members were compared.
    pub fn verified(&mut self, draft: Draft, known: &Known<'_>) -> io::Result<()> {
        if self.is_reported(&draft.files, known) {
            self.hand_over(draft, known)
        } else {
            Ok(())
        }
    }

    fn hand_over(&mut self, mut draft: Draft, known: &Known<'_>) -> io::Result<()> {
        let Known { machine, dirs, .. } = *known;
        let file_table = machine.file_table();
        let any_shares = known.volumes.any_shares_extents();
        let sharing = |file| {
            let shares = any_shares.then(|| known.volumes.sharing(file_table.volume(file)));
            shares.flatten()
        };
        let kept = self.staying(&draft.files, file_table, dirs);
        let stays = |file| kept(file) || !machine.is_any_newer(&[file]);
        let mut managed = 0_u64;
        draft.about.reclaimable = reclaimable(
            file_table,
            dirs,
            &draft.files,
            stays,
            self.config.follow_links,
            sharing,
            |file, bytes| {
                if is_managed(file, file_table, dirs) {
                    managed = managed.saturating_add(bytes);
                }
            },
        );
        self.summary.managed = self.summary.managed.saturating_add(managed);
        let size = file_table.size(draft.files[0]);
        let redundant = draft.files.iter().filter(|&&file| !stays(file)).count() as u64;
        // Whether a digest that was not requested is known depends on what lay in the page cache, and so does whether a
        // file that is alone was read as a whole. The same tree gives the same report.
        if !self.config.digests || draft.files.len() < 2 {
            draft.about.content = None;
        }
        self.summary.count(redundant, size, draft.about.reclaimable);
        match self.delivery {
            Delivery::AsFinal => self.write_out(draft.about, &draft.files, known),
            Delivery::Sorted(_) => {
                self.kept.keep(&draft);
                Ok(())
            }
        }
    }

    /// Hands over the sets that were kept for the end.
    pub fn finish(&mut self, known: &Known<'_>) -> io::Result<()> {
        let file_table = known.machine.file_table();
        let KeptSets { sets, files } = mem::take(&mut self.kept);
        let order = match self.delivery {
            Delivery::Sorted(order) => order,
            Delivery::AsFinal => SetOrder::default(),
        };
        let first = |kept: &KeptSet| files[kept.start as usize];
        let facts = |kept: &KeptSet| SetFacts {
            reclaimable: kept.about.reclaimable,
            size: file_table.size(first(kept)),
            replicas: match order {
                SetOrder::Count => self.replicas(kept.files(&files), known),
                _ => 0,
            },
        };
        let sets = order::sort_sets(
            sets,
            |kept| order.key(&facts(kept)),
            |kept| kept.files(&files),
            file_table,
            known.dirs,
        );
        for (nth, kept) in sets.iter().enumerate() {
            if nth.is_multiple_of(TOGETHER) {
                let next = sets[nth..].iter().take(TOGETHER);
                let files = next.flat_map(|kept| kept.files(&files));
                file_table.prefetch(files.copied());
            }
            self.write_out(kept.about, kept.files(&files), known)?;
        }
        Ok(())
    }

    /// The files that stay when the others are removed: the first file, and with `--isolate` all files that have a name
    /// below a root of the first one, since copies there are no duplicates of it.
    fn staying<'c>(
        &self,
        files: &[FileIndex],
        file_table: &'c FileTable,
        dirs: &'c DirTable,
    ) -> impl Fn(FileIndex) -> bool + use<'c> {
        let roots_of = |file| file_table.names(file).map(|(dir, _)| dirs.root(dir));
        let first = files.first().copied();
        let kept: HashSet<u32> = match (first, self.counting.isolate) {
            (Some(first), true) => roots_of(first).collect(),
            _ => HashSet::new(),
        };
        move |file| {
            let is_beside = || roots_of(file).any(|root| kept.contains(&root));
            Some(file) == first || !kept.is_empty() && is_beside()
        }
    }

    fn replicas(&self, files: &[FileIndex], known: &Known<'_>) -> u64 {
        let file_table = known.machine.file_table();
        let names = || files.iter().flat_map(|&file| file_table.names(file));
        let (mut name_count, mut root_count) = (0, 0);
        if self.counting.isolate {
            let mut roots: Vec<u32> = names().map(|(dir, _)| known.dirs.root(dir)).collect();
            roots.sort_unstable();
            roots.dedup();
            root_count = roots.len() as u64;
        } else if self.counting.hard_links {
            name_count = names().count() as u64;
        }
        self.counting
            .replicas(files.len() as u64, name_count, root_count)
    }

    /// Writes out a set with its paths, the best of each file's names first.
    fn write_out(
        &mut self,
        about: About,
        files: &[FileIndex],
        known: &Known<'_>,
    ) -> io::Result<()> {
        let Known { machine, dirs, .. } = *known;
        let replicas = self.replicas(files, known);
        let set = &mut self.set;
        let file_table = machine.file_table();
        let ambiguous = ambiguous(files, file_table, dirs, known.volumes);
        let mut several = files
            .iter()
            .filter(|&&file| file_table.has_further_names(file));
        let names = several
            .next()
            .map(|_| SetNames::new(files, file_table, dirs));
        set.members.resize_with(files.len(), Member::default);
        for (member, &file) in set.members.iter_mut().zip(files) {
            let only = || (file_table.dir(file), file_table.first_name(file));
            let best = names.as_ref().map_or_else(only, |names| names.best(file));
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
                disk: Arc::clone(known.volumes.disks(known.volume(file))),
                root: dirs.root(best.0),
            };
        }
        let digest = about.content.and_then(|content| machine.digest(content));
        let is_recalled = |&file: &FileIndex| machine.is_recalled(file);
        set.size = file_table.size(files[0]);
        set.digest = digest;
        set.cached = digest.is_some() && files.iter().any(is_recalled);
        set.replicas = replicas;
        set.reclaimable = about.reclaimable;
        (self.sink)(&self.set)
    }
}

/// True if one name of a file is hidden or lies in a folder that a program manages: actions leave the file alone.
fn is_managed(file: FileIndex, file_table: &FileTable, dirs: &DirTable) -> bool {
    let is_so = |(dir, name)| dirs.is_managed(dir) || is_managed_file(name);
    if file_table.has_further_names(file) {
        file_table.names(file).any(is_so)
    } else {
        is_so((file_table.dir(file), file_table.first_name(file)))
    }
}
