//! How many bytes come free when files go.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use crate::file::{Catalog, DirTable, FileIndex};
use crate::sys::fiemap::{self, Extent};
use crate::sys::open::{self, Manner};

/// Bytes on disk that surely come free when all files of a set but the first are removed.
///
/// A file with a name that the scan did not find frees nothing. Nor does, on file systems that can
/// share extents (`may_share`), an extent that something else refers to as well: the file that
/// stays, a snapshot, any clone. (Clones of each other that all go would free theirs; nothing says
/// that there is no further one.)
pub fn reclaimable(
    catalog: &Catalog,
    dirs: &DirTable,
    files: &[FileIndex],
    follow: bool,
    may_share: impl Fn(u16) -> bool,
) -> u64 {
    let mut free = 0;
    for &file in files.iter().skip(1) {
        if u64::from(catalog.links(file)) > catalog.names(file).count() as u64 {
            continue;
        }
        let shared: u64 = match may_share(catalog.volume(file)) {
            true => extents(catalog, dirs, file, follow)
                .unwrap_or_default()
                .iter()
                .filter(|extent| extent.shared)
                .map(|extent| extent.length)
                .sum(),
            false => 0,
        };
        free += catalog.allocated(file).saturating_sub(shared);
    }
    free
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
