//! Where no digests are wanted, large files in the page cache are compared, and what that showed is kept.

use std::fs::{self, File, FileTimes};
use std::path::PathBuf;

use super::{Answer, Runs, ext4, search_for, tick};
use crate::common::volume::Volume;
use crate::common::{Tree, noise};

/// Bytes of each file, in a length that is compared.
const LENGTH: usize = 300_000;

/// A content like all others of this length but for its middle.
fn content(middle: u8) -> Vec<u8> {
    let mut content = noise(1, LENGTH);
    content[LENGTH / 2] = middle;
    content
}

struct Searches {
    tree: Tree,
    runs: Runs,
    _volume: Volume,
    _away: Tree,
}

impl Searches {
    /// Of files that were just written, so that they are in the page cache.
    fn of(files: &[(&str, u8)]) -> Self {
        let volume = ext4();
        let tree = Tree::inside(&volume.path());
        for (name, middle) in files {
            tree.write(name, content(*middle));
        }
        let away = Tree::new();
        Self {
            runs: Runs::new(away.path("cache")),
            tree,
            _volume: volume,
            _away: away,
        }
    }

    fn roots(&self) -> [PathBuf; 1] {
        [self.tree.root().to_owned()]
    }

    /// Searches with the cache, for what a search without it finds.
    fn search(&mut self) -> Answer {
        let roots = self.roots();
        let with = search_for(&roots, Some(self.runs.later()), false);
        assert_eq!(with.problems, Vec::<String>::new());
        assert_eq!(with.sets, search_for(&roots, None, false).sets);
        with
    }

    /// How many files a search with the cache reads whole.
    fn files_read(&mut self) -> u64 {
        let answer = self.search();
        let whole = answer.summary.stages.iter();
        let whole = whole.filter(|stage| matches!(stage.name, "content" | "compare"));
        let bytes: u64 = whole.map(|stage| stage.bytes_read).sum();
        bytes.div_ceil(LENGTH as u64)
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn files_that_were_compared_are_not_read_again() {
    let mut searches = Searches::of(&[("a", 1), ("b", 1), ("c", 2), ("d", 3), ("e", 3)]);
    let first = searches.search();
    assert!(first.bytes_read() > 4 * LENGTH as u64);
    for _ in 0..2 {
        let again = searches.search();
        assert_eq!(again.bytes_read(), 0, "{:?}", again.summary.stages);
        assert!(again.summary.cached.bytes >= 5 * LENGTH as u64);
        assert_eq!(again.summary.cached.files, 5);
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_new_file_is_compared_with_one_of_each_content() {
    let mut searches = Searches::of(&[("a", 1), ("b", 1), ("c", 1), ("d", 2), ("e", 2)]);
    assert_eq!(searches.files_read(), 5);
    searches.tree.write("new", content(1));
    tick(&searches.tree.root().join(".."));
    assert_eq!(searches.files_read(), 3);
    assert_eq!(searches.files_read(), 0);
    searches.tree.write("other", content(3));
    searches.tree.write("d", content(3));
    tick(&searches.tree.root().join(".."));
    // Two contents are known, and two files are not.
    assert_eq!(searches.files_read(), 4);
    assert_eq!(searches.files_read(), 0);
}

/// What `--cache mtime` lets pass stays at its level, whichever of the files is compared for the others.
#[test]
#[ignore = "needs root and loop devices"]
fn what_is_known_by_the_mtime_is_not_kept_as_what_was_compared() {
    const COPIES: [&str; 3] = ["a", "b", "c"];
    let mut searches = Searches::of(&[]);
    // Of a length of their own each: another one is changed.
    let content = |changed: usize, middle| {
        let mut content = content(middle);
        content.truncate(LENGTH - changed);
        content
    };
    for changed in 0..COPIES.len() {
        for name in COPIES {
            let path = format!("{changed}/{name}");
            searches.tree.write(path, content(changed, 1));
        }
    }
    let roots = searches.roots();
    let mut by_mtime = Runs::by_mtime(searches.runs.folder.clone());
    search_for(&roots, Some(by_mtime.later()), false);
    tick(&searches.tree.root().join(".."));
    for (changed, name) in COPIES.iter().enumerate() {
        let path = searches.tree.path(format!("{changed}/{name}"));
        let modified = fs::metadata(&path).and_then(|meta| meta.modified());
        let times = FileTimes::new().set_modified(modified.expect("has a time"));
        fs::write(&path, content(changed, 2)).expect("is written");
        let file = File::options().write(true).open(&path);
        file.and_then(|file| file.set_times(times)).expect("is set");
        let new = format!("{changed}/new");
        searches.tree.write(new, content(changed, 1));
    }
    tick(&searches.tree.root().join(".."));
    let accepted = search_for(&roots, Some(by_mtime.later()), false);
    assert_ne!(accepted.sets, search_for(&roots, None, false).sets);
    searches.runs.ahead = by_mtime.ahead;
    // It reads the samples that rows of changed files lack, and compares nothing.
    search_for(&roots, Some(searches.runs.later()), true);
    searches.search();
}
