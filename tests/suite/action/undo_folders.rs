//! Folders that undo makes again while its journal cannot be written, and what a killed undo leaves beside them.
//!
//! Builds without debug assertions have nothing to be killed by or to fail (`sys::fault`).
#![cfg(debug_assertions)]

use crate::common::stage::Stage;
use crate::common::{Tree, noise};

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
