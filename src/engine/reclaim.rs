//! Computes the number of bytes that the removal of files frees.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::OwnedFd;

use crate::device::VolumeId;
use crate::file::{DirTable, FileIndex, FileTable};
use crate::sys::extents::{self, Extent};
use crate::sys::open;

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
