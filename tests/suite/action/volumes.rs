//! Actions on real file systems: sharing blocks, flags, mounts. Root only.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use seekless::action::{ActionKind, Code, Outcome, Reason};

use crate::common::run::Run;
use crate::common::scene::{CHANGING, Perform, Scene, picture, step};
use crate::common::users::give;
use crate::common::volume::{Mounted, Volume, sh};
use crate::common::{Tree, noise, seekless};

/// Bytes in use on a file system, everything written.
fn used(path: &Path) -> u64 {
    sh(&format!("sync -f {}", path.display()));
    let output = Command::new("df")
        .args(["--block-size=1", "--output=used"])
        .arg(path)
        .output()
        .expect("df is there");
    let text = String::from_utf8(output.stdout).expect("text");
    let number = text.lines().nth(1).expect("a number");
    number.trim().parse().expect("a number")
}

fn frees_what_it_says(kind: &str, options: &str) {
    const EACH: usize = 5 << 20;
    const COPIES: usize = 16;
    let volume = Volume::on_loop(kind, 512, options);
    let scene = Scene::below(&volume.path());
    let content = noise(7, EACH + 1234);
    let keeper = scene.tree().join("keep/large");
    crate::common::write(&keeper, &content).expect("written");
    let mut steps = Vec::new();
    for number in 0..COPIES {
        let victim = scene.tree().join(format!("dup/large{number}"));
        crate::common::write(&victim, &content).expect("written");
        steps.push(victim);
    }
    let before = picture(&scene.tree());
    let inodes: Vec<u64> = steps
        .iter()
        .map(|p| fs::metadata(p).expect("metadata").ino())
        .collect();
    let full = used_at_rest(&volume, kind);
    let mut promised = 0;
    let mut actor = scene.actor();
    let all: Vec<_> = steps
        .iter()
        .map(|v| step(ActionKind::Reflink, &keeper, v))
        .collect();
    actor.perform_all(&all, |_, outcome| match outcome {
        Outcome::Done(done) => promised += done.freed,
        other => panic!("{other:?}"),
    });
    let freed = full.saturating_sub(used_at_rest(&volume, kind));
    let difference = freed.abs_diff(promised);
    assert!(
        difference * 100 <= promised,
        "{freed} freed, {promised} promised"
    );
    assert!(promised >= (COPIES * EACH) as u64, "{promised}");
    // Each is a file of its own still, with all that it had.
    assert_eq!(picture(&scene.tree()), before);
    let after: Vec<u64> = steps
        .iter()
        .map(|p| fs::metadata(p).expect("metadata").ino())
        .collect();
    assert_eq!(inodes, after);
    // What is shared is not shared again, nor counted again.
    let all: Vec<_> = steps
        .iter()
        .map(|v| step(ActionKind::Reflink, &keeper, v))
        .collect();
    actor.perform_all(&all, |_, outcome| {
        assert!(matches!(outcome, Outcome::Already), "{outcome:?}")
    });
    drop(actor);
    // A file that only looks the same is not touched.
    let mut other = content.clone();
    other[EACH] ^= 1;
    let odd = scene.tree().join("dup/odd");
    crate::common::write(&odd, &other).expect("written");
    let outcome = scene
        .actor()
        .perform(&step(ActionKind::Reflink, &keeper, &odd));
    assert!(
        matches!(
            outcome,
            Outcome::Skipped(Reason {
                code: Code::Differs,
                ..
            })
        ),
        "{outcome:?}"
    );
    assert!(fs::read(&odd).is_ok_and(|read| read == other));
}

#[test]
#[ignore = "mounts a file system: root only"]
fn reflink_frees_what_it_says() {
    frees_what_it_says("btrfs", "");
    frees_what_it_says("xfs", "-m reflink=1");
}

/// What is in use once all that was freed is free.
fn used_at_rest(volume: &Volume, kind: &str) -> u64 {
    let path = volume.path();
    sh("sync");
    // btrfs gives space back when its transaction is over.
    if kind == "btrfs" {
        sh(&format!("btrfs filesystem sync {}", path.display()));
    }
    used(&path)
}

#[test]
#[ignore = "sets flags on files: root only"]
fn immutable_files_are_left_alone() {
    for (flag, back) in [("+i", "-i"), ("+a", "-a")] {
        let scene = Scene::new();
        let before = picture(&scene.tree());
        sh(&format!("chattr {flag} {}", scene.victim().display()));
        let outcomes = CHANGING.map(|action| scene.perform(action));
        sh(&format!("chattr {back} {}", scene.victim().display()));
        for outcome in outcomes {
            let refused = matches!(
                outcome,
                Outcome::Skipped(Reason {
                    code: Code::Immutable,
                    ..
                })
            );
            assert!(refused, "{outcome:?}");
        }
        assert_eq!(picture(&scene.tree()), before);
    }
}

