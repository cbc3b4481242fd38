//! A file that is seen through two mounts, or twice through one, looks like two files, since nothing tells that it is
//! one. Whatever is done to one of the two, the file is there afterwards. Root only.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::common::mounts::is_kept_while_open;
use crate::common::volume::Mounted;
use crate::common::{Run, Tree, noise, seekless};
use tempfile::TempDir;

/// How one file comes to be seen twice. Both times below `one` and `two`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Twice {
    /// By two mounts of one folder.
    TwoViews,
    /// By one mount of a folder, part of which is mounted within it again.
    MountWithin,
    /// By one mount that shows symbolic links as what they lead to.
    LinkWithin,
}

/// A folder `store`, and its files seen twice.
struct Views {
    // What is on top goes first.
    _views: Vec<Mounted>,
    twice: Twice,
    tree: Tree,
    state: TempDir,
    /// Everything below `store`.
    before: Vec<Entry>,
}

/// Path, mode, time, links, content.
type Entry = (PathBuf, u32, (i64, i64), u64, Vec<u8>);

/// How long the kernel may answer by itself what it once asked the daemon, and which side comes first.
const CACHES: [(&str, [usize; 2]); 3] = [
    ("", [0, 1]),
    ("-o attr_timeout=60,entry_timeout=60", [1, 0]),
    ("-o attr_timeout=0,entry_timeout=0", [0, 1]),
];

impl Views {
    fn new(twice: Twice, options: &str) -> Self {
        let tree = Tree::new()
            .folder("inner/one")
            .folder("one")
            .folder("two")
            .folder("to");
        for (name, size) in [
            ("small", 700),
            ("deep/medium", 50_000),
            ("deep/er/large", 300_000),
        ] {
            tree.write(format!("store/{name}"), noise(size, size as usize));
        }
        tree.set_mode("store/small", 0o640);
        let bindfs = |source: &str, view: &str| {
            let source = tree.path(source);
            let command = format!("bindfs {options} {}", source.display());
            Mounted::by(&command, tree.path(view))
        };
        let bind = |source: &str, place: &str| {
            let arguments = format!("--bind {}", tree.path(source).display());
            Mounted::new(&arguments, tree.path(place))
        };
        let views = match twice {
            Twice::TwoViews => vec![bindfs("store", "one"), bindfs("store", "two")],
            Twice::MountWithin | Twice::LinkWithin => {
                fs::create_dir(tree.path("view")).expect("a folder");
                let mut below = vec![bind("store", "inner/one")];
                let view = match twice {
                    Twice::MountWithin => {
                        fs::create_dir(tree.path("inner/two")).expect("a folder");
                        below.push(bind("store", "inner/two"));
                        bindfs("inner", "view")
                    }
                    _ => {
                        symlink("one", tree.path("inner/two")).expect("a link");
                        {
                            let source = tree.path("inner");
                            let command =
                                format!("bindfs {options} --resolve-symlinks {}", source.display());
                            Mounted::by(&command, tree.path("view"))
                        }
                    }
                };
                below.insert(0, view);
                below
            }
        };
        let mut views = Self {
            _views: views,
            twice,
            tree,
            state: tempfile::tempdir().expect("a folder"),
            before: Vec::new(),
        };
        views.before = views.entries();
        assert_eq!(views.before.len(), 5);
        views
    }

    /// Where the files are seen.
    fn sides(&self) -> [&'static str; 2] {
        match self.twice {
            Twice::TwoViews => ["one", "two"],
            Twice::MountWithin | Twice::LinkWithin => ["view/one", "view/two"],
        }
    }

    /// Everything in the folder, but for the empty folders of a trash.
    fn entries(&self) -> Vec<Entry> {
        let store = self.tree.path("store");
        let entries = walkdir::WalkDir::new(&store)
            .min_depth(1)
            .sort_by_file_name();
        let entries = entries.into_iter().map(|entry| entry.expect("an entry"));
        let of_trash = |path: &PathBuf| path.starts_with(".Trash-0");
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
            .filter(|(path, _, _, links, _)| *links > 0 || !of_trash(path))
            .collect()
    }

