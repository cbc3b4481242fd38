//! `--with-noise`: noise goes with the folders that are empty otherwise, no copy of it is lost, and undo restores it.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;

use tempfile::TempDir;

use super::emptied::with_a_race;
use crate::common::scene::{Picture, picture};
use crate::common::stage::Stage;
use crate::common::{Tree, noise};
use seekless::{Action, Applied, ErrorKind, Search};

/// Copies in `x`, of files in `keep`, beside noise of every kind. `x/stays` has something else as well.
fn tree() -> Tree {
    let (one, two) = (noise(1, 5000), noise(2, 7000));
    Tree::new()
        .copies(["keep/one", "x/p/q/one", "x/stays/one"], &one)
        .copies(["keep/two", "x/p/two"], &two)
        .file("x/p/q/.DS_Store", "of q")
        .file("x/p/q/empty", "")
        .file("x/p/Thumbs.db", "of p")
        .file("x/stays/.DS_Store", "of stays")
        .file("x/stays/only", "only here")
        .file("x/.DS_Store", "of x")
        .mode("x/p", 0o750)
        .mode("x/p/q/.DS_Store", 0o640)
}

const ALL: &str = "--yes --remove-empty-folders --with-noise --reference keep x";

/// What stays in `x` when the rest has gone.
const STAYS: [&str; 3] = ["x/.DS_Store", "x/stays/.DS_Store", "x/stays/only"];

fn left(stage: &Stage) -> Vec<String> {
    let mut names = stage.names();
    names.retain(|name| name.starts_with("x/"));
    names
}

/// The files, and the modes of the folders that go.
fn files(stage: &Stage) -> (Picture, [u32; 2]) {
    let mut files = picture(&stage.tree.path("x"));
    files.append(&mut picture(&stage.tree.path("keep")));
    (
        files,
        ["x/p", "x/p/q"].map(|name| folder(stage, name).mode()),
    )
}

/// The same, with the times of these folders.
fn state(stage: &Stage) -> (Picture, [u32; 2], [i64; 2]) {
    let (files, modes) = files(stage);
    let times = ["x/p", "x/p/q"].map(|name| folder(stage, name).mtime());
    (files, modes, times)
}

fn folder(stage: &Stage, name: &str) -> Metadata {
    fs::metadata(stage.tree.path(name)).expect("a folder")
}

#[test]
fn a_move_to_another_file_system_copies_the_noise_and_undo_brings_it_back() {
    let away = TempDir::new_in("/dev/shm").expect("Linux has shared memory");
    let stage = Stage::new(tree());
    let before = state(&stage);
    let to = away.path().display();
    stage.run(&format!("move --to {to} {ALL}")).exits(0);
    assert_eq!(left(&stage), STAYS);
    let root = stage.tree.root().canonicalize().expect("real");
    let there = format!("{to}{}/x/p/q/.DS_Store", root.display());
    assert_eq!(fs::read(there).expect("moved"), b"of q");
    stage.run("undo --yes").exits(0).says("6 files restored.");
    assert!(state(&stage) == before, "not as before");
}

#[test]
fn what_cannot_be_restored_does_not_go() {
    let stage = Stage::new(tree());
    let before = state(&stage);
    let run = stage.run(&format!("remove {ALL}")).exits(2);
    run.says("--with-noise").says("--trash").says("move");
    stage.run("remove --trash --with-noise x").exits(2);
    assert!(state(&stage) == before);
    let sets = Search::new([stage.tree.path("x")]).run().expect("sets");
    let lost = Action::remove().with_noise([".DS_Store"]).plan(&sets);
    assert_eq!(lost.expect_err("refused").kind(), ErrorKind::Setting);
}

#[test]
fn noise_that_stays_for_a_copy_keeps_its_folder() {
    let tree = Tree::new()
        .copies(["keep/one", "x/a/one", "x/b/one"], noise(1, 5000))
        .copies(["x/a/Thumbs.db", "x/b/Thumbs.db"], "the same");
    let stage = Stage::new(tree);
    let words =
        "remove --trash --yes --remove-empty-folders --with-noise --keep shallowest --only-under x";
    stage.run(&format!("{words} keep x")).exits(0);
    assert_eq!(left(&stage), ["x/a/Thumbs.db"]);
    // Without a copy in the reference none of the two has to stay.
    stage.run("undo --yes").exits(0);
    stage.run(&format!("remove --trash {ALL}")).exits(0);
    assert_eq!(left(&stage), [""; 0]);
    assert!(!stage.has("x/a") && !stage.has("x/b"));
}

/// Takes duplicates and noise, and lets `meanwhile` happen between the last duplicate and the noise.
fn taken_with_a_race(meanwhile: impl Fn(&Stage) + Sync) -> (Stage, Applied) {
    let stage = Stage::new(tree());
    let root = stage.tree.root().canonicalize().expect("real");
    let sets = Search::new([root.join("x"), root.join("keep")]).run();
    let plan = Action::trash(Some(&stage.state.path().join("Trash")))
        .reference(root.join("keep"))
        .with_noise([""; 0])
        .plan(&sets.expect("sets"))
        .expect("a plan");
    assert_eq!(plan.noise().count(), 3);
    let applied = with_a_race(plan, 3, stage.state.path(), || meanwhile(&stage));
    assert_eq!(applied.unreached, 0);
    (stage, applied)
}

#[test]
fn noise_stays_in_a_folder_that_is_not_empty_any_more() {
    let (stage, applied) = taken_with_a_race(|stage| stage.tree.write("x/p/q/new", "new"));
    assert_eq!((applied.noise, applied.folders), (0, 0));
    assert!(stage.has("x/p/q/.DS_Store") && stage.has("x/p/Thumbs.db"));
    let (stage, applied) = taken_with_a_race(|stage| stage.tree.write("x/p/new", "new"));
    assert_eq!((applied.noise, applied.folders), (2, 1));
    assert!(!stage.has("x/p/q") && stage.has("x/p/Thumbs.db"));
}

#[test]
fn noise_that_was_written_to_is_left_alone() {
    let (stage, applied) =
        taken_with_a_race(|stage| stage.tree.write("x/p/q/empty", "not any more"));
    assert_eq!((applied.noise, applied.skipped, applied.folders), (2, 1, 0));
    let kept = fs::read(stage.tree.path("x/p/q/empty")).expect("there");
    assert_eq!(kept, b"not any more");
}
