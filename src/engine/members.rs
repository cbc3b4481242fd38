//! Facts about the files of a set: which of them may be one and the same file, and what their removal frees.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;

use rustix::io::Result;

use crate::file::{
    DevIndex, DirTable, FileIndex, FileTable, NumberMap, Numbering, Sameness, Sighting,
};
use crate::sys::extents;

use super::volumes::{MayBeOne, Volumes};

/// The files that may be one and the same file as another file of their set.
pub fn ambiguous(
    files: &[FileIndex],
    file_table: &FileTable,
    dirs: &DirTable,
    volumes: &Volumes,
) -> HashSet<FileIndex> {
    let mut found = alike_by_number(files, file_table, dirs);
    if files.len() > 1 && volumes.any_may_show_others() {
        found.extend(shown_twice(files, file_table, volumes));
    }
    found
}

/// The files that a mount of a program or of another machine may show a second time.
///
/// Such a mount gives a file other numbers. Most mounts keep its modification time, at least the last 32 bits of its
/// seconds (SFTP has no more).
fn shown_twice(
    files: &[FileIndex],
    file_table: &FileTable,
    volumes: &Volumes,
) -> impl Iterator<Item = FileIndex> {
    let times_tell = files
        .iter()
        .all(|&file| volumes.keep_times(file_table.volume(file)));
    let mut by_time: HashMap<Option<u32>, Vec<FileIndex>> = HashMap::new();
    for &file in files {
        let seconds = file_table
            .fingerprint(file)
            .mtime_ns
            .div_euclid(1_000_000_000);
        let time = times_tell.then_some(seconds as u32);
        by_time.entry(time).or_default().push(file);
    }
    by_time.into_values().flat_map(|alike| {
        let mut numbers: Vec<DevIndex> =
            alike.iter().map(|&file| file_table.volume(file)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let is_shown = |file| {
            let own = file_table.volume(file);
            let mut others = numbers.iter().filter(|&&number| number != own);
            others.any(|&other| match volumes.may_be_one(own, other) {
                MayBeOne::No => false,
                MayBeOne::Yes => true,
                MayBeOne::ByNumber => alike.iter().any(|&it| {
                    file_table.volume(it) == other && file_table.ino(it) == file_table.ino(file)
                }),
            })
        };
        let shown = alike.iter().copied().filter(|&file| is_shown(file));
        shown.collect::<Vec<_>>()
    })
}

/// The files whose numbers do not tell them from another file of their set.
fn alike_by_number(
    files: &[FileIndex],
    file_table: &FileTable,
    dirs: &DirTable,
) -> HashSet<FileIndex> {
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
            // A name that differs from some other in mount or kind differs from the first or the last one.
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                continue;
            };
            for (this, file) in run {
                let with = |(other, of): &(Sighting, FileIndex)| {
                    of != file
                        && Sameness::between(this, other, Numbering::Arbitrary) == Sameness::Unknown
                };
                if with(first) || with(last) {
                    found.insert(*file);
                }
            }
        }
    }
    found
}

/// The files of a set that do not stay, each with the bytes on disk that its removal frees.
///
/// A file with a name that the scan did not find frees nothing. Extents that a file which stays refers to are not
/// freed, nor are shared extents that only one file of the set has: something outside refers to them, perhaps a
/// snapshot. An extent that several of the removed files share counts once.
pub fn freed(
    files: &[FileIndex],
    stays: impl Fn(FileIndex) -> bool,
    file_table: &FileTable,
    volumes: &Volumes,
    open: impl Fn(FileIndex) -> Result<OwnedFd>,
) -> Vec<(FileIndex, u64)> {
    let shared = files.iter().filter_map(|&file| {
        let volume = volumes.sharing(file_table.volume(file))?;
        let extents = extents::extents(open(file).ok()?)?.into_iter();
        let shared = extents.filter(|extent| extent.is_shared());
        let shared = shared.map(|extent| ((volume, extent.physical), extent.length));
        Some((file, shared.collect()))
    });
    let shared: NumberMap<FileIndex, Vec<_>> = shared.collect();
    let mut users: HashMap<_, u32> = HashMap::new();
    let mut taken = HashSet::new();
    for (&file, extents) in &shared {
        for &(extent, _) in extents {
            *users.entry(extent).or_default() += 1;
            if stays(file) {
                taken.insert(extent);
            }
        }
    }
    let gone = files.iter().copied().filter(|&file| !stays(file));
    let freed = gone.map(|file| {
        if u64::from(file_table.links(file)) > file_table.names(file).count() as u64 {
            return (file, 0);
        }
        let extents = shared.get(&file).into_iter().flatten();
        let kept = extents.filter(|&&(extent, _)| {
            let is_taken = !taken.insert(extent);
            is_taken || users.get(&extent) == Some(&1)
        });
        let kept = kept.fold(0, |sum: u64, (_, length)| sum.saturating_add(*length));
        (file, file_table.allocated(file).saturating_sub(kept))
    });
    freed.collect()
}
