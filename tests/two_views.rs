//! A file that is seen through two mounts looks like two files, since nothing tells that it is one. Whatever is
//! done to one of the two, the file is there afterwards. Root only.

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use common::volume::Mounted;
use common::{Run, Tree, noise, seekless};
use tempfile::TempDir;

/// `store` and two views of it, `one` and `two`.
struct Views {
    _views: [Mounted; 2],
    tree: Tree,
    state: TempDir,
    /// Everything below `store`.
    before: Vec<Entry>,
}

/// Path, mode, time, links, content.
type Entry = (PathBuf, u32, (i64, i64), u64, Vec<u8>);

/// How long the kernel may answer by itself what it once asked the daemon.
const CACHES: [&str; 3] = [
    "",
    "-o attr_timeout=60,entry_timeout=60",
    "-o attr_timeout=0,entry_timeout=0",
];

impl Views {
    fn new(options: &str) -> Self {
        let tree = Tree::new().folder("one").folder("two").folder("to");
        for (name, size) in [("small", 700), ("deep/medium", 50_000), ("deep/er/large", 300_000)] {
            tree.write(format!("store/{name}"), noise(size, size as usize));
        }
        tree.set_mode("store/small", 0o640);
        let store = tree.path("store");
        let bindfs = format!("bindfs {options} {}", store.display());
        let view = |name: &str| Mounted::by(&bindfs, tree.path(name));
        let mut views = Self {
            _views: [view("one"), view("two")],
            tree,
            state: tempfile::tempdir().expect("a folder"),
            before: Vec::new(),
        };
        views.before = views.entries();
        assert_eq!(views.before.len(), 5);
        views
    }

    fn entries(&self) -> Vec<Entry> {
        let store = self.tree.path("store");
        let entries = walkdir::WalkDir::new(&store).min_depth(1).sort_by_file_name();
        let entries = entries.into_iter().map(|entry| entry.expect("an entry"));
        entries
            .map(|entry| {
                let now = entry.metadata().expect("metadata");
                let mode = now.permissions().mode();
                let path = entry.path().strip_prefix(&store).expect("below").to_owned();
                match now.is_file() {
                    true => {
                        let content = fs::read(entry.path()).expect("a file");
                        let times = (now.mtime(), now.mtime_nsec());
                        (path, mode, times, now.nlink(), content)
                    }
                    // What is made and removed in a folder changes its time.
                    false => (path, mode, (0, 0), 0, Vec::new()),
                }
            })
            .collect()
    }

    fn run(&self, arguments: &str) -> Run {
        let state = self.state.path().to_str().expect("plain");
        seekless(self.tree.root(), arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
            .run()
    }

    /// Names of files below a folder.
    fn files(&self, folder: &str) -> Vec<PathBuf> {
        let entries = walkdir::WalkDir::new(self.tree.path(folder)).into_iter();
        let entries = entries.map(|entry| entry.expect("an entry"));
        let files = entries.filter(|entry| !entry.file_type().is_dir());
        files.map(walkdir::DirEntry::into_path).collect()
    }
}

/// Does it to every file, whichever view is kept, with every cache: everything is as before.
fn survives(action: &str) {
    for options in CACHES {
        for roots in ["one two", "two one", "two/deep one"] {
            for ways in ["", "--trust-hash"] {
                if action == "reflink" && !ways.is_empty() {
                    continue;
                }
                survives_with(&Views::new(options), &format!("{action} {ways} --yes"), roots);
            }
        }
    }
}

fn survives_with(views: &Views, action: &str, roots: &str) {
    // Both are looked at, so that what the kernel remembers is of both.
    let found = views.run(&format!("find -f json {roots}")).exits(0);
    let sets = found.file_sets().len();
    assert!(sets >= 2, "nobody can tell, and yet it is told\n{found}");
    let run = views.run(&format!("{action} {roots}"));
    let after = views.entries();
    let names = |entries: &[Entry]| -> Vec<PathBuf> {
        entries.iter().map(|entry| entry.0.clone()).collect()
    };
    let context = format!("{action} {roots}\n{run}");
    assert_eq!(names(&after), names(&views.before), "{context}");
    assert!(after == views.before, "something is not as it was: {context}");
    for view in ["one", "two"] {
        for (path, _, _, links, content) in &views.before {
            let seen = fs::read(views.tree.path(view).join(path));
            let is_there = *links == 0 || seen.as_ref().is_ok_and(|seen| seen == content);
            assert!(is_there, "{view}/{}: {context}", path.display());
        }
    }
    assert!(views.files("to").is_empty(), "{context}");
    let state = views.files(".");
    let left: Vec<_> = state
        .iter()
        .filter(|path| path.to_string_lossy().contains(".seekless-"))
        .collect();
    assert!(left.is_empty(), "{left:?} {context}");
    // Every file is named, with the reason.
    assert_eq!(run.code(), 1, "{context}");
}

#[test]
#[ignore = "mounts views, needs bindfs: root only"]
fn a_file_seen_twice_survives_remove() {
    survives("remove");
}

#[test]
#[ignore = "mounts views, needs bindfs: root only"]
fn a_file_seen_twice_survives_remove_to_the_trash() {
    survives("remove --trash");
}

#[test]
#[ignore = "mounts views, needs bindfs: root only"]
fn a_file_seen_twice_survives_symlink() {
    survives("symlink");
}

#[test]
#[ignore = "mounts views, needs bindfs: root only"]
fn a_file_seen_twice_survives_hardlink() {
    survives("hardlink");
}

#[test]
#[ignore = "mounts views, needs bindfs: root only"]
fn a_file_seen_twice_survives_move() {
    survives("move --to to");
}

#[test]
#[ignore = "mounts views, needs bindfs: root only"]
fn a_file_seen_twice_survives_reflink() {
    survives("reflink");
}
