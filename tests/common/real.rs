//! A tree of real files: copies of what lies about on every machine, some of them changed.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Larger ones would take room and show nothing more.
const LARGEST: u64 = 1 << 20;

/// How many files: `SEEKLESS_FILES`, or a few.
pub fn files() -> usize {
    let said = std::env::var("SEEKLESS_FILES").ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(3000)
}

/// Fills a folder with so many files, of which about half have a copy: programs, libraries, sources.
///
/// Of the copies every seventh has another byte, every fifth another mode, and all have times of their own.
pub fn fill(top: &Path, files: usize) {
    let home = std::env::home_dir().unwrap_or_default();
    let sources = [
        home.join(".cargo/registry"),
        home.join(".rustup"),
        PathBuf::from("/usr"),
    ];
    let entries = sources
        .iter()
        .flat_map(|source| walkdir::WalkDir::new(source).sort_by_file_name());
    let entries = entries.filter_map(Result::ok);
    let found = entries.filter(|entry| {
        entry
            .metadata()
            .is_ok_and(|found| found.is_file() && (1..=LARGEST).contains(&found.len()))
    });
    let mut copied = 0;
    for (number, entry) in found.take(files / 2).enumerate() {
        for side in ["one", "two"] {
            let relative = entry.path().strip_prefix("/").expect("absolute");
            let path = top.join(side).join(relative);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, fs::read(entry.path()).expect("a file")).expect("written");
            let file = File::options().write(true).open(&path).expect("opened");
            if side == "two" && number % 7 == 0 {
                let last = entry.metadata().expect("metadata").len() - 1;
                file.write_all_at(b"\xfe", last).expect("written");
            }
            let mode = match (side, number % 5) {
                ("two", 0) => 0o600,
                _ => 0o644,
            };
            let seconds = 1_000_000_000 + copied;
            let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 987_654_321);
            let times = FileTimes::new().set_modified(time);
            file.set_times(times).expect("times");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("mode");
            copied += 1;
        }
    }
    assert_eq!(
        copied,
        files as u64 / 2 * 2,
        "this machine has not as many files"
    );
}

/// What one sees of a file: mode, owner, time, and its content by a digest.
pub type Looks = (u32, u32, (i64, i64), blake3::Hash);

/// All files below a folder.
pub fn looks(top: &Path) -> BTreeMap<PathBuf, Looks> {
    let entries = walkdir::WalkDir::new(top).into_iter();
    let entries = entries.map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| !entry.file_type().is_dir());
    files
        .map(|entry| {
            let now = entry.metadata().expect("metadata");
            assert!(now.is_file());
            let content = fs::read(entry.path()).expect("a file");
            let times = (now.mtime(), now.mtime_nsec());
            let looks = (now.mode(), now.uid(), times, blake3::hash(&content));
            (entry.into_path(), looks)
        })
        .collect()
}

/// Inodes with more than one name below a folder.
pub fn linked(top: &Path) -> usize {
    let entries = walkdir::WalkDir::new(top).into_iter();
    let entries = entries.filter_map(|entry| entry.expect("an entry").metadata().ok());
    entries
        .filter(|now| now.is_file() && now.nlink() > 1)
        .count()
}
