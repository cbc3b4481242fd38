//! Which files are one file, and which folders one folder, where device and inode numbers do not tell:
//! file systems that show others, mounts over folders, numbers that change. Root only.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::common::volume::{Mounted, Volume, sh};
use crate::common::{Run, Tree, noise, seekless};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

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
fn files_with_equal_numbers_and_several_names_are_not_mixed() {
    let twins = Twins::new("ext4", 32, "", false);
    for (volume, folder) in [(&twins.a, "left"), (&twins.b, "right")] {
        for kind in ["other", "equal"] {
            for size in SIZES {
                let file = volume.path().join(format!("{folder}/{kind}-{size}"));
                let again = volume.path().join(format!("{folder}/again-{kind}-{size}"));
                fs::hard_link(file, again).expect("linked");
            }
        }
    }
    let mut wrong = String::new();
    for view in [twins.bindfs(), twins.mergerfs()] {
        let view = view.collides();
        let sides = view.places.join(" ");
        for options in [
            "",
            "-H",
            "--verify",
            "-I",
            "-I -H",
            "-L",
            "--unique",
            "--unique -I",
        ] {
            let run = view.find(&format!("{options} {sides}"));
            let mut listed = BTreeSet::new();
            for set in run.file_sets() {
                let names: Vec<PathBuf> = set
                    .iter()
                    .flatten()
                    .map(|name| view.tree.path(name))
                    .collect();
                let contents: BTreeSet<[u8; 32]> = names
                    .iter()
                    .map(|name| *blake3::hash(&fs::read(name).expect("a file")).as_bytes())
                    .collect();
                if contents.len() > 1 {
                    wrong += &format!("{options} {sides}: one set of {names:?}\n");
                }
                listed.extend(contents);
            }
            // Nobody can tell whether two names on one side are one file: both answers will do.
            if options == "--unique" {
                continue;
            }
            // Every content that is asked for is there under one of its names.
            let kind = match options.contains("--unique") {
                true => "other",
                false => "equal",
            };
            for side in [0, 1] {
                for size in SIZES {
                    let name = view.name(side, kind, size);
                    let content = fs::read(view.tree.path(&name)).expect("a file");
                    if !listed.contains(blake3::hash(&content).as_bytes()) {
                        wrong += &format!("{options} {sides}: {name} is missing\n");
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
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

#[test]
#[ignore = "mounts file systems, needs bindfs: root only"]
fn a_snapshot_seen_through_bindfs_is_another_file() {
    let volume = Volume::on_loop("btrfs", 128, "");
    let top = volume.path();
    let make = |line: &str| sh(&format!("btrfs -q subvolume {line}"));
    make(&format!("create {}", top.join("now").display()));
    for (number, name) in ["same", "edited"].iter().enumerate() {
        let path = top.join("now").join(name);
        fs::write(path, noise(number as u64, 200_000)).expect("written");
    }
    sh("sync");
    let (now, then) = (top.join("now"), top.join("then"));
    make(&format!("snapshot {} {}", now.display(), then.display()));
    make(&format!("create {}", top.join("fresh").display()));
    fs::write(top.join("fresh/other"), noise(7, 200_000)).expect("written");
    fs::write(now.join("edited"), noise(8, 200_000)).expect("written");
    assert_eq!(
        identity(&now.join("same")).1,
        identity(&top.join("fresh/other")).1
    );
    let tree = Tree::new().folder("view");
    let view = Mounted::by(&format!("bindfs {}", top.display()), tree.path("view"));
    assert_eq!(
        identity(&view.path().join("now/same")),
        identity(&view.path().join("then/same"))
    );
    let prefix = top.display();
    for options in ["", "-H", "-I", "--verify", "-H -I --verify"] {
        // As it is, with a device number for each subvolume, and as others show it, with one for all.
        for (folder, roots) in [
            (top.as_path(), "now then fresh"),
            (tree.root(), "view/now view/then view/fresh"),
        ] {
            let run = seekless(folder, &format!("find -f json {options} {roots}"));
            let run = run.run().exits(0);
            let [first, second, _] = roots.split(' ').collect::<Vec<_>>()[..] else {
                unreachable!("three")
            };
            let expected = BTreeSet::from([format!("{first}/same {second}/same")]);
            assert_eq!(shown(&run), expected, "{options} below {prefix}\n{run}");
        }
    }
    let run = seekless(tree.root(), "find -f json --unique -H view")
        .run()
        .exits(0);
    let unique = ["fresh/other", "now/edited", "then/edited"];
    let unique = unique.map(|name| format!("view/{name}"));
    assert_eq!(shown(&run), unique.into(), "{run}");
}

/// All that a run may do to a folder in which something is its own duplicate, if it is misled.
fn is_left_alone(tree: &Tree, roots: &str, file: &str) {
    let mut wrong = String::new();
    for options in ["", "-H", "-I", "-I -H", "--verify", "-L", "-L -H"] {
        if options.contains("-I") && !roots.contains(' ') {
            continue;
        }
        let run = seekless(tree.root(), &format!("find -f json {options} {roots}"));
        let sets = shown(&run.run().exits(0));
        if !sets.is_empty() {
            wrong += &format!("{options} {roots}: {sets:?}\n");
        }
    }
    assert!(wrong.is_empty(), "one file is shown as several\n{wrong}");
    let content = fs::read(tree.path(file)).expect("a file");
    for command in [
        "remove",
        "remove --allow uncompared",
        "hardlink",
        "symlink",
        "remove --trash",
    ] {
        let state = tempfile::tempdir().expect("a folder");
        let state = state.path().to_str().expect("plain");
        let run = seekless(tree.root(), &format!("{command} --yes {roots}"))
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
            .run()
            .exits(0);
        let now = fs::symlink_metadata(tree.path(file)).expect("it is there");
        assert!(now.is_file() && now.nlink() == 1, "{command}\n{run}");
        assert!(
            fs::read(tree.path(file)).is_ok_and(|now| now == content),
            "{run}"
        );
    }
}

#[test]
#[ignore = "mounts folders: root only"]
fn a_folder_that_is_mounted_again_elsewhere_is_one_folder() {
    let tree = Tree::new()
        .file("dir/deep/f", noise(1, 5000))
        .folder("again");
    let dir = tree.path("dir");
    let _again = Mounted::new(&format!("--bind {}", dir.display()), tree.path("again"));
    for roots in [
        ".",
        "dir again",
        "again dir",
        "dir/deep again",
        "again/deep .",
    ] {
        is_left_alone(&tree, roots, "dir/deep/f");
    }
}

#[test]
#[ignore = "mounts folders: root only"]
fn a_part_of_a_folder_that_is_mounted_elsewhere_is_one_folder() {
    let tree = Tree::new()
        .file("dir/deep/f", noise(1, 5000))
        .file("other/f", noise(2, 5000))
        .folder("other/again");
    let deep = tree.path("dir/deep");
    let _again = Mounted::new(
        &format!("--bind {}", deep.display()),
        tree.path("other/again"),
    );
    for roots in [".", "dir other", "other dir", "other/again dir"] {
        is_left_alone(&tree, roots, "dir/deep/f");
    }
}

#[test]
#[ignore = "mounts files: root only"]
fn a_file_that_is_mounted_on_another_name_is_one_file() {
    let tree = Tree::new()
        .file("dir/f", noise(1, 5000))
        .file("dir/g", "covered")
        .file("other/h", "covered too");
    let f = tree.path("dir/f");
    let bind = format!("--bind {}", f.display());
    let _mounts = [
        Mounted::new(&bind, tree.path("dir/g")),
        Mounted::new(&bind, tree.path("other/h")),
    ];
    for roots in [
        ".",
        "dir other",
        "other dir",
        "dir/g dir/f",
        "other/h dir/f",
    ] {
        is_left_alone(&tree, roots, "dir/f");
    }
}

#[test]
#[ignore = "mounts file systems: root only"]
fn a_file_system_that_is_mounted_twice_is_one() {
    let volume = Volume::on_loop("ext4", 32, "");
    fs::create_dir(volume.path().join("dir")).expect("a folder");
    fs::write(volume.path().join("dir/f"), noise(1, 5000)).expect("written");
    let tree = Tree::new().folder("one").folder("two");
    let bind = format!("--bind {}", volume.path().display());
    let _mounts = ["one", "two"].map(|name| Mounted::new(&bind, tree.path(name)));
    for roots in [".", "one two", "two one/dir"] {
        is_left_alone(&tree, roots, "one/dir/f");
    }
}

/// `T/dir` is covered by memory; `U` shows `T` without what is mounted in it, so `U/dir` is what is covered.
struct OverMounted {
    _mounts: [Mounted; 2],
    tree: Tree,
}

impl OverMounted {
    fn new() -> Self {
        let tree = Tree::new()
            .copies(["T/keep", "T/dir/below"], noise(1, 5000))
            .copies(["T/dir/one", "T/dir/deep/two"], noise(2, 5000))
            .file("T/dir/deep/alone", noise(3, 6000))
            .folder("U");
        let over = Mounted::new("-t tmpfs none", tree.path("T/dir"));
        let t = tree.path("T");
        let again = Mounted::new(&format!("--bind {}", t.display()), tree.path("U"));
        tree.write("T/dir/up", noise(4, 5000));
        tree.write("T/up", noise(4, 5000));
        Self {
            _mounts: [again, over],
            tree,
        }
    }
}

#[test]
#[ignore = "mounts folders: root only"]
fn a_folder_that_is_covered_in_one_place_is_listed_in_the_other() {
    let scene = OverMounted::new();
    // T and U are one folder but for what is mounted: which of the two names is shown depends on the order.
    let plain = |run: &Run| -> BTreeSet<BTreeSet<String>> {
        let member = |name: &str| {
            let (root, rest) = name.split_once('/').expect("below a root");
            match rest.starts_with("dir/") {
                true => format!("{root}/{rest}"),
                false => format!("?/{rest}"),
            }
        };
        let sets = shown(run);
        let sets = sets.iter();
        sets.map(|set| set.split(' ').map(member).collect())
            .collect()
    };
    let expected: BTreeSet<BTreeSet<String>> = [
        ["?/keep", "U/dir/below"],
        ["U/dir/one", "U/dir/deep/two"],
        ["?/up", "T/dir/up"],
    ]
    .map(|set| set.map(str::to_owned).into())
    .into();
    for options in ["", "-H", "--verify", "-L", "-L -H"] {
        for roots in ["T U", "U T", "."] {
            let run = seekless(
                scene.tree.root(),
                &format!("find -f json {options} {roots}"),
            );
            let run = run.run().exits(0);
            assert_eq!(plain(&run), expected, "{options} {roots}\n{run}");
        }
    }
    for roots in ["T U", "U T"] {
        let run = seekless(scene.tree.root(), &format!("find -f json --unique {roots}"));
        let run = run.run().exits(0);
        let expected = BTreeSet::from(["U/dir/deep/alone".to_owned()]);
        assert_eq!(shown(&run), expected, "{roots}\n{run}");
        // T, T/dir, U/dir, U/dir/deep, and U itself if it was listed again.
        let folders = run.json()["summary"]["folders"].as_u64().expect("a number");
        assert!((4..=5).contains(&folders), "{run}");
    }
}

/// Stops a run at its first opening of a file in a folder, does something, and lets it go on.
fn interrupt(folder: &Path, arguments: &str, watched: &Path, mut does: impl FnMut()) -> Run {
    // On a machine with other work it may be over before it can be stopped.
    let mut tries = (0..50).map(|_| try_to_interrupt(folder, arguments, watched, &mut does));
    tries.find_map(|run| run).expect("it can be stopped")
}

fn try_to_interrupt(
    folder: &Path,
    arguments: &str,
    watched: &Path,
    does: &mut impl FnMut(),
) -> Option<Run> {
    let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).expect("inotify");
    inotify::add_watch(&watch, watched, WatchFlags::OPEN).expect("a watch");
    let output = tempfile::tempfile().expect("a file");
    let child = seekless(folder, arguments).stdout(output.try_clone().expect("a descriptor"));
    let mut child = child.spawn();
    let pid = Pid::from_child(&child);
    // An opening that is not the folder's own.
    let mut buffer = [MaybeUninit::uninit(); 4096];
    'opened: loop {
        let mut fds = [PollFd::new(&watch, PollFlags::IN)];
        poll(&mut fds, None).expect("an event");
        let mut reader = inotify::Reader::new(&watch, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::ISDIR) => {}
                Ok(_) => break 'opened,
                Err(Errno::AGAIN) => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
    kill_process(pid, Signal::STOP).expect("a child");
    let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
    let state = waitid(WaitId::Pid(pid), options);
    let state = state.expect("a child").expect("waited for");
    drop(watch);
    if !state.stopped() {
        child.wait().expect("it is over");
        return None;
    }
    does();
    kill_process(pid, Signal::CONT).expect("a child");
    let mut stderr = Vec::new();
    let mut pipe = child.stderr.take().expect("a pipe");
    pipe.read_to_end(&mut stderr).expect("read");
    let status = child.wait().expect("it ends");
    let mut stdout = Vec::new();
    let mut output = output;
    std::io::Seek::rewind(&mut output).expect("rewound");
    output.read_to_end(&mut stdout).expect("read");
    Some(Run {
        status,
        stdout,
        stderr,
    })
}

/// Lets the kernel forget inodes that nobody uses.
fn forget() {
    for _ in 0..3 {
        fs::write("/proc/sys/vm/drop_caches", "2").expect("root may");
    }
}

#[test]
#[ignore = "mounts a file system, needs mergerfs, drops caches: root only"]
fn numbers_that_change_are_no_change_of_files() {
    const PAIRS: usize = 400;
    let mut tree = Tree::new().folder("store").folder("view");
    for number in 0..PAIRS {
        // Some read at once, some sampled and read, some compared.
        let size = SIZES[number % 3] / if number % 3 == 2 { 2 } else { 1 };
        let content = noise(number as u64, size);
        let names = ["one", "two"].map(|side| format!("store/{side}/{}/{number}", number % 10));
        tree = tree.file(&names[0], &content).file(&names[1], &content);
    }
    let store = tree.path("store");
    let inos = |view: &Path| -> Vec<u64> {
        let names = (0..PAIRS).map(|number| view.join(format!("one/{}/{number}", number % 10)));
        names.map(|name: PathBuf| identity(&name).1).collect()
    };
    for options in ["", "--verify", "-H", "--digest=when-needed", "-L"] {
        // Without use_ino, numbers are given when a file is looked up, and forgotten with it.
        let command = format!("mergerfs -o cache.files=off {}", store.display());
        let view = Mounted::by(&command, tree.path("view"));
        let before = inos(view.path());
        let (mut after, folder) = (Vec::new(), tree.path("view/two/3"));
        let arguments = format!("find -f json {options} view");
        let run = interrupt(tree.root(), &arguments, &folder, || {
            forget();
            after = inos(view.path());
        });
        let changed = before
            .iter()
            .zip(&after)
            .filter(|(one, other)| one != other);
        let changed = changed.count();
        // What is open at that moment keeps its number.
        assert!(changed > PAIRS / 2, "only {changed} numbers have changed");
        let found = shown(&run).len();
        assert_eq!(
            found,
            PAIRS,
            "{options}: {found} sets\n{}",
            run.stderr_text()
        );
        let run = run.exits(0).never_says("changed");
        let expected: BTreeSet<String> = (0..PAIRS)
            .map(|number| {
                let name = |side| format!("view/{side}/{}/{number}", number % 10);
                format!("{} {}", name("one"), name("two"))
            })
            .collect();
        assert_eq!(shown(&run), expected);
    }
}

/// In a snapshot, an empty folder stands for each subvolume below the one that was taken. All have one inode number, and
/// the time of the latest look for their own.
#[test]
#[ignore = "mounts btrfs: root only"]
fn a_snapshot_of_a_subvolume_with_others_inside_keeps_still() {
    let volume = Volume::on_loop("btrfs", 128, "");
    let top = volume.path();
    let make = |what: &str| {
        sh(&format!("btrfs -q subvolume {what}"));
    };
    for folder in ["a", "a/one", "a/two"] {
        make(&format!("create {}", top.join(folder).display()));
        fs::write(top.join(folder).join("file"), folder).expect("written");
    }
    let (from, to) = (top.join("a"), top.join("snapshot"));
    make(&format!("snapshot {} {}", from.display(), to.display()));
    for options in ["", "-L"] {
        let run = seekless(&top, &format!("find -f json --unique {options} a snapshot"));
        let run = run.run().exits(0);
        let left_out = &run.json()["summary"]["left_out"];
        for field in ["listed_before", "unsettled"] {
            assert_eq!(left_out[field], 0, "{field} {options}\n{run}");
        }
        let unique = ["a/one/file", "a/two/file"].map(str::to_owned);
        assert_eq!(shown(&run), unique.into(), "{options}\n{run}");
    }
}
