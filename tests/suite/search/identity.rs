//! Which files are one file, and which folders one folder, where device and inode numbers do not tell:
//! file systems that show others, mounts over folders, numbers that change. Root only.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::volume::{Mounted, Volume};
use crate::common::{Run, Tree, noise, seekless};

/// Where a file is for the kernel.
fn identity(path: &Path) -> (u64, u64) {
    let found = fs::symlink_metadata(path).expect("metadata");
    (found.dev(), found.ino())
}

const SIZES: [usize; 3] = [2_000, 30_000, 300_000];

/// Two file systems that were made the same way: what was made in the same order has the same inode number.
///
/// Each holds `KIND/SIZE`: `other` are files of one length and different bytes, `equal` are the same on both,
/// and `alone` have lengths of their own. All have one name.
struct Twins {
    a: Volume,
    b: Volume,
}

impl Twins {
    /// `same_folders`: the folders have equal numbers too.
    fn new(kind: &str, mebibytes: u64, options: &str, same_folders: bool) -> Self {
        let twins = Self {
            a: Volume::on_loop(kind, mebibytes, options),
            b: Volume::on_loop(kind, mebibytes, options),
        };
        for (side, volume) in [(0, &twins.a), (1, &twins.b)] {
            let top = volume.path();
            let _ = fs::remove_dir(top.join("lost+found"));
            let spare = top.join("spare");
            if side == 1 && !same_folders {
                fs::create_dir(&spare).expect("a folder");
            }
            let folder = top.join(["left", "right"][side]);
            fs::create_dir(&folder).expect("a folder");
            if side == 0 && !same_folders {
                fs::create_dir(&spare).expect("a folder");
            }
            for (number, size) in SIZES.into_iter().enumerate() {
                let number = number as u64;
                let own = 10 * (number + 1) + side as u64;
                let write = |name: &str, bytes: &[u8]| {
                    fs::write(folder.join(format!("{name}-{size}")), bytes).expect("written");
                };
                write("other", &noise(own, size));
                write("equal", &noise(1000 + number, size));
                write("alone", &noise(own + 500, size + 1 + side));
            }
            if !same_folders {
                fs::remove_dir(&spare).expect("removed");
            }
        }
        twins
    }

    /// Both below one folder, which is shown again by another file system.
    fn bindfs(&self) -> View {
        let tree = Tree::new().folder("both/a").folder("both/b").folder("view");
        let bind = |volume: &Volume, name: &str| {
            Mounted::new(
                &format!("--bind {}", volume.path().display()),
                tree.path(name),
            )
        };
        let inner = vec![bind(&self.a, "both/a"), bind(&self.b, "both/b")];
        let both = tree.path("both");
        let view = Mounted::by(&format!("bindfs {}", both.display()), tree.path("view"));
        View {
            _view: view,
            _inner: inner,
            tree,
            places: ["view/a/left", "view/b/right"],
        }
    }

    /// One over the other by another file system.
    fn merged(&self, command: impl FnOnce(&Path, &Path) -> String) -> View {
        let tree = Tree::new().folder("view");
        let command = command(&self.a.path(), &self.b.path());
        View {
            _view: Mounted::by(&command, tree.path("view")),
            _inner: Vec::new(),
            tree,
            places: ["view/left", "view/right"],
        }
    }

    fn mergerfs(&self) -> View {
        self.merged(|a, b| {
            let branches = format!("{}:{}", a.display(), b.display());
            format!("mergerfs -o use_ino,inodecalc=passthrough,cache.files=off {branches}")
        })
    }

    fn overlay(&self) -> View {
        self.merged(|a, b| {
            let layers = format!("lowerdir={}:{}", a.display(), b.display());
            format!("mount -t overlay -o ro,xino=off,{layers} none")
        })
    }
}

/// A tree in which `view` shows both twins.
struct View {
    // What is on top goes first.
    _view: Mounted,
    _inner: Vec<Mounted>,
    tree: Tree,
    /// Where the two folders are.
    places: [&'static str; 2],
}

impl View {
    fn name(&self, side: usize, kind: &str, size: usize) -> String {
        format!("{}/{kind}-{size}", self.places[side])
    }

    /// Insists that numbers are as equal as this is about.
    fn collides(self) -> Self {
        for kind in ["other", "equal"] {
            for size in SIZES {
                let [one, other] =
                    [0, 1].map(|side| identity(&self.tree.path(self.name(side, kind, size))));
                assert_eq!(one, other, "{kind} {size} have numbers of their own");
            }
        }
        self
    }

    fn find(&self, arguments: &str) -> Run {
        let arguments = format!("find -f json {arguments}");
        seekless(self.tree.root(), &arguments).run().exits(0)
    }

