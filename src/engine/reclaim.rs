//! How many bytes come free when files go.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::OwnedFd;

use crate::file::{Catalog, DirTable, FileIndex};
use crate::sys::fiemap::{self, Extent};
use crate::sys::open::{self, Manner};

/// Bytes on disk that come free when all files of a set but the first are removed.
///
/// A file with a name that the scan did not find frees nothing. On file systems that can share
/// extents (`may_share`), what the first file also refers to does not come free, and what several
/// of the others share counts once.
pub fn reclaimable(
    catalog: &Catalog,
    dirs: &DirTable,
    files: &[FileIndex],
    follow: bool,
    may_share: impl Fn(u16) -> bool,
) -> u64 {
    let Some((&keeper, others)) = files.split_first() else {
        return 0;
    };
    let mut taken: HashMap<(u16, u64), u64> = HashMap::new();
    let volume = catalog.volume(keeper);
    if may_share(volume) && !others.is_empty() {
        for extent in extents(catalog, dirs, keeper, follow).unwrap_or_default() {
            note(&mut taken, volume, &extent);
        }
    }
    let mut free = 0;
    for &file in others {
        if u64::from(catalog.links(file)) > catalog.names(file).count() as u64 {
            continue;
        }
        let volume = catalog.volume(file);
        let allocated = catalog.allocated(file);
        let shared: u64 = match may_share(volume) {
            true => extents(catalog, dirs, file, follow)
                .unwrap_or_default()
                .iter()
                .map(|extent| note(&mut taken, volume, extent))
                .sum(),
            false => 0,
        };
        free += allocated.saturating_sub(shared);
    }
    free
}

/// Marks an extent as counted; returns the bytes of it that were counted before.
fn note(taken: &mut HashMap<(u16, u64), u64>, volume: u16, extent: &Extent) -> u64 {
    if !extent.shared {
        return 0;
    }
    let before = taken.entry((volume, extent.physical)).or_insert(0);
    let again = (*before).min(extent.length);
    *before = (*before).max(extent.length);
    again
}

fn extents(
    catalog: &Catalog,
    dirs: &DirTable,
    file: FileIndex,
    follow: bool,
) -> Option<Vec<Extent>> {
    let fd = open(catalog, dirs, file, follow).ok()?;
    fiemap::extents(fd)
}

/// Opens a file by its first name.
pub fn open(
    catalog: &Catalog,
    dirs: &DirTable,
    file: FileIndex,
    follow: bool,
) -> rustix::io::Result<OwnedFd> {
    let name = CString::new(catalog.first_name(file)).map_err(|_| rustix::io::Errno::INVAL)?;
    let dir = dirs.open(catalog.dir(file))?;
    let manner = Manner {
        keep_access_time: true,
        follow,
    };
    open::file(dir, &name, manner)
}
