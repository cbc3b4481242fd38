//! Folders that a move creates on the way to its destination, and that undo makes again: undo removes those that are
//! empty again and no others, and makes none that it cannot record.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::common::stage::Stage;
use crate::common::volume::sh;
use crate::common::{Tree, noise};

const MOVE: &str = "move --yes --reference keep --to new/deep keep x";

fn stage() -> Stage {
    let (one, two) = (noise(1, 5000), noise(2, 7000));
    let tree = Tree::new()
        .copies(["keep/one", "x/p/q/one"], &one)
        .copies(["keep/two", "x/two"], &two)
        .folder("x/empty");
    Stage::new(tree)
}

/// Where the move puts what lies in this folder of the tree, below which it keeps the whole path.
fn moved(stage: &Stage, name: &str) -> PathBuf {
    let root = stage.tree.root().canonicalize().expect("the tree is there");
    let below = root.strip_prefix("/").expect("absolute");
    stage.tree.path("new/deep").join(below).join(name)
}

/// Moves the copies, changes something, and undoes the move.
#[track_caller]
fn undone_after(stage: &Stage, change: impl FnOnce()) {
    stage.run(MOVE).exits(0);
    assert!(moved(stage, "x/p/q/one").exists() && moved(stage, "x/two").exists());
    change();
    stage.run("undo --yes").exits(0).says("2 files restored.");
}

#[test]
fn a_folder_with_something_else_in_it_stays() {
    let stage = stage();
    let mine = moved(&stage, "x/mine");
    undone_after(&stage, || {
        crate::common::write(&mine, "mine").expect("written")
    });
    assert!(mine.exists() && !moved(&stage, "x/p").exists());
    fs::remove_file(&mine).expect("removed");
    stage.run("undo --yes").exits(0);
    assert!(moved(&stage, "x").exists(), "the undo had come to its end");
}

#[test]
fn a_link_in_the_place_of_a_folder_is_not_followed() {
    let stage = stage();
    let [p, aside] = [moved(&stage, "x/p"), stage.tree.path("aside")];
    stage.run(MOVE).exits(0);
    fs::rename(&p, &aside).expect("aside");
    fs::rename(aside.join("q/one"), stage.tree.path("one")).expect("aside");
    symlink(&aside, &p).expect("a link");
    stage.run("undo --yes").exits(1).says("1 file restored.");
    assert!(stage.has("aside/q") && p.is_symlink());
}

#[test]
#[ignore = "sets a flag on a folder: root only"]
fn a_folder_that_undo_cannot_remove_is_reported_and_tried_again() {
    let stage = stage();
    stage.run(MOVE).exits(0);
    let new = stage.tree.path("new");
    sh(&format!("chattr +i {}", new.display()));
    stage
        .run("undo --yes")
        .exits(1)
        .says("cannot remove the folder that the run made")
        .says("2 files restored.");
    sh(&format!("chattr -i {}", new.display()));
    stage.run("undo --yes").exits(0);
    assert!(!stage.has("new"));
}

#[test]
#[ignore = "sets a flag on a folder: root only"]
fn what_is_wrong_with_the_destination_is_said_once() {
    let stage = stage();
    fs::create_dir(stage.tree.path("new")).expect("a folder");
    let new = stage.tree.path("new");
    sh(&format!("chattr +i {}", new.display()));
    let run = stage.run(MOVE).exits(2);
    sh(&format!("chattr -i {}", new.display()));
    assert_eq!(run.stderr_text().matches("chattr").count(), 1, "{run}");
    assert!(stage.has("x/two"));
}

/// Far more calls than an undo of one folder makes.
const MANY: usize = 1000;

/// A copy in `x/p`, whose removal empties the folder.
fn emptied() -> Stage {
    let stage = Stage::new(Tree::new().copies(["keep/f", "x/p/f"], noise(1, 5000)));
    stage
        .run("move --to out --yes --remove-empty-folders --reference keep x")
        .exits(0);
    assert!(!stage.has("x/p"));
    stage
}

#[test]
fn undo_makes_no_folder_that_it_cannot_record() {
    let mut refused = 0;
    for at in 20..MANY {
        let stage = emptied();
        let fault = format!("5@{at}");
        let run = stage.seekless("undo --yes").env("SEEKLESS_FAULT", &fault);
        let run = run.run();
        refused += usize::from(run.to_string().contains("the folder was not created again"));
        // The second undo knows the folder that the first one created.
        let again = stage.run("undo --yes");
        let again = again.exits(0);
        assert!(stage.has("x/p/f"), "call {at}: {run}\n{again}");
        if run.code() == 0 && refused > 0 {
            break;
        }
    }
    assert!(refused > 0, "the journal was never refused");
}
