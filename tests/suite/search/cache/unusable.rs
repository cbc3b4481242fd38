//! Files of the cache that no run can use: a line says so, and `seekless cache prune` removes those that are damaged.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use seekless::cache::VolumeKey;

use super::kept::{cache, file, left, with_cache};
use super::{ext4, old_pair};
use crate::common::{Tree, seekless};

/// Overwrites the page of the index, which is read when rows are written.
fn damage_index(file: &Path) {
    let sqlite = rusqlite::Connection::open(file).expect("is opened");
    let number = |select: &str| -> usize {
        let number = sqlite.query_row(select, [], |row| row.get::<_, i64>(0));
        number.expect("a number") as usize
    };
    let page = number("SELECT rootpage FROM sqlite_schema WHERE name = 'pack_used'");
    let length = number("PRAGMA page_size");
    drop(sqlite);
    let mut bytes = fs::read(file).expect("is read");
    bytes[(page - 1) * length..page * length].fill(0xff);
    fs::write(file, bytes).expect("is written");
}

#[test]
fn prune_removes_what_is_damaged_anywhere_and_what_another_version_left() {
    let tree = with_cache([(1, 3), (2, 3), (3, 3), (4, 3), (5, 400)]);
    fs::write(file(&tree, 2), [b'x'; 5000]).expect("is written");
    damage_index(&file(&tree, 3));
    let mut bytes = fs::read(file(&tree, 4)).expect("is read");
    // The version, in the header of the file.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(file(&tree, 4), bytes).expect("is written");
    let run = cache(&tree, "info").exits(1);
    assert_eq!(run.stderr_text().matches("removes it").count(), 3, "{run}");
    let run = cache(&tree, "prune").exits(0).says("of 4 file systems (");
    run.says("; 3 of them were damaged or of another version (");
    assert_eq!(left(&tree, &[1, 2, 3, 4, 5]), [1]);
    cache(&tree, "info").exits(0);
    let run = cache(&tree, "prune").exits(0).says("Nothing to remove.");
    run.never_says("damaged");
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_damaged_file_costs_the_rows_of_its_file_system_and_prune_puts_it_right() {
    let volumes = [ext4(), ext4()];
    let trees = volumes.each_ref().map(old_pair);
    let away = Tree::new();
    let find = || {
        let find = seekless(away.root(), "find -q -f json --cache cache");
        let find = trees.iter().fold(find, |find, tree| find.arg(tree.root()));
        let run = find.run().exits(0);
        let cached = run.json()["summary"]["cached_files"].as_u64();
        (run, cached.unwrap_or_default())
    };
    find();
    let (run, cached) = find();
    assert_eq!(cached, 4, "{run}");
    let dev = fs::metadata(volumes[0].path()).expect("is there").dev();
    let key = VolumeKey::of(&volumes[0].path(), dev).expect("has a name");
    fs::write(away.path("cache").join(key.file_name()), [b'x'; 5000]).expect("is written");
    let (run, cached) = find();
    assert_eq!(cached, 2, "{run}");
    let prune = format!(
        "'seekless cache prune --cache {}'",
        away.path("cache").display()
    );
    let run = run.says(&key.file_name()).says(&prune);
    assert_eq!(run.stderr_text().lines().count(), 1, "{run}");
    cache(&away, "prune").exits(0).says("1 of them was damaged");
    assert_eq!(find().1, 2);
    assert_eq!(find().1, 4);
}
