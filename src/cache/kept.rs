//! Lists the contents of the files of rows in a folder, and removes such files.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::UNIX_EPOCH;

use crate::heartbeat::current;

use super::contents::Contents;
use super::error::CacheError;
use super::folder::CacheFolder;
use super::store::Store;
use super::volume::{self, BESIDE};

/// The stored data of one file system.
#[derive(Debug)]
pub struct StoredVolume {
    /// Name of the file of rows.
    pub name: String,
    /// Size in bytes, including the files that SQLite keeps beside it.
    pub bytes: u64,
    /// The time of the last use by a run, nanoseconds since 1970.
    pub last_used_ns: i64,
    /// The contents, unless they cannot be read.
    pub contents: Result<Contents, CacheError>,
}

/// The suffixes of all files that hold what is stored of one file system.
fn ends() -> impl Iterator<Item = &'static str> {
    std::iter::once("").chain(BESIDE)
}

impl CacheFolder {
    /// The stored data, with the file system that was used last at the end. Skips other files in the folder.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn kept(&self) -> io::Result<Vec<StoredVolume>> {
        let names = self.names()?.into_iter();
        let names = names.filter_map(|name| name.into_string().ok());
        let mut kept: Vec<StoredVolume> = names
            .filter(|name| volume::is_file_name(name))
            .map(|name| self.one(name))
            .collect();
        kept.sort_by(|a, b| (a.last_used_ns, &a.name).cmp(&(b.last_used_ns, &b.name)));
        Ok(kept)
    }

    /// True if a file of this name belongs to the cache.
    pub fn is_name_of_kept(name: &[u8]) -> bool {
        let name = std::str::from_utf8(name).unwrap_or_default();
        let mut ends = ends();
        ends.any(|end| name.strip_suffix(end).is_some_and(volume::is_file_name))
    }

    fn one(&self, name: String) -> StoredVolume {
        current::ask_about(self.path().join(&name).as_os_str().as_bytes());
        let all = ends().filter_map(|end| {
            let path = self.path().join(format!("{name}{end}"));
            path.symlink_metadata().ok()
        });
        let bytes = all.map(|is| is.len()).sum();
        let used = self.path().join(&name).symlink_metadata();
        let used = used.and_then(|is| is.modified()).unwrap_or(UNIX_EPOCH);
        let used = used.duration_since(UNIX_EPOCH).unwrap_or_default();
        StoredVolume {
            bytes,
            last_used_ns: i64::try_from(used.as_nanos()).unwrap_or(i64::MAX),
            contents: Store::contents(self, &name),
            name,
        }
    }

    /// Removes what is kept of a file system, unless a run is using it.
    ///
    /// # Errors
    /// If the file is not the user's own, is no file of rows, or is in use; if the system refuses.
    pub fn remove(&self, kept: &StoredVolume) -> Result<(), CacheError> {
        current::ask_about(self.path().join(&kept.name).as_os_str().as_bytes());
        let path = self.own(&kept.name)?;
        let _lock = Store::lock(&path)?;
        for end in ends() {
            match fs::remove_file(self.path().join(format!("{}{end}", kept.name))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "cache"))]
mod tests {
    use std::fs::File;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use std::path::PathBuf;

    use super::*;
    use crate::cache::pack::Numbered;
    use crate::cache::{Day, FileState, Row, RowPart, VolumeKey};
    use crate::hash::SampleDigest;

    const KEY: VolumeKey = VolumeKey {
        uuid: [7; 16],
        subvolume: 0,
        by_path: false,
    };

    #[test]
    fn a_file_of_a_damaged_format_is_removed() {
        let top = tempfile::tempdir().expect("a folder");
        let folder = folder(top.path());
        drop(written(&folder, &[1]));
        let path = folder.path().join(KEY.file_name());
        let mut bytes = fs::read(&path).expect("is read");
        // "Schema format number", 1 to 4 (sqlite.org/fileformat2.html).
        bytes[47] = 0x80;
        fs::write(&path, bytes).expect("is written");
        let kept = folder.kept().expect("is listed");
        assert!(kept[0].contents.is_err());
        folder.remove(&kept[0]).expect("is removed");
        assert!(!path.exists());
    }

    fn folder(top: &Path) -> CacheFolder {
        CacheFolder::at(&top.join("cache")).expect("is made")
    }

