//! Folders that a move creates on the way to its destination: undo removes those that are empty again, and no others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::common::noise;
use crate::common::run::Run;
use crate::common::stage::Stage;
use crate::common::tree::Tree;

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

/// What undo says that it has removed: all folders that the move creates, but for so many.
fn removed(stage: &Stage, but: usize) -> String {
    let new = moved(stage, "x/p/q");
    let new = new.strip_prefix(stage.tree.root()).expect("below");
    let number = new.components().count() - but;
    format!("{number} empty folders removed: created by the run.")
}

/// Moves the copies, changes something, and undoes the move.
#[track_caller]
fn undone_after(stage: &Stage, change: impl FnOnce()) -> Run {
    stage.run(MOVE).exits(0);
    assert!(moved(stage, "x/p/q/one").exists() && moved(stage, "x/two").exists());
    change();
    stage.run("undo --yes").exits(0).says("2 files restored.")
}

#[test]
fn a_folder_with_something_else_in_it_stays() {
    let stage = stage();
    let mine = moved(&stage, "x/mine");
    let told = undone_after(&stage, || fs::write(&mine, "mine").expect("written"));
    told.says("2 empty folders removed: created by the run.");
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

#[cfg(debug_assertions)]
mod stopped {

    use super::*;
    use crate::common::stopped::Stopped;

    /// Far more calls than this run makes.
    const MANY: usize = 1000;

    /// Another process creates a folder after the journal has named it, and before the move would create it.
    #[test]
    fn a_folder_that_another_process_was_faster_to_create_stays() {
        let is_named = |stage: &Stage| {
            let journals = fs::read_dir(stage.state.path().join("seekless/journals"));
            let mut journals = journals.into_iter().flatten().filter_map(Result::ok);
            journals.any(|file| {
                let text = fs::read_to_string(file.path());
                text.is_ok_and(|text| text.contains("\"new_folder\""))
            })
        };
        for at in (1..MANY as u64).step_by(5) {
            let stage = stage();
            let stopped = Stopped::start(stage.seekless(MOVE), at);
            assert!(!stage.has("new"), "no call lies between the two");
            let is_between = is_named(&stage);
            if is_between {
                fs::create_dir_all(stage.tree.path("new/deep")).expect("folders");
            }
            assert_eq!(stopped.goes_on(), Some(0));
            if is_between {
                let told = stage.run("undo --yes").exits(0);
                told.says(&removed(&stage, 2));
                let inner = fs::read_dir(stage.tree.path("new/deep"));
                assert_eq!(inner.expect("it stays").count(), 0);
                return;
            }
        }
        panic!("it never comes so far");
    }
}
