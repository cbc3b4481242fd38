//! `-H`: names of one file (hard links) are acted on, on request only, and never the last of them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::scene::{Perform, Scene, step};
use crate::common::stage::Stage;
use crate::common::volume::Mounted;
use crate::common::{Tree, noise};
use seekless::action::{ActionKind, Code, Outcome, Reason, Settings};

/// One file with three names, two files with two names each, and a file alone.
fn linked() -> Stage {
    Stage::new(
        Tree::new()
            .file("a/one", noise(1, 5000))
            .hard_link("bb/one", "a/one")
            .hard_link("ccc/one", "a/one")
            .file("a/two", noise(2, 7000))
            .hard_link("bb/two", "a/two")
            .file("ccc/two", noise(2, 7000))
            .hard_link("dddd/two", "ccc/two")
            .file("alone", noise(3, 100)),
    )
}

fn links(path: &Path) -> u64 {
    fs::metadata(path).expect("metadata").nlink()
}

#[test]
fn one_name_of_each_set_stays() {
    let stage = linked();
    let run = stage.run("remove -n -H --keep shortest-path .").exits(0);
    let text = run.stdout_text();
    assert!(
        text.contains("a hard link to a kept file: frees no space"),
        "{run}"
    );
    assert_eq!(
        text.lines().filter(|l| l.starts_with("  keep ")).count(),
        2,
        "{run}"
    );
    let run = run.says("3 of them are hard links to kept files: removing them frees no space");
    let run = run.says("To remove: 5 files");
    drop(run);
    stage
        .run("remove --yes -H --keep shortest-path .")
        .exits(0)
        .says("Done: removed 5 files, 8.2 kB of disk space freed");
    assert_eq!(stage.names(), ["a/one", "a/two", "alone"]);
    assert_eq!(links(&stage.tree.path("a/one")), 1);
    stage
        .run("remove --yes -H .")
        .exits(0)
        .says("Nothing to remove");
}

#[test]
fn names_that_were_moved_or_replaced_come_back_as_names_of_their_file() {
    for line in [
        "remove --trash",
        "move --to ../moved-names",
        "symlink",
        "symlink --absolute",
    ] {
        let stage = linked();
        let to = stage.state.path().join("to");
        let line = line.replace("../moved-names", to.to_str().expect("plain"));
        let inode = fs::metadata(stage.tree.path("a/one"))
            .expect("metadata")
            .ino();
        stage
            .run(&format!("{line} --yes -H --keep shortest-path ."))
            .exits(0);
        let is_file = |name: &str| {
            let there = stage.tree.path(name).symlink_metadata();
            there.is_ok_and(|there| there.is_file())
        };
        assert!(
            is_file("a/one") && !is_file("bb/one") && !is_file("ccc/one"),
            "{line}"
        );
        if line.starts_with("symlink") {
            for name in ["bb/one", "ccc/one", "dddd/two"] {
                let read = fs::read(stage.tree.path(name)).expect("leads to the kept name");
                assert!(!read.is_empty(), "{name}");
            }
        }
        stage.run("undo").exits(0);
        for name in ["a/one", "bb/one", "ccc/one"] {
            let now = fs::symlink_metadata(stage.tree.path(name)).expect(name);
            assert_eq!((now.ino(), now.nlink()), (inode, 3), "{line}: {name}");
        }
        assert_eq!(stage.names().len(), 8, "{line}");
    }
}

#[test]
#[ignore = "needs root, to mount"]
fn a_name_seen_through_a_bind_mount_is_no_further_name() {
    for line in ["remove", "remove --trash", "symlink", "move --to to"] {
        // With one name, and with two.
        for names in [1, 2] {
            let tree = Tree::new().file("real/x", noise(1, 5000)).folder("view");
            let tree = match names {
                1 => tree,
                _ => tree.hard_link("real/y", "real/x"),
            };
            let stage = Stage::new(tree);
            let real = stage.tree.path("real").display().to_string();
            let _mounted = Mounted::new(&format!("--bind {real}"), stage.tree.path("view"));
            for roots in ["real view", "view real"] {
                let run = stage.run(&format!("{line} --yes -H {roots}"));
                let left = fs::read_dir(stage.tree.path("real")).expect("listed");
                let left: Vec<_> = left
                    .filter_map(|entry| entry.expect("an entry").path().symlink_metadata().ok())
                    .filter(std::fs::Metadata::is_file)
                    .collect();
                assert!(left.len() == 1, "{line} {roots} {names}: {run}");
            }
            // By a report that somebody made by hand, too.
            let report = format!(
                "5.0 kB (5000 bytes) * 2, reclaimable 0 B (0 bytes)\n  1 * {0}/real/x\n  1 = {0}/view/x\n\
                 # complete: by hand\n",
                stage.tree.root().canonicalize().expect("there").display()
            );
            let run = stage.on_report(&format!("{line} --yes -H --from -"), report);
            assert!(
                fs::read_dir(stage.tree.path("real"))
                    .expect("listed")
                    .count()
                    >= 1,
                "{run}"
            );
        }
    }
}

/// Those that may take a further name.
const TAKING: [ActionKind; 4] = [
    ActionKind::Remove,
    ActionKind::Trash,
    ActionKind::Symlink,
    ActionKind::Move,
];

fn acting(scene: &Scene) -> Settings {
    Settings {
        further_names: true,
        ..scene.settings()
    }
}

#[test]
fn an_actor_takes_a_further_name_and_never_the_last() {
    for action in TAKING {
        let scene = Scene::new();
        let (keeper, further) = (scene.keeper(), scene.tree().join("dup/further"));
        fs::hard_link(&keeper, &further).expect("linked");
        // Not without being told to.
        let outcome = scene.actor().perform(&step(action, &keeper, &further));
        assert!(
            matches!(
                outcome,
                Outcome::Skipped(Reason {
                    code: Code::SameFile,
                    ..
                })
            ),
            "{outcome:?}"
        );
        let mut actor = scene.actor_with(acting(&scene));
        // The same name twice is no further name.
        let outcome = actor.perform(&step(action, &keeper, &keeper));
        assert!(
            matches!(
                outcome,
                Outcome::Skipped(Reason {
                    code: Code::SameFile,
                    ..
                })
            ),
            "{outcome:?}"
        );
        let outcome = actor.perform(&step(action, &keeper, &further));
        assert!(
            matches!(outcome, Outcome::Done(_)),
            "{action:?}: {outcome:?}"
        );
        let is_file = further
            .symlink_metadata()
            .is_ok_and(|there| there.is_file());
        assert!(!is_file && keeper.exists(), "{action:?}");
        let left = match action {
            ActionKind::Remove | ActionKind::Symlink => 1,
            // The name is elsewhere.
            _ => 2,
        };
        assert_eq!(links(&keeper), left, "{action:?}");
    }
}
