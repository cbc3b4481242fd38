//! From equal files to sets, in the order that is wanted.

use std::collections::{HashMap, HashSet};
use std::io;

use crate::decide::{ClassId, Counting, DuplicateSet, Machine, Member, Summary};
use crate::file::{DevIndex, DirTable, FileIndex, FileTable, Numbering, Sameness, Sighting};
use crate::hash::ContentDigest;

use super::config::Config;
use super::order;
use super::reclaim;
use super::set_order::{SetFacts, SetOrder};
use super::volumes::Volumes;

/// When sets are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Each as soon as nothing can be added to it.
    AsFinal,
    /// All at the end, in this order.
    Sorted(SetOrder),
}

impl Default for Delivery {
    fn default() -> Self {
        Self::Sorted(SetOrder::default())
    }
}

/// Receives sets.
pub type Sink<'a> = dyn FnMut(&DuplicateSet) -> io::Result<()> + 'a;

/// A set before its members are written out.
pub struct Draft {
    digest: Option<ContentDigest>,
    /// Its members in their order.
    pub files: Vec<FileIndex>,
    replicas: u64,
    reclaimable: u64,
}

/// Makes sets and hands them over.
pub struct Deliverer<'a> {
    config: &'a Config,
    counting: Counting,
    delivery: Delivery,
    sink: &'a mut Sink<'a>,
    kept: Vec<Draft>,
    /// Sets whose members have to be compared first.
    unverified: Vec<Draft>,
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
            kept: Vec::new(),
            unverified: Vec::new(),
            summary: Summary::default(),
        }
    }

    /// Takes all files of one size that were read.
    pub fn size(
        &mut self,
        size: ClassId,
        machine: &Machine,
        dirs: &DirTable,
        volumes: &Volumes,
    ) -> io::Result<()> {
        for (digest, files) in machine.contents(size) {
            self.equal(digest, files, machine.file_table(), dirs, volumes)?;
        }
        Ok(())
    }

    /// Takes a file that is alone with its content.
    pub fn alone(
        &mut self,
        file: FileIndex,
        machine: &Machine,
        dirs: &DirTable,
        volumes: &Volumes,
    ) -> io::Result<()> {
        self.equal(None, vec![file], machine.file_table(), dirs, volumes)
    }

    fn equal(
        &mut self,
        digest: Option<ContentDigest>,
        mut files: Vec<FileIndex>,
        file_table: &FileTable,
        dirs: &DirTable,
        volumes: &Volumes,
    ) -> io::Result<()> {
        files.retain(|&file| file_table.has_names(file));
        if files.is_empty() {
            return Ok(());
        }
        let replicas = self.replicas(&files, file_table, dirs);
        if !self.counting.reported(files.len() as u64, replicas) {
            return Ok(());
        }
        order::sort(&mut files, file_table, dirs);
        let draft = Draft {
            digest,
            replicas,
            reclaimable: 0,
            files,
        };
        if self.config.verify && draft.files.len() > 1 {
            self.unverified.push(draft);
            return Ok(());
        }
        self.hand_over(draft, file_table, dirs, volumes)
    }

    /// Takes the sets whose members have to be compared first.
    pub fn take_unverified(&mut self) -> Vec<Draft> {
        std::mem::take(&mut self.unverified)
    }

    /// Takes a set whose members were compared.
    pub fn verified(
        &mut self,
        mut draft: Draft,
        file_table: &FileTable,
        dirs: &DirTable,
        volumes: &Volumes,
    ) -> io::Result<()> {
        draft.replicas = self.replicas(&draft.files, file_table, dirs);
        let inodes = draft.files.len() as u64;
        match inodes > 0 && self.counting.reported(inodes, draft.replicas) {
            true => self.hand_over(draft, file_table, dirs, volumes),
            false => Ok(()),
        }
    }

    fn hand_over(
        &mut self,
        mut draft: Draft,
        file_table: &FileTable,
        dirs: &DirTable,
        volumes: &Volumes,
    ) -> io::Result<()> {
        let sharing = |dev: DevIndex| {
            let shares = matches!(
                volumes.get(volumes.of(dev)).filesystem.as_str(),
                "btrfs" | "xfs" | "bcachefs"
            );
            shares.then(|| volumes.of(dev))
        };
        let stays = self.staying(&draft.files, file_table, dirs);
        draft.reclaimable = reclaim::reclaimable(
            file_table,
            dirs,
            &draft.files,
            &stays,
            self.config.follow_links,
            sharing,
        );
        let size = file_table.size(draft.files[0]);
        let redundant = draft.files.iter().filter(|&&file| !stays(file)).count() as u64;
        // Whether a digest that nobody asked for is known depends on what lay in the page cache, and so does whether a
        // file that is alone was read as a whole. The same tree gives the same report.
        if !self.config.digests || draft.files.len() < 2 {
            draft.digest = None;
        }
        self.summary.count(redundant, size, draft.reclaimable);
        match self.delivery {
            Delivery::AsFinal => (self.sink)(&written_out(&draft, file_table, dirs, volumes)),
            Delivery::Sorted(_) => {
                self.kept.push(draft);
                Ok(())
            }
        }
    }

    /// Hands over what was kept for the end.
    pub fn finish(
        &mut self,
        file_table: &FileTable,
        dirs: &DirTable,
        volumes: &Volumes,
    ) -> io::Result<()> {
        let mut kept = std::mem::take(&mut self.kept);
        let order = match self.delivery {
            Delivery::Sorted(order) => order,
            Delivery::AsFinal => SetOrder::default(),
        };
        let facts = |draft: &Draft| SetFacts {
            reclaimable: draft.reclaimable,
            size: file_table.size(draft.files[0]),
            replicas: draft.replicas,
        };
        order::sort_sets(
            &mut kept,
            |draft| order.key(&facts(draft)),
            |draft| draft.files[0],
            file_table,
            dirs,
        );
        for draft in &kept {
            (self.sink)(&written_out(draft, file_table, dirs, volumes))?;
        }
        Ok(())
    }

    /// Which files stay when the others go: the first, and with `--isolate` all that have a name below a root
    /// of the first one, since copies there are no duplicates of it.
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

    fn replicas(&self, files: &[FileIndex], file_table: &FileTable, dirs: &DirTable) -> u64 {
        let names = || files.iter().flat_map(|&file| file_table.names(file));
        let (mut name_count, mut root_count) = (0, 0);
        if self.counting.isolate {
            let mut roots: Vec<u32> = names().map(|(dir, _)| dirs.root(dir)).collect();
            roots.sort_unstable();
            roots.dedup();
            root_count = roots.len() as u64;
        } else if self.counting.hard_links {
            name_count = names().count() as u64;
        }
        self.counting
            .replicas(files.len() as u64, name_count, root_count)
    }
}

