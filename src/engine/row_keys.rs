//! The key of a file's row in the cache, and the number that tells the file from another one that got its inode number.

use std::ffi::CString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use crate::file::{FileIndex, Fingerprint};
use crate::hash::SampleDigest;
use crate::heartbeat::current;
use crate::sys::{file_handle, stat};

use super::cached_reads::RowKey;
use super::session::Session;

impl Session<'_> {
    /// The place of a file's row; `None` if nothing is stored for the file.
    pub fn row_key(&mut self, file: FileIndex) -> Option<RowKey> {
        let cache = self.cache.as_ref()?;
        let file_table = self.machine.file_table();
        let volume = file_table.volume(file);
        let key = cache.key(volume)?;
        let numbers = match key.by_path {
            true => self.path_numbers(file)?,
            // A number that two files may have is the key of neither.
            false if !file_table.numbering(volume).tells_files() => return None,
            false => (key.subvolume, file_table.ino(file)),
        };
        Some(RowKey {
            volume,
            numbers,
            by_path: key.by_path,
        })
    }

    /// Two numbers for the place of a file on its file system.
    fn path_numbers(&mut self, file: FileIndex) -> Option<(u64, u64)> {
        let file_table = self.machine.file_table();
        let (dir, name) = (file_table.dir(file), file_table.first_name(file).to_owned());
        let st_dev = file_table.fingerprint(file).dev;
        // A link, or a mount on the name, may lead to another file by the next run, and nothing about it says so.
        let is_entry = file_table.sighting(file, &self.dirs.read()).is_entry;
        if !is_entry && !self.config.follow_links {
            return None;
        }
        let path = self.real_path(dir, &name)?;
        let mounts = &self.cache.as_ref()?.mounts;
        let place = mounts.place_on(st_dev, path.as_os_str().as_bytes())?;
        let [first, second] = halves(*SampleDigest::of(&place).as_bytes());
        Some((first, second))
    }

    /// A number computed from the handle and the birth time of the file that the first name leads to now; `None` if the
    /// file has no handle.
    ///
    /// On copies of a disk, two files may get one number and one generation, but not at one moment.
    pub fn handle_now(&mut self, file: FileIndex) -> Option<u64> {
        self.ask_for_handle(file).map(|(handle, _)| handle)
    }

    /// As [`Self::handle_now`], if the name led to the file after the handle was queried, in the state in which it was
    /// found.
    pub fn handle_of(&mut self, file: FileIndex) -> Option<u64> {
        let (handle, now) = self.ask_for_handle(file)?;
        let is_it = now == Some(self.machine.file_table().fingerprint(file));
        is_it.then_some(handle)
    }

    fn ask_for_handle(&mut self, file: FileIndex) -> Option<(u64, Option<Fingerprint>)> {
        let _call = current::call(&self.path_of_first_name(file));
        let file_table = self.machine.file_table();
        let (dir, name) = (file_table.dir(file), file_table.first_name(file));
        let name = CString::new(name).ok()?;
        let follow = self.config.follow_links;
        let folder = self.handles.get(dir, &self.dirs).ok()?;
        let handle = file_handle::of_name(folder, &name, follow)?;
        let handle = number_of(handle, stat::birth_ns(folder, &name, follow));
        let now = match follow {
            true => stat::target(folder, &name),
            false => stat::entry(folder.as_fd(), &name),
        };
        let now = now.ok().map(|now| Fingerprint::from(&now));
        Some((handle, now))
    }
}

/// A number computed from both: the handle includes the generation of the inode.
fn number_of(mut handle: Vec<u8>, birth_ns: Option<i64>) -> u64 {
    handle.extend(birth_ns.unwrap_or_default().to_le_bytes());
    let [number, _] = halves(*SampleDigest::of(&handle).as_bytes());
    number
}

fn halves(digest: [u8; 16]) -> [u64; 2] {
    let digest = u128::from_le_bytes(digest);
    [digest as u64, (digest >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handle_and_birth_tell_files_apart_each_by_itself() {
        let number = number_of(vec![1, 2], Some(7));
        assert_eq!(number, number_of(vec![1, 2], Some(7)));
        assert_ne!(number, number_of(vec![1, 3], Some(7)));
        assert_ne!(number, number_of(vec![1, 2], Some(8)));
        assert_ne!(number, number_of(vec![1, 2], None));
    }
}