#[test]
#[ignore = "sets flags on folders: root only"]
fn files_in_folders_that_cannot_be_changed_are_left_alone() {
    for (flag, back) in [("+i", "-i"), ("+a", "-a")] {
        let scene = Scene::new();
        let before = picture(&scene.tree());
        let folder = scene.victim().parent().expect("a folder").to_owned();
        sh(&format!("chattr {flag} {}", folder.display()));
        let outcomes = CHANGING.map(|action| scene.perform(action));
        sh(&format!("chattr {back} {}", folder.display()));
        for outcome in outcomes {
            let Outcome::Skipped(skip) = outcome else {
                panic!("{outcome:?}");
            };
            let said = skip.to_string();
            assert!(said.contains("chattr -ia on both"), "{said}");
        }
        assert_eq!(picture(&scene.tree()), before);
        // Nor is anything put where it could not be taken from again.
        for scene in [Scene::new(), Scene::with_another_file_system()] {
            let before = picture(&scene.tree());
            fs::create_dir_all(scene.destination()).expect("a folder");
            let folder = scene.destination();
            sh(&format!("chattr {flag} {}", folder.display()));
            let outcome = scene.perform(ActionKind::Move);
            sh(&format!("chattr {back} {}", folder.display()));
            let Outcome::Failed(failure) = outcome else {
                panic!("{outcome:?}");
            };
            let said = failure.to_string();
            assert!(said.contains("chattr -ia on it"), "{said}");
            assert_eq!(picture(&scene.tree()), before);
            assert_eq!(fs::read_dir(folder).expect("a list").count(), 0);
        }
    }
}

#[test]
#[ignore = "mounts folders: root only"]
fn protected_folders_are_so_whichever_mount_leads_there() {
    for (option, mounted) in [
        ("--protect keep", "keep"),
        ("--protect keep/deep/x", "keep/deep"),
        ("--protect keep", "keep/deep"),
        ("--reference keep/deep", "keep"),
        ("--protect keep/deep", "."),
    ] {
        let tree = Tree::new().copies(["keep/deep/x", "other/y"], "the same");
        let tree = tree.file("elsewhere/by/z", "alone");
        let source = tree.path(mounted);
        let _mounted = Mounted::new(
            &format!("--bind {}", source.display()),
            tree.path("elsewhere/by"),
        );
        let seen = match mounted {
            "." => "elsewhere/by/keep/deep/x",
            "keep" => "elsewhere/by/deep/x",
            _ => "elsewhere/by/x",
        };
        // Only the other way there is searched, and it is the older one that would go.
        let state = tempfile::tempdir().expect("a folder");
        let line = format!("remove -n --keep newest {option} {seen} other");
        let tree = tree.modified("keep/deep/x", 1_000_000);
        let run = seekless(tree.root(), &line)
            .env("XDG_STATE_HOME", state.path().to_str().expect("plain"))
            .run()
            .exits(0);
        let plan = run.stdout_text();
        let goes = plan.lines().filter(|line| line.starts_with("  remove"));
        let goes: Vec<_> = goes.collect();
        assert!(
            goes.len() == 1 && goes[0].ends_with("/other/y"),
            "{option} {mounted}\n{run}"
        );
    }
}

/// The folder `real`, which the folder `bm` shows as well, on one file system with everything else.
struct Ground {
    _mounted: Mounted,
    tree: Tree,
    _volume: Volume,
}

impl Ground {
    fn new<const N: usize>(names: [&str; N]) -> Self {
        let volume = Volume::tmpfs("");
        let tree = Tree::inside(&volume.path()).folder("bm").folder("real");
        let tree = tree.folder("home").copies(names, noise(1, 5000));
        let bind = format!("--bind {}", tree.path("real").display());
        Self {
            _mounted: Mounted::new(&bind, tree.path("bm")),
            tree,
            _volume: volume,
        }
    }

    fn with_home(&self, home: &str, arguments: &str) -> Run {
        let home = self.tree.path(home);
        let home = home.to_str().expect("plain");
        let run = seekless(self.tree.root(), arguments);
        run.env("HOME", home)
            .env("XDG_DATA_HOME", home)
            .env("XDG_STATE_HOME", home)
            .run()
    }

    fn run(&self, arguments: &str) -> Run {
        self.with_home("home", arguments)
    }

    fn inode(&self, name: &str) -> u64 {
        let now = fs::symlink_metadata(self.tree.path(name));
        now.unwrap_or_else(|error| panic!("{name}: {error}")).ino()
    }

    fn entries(&self, folder: &str) -> usize {
        fs::read_dir(self.tree.path(folder)).map_or(0, Iterator::count)
    }
}

#[test]
#[ignore = "mounts folders: root only"]
fn a_file_goes_to_the_trash_of_its_mount() {
    for is_there in [false, true] {
        let ground = Ground::new(["real/1", "real/2", "real/3"]);
        if is_there {
            fs::create_dir(ground.tree.path("real/.Trash-0")).expect("made");
            give(&ground.tree.path("real/.Trash-0"), 0, 0o700);
        }
        ground.run("remove --trash --yes bm").exits(0);
        assert_eq!(ground.entries("real/.Trash-0/files"), 2);
        assert_eq!(ground.entries("home/Trash"), 0);
        ground.run("undo --yes").exits(0).says("2 files restored");
        assert_eq!(ground.entries("real/.Trash-0/files"), 0);
        let inodes = ["real/1", "real/2", "real/3"].map(|name| ground.inode(name));
        assert!(inodes[0] != inodes[1] && inodes[1] != inodes[2]);
    }
}

/// The names of one file may lie in two mounts.
#[test]
#[ignore = "mounts folders: root only"]
fn a_name_in_another_mount_than_the_kept_file_is_refused_with_the_way_out() {
    let ground = Ground::new(["o/a", "o/kept"]);
    let further = ground.tree.path("real/a");
    fs::hard_link(ground.tree.path("o/a"), further).expect("linked");
    let rules = "--keep longest-path";
    let run = ground.run(&format!("hardlink --yes {rules} o bm")).exits(1);
    run.says("a hard link cannot cross file systems, or mounts of one");
    assert_eq!(ground.inode("o/a"), ground.inode("o/kept"));
    assert_ne!(ground.inode("real/a"), ground.inode("o/kept"));
}