    fn written(folder: &CacheFolder, inodes: &[u64]) -> Store {
        let mut row = Row::new(FileState::default(), 9);
        row.add(RowPart::Head(SampleDigest::of(b"head")));
        let rows = inodes.iter().map(|&inode| Numbered {
            subvolume: 0,
            inode,
            row: row.clone(),
        });
        let mut store = Store::open(folder, &KEY).expect("is made");
        let rows: Vec<_> = rows.collect();
        store
            .write(
                rows.into_iter().map(|row| vec![row]),
                Day::of(0),
                |_, new| new.clone(),
            )
            .expect("is written");
        store
    }

    fn names(folder: &CacheFolder) -> Vec<String> {
        let names = folder.names().expect("is listed").into_iter();
        let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_counted_in_all_packs_and_other_files_are_left_out() {
        let top = tempfile::tempdir().expect("a folder");
        let folder = folder(top.path());
        assert!(folder.kept().expect("is listed").is_empty());
        let store = written(&folder, &[1, 2, 31, 32, 5000]);
        let searched = PathBuf::from("/photos");
        store.begin_run(&searched).expect("is written");
        drop(store);
        fs::write(folder.path().join("notes.sqlite"), "x").expect("is written");
        let kept = folder.kept().expect("is listed");
        let [one] = &kept[..] else {
            panic!("one: {kept:?}");
        };
        let contents = one.contents.as_ref().expect("is read");
        let expected = Contents {
            files: 5,
            folder: Some(searched),
        };
        assert_eq!(contents, &expected);
        let length = fs::metadata(folder.path().join(&one.name)).map(|is| is.len());
        assert_eq!(one.bytes, length.expect("is there"));
    }

    #[test]
    fn what_was_used_last_comes_last_also_if_nothing_was_written() {
        let top = tempfile::tempdir().expect("a folder");
        let folder = folder(top.path());
        let other = VolumeKey {
            uuid: [8; 16],
            ..KEY
        };
        drop(Store::open(&folder, &other).expect("is made"));
        drop(written(&folder, &[1]));
        let long_ago = SystemTime::now() - Duration::from_secs(9999);
        for key in [KEY, other] {
            let file = File::options()
                .append(true)
                .open(folder.path().join(key.file_name()));
            let set = file.and_then(|file| file.set_modified(long_ago));
            set.expect("is set");
        }
        drop(Store::open(&folder, &KEY).expect("is there"));
        let kept = folder.kept().expect("is listed");
        let names = kept.iter().map(|kept| kept.name.clone());
        assert_eq!(
            names.collect::<Vec<_>>(),
            [other, KEY].map(|key| key.file_name())
        );
    }

    #[test]
    fn what_is_in_use_stays_and_what_is_damaged_goes() {
        let top = tempfile::tempdir().expect("a folder");
        let folder = folder(top.path());
        let one = |folder: &CacheFolder| {
            let mut kept = folder.kept().expect("is listed");
            kept.pop().expect("one")
        };
        let store = written(&folder, &[1]);
        let in_use = folder.remove(&one(&folder));
        assert!(matches!(in_use, Err(CacheError::Busy)), "{in_use:?}");
        drop(store);
        assert_eq!(names(&folder), [KEY.file_name()]);
        folder.remove(&one(&folder)).expect("is removed");
        assert_eq!(names(&folder), Vec::<String>::new());
        fs::write(folder.path().join(KEY.file_name()), [b'x'; 5000]).expect("is written");
        let damaged = one(&folder);
        assert!(damaged.contents.is_err());
        folder.remove(&damaged).expect("is removed");
        assert_eq!(names(&folder), Vec::<String>::new());
    }

    #[test]
    fn a_database_of_another_program_stays() {
        let top = tempfile::tempdir().expect("a folder");
        let folder = folder(top.path());
        let path = folder.make(&KEY.file_name()).expect("is made");
        let sqlite = rusqlite::Connection::open(&path).expect("is opened");
        sqlite
            .execute_batch("CREATE TABLE theirs (word TEXT)")
            .expect("is made");
        drop(sqlite);
        let kept = folder.kept().expect("is listed");
        let refused = folder.remove(&kept[0]);
        assert!(matches!(refused, Err(CacheError::Foreign)), "{refused:?}");
        let unread = kept[0].contents.as_ref().expect_err("is not ours");
        assert!(!unread.needs_removal(), "clear would refuse it: {unread}");
        assert!(path.exists());
    }
}
