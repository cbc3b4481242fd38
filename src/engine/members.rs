//! Facts about the files of a set: which of them may be one and the same file, and what the removal of others frees.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::OwnedFd;

use crate::device::VolumeId;
use crate::file::{DevIndex, DirTable, FileIndex, FileTable, Numbering, Sameness, Sighting};
use crate::sys::extents::{self, Extent};
use crate::sys::open;

use super::volumes::Volumes;

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
/// Such a mount gives a file other numbers. Most mounts keep its modification time, at least the last 32 bits of its seconds
/// (SFTP has no more).
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
            others.any(|&other| volumes.may_show_others(own) || volumes.may_show_others(other))
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

/// Bytes on disk that are freed when the files of a set that do not stay are removed; also passes the bytes of each file
/// to `freed`.
///
/// A file with a name that the scan did not find frees nothing. On file systems that can share extents, some extents
/// are not freed (`sharing` returns the number of the file system of a file if it can, one for all its subvolumes). One kind is an
/// extent that a file that stays refers to as well. The other kind is an extent that only one file of the set has and
/// that is shared all the same: something outside refers to it, a snapshot perhaps. An extent that several of the
/// removed files share counts once.
pub fn reclaimable(
    file_table: &FileTable,
    dirs: &DirTable,
    files: &[FileIndex],
    stays: impl Fn(FileIndex) -> bool,
    follow: bool,
    sharing: impl Fn(FileIndex) -> Option<VolumeId>,
    mut freed: impl FnMut(FileIndex, u64),
) -> u64 {
    let mut total = 0_u64;
    let mut add = |file, bytes: u64| {
        total = total.saturating_add(bytes);
        freed(file, bytes);
    };
    let is_freed =
        |file| u64::from(file_table.links(file)) <= file_table.names(file).count() as u64;
    let can_share = |&file: &FileIndex| sharing(file).is_some();
    if files.len() < 2 || !files.iter().any(can_share) {
        let gone = files
            .iter()
            .copied()
            .filter(|&file| !stays(file) && is_freed(file));
        gone.for_each(|file| add(file, file_table.allocated(file)));
        return total;
    }
    let shared: Vec<Vec<(VolumeId, Extent)>> = files
        .iter()
        .map(|&file| match sharing(file) {
            Some(place) => extents(file_table, dirs, file, follow)
                .unwrap_or_default()
                .into_iter()
                .filter(|extent| extent.shared)
                .map(|extent| (place, extent))
                .collect(),
            None => Vec::new(),
        })
        .collect();
    let mut users: HashMap<(VolumeId, u64), u32> = HashMap::new();
    for &(place, extent) in shared.iter().flatten() {
        *users.entry((place, extent.physical)).or_default() += 1;
    }
    let mut taken: HashSet<(VolumeId, u64)> = HashSet::new();
    let with_extents = || files.iter().copied().zip(&shared);
    for (_, shared) in with_extents().filter(|&(file, _)| stays(file)) {
        taken.extend(
            shared
                .iter()
                .map(|&(place, extent)| (place, extent.physical)),
        );
    }
    for (file, shared) in with_extents().filter(|&(file, _)| !stays(file)) {
        if !is_freed(file) {
            continue;
        }
        let kept = shared.iter().filter(|&&(place, extent)| {
            let key = (place, extent.physical);
            !taken.insert(key) || users.get(&key) == Some(&1)
        });
        let kept = kept.fold(0, |sum: u64, (_, extent)| sum.saturating_add(extent.length));
        add(file, file_table.allocated(file).saturating_sub(kept));
    }
    total
}

fn extents(
    file_table: &FileTable,
    dirs: &DirTable,
    file: FileIndex,
    follow: bool,
) -> Option<Vec<Extent>> {
    let fd = open(file_table, dirs, file, follow).ok()?;
    extents::extents(fd)
}

/// Opens a file by its first name.
pub fn open(
    file_table: &FileTable,
    dirs: &DirTable,
    file: FileIndex,
    follow: bool,
) -> rustix::io::Result<OwnedFd> {
    let name = CString::new(file_table.first_name(file)).map_err(|_| rustix::io::Errno::INVAL)?;
    let dir = dirs.open(file_table.dir(file))?;
    open::file(dir, &name, follow)
}
