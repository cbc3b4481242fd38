//! A photo and its sidecar files count as there only where both lie beside each other.

use crate::common::{Run, Tree, seekless};

fn compare(tree: &Tree, arguments: &str) -> Run {
    seekless(tree.root(), &format!("compare {arguments}")).run()
}

const SAID: &str =
    "a: 1 photo is on another side without its sidecar files beside it, such as IMG.HEIC";

#[test]
fn a_photo_whose_edit_lies_elsewhere_is_not_there() {
    let tree = Tree::new()
        .copies(["a/IMG.HEIC", "b/IMG.HEIC"], "photo")
        .copies(["a/img.aae", "b/other.aae"], "edit")
        .file("b/other.heic", "another photo");
    compare(&tree, "--one-way a b").exits(1).says(SAID);
    compare(&tree, "a b").exits(1).says(SAID);
    let json = compare(&tree, "--one-way -f json a b").json();
    let notes = json["comparison"]["notes"].to_string();
    assert!(notes.contains("\"kind\":\"sidecars\""), "{notes}");
    assert!(notes.contains("\"count\":1"), "{notes}");
    assert_eq!(json["comparison"]["answer"], "no");
}

#[test]
fn a_photo_and_its_edit_in_one_group_are_there() {
    let tree = Tree::new()
        .copies(["a/IMG.HEIC", "b/1/photo.heic", "b/2/photo.heic"], "photo")
        .copies(["a/IMG.AAE", "b/2/photo.HEIC.aae"], "edit")
        .copies(["a/IMG.MOV", "b/film.mov"], "film");
    compare(&tree, "--one-way a b")
        .exits(0)
        .never_says("sidecar");
    // The other way, one copy has no edit, so nothing is missing.
    compare(&tree, "--one-way b a")
        .exits(0)
        .never_says("sidecar");
}

#[test]
fn a_sidecar_that_is_nowhere_else_is_only_here() {
    let tree = Tree::new()
        .copies(["a/1.jpg", "b/1.jpg"], "photo")
        .file("a/1.xmp", "edit");
    let run = compare(&tree, "--one-way a b").exits(1);
    run.never_says("without its sidecar");
    // With a type, the sidecars are seen as well.
    compare(&tree, "--one-way --type image a b").exits(1);
}