    /// Everything that must be true of it, in every mix of options.
    fn is_understood(&self) {
        let view = "view";
        let sides = self.places.join(" ");
        let equal: BTreeSet<String> = SIZES
            .iter()
            .map(|size| [0, 1].map(|side| self.name(side, "equal", *size)).join(" "))
            .collect();
        let unique: BTreeSet<String> = ["other", "alone"]
            .iter()
            .flat_map(|kind| SIZES.map(|size| [0, 1].map(|side| self.name(side, kind, size))))
            .flatten()
            .collect();
        let mut wrong = String::new();
        for (options, roots, expected) in [
            ("", view, &equal),
            ("--verify", view, &equal),
            ("-H", view, &equal),
            ("-H --verify", view, &equal),
            ("--digest=when-needed", view, &equal),
            ("-L", view, &equal),
            ("-L -H", view, &equal),
            ("", &sides, &equal),
            ("-I", &sides, &equal),
            ("-I -H", &sides, &equal),
            ("--unique", view, &unique),
            ("--unique -H", view, &unique),
            ("--unique -L", view, &unique),
            ("--unique -I", &sides, &unique),
            ("--unique -I -H", &sides, &unique),
        ] {
            let run = self.find(&format!("{options} {roots}"));
            let found = shown(&run);
            let files = run.json()["summary"]["files"].as_u64();
            if found != *expected || files != Some(6 * SIZES.len() as u64) {
                wrong += &format!("{options} {roots}: {files:?} files, {found:#?}\n");
            }
        }
        assert!(
            wrong.is_empty(),
            "expected {equal:#?} or {unique:#?}\n{wrong}"
        );
    }
}

/// Each set as its files, each file as its names: `a=b c`.
fn shown(run: &Run) -> BTreeSet<String> {
    let text = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
    let file = |names: &BTreeSet<Vec<u8>>| names.iter().map(text).collect::<Vec<_>>().join("=");
    run.file_sets()
        .iter()
        .map(|set| set.iter().map(file).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
#[ignore = "mounts file systems, needs bindfs: root only"]
fn files_with_equal_numbers_below_bindfs_are_different_files() {
    let twins = Twins::new("ext4", 32, "", false);
    twins.bindfs().collides().is_understood();
}

#[test]
#[ignore = "mounts file systems, needs bindfs: root only"]
fn folders_with_equal_numbers_below_bindfs_are_different_folders() {
    let twins = Twins::new("ext4", 32, "", true);
    let view = twins.bindfs().collides();
    let [one, other] = view.places.map(|place| identity(&view.tree.path(place)));
    assert_eq!(one, other);
    view.is_understood();
    let folders = view.find("view").json()["summary"]["folders"].as_u64();
    assert_eq!(folders, Some(5), "not all were listed");
}

#[test]
#[ignore = "mounts file systems, needs mergerfs: root only"]
fn files_with_equal_numbers_below_mergerfs_are_different_files() {
    for same_folders in [false, true] {
        let twins = Twins::new("ext4", 32, "", same_folders);
        twins.mergerfs().collides().is_understood();
    }
}

#[test]
#[ignore = "mounts file systems: root only"]
fn files_with_equal_numbers_below_overlayfs_are_different_files() {
    for same_folders in [false, true] {
        let twins = Twins::new("ext4", 32, "", same_folders);
        twins.overlay().is_understood();
    }
}

#[test]
#[ignore = "mounts file systems, needs bindfs: root only"]
fn files_with_equal_numbers_on_xfs_and_btrfs_below_bindfs_are_different_files() {
    // On xfs, folders that are not made at the same turn lie in different allocation groups.
    for (kind, mebibytes, same_folders) in [("xfs", 320, true), ("btrfs", 128, false)] {
        let twins = Twins::new(kind, mebibytes, "", same_folders);
        twins.bindfs().collides().is_understood();
    }
}

#[test]
#[ignore = "mounts file systems, needs bindfs and mergerfs: root only"]
fn of_files_with_equal_numbers_no_action_takes_the_last_content() {
    for command in ["remove", "hardlink", "symlink", "remove --trash"] {
        let twins = Twins::new("ext4", 32, "", false);
        for view in [twins.bindfs(), twins.mergerfs()] {
            let view = view.collides();
            let before = contents(&view.tree.path("view"));
            assert_eq!(before.len(), 5 * SIZES.len());
            let state = tempfile::tempdir().expect("a folder");
            let state = state.path().to_str().expect("plain");
            let run = seekless(view.tree.root(), &format!("{command} --yes view"))
                .env("XDG_STATE_HOME", state)
                .env("XDG_DATA_HOME", state)
                .run();
            assert!([0, 1].contains(&run.code()), "{run}");
            let after = contents(&view.tree.path("view"));
            assert_eq!(before, after, "{command}: a content is gone\n{run}");
        }
    }
}

/// All contents below a folder, links followed.
fn contents(top: &Path) -> BTreeSet<[u8; 32]> {
    let entries = walkdir::WalkDir::new(top).follow_links(true).into_iter();
    let entries = entries.map(|entry| entry.expect("an entry"));
    entries
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let mut bytes = Vec::new();
            let mut file = fs::File::open(entry.path()).expect("a file");
            file.read_to_end(&mut bytes).expect("bytes");
            *blake3::hash(&bytes).as_bytes()
        })
        .collect()
}
