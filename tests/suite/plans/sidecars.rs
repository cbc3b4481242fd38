//! Which sidecar files belong to which photos and films, and what has to be where before they go.

use crate::common::Tree;
use crate::common::stage::Stage;

/// Files in the folders `a`, `b` and `c`. Files of one content have one name, but for the part behind a `=`: this is
/// the content.
fn library(folders: [&str; 3]) -> Stage {
    let mut tree = Tree::new().folder("c");
    for (folder, files) in ["a", "b", "c"].into_iter().zip(folders) {
        for file in files.split(", ").filter(|file| !file.is_empty()) {
            let (name, content) = file.split_once('=').unwrap_or((file, file));
            tree = tree.file(format!("{folder}/{name}"), content);
        }
    }
    Stage::new(tree)
}

/// Number of files in `a`.
fn in_a(stage: &Stage) -> usize {
    let names = stage.names();
    names.iter().filter(|name| name.starts_with("a/")).count()
}

/// Removes from `a` what has copies in `b` and `c`: whether all of it goes, or all of it stays.
#[track_caller]
fn goes(folders: [&str; 3]) -> bool {
    let stage = library(folders);
    let before = in_a(&stage);
    let run = stage
        .run("remove -y --reference b --reference c a")
        .exits(0);
    let after = in_a(&stage);
    assert!(after == 0 || after == before, "{folders:?} is torn: {run}");
    after == 0
}

#[test]
fn a_sidecar_goes_if_one_group_has_a_copy_of_it_and_of_all_that_it_may_be_about() {
    for (a, b, c, expected) in [
        ("1.HEIC, 1.MOV, 1.AAE", "1.HEIC, 1.MOV, 1.AAE", "", true),
        // Of the edit, only the film is there.
        ("1.HEIC, 1.MOV, 1.AAE", "1.MOV, 1.AAE", "1.HEIC", false),
        (
            "1.HEIC, 1.MOV, 1.AAE",
            "1.MOV, 1.AAE",
            "1.HEIC, 1.MOV",
            false,
        ),
        (
            "1.jpg, 1.mov, 1.mov.json",
            "1.jpg, 1.mov.json",
            "1.jpg, 1.mov",
            false,
        ),
        ("1.CR2, 1.JPG, 1.xmp", "1.CR2, 1.xmp", "1.JPG", false),
        // One import lacks the JPEG.
        ("1.CR2, 1.xmp", "1.CR2, 1.JPG, 1.xmp", "", true),
        // Two sidecars stay in two groups.
        (
            "1.CR2, 1.JPG, 1.xmp, 1.pp3",
            "1.CR2, 1.JPG, 1.xmp",
            "1.CR2, 1.JPG, 1.pp3",
            true,
        ),
        // Without a sidecar, the pictures may stay apart.
        ("1.CR2, 1.JPG", "1.CR2", "1.JPG", true),
    ] {
        assert_eq!(goes([a, b, c]), expected, "{a} | {b} | {c}");
    }
}
