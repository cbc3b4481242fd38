//! `seekless cache` shows what is kept of which file system, and removes it.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use seekless::cache::{CacheFolder, VolumeKey};

use crate::common::{Run, Tree, seekless};

const DAY: Duration = Duration::from_secs(24 * 3600);

pub fn key(uuid: u8) -> VolumeKey {
    VolumeKey {
        uuid: [uuid; 16],
        subvolume: 0,
        by_path: false,
    }
}

/// A cache in `cache`, of file systems that a run used so many days ago.
pub fn with_cache<const N: usize>(ages: [(u8, u32); N]) -> Tree {
    let tree = Tree::new();
    let folder = CacheFolder::at(&tree.path("cache")).expect("is made");
    for (uuid, days) in ages {
        drop(folder.made(&key(uuid).file_name()).expect("is made"));
        let file = File::options().append(true).open(file(&tree, uuid));
        let set = file.and_then(|file| file.set_modified(SystemTime::now() - days * DAY));
        set.expect("is set");
    }
    tree
}

pub fn file(tree: &Tree, uuid: u8) -> PathBuf {
    tree.path("cache").join(key(uuid).file_name())
}

pub fn cache(tree: &Tree, arguments: &str) -> Run {
    let words = format!("cache {arguments} --cache cache");
    seekless(tree.root(), words.trim()).run()
}

/// Which of these file systems something is kept of.
pub fn left(tree: &Tree, uuids: &[u8]) -> Vec<u8> {
    let is_there = |uuid: &u8| file(tree, *uuid).exists();
    uuids.iter().copied().filter(is_there).collect()
}

#[test]
fn the_table_has_a_row_for_each_file_system_and_the_last_used_at_the_end() {
    let tree = with_cache([(1, 3), (2, 40)]);
    let said = cache(&tree, "").exits(0).stdout_text();
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    assert!(lines[0].starts_with("last used"), "{said}");
    assert!(lines[1] < lines[2], "{said}");
    assert!(lines[3].contains("of 2 file systems in "), "{said}");
}

#[test]
fn clear_removes_everything_that_is_kept_and_nothing_else() {
    let tree = with_cache([(1, 3), (2, 40)]);
    fs::write(tree.path("cache/notes"), "mine").expect("is written");
    // A folder that a search did not make may have such a file, too.
    fs::write(tree.path("cache/letters.rows"), "mine").expect("is written");
    cache(&tree, "--clear").exits(0).says("2 file systems");
    let folder = CacheFolder::existing(&tree.path("cache")).expect("is opened");
    let mut names = folder.expect("is there").names().expect("is listed");
    names.sort();
    assert_eq!(names, ["letters.rows", "notes"]);
}

#[test]
fn what_a_run_is_using_stays_and_is_named() {
    let tree = with_cache([(1, 3), (2, 40)]);
    let folder = CacheFolder::at(&tree.path("cache")).expect("is there");
    let used = folder.made(&key(1).file_name()).expect("is there");
    let run = cache(&tree, "--clear").exits(1);
    run.says("cannot remove it: another run is using it");
    assert_eq!(left(&tree, &[1, 2]), [1]);
    cache(&tree, "--clear").exits(2);
    drop(used);
    cache(&tree, "--clear").exits(0);
    assert_eq!(left(&tree, &[1, 2]), Vec::<u8>::new());
}
