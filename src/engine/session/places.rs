//! Where folders are on their file systems, as catalogs say it.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::device::Mounts;
use crate::file::DirId;
use crate::heartbeat::current;
use crate::sys::stat;

use super::Session;

/// The mounts of a run that has listed everything, and the file systems that it met.
pub struct Places {
    mounts: Mounts,
    /// By device number.
    titles: HashMap<u64, Title>,
    /// The last folder.
    at: Option<(DirId, Vec<u8>)>,
}

/// What names a file system, and the number of the subvolume.
#[derive(Clone, Debug, Default)]
pub struct Title {
    pub volume: Option<String>,
    pub subvolume: Option<i64>,
}

impl Places {
    /// The mounts as they are now.
    pub fn look() -> Self {
        Self {
            mounts: Mounts::read(),
            titles: HashMap::new(),
            at: None,
        }
    }

    /// The path of a folder on its file system, and what names that.
    pub fn of(&mut self, session: &Session<'_>, dir: DirId) -> (&[u8], &Title) {
        let st_dev = session.dirs.read().identity(dir).0;
        if self.at.as_ref().is_none_or(|(at, _)| *at != dir) {
            let path = session.path_of(dir, b"");
            let _call = current::call(&path);
            let real = real(&path);
            if !self.titles.contains_key(&st_dev) {
                // The path of the folder itself may be too long, or it may have gone.
                let titled = |path: &Path| self.title(path).filter(|title| title.0 == st_dev);
                let title = real.ancestors().find_map(titled);
                let title = title.map(|(_, title)| title).unwrap_or_default();
                self.titles.insert(st_dev, title);
            }
            self.at = Some((dir, self.inner(&real)));
        }
        static NONE: Title = Title {
            volume: None,
            subvolume: None,
        };
        let path = self.at.as_ref().map_or(&b""[..], |(_, path)| path);
        (path, self.titles.get(&st_dev).unwrap_or(&NONE))
    }

    /// Where a root leads: the absolute path, the name of the file system if it has one, and the path there.
    pub fn of_root(&self, path: &Path) -> (PathBuf, Option<String>, Vec<u8>) {
        let _call = current::limited_call(path);
        let real = real(path);
        let title = self.title(&real).map(|(_, title)| title);
        let inner = self.inner(&real);
        (real, title.unwrap_or_default().volume, inner)
    }

    fn inner(&self, real: &Path) -> Vec<u8> {
        let path = real.as_os_str().as_bytes();
        let inner = self.mounts.inner(path);
        inner.map_or_else(|| path.to_owned(), |inner| inner.into_path_bytes())
    }

    /// The device number of what is there, and its title.
    fn title(&self, real: &Path) -> Option<(u64, Title)> {
        let opened = File::open(real).ok()?;
        let st_dev = stat::descriptor(&opened).ok()?.dev;
        let subvolume = stat::subvolume(&opened).map(u64::cast_signed);
        let volume = self.mounts.title_of(&opened, st_dev);
        Some((st_dev, Title { volume, subvolume }))
    }
}

/// An absolute path without links, if its file system says so.
fn real(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let real = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    real.unwrap_or_else(|_| path.to_owned())
}