/// A set with its paths, the best of each file's names first.
fn written_out(
    draft: &Draft,
    file_table: &FileTable,
    dirs: &DirTable,
    volumes: &Volumes,
) -> DuplicateSet {
    let mut ambiguous = ambiguous(&draft.files, file_table, dirs);
    if draft.files.len() > 1 && volumes.any_may_show_others() {
        ambiguous.extend(shown_twice(&draft.files, file_table, volumes));
    }
    let members = draft.files.iter().map(|&file| {
        let mut names: Vec<Vec<u8>> = Vec::with_capacity(1);
        let best = order::best_name(file_table, dirs, file);
        let mut write_out = |(dir, name): order::Name<'_>| {
            let mut path = Vec::new();
            dirs.path_of(dir, name, &mut path);
            names.push(path);
        };
        write_out(best);
        if file_table.has_further_names(file) {
            let further = file_table.names(file).filter(|&name| name != best);
            further.for_each(write_out);
            names[1..].sort_unstable();
        }
        let fingerprint = file_table.fingerprint(file);
        Member {
            names,
            ambiguous: ambiguous.contains(&file),
            dev: fingerprint.dev,
            ino: fingerprint.ino,
            links: file_table.links(file).into(),
            mtime_ns: fingerprint.mtime_ns,
            allocated: file_table.allocated(file),
            disk: std::sync::Arc::clone(volumes.disks(volumes.of(file_table.volume(file)))),
            root: dirs.root(best.0),
        }
    });
    DuplicateSet {
        size: file_table.size(draft.files[0]),
        digest: draft.digest,
        members: members.collect(),
        replicas: draft.replicas,
        reclaimable: draft.reclaimable,
    }
}

/// The files that may be one with another file of their set, which a mount of a program or of another machine shows.
///
/// Such a mount gives a file other numbers, but leaves it its modification time, at least to the second.
fn shown_twice(
    files: &[FileIndex],
    file_table: &FileTable,
    volumes: &Volumes,
) -> impl Iterator<Item = FileIndex> {
    let mut by_time: HashMap<i64, Vec<FileIndex>> = HashMap::new();
    for &file in files {
        let seconds = file_table
            .fingerprint(file)
            .mtime_ns
            .div_euclid(1_000_000_000);
        by_time.entry(seconds).or_default().push(file);
    }
    by_time.into_values().flat_map(|alike| {
        let mut numbers: Vec<DevIndex> =
            alike.iter().map(|&file| file_table.volume(file)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let is_shown = |file| {
            let own = file_table.volume(file);
            let mut others = numbers.iter().filter(|&&number| number != own);
            others.any(|&other| volumes.may_show_others(own) || volumes.may_show_others(other))
        };
        let shown = alike.iter().copied().filter(|&file| is_shown(file));
        shown.collect::<Vec<_>>()
    })
}

/// The files of which nobody can tell whether they are one with another file of their set.
fn ambiguous(files: &[FileIndex], file_table: &FileTable, dirs: &DirTable) -> HashSet<FileIndex> {
    if file_table.trusts_all_numbers() {
        return HashSet::new();
    }
    let numbering = |file| file_table.numbering(file_table.volume(file));
    let mut by_number: HashMap<(DevIndex, u64), Vec<FileIndex>> = HashMap::new();
    for &file in files {
        if !numbering(file).tells_files() {
            let number = (file_table.volume(file), file_table.ino(file));
            by_number.entry(number).or_default().push(file);
        }
    }
    let mut found = HashSet::new();
    for alike in by_number.values().filter(|alike| alike.len() > 1) {
        let seen = alike
            .iter()
            .map(|&file| (file_table.sighting(file, dirs), file));
        let mut seen: Vec<(Sighting, FileIndex)> = seen.collect();
        let state = |seen: &Sighting| (seen.state.mtime_ns, seen.state.ctime_ns, seen.links);
        seen.sort_unstable_by_key(|(seen, _)| (state(seen), seen.is_entry, seen.mount));
        for run in seen.chunk_by(|(a, _), (b, _)| state(a) == state(b)) {
            // Whoever differs from some other in mount or kind of name differs from the first or the last one.
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                continue;
            };
            for (this, file) in run {
                let with = |(other, of): &(Sighting, FileIndex)| {
                    of != file && Sameness::between(this, other, Numbering::Arbitrary).is_unknown()
                };
                if with(first) || with(last) {
                    found.insert(*file);
                }
            }
        }
    }
    found
}
