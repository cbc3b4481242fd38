//! How copies are counted, and which counts are reported. Random trees and counts are held against every pair in
//! `oracle`.

use crate::common::{Tree, seekless};

#[test]
fn an_unreadable_twin_makes_no_file_unique() {
    let tree = Tree::new()
        .copies(["1", "2"], "same size")
        .file("3", "other siz")
        .mode("2", 0);
    let run = seekless(tree.root(), "find -f nul --unique .")
        .without_privileges()
        .run()
        .exits(1)
        .says("2");
    assert!(!run.sets().contains(&[b"2".to_vec()].into()), "{run}");
}