    fn run(&self, arguments: &str) -> Run {
        let state = self.state.path().to_str().expect("plain");
        seekless(self.tree.root(), arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
            .run()
    }

    /// Waits until the daemon has removed what was still open when it lost its name: a moment after it was closed.
    fn settle(&self) {
        let is_kept = |path: &PathBuf| is_kept_while_open(path);
        let start = Instant::now();
        while self.files("store").iter().any(is_kept) && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Names of files below a folder.
    fn files(&self, folder: &str) -> Vec<PathBuf> {
        let entries = walkdir::WalkDir::new(self.tree.path(folder)).into_iter();
        // What the daemon removes meanwhile is gone.
        let entries = entries.filter_map(Result::ok);
        let files = entries.filter(|entry| !entry.file_type().is_dir());
        files.map(walkdir::DirEntry::into_path).collect()
    }
}

const ACTIONS: [&str; 6] = [
    "remove",
    "remove --trash",
    "symlink",
    "hardlink",
    "move --to to",
    "reflink",
];

/// Does it to every file, however it is seen, with every cache, and with either side first: everything is as before, and so the
/// next action has the same files.
fn survives(ways: &[Twice]) {
    for &twice in ways {
        for (caches, order) in CACHES {
            let views = Views::new(twice, caches);
            let sides = order.map(|side| views.sides()[side]);
            for action in ACTIONS {
                survives_with(&views, &format!("{action} --yes"), &sides.join(" "));
                // One that is partly covered by the other.
                survives_with(&views, &format!("{action} --yes"), &sides.join("/deep "));
                if action != "reflink" {
                    let action = format!("{action} --allow uncompared --yes");
                    survives_with(&views, &action, &sides.join(" "));
                }
            }
        }
    }
}

fn survives_with(views: &Views, action: &str, roots: &str) {
    let context = format!("{action} {roots}, {:?}", views.twice);
    // Both are looked at, so that what the kernel remembers is of both.
    let found = views.run(&format!("find -f json {roots}")).exits(0);
    let sets = found.file_sets().len();
    assert!(
        sets >= 2,
        "{context}: nobody can tell that it is one\n{found}"
    );
    let run = views.run(&format!("{action} {roots}"));
    let context = format!("{context}\n{run}");
    views.settle();
    let after = views.entries();
    let names = |entries: &[Entry]| -> Vec<PathBuf> {
        entries.iter().map(|entry| entry.0.clone()).collect()
    };
    assert_eq!(names(&after), names(&views.before), "{context}");
    assert!(
        after == views.before,
        "something is not as it was: {context}"
    );
    for side in views.sides() {
        for (path, _, _, links, content) in &views.before {
            let seen = fs::read(views.tree.path(side).join(path));
            let is_there = *links == 0 || seen.as_ref().is_ok_and(|seen| seen == content);
            assert!(is_there, "{side}/{}: {context}", path.display());
        }
    }
    assert!(views.files("to").is_empty(), "{context}");
    let is_left = |path: &&PathBuf| path.to_string_lossy().contains(".seekless-");
    let files = views.files(".");
    let left: Vec<_> = files.iter().filter(is_left).collect();
    assert!(left.is_empty(), "{left:?} {context}");
    // Who has two devices and one content hears what it looks like.
    let takes_names = ["remove", "symlink", "move"]
        .iter()
        .any(|a| action.starts_with(a));
    if takes_names && views.twice == Twice::TwoViews {
        let said = run.stderr_text().contains("seems to be the same file");
        assert!(said, "{context}");
    }
    // What was wanted and not done is named. Hard links across mounts are not wanted to begin with, and within
    // one mount equal numbers may be enough to want nothing.
    let may_want_nothing = views.twice != Twice::TwoViews || action.starts_with("hardlink");
    let nothing_wanted = may_want_nothing && run.stderr_text().contains("Nothing to ");
    assert!(run.code() != 0 || nothing_wanted, "{context}");
}

#[test]
#[ignore = "mounts views, needs bindfs: root only"]
fn a_file_seen_twice_in_two_views_survives_every_action() {
    survives(&[Twice::TwoViews]);
}

#[test]
#[ignore = "mounts views, needs bindfs: root only"]
fn a_file_seen_twice_in_one_view_survives_every_action() {
    survives(&[Twice::MountWithin, Twice::LinkWithin]);
}

/// An overlay answers from its memory that a name is still there after it was taken away in a layer below.
#[test]
#[ignore = "mounts overlays: root only"]
fn a_file_seen_in_a_layer_and_through_its_overlay_survives_every_action() {
    for action in ["remove", "remove --trash", "symlink", "move --to to"] {
        for (layer, keep) in [
            ("low", "merged"),
            ("up", "merged"),
            ("low", "low"),
            ("up", "up"),
        ] {
            let volume = crate::common::volume::Volume::tmpfs("");
            let tree = Tree::inside(&volume.path()).folder("work").folder("merged");
            let tree = tree.folder("low").folder("up").folder("to").folder("state");
            let content = noise(7, 9_000);
            fs::write(tree.path(layer).join("x"), &content).expect("written");
            let path = |name: &str| tree.path(name).display().to_string();
            let layers = format!(
                "lowerdir={},upperdir={},workdir={}",
                path("low"),
                path("up"),
                path("work")
            );
            let options = format!("-t overlay overlay -o {layers}");
            let before = fs::metadata(tree.path(layer).join("x")).expect("metadata");
            let merged = crate::common::volume::Mounted::new(&options, tree.path("merged"));
            let run = seekless(
                tree.root(),
                &format!("{action} --yes merged {layer} --keep"),
            )
            .arg(format!("under {keep}"))
            .env("XDG_STATE_HOME", &path("state"))
            .env("XDG_DATA_HOME", &path("state"))
            .run();
            let context = format!("{action}, {layer}, keep {keep}\n{run}");
            drop(merged);
            let left = fs::symlink_metadata(tree.path(layer).join("x"));
            // The file itself, not a copy that was written once it was gone.
            let is_left = left.is_ok_and(|left| left.is_file() && left.ino() == before.ino());
            assert!(is_left, "{context}");
            let read = fs::read(tree.path(layer).join("x")).expect("its content");
            assert!(read == content, "{context}");
            // What the overlay removes it only hides of the layer below.
            let is_hidden = (layer, keep) == ("low", "low");
            let code = if is_hidden { 0 } else { 2 };
            assert_eq!(run.code(), code, "{context}");
        }
    }
}

#[test]
#[ignore = "mounts a file system of a program: root only"]
fn folders_of_a_file_that_may_be_another_one_end_with_a_reason() {
    let views = Views::new(Twice::TwoViews, "");
    let run = seekless(views.tree.root(), "folders one two").run();
    let run = run.exits(1).says("INCOMPLETE: 6 files may be the same");
    run.says("not fully seen");
    // The reason for the status, without the other lines.
    let run = seekless(views.tree.root(), "folders -q one two").run();
    let run = run.exits(1).says("INCOMPLETE: 6 files may be the same");
    run.never_says("Reported");
}

/// Folders that have not changed for a while prove their names, but not how often a name is shown.
#[test]
#[ignore = "mounts a folder: root only"]
fn an_entry_that_two_mounts_show_is_one_name() {
    let tree = Tree::new()
        .folder("place")
        .copies(["store/a", "other/a"], noise(1, 5000));
    let bind = format!("--bind {}", tree.path("store").display());
    let _mounted = Mounted::new(&bind, tree.path("place"));
    // Time stamps lag behind the clock by up to 20 ms.
    std::thread::sleep(Duration::from_millis(200));
    for options in ["", "-H"] {
        let run = seekless(tree.root(), &format!("find {options} -f nul .")).run();
        let names = run
            .exits(0)
            .sets()
            .iter()
            .map(|set| set.len())
            .sum::<usize>();
        assert_eq!(names, 2, "{options}");
    }
}
