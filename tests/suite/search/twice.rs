//! One file that is seen at two places. The search knows that it is one, or takes it for two; whatever is done to
//! either, the file is there afterwards. Root only.

use std::any::Any;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::limits::rounds;
use crate::common::mounts::{Shown, Shows, is_kept_while_open};
use crate::common::scene::{Picture, picture};
use crate::common::standin::{Rules, Standin};
use crate::common::volume::{Mounted, Volume};
use crate::common::{Run, Tree, noise, seekless};
use tempfile::TempDir;

/// How it comes to be seen twice.
#[derive(Clone, Copy, Debug)]
enum Twice {
    /// By two mounts of one folder, with these options.
    Views(&'static str),
    /// By one mount of a folder, part of which is mounted within it again.
    MountWithin(&'static str),
    /// By one mount that shows symbolic links as what they lead to.
    LinkWithin(&'static str),
    /// In a folder, and by a program that shows it.
    Program(Shown),
    /// By two clients of one server.
    Clients(Rules),
    /// A folder that is mounted again elsewhere.
    Bound,
    /// A folder within the other place is mounted again.
    BoundWithin,
    /// A file is mounted on another name.
    BoundFile,
    /// A file system that is mounted twice.
    Volume,
    /// One name in two spellings.
    Spelt(Shown, &'static str),
}

const VIEWS: [Twice; 9] = [
    Twice::Views(""),
    Twice::Views("-o attr_timeout=60,entry_timeout=60"),
    Twice::Views("-o attr_timeout=0,entry_timeout=0"),
    Twice::MountWithin(""),
    Twice::MountWithin("-o attr_timeout=60,entry_timeout=60"),
    Twice::MountWithin("-o attr_timeout=0,entry_timeout=0"),
    Twice::LinkWithin(""),
    Twice::LinkWithin("-o attr_timeout=60,entry_timeout=60"),
    Twice::LinkWithin("-o attr_timeout=0,entry_timeout=0"),
];

const KNOWN: [Twice; 7] = [
    Twice::Bound,
    Twice::BoundWithin,
    Twice::BoundFile,
    Twice::Volume,
    Twice::Spelt(Shown::Lowntfs3g, "-o ignore_case"),
    Twice::Spelt(Shown::ExfatFuse, ""),
    Twice::Spelt(Shown::Fusefat, ""),
];

const ACTIONS: [&str; 6] = [
    "remove",
    "remove --trash",
    "symlink",
    "hardlink",
    "move --to to",
    "reflink",
];

/// The two places, and where the files really are.
struct Case {
    twice: Twice,
    places: [PathBuf; 2],
    store: PathBuf,
    before: Picture,
    desk: TempDir,
    // What is on top goes first.
    _mounts: Vec<Box<dyn Any>>,
}

fn fill(store: &Path) {
    for (name, size) in [
        ("small", 700),
        ("deep/medium", 50_000),
        ("deep/er/large", 300_000),
    ] {
        let path = store.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, noise(size, size as usize)).expect("written");
    }
}

impl Case {
    fn new(twice: Twice) -> Self {
        let tree = Tree::new().folder("store").folder("one").folder("two");
        let tree = tree.folder("inner/one").folder("view").folder("other/in");
        let tree = tree.file("other/file", "covered");
        let [store, one, two] = ["store", "one", "two"].map(|name| tree.path(name));
        fill(&store);
        let bind = |source: &Path, place: &str| -> Box<dyn Any> {
            let arguments = format!("--bind {}", source.display());
            Box::new(Mounted::new(&arguments, tree.path(place)))
        };
        let bindfs = |options: &str, source: &str, place: &str| -> Box<dyn Any> {
            let source = tree.path(source);
            let command = format!("bindfs {options} {}", source.display());
            Box::new(Mounted::by(&command, tree.path(place)))
        };
        let within = ["view/one", "view/two"].map(|name| tree.path(name));
        let (places, store, mut mounts): (_, _, Vec<Box<dyn Any>>) = match twice {
            Twice::Views(options) => {
                let views = ["one", "two"].map(|place| bindfs(options, "store", place));
                ([one, two], store, views.into())
            }
            Twice::MountWithin(options) => {
                fs::create_dir(tree.path("inner/two")).expect("a folder");
                let below = ["inner/one", "inner/two"].map(|place| bind(&store, place));
                let mut mounts = vec![bindfs(options, "inner", "view")];
                mounts.extend(below);
                (within, store, mounts)
            }
            Twice::LinkWithin(options) => {
                symlink("one", tree.path("inner/two")).expect("a link");
                let below = bind(&store, "inner/one");
                let options = format!("{options} --resolve-symlinks");
                (
                    within,
                    store,
                    vec![bindfs(&options, "inner", "view"), below],
                )
            }
            Twice::Program(what) => {
                let shows = Shows::new(what);
                let places = [shows.point(), shows.source()];
                (places, shows.source(), vec![Box::new(shows)])
            }
            Twice::Clients(rules) => {
                let first = Standin::new(rules);
                let second = first.again();
                let places = [&first, &second].map(|client| client.point().to_owned());
                let store = first.server_folder().to_owned();
                (places, store, vec![Box::new(second), Box::new(first)])
            }
            Twice::Bound => {
                let again = bind(&store, "two");
                ([store.clone(), two], store, vec![again])
            }
            Twice::BoundWithin => {
                let again = bind(&store, "other/in");
                ([store.clone(), tree.path("other")], store, vec![again])
            }
            Twice::BoundFile => {
                let again = bind(&store.join("small"), "other/file");
                ([store.clone(), tree.path("other")], store, vec![again])
            }
            Twice::Volume => {
                let volume = Volume::on_loop("ext4", 32, "");
                let places = ["one", "two"].map(|place| bind(&volume.path(), place));
                let store = volume.path();
                let mut mounts: Vec<_> = places.into();
                mounts.push(Box::new(volume));
                ([one, two], store, mounts)
            }
            Twice::Spelt(what, options) => {
                let shows = Shows::with_options(what, options);
                let places = ["Photos", "photos"].map(|name| shows.point().join(name));
                (places.clone(), places[0].clone(), vec![Box::new(shows)])
            }
        };
        // Some programs remember what was not there.
        fill(&store);
        mounts.push(Box::new(tree));
        let desk = tempfile::tempdir().expect("a folder");
        fs::create_dir(desk.path().join("to")).expect("a folder");
        Self {
            twice,
            places,
            before: picture(&store),
            store,
            desk,
            _mounts: mounts,
        }
    }

    fn is_known(&self) -> bool {
        use Twice::{Bound, BoundFile, BoundWithin, Spelt, Volume};
        matches!(
            self.twice,
            Bound | BoundFile | BoundWithin | Volume | Spelt(..)
        )
    }

    fn run(&self, arguments: &str) -> Run {
        let state = self.desk.path().to_str().expect("plain");
        seekless(self.desk.path(), arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
            .run()
    }

    /// What is there once a daemon has removed what was still open when it lost its name. Folders of a trash may stay.
    fn now(&self) -> Picture {
        let begun = Instant::now();
        loop {
            let now = picture(&self.store);
            let settles = now.keys().any(|path| is_kept_while_open(path));
            if !settles || begun.elapsed() > Duration::from_secs(60) {
                return now;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Does it to both places, of which this one comes first. One that is part of the other is searched with it.
    fn survives(&self, action: &str, first: usize, from_report: bool) {
        let places = [first, 1 - first].map(|place| self.places[place].display().to_string());
        let is_part = from_report && self.places[first].join("deep").exists();
        let roots = places.join(if is_part { "/deep " } else { " " });
        // Both are looked at, so that what anybody remembers is of both.
        let found = self.run(&format!("find -f json -o report {roots}"));
        let line = if from_report { "--from report" } else { &roots };
        let keep = format!("--keep first-root --allow shared --yes {line}");
        let run = self.run(&format!("{action} {keep}"));
        let mut context = format!("{action} {roots}, {:?}\n{found}{run}", self.twice);
        let said = run.stderr_text();
        if self.is_known() {
            assert_eq!(found.code(), 0, "{context}");
            for options in ["", "-H", "-I", "-I -H", "-L -H", "--verify"] {
                let sets = self.run(&format!("find -f nul {options} {roots}")).sets();
                assert!(sets.is_empty(), "{options} {context}");
            }
            assert!(said.contains("Nothing to "), "{context}");
        }
        // Who has two devices and one content hears what it looks like.
        let takes_names = ["remove", "symlink", "move"];
        let takes_names = takes_names.iter().any(|name| action.starts_with(name));
        if takes_names && matches!(self.twice, Twice::Views(_)) && !from_report {
            assert!(said.contains("seems to be the same file"), "{context}");
        }
        if self.now() != self.before && (action.contains("trash") || action.contains("move")) {
            context += &self.run("undo --yes").to_string();
        }
        let now = self.now();
        let names = |picture: &Picture| picture.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&now), names(&self.before), "{context}");
        assert!(now == self.before, "something is not as it was: {context}");
    }

    fn survives_all(&self, actions: &[&str]) {
        for action in actions {
            for first in [0, 1] {
                self.survives(action, first, false);
                self.survives(action, first, true);
            }
        }
    }
}

#[test]
#[ignore = "mounts views, needs bindfs: root only"]
fn seen_by_bindfs() {
    for twice in VIEWS {
        Case::new(twice).survives_all(&ACTIONS);
    }
}

#[test]
#[ignore = "mounts folders and file systems of programs: root only"]
fn known_to_be_one() {
    for twice in KNOWN {
        Case::new(twice).survives_all(&ACTIONS[..4]);
    }
}

#[test]
#[ignore = "mounts FUSE: root only"]
fn seen_by_two_clients() {
    for rules in [Rules::NFS, Rules::SMB] {
        Case::new(Twice::Clients(rules)).survives_all(&ACTIONS[..5]);
    }
}

macro_rules! programs {
    ($($name:ident: $what:ident, $actions:expr;)*) => {$(
        #[test]
        #[ignore = "mounts file systems of programs: root only"]
        fn $name() {
            Case::new(Twice::Program(Shown::$what)).survives_all($actions);
        }
    )*};
}

programs! {
    seen_through_sshfs: Sshfs, &ACTIONS[..5];
    seen_through_rclone: Rclone, &ACTIONS[..5];
    seen_through_rclone_with_a_cache: RcloneCached, &["remove", "move --to to"];
    seen_through_mergerfs: Mergerfs, &["remove", "remove --trash", "symlink", "move --to to"];
    seen_through_unionfs: Unionfs, &["remove", "symlink", "move --to to"];
    seen_through_disorderfs: Disorderfs, &["remove"];
    seen_through_an_overlay: Overlay, &["remove", "symlink", "move --to to"];
}

#[test]
#[ignore = "takes minutes, mounts file systems of programs: root only"]
fn in_full_seen_through_each_program_in_many_rounds() {
    for what in Shown::VIEWS {
        for _ in 0..rounds(12) {
            Case::new(Twice::Program(what)).survives_all(&ACTIONS[..5]);
        }
    }
}

/// Paths that lead to one file, which is the only one.
#[test]
#[ignore = "mounts fusefat: root only"]
fn a_file_that_is_given_twice_is_one_file_where_inode_numbers_do_not_tell() {
    let shown = Shows::new(Shown::Fusefat);
    let top = shown.point();
    fs::create_dir(top.join("in")).expect("a folder");
    fs::write(top.join("in/x"), noise(7, 9_000)).expect("a file");
    for given in ["in/x in/../in/x", "in/x in", "in in/x", ". in/x"] {
        let run = seekless(&top, &format!("find -q -f nul --cache off {given}")).run();
        assert_eq!(run.exits(0).stdout_text(), "", "{given}");
    }
}

/// What an overlay removes it only hides of the layer below, and it answers from its memory that the name is still
/// there.
#[test]
#[ignore = "mounts overlays: root only"]
fn a_file_of_a_lower_layer_stays() {
    for action in ["remove", "remove --trash", "symlink", "move --to to"] {
        for keep in ["merged", "low"] {
            let volume = Volume::tmpfs("");
            let tree = Tree::inside(&volume.path()).folder("work").folder("merged");
            let tree = tree
                .file("low/x", noise(7, 9_000))
                .folder("up")
                .folder("to");
            let [low, up, work] = ["low", "up", "work"].map(|name| tree.path(name));
            let (low, up, work) = (low.display(), up.display(), work.display());
            let options =
                format!("-t overlay overlay -o lowerdir={low},upperdir={up},workdir={work}");
            let before = picture(&tree.path("low"));
            let merged = Mounted::new(&options, tree.path("merged"));
            let state = tempfile::tempdir().expect("a folder");
            let state = state.path().to_str().expect("plain");
            let run = seekless(tree.root(), &format!("{action} --yes merged low --keep"))
                .arg(format!("under {keep}"))
                .env("XDG_STATE_HOME", state)
                .env("XDG_DATA_HOME", state)
                .run();
            drop(merged);
            assert!(
                picture(&tree.path("low")) == before,
                "{action} {keep}\n{run}"
            );
            assert_eq!(run.code(), if keep == "low" { 0 } else { 2 }, "{run}");
        }
    }
}

#[test]
#[ignore = "mounts a file system of a program: root only"]
fn folders_of_a_file_that_may_be_another_one_end_with_a_reason() {
    let case = Case::new(Twice::Views(""));
    let places = case
        .places
        .each_ref()
        .map(|place| place.display().to_string());
    let run = case.run(&format!("folders {}", places.join(" ")));
    let run = run.exits(1).says("INCOMPLETE: 6 files may be the same");
    run.says("not fully seen");
    // The reason for the status, without the other lines.
    let run = case.run(&format!("folders -q {}", places.join(" ")));
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
        let sets = run.exits(0).sets();
        let names: usize = sets.iter().map(|set| set.len()).sum();
        assert_eq!(names, 2, "{options}");
    }
}
