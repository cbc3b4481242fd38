//! Files of the cache that no run can use: a line says so, and `seekless cache prune` removes those that are damaged.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use seekless::cache::VolumeKey;

use super::kept::{cache, file, left, with_cache};
use super::{ext4, old_pair};
use crate::common::{Run, Tree, seekless};

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

/// What can lie in the place of a file, and how it is made.
type Made = (&'static str, fn(&Path));

const KINDS: [Made; 4] = [
    ("a folder", |path| fs::create_dir(path).expect("is made")),
    ("a symbolic link", |path| {
        symlink("/etc/passwd", path).expect("is made");
    }),
    ("a FIFO", |path| {
        mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).expect("is made");
    }),
    ("a socket", |path| {
        drop(UnixListener::bind(path).expect("is bound"));
    }),
];

const DEVICE: Made = ("a device", |path| {
    // That of /dev/null.
    let null = makedev(1, 3);
    mknodat(CWD, path, FileType::CharacterDevice, Mode::RWXU, null).expect("is made");
});

fn remove(path: &Path) {
    match path.is_symlink() || !path.is_dir() {
        true => fs::remove_file(path).expect("is removed"),
        false => fs::remove_dir(path).expect("is removed"),
    }
}

/// The file of rows itself, and one beside it, with how a line about the file names them.
fn places(file: &Path) -> [(PathBuf, String); 2] {
    let log = PathBuf::from(format!("{}-wal", file.display()));
    let name = log.file_name().expect("a name").display().to_string();
    [
        (file.to_owned(), "it is".to_owned()),
        (log, format!("{name} beside it is")),
    ]
}

#[test]
fn what_is_no_file_is_named_once_and_left_alone_by_the_commands() {
    for (kind, make) in KINDS {
        for nth in 0..2 {
            let tree = with_cache([(1, 3), (2, 400)]);
            let (place, it) = &places(&file(&tree, 1))[nth];
            let _none = fs::remove_file(place);
            make(place);
            let said = format!("{it} {kind}, which seekless did not make; move it away or remove");
            let run = cache(&tree, "info").exits(1).says(&said);
            is_one_line(&run, &tree.path("cache"));
            cache(&tree, "prune").exits(1).says(&said);
            cache(&tree, "clear --yes").exits(2).says(&said);
            assert_eq!(left(&tree, &[1, 2]), [1_u8], "{kind}");
            assert!(fs::symlink_metadata(place).is_ok(), "{kind}");
        }
    }
}

/// The program said one line, with this path in it once.
fn is_one_line(run: &Run, path: &Path) {
    let said = run.stderr_text();
    let path = path.display().to_string();
    let counts = (said.lines().count(), said.matches(&path).count());
    assert_eq!(counts, (1, 1), "{said}");
}

#[test]
#[ignore = "needs root and loop devices"]
fn what_is_in_the_place_of_a_file_costs_a_line_also_in_the_default_folder() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let away = Tree::new();
    let dev = fs::metadata(volume.path()).expect("is there").dev();
    let key = VolumeKey::of(&volume.path(), dev).expect("has a name");
    let find = || {
        let find = seekless(tree.root(), "find -q -f nul t");
        let home = away.root().display().to_string();
        let run = find.env("XDG_CACHE_HOME", &home).run();
        run.exits(0).finds(["t/a t/b"])
    };
    find();
    let rows = away.path("seekless").join(key.file_name());
    assert!(rows.is_file());
    for (kind, make) in KINDS.into_iter().chain([DEVICE]) {
        for (place, it) in places(&rows) {
            let _none = fs::remove_file(&place);
            make(&place);
            let run = find().says(&format!("{it} {kind}, which seekless did not make"));
            is_one_line(&run, away.root());
            remove(&place);
            assert_eq!(find().stderr_text(), "", "{kind}");
        }
    }
}
