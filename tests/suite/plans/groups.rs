//! A photo and the files that belong to it by their names go together or stay together, and are chosen together.

use std::fs;

use crate::common::Tree;
use crate::common::stage::Stage;

/// Pictures and films; see `src/file/kind.rs`.
const PHOTOS: &str = "\
    3fr arw cr2 cr3 crw dcr dng eip erf fff gpr iiq kdc mef mos mrw nef nrw orf pef raf raw rw2 rwl sr2 srf srw x3f \
    ai apng avif bmp exr gif heic heif hif ico insp jfif jp2 jpe jpeg jpg jxl pcx pgm png pnm ppm psb psd svg svgz \
    tga tif tiff webp xcf 360 3g2 3gp asf avi braw divx dv f4v flv insv m2ts m2v m4v mkv mod mov mp mp4 mpe mpeg mpg \
    mts mv mxf ogm ogv qt rm rmvb tod ts vob webm wmv";
const SIDECARS: &str = "aae acr dop lrv on1 pp3 srt thm vrd wav xmp";

const ACTIONS: [&str; 3] = ["remove -y", "remove -y --trash", "move -y --to ../out"];

/// Runs each action on a tree like this: the files that stay.
#[track_caller]
fn leaves<const N: usize>(tree: impl Fn() -> Tree, arguments: &str, expected: [&str; N]) {
    for action in ACTIONS {
        let stage = Stage::new(tree());
        let state = stage.state.path().join("out");
        let action = action.replace("../out", state.to_str().expect("plain"));
        let run = stage.run(&format!("{action} {arguments}")).exits(0);
        assert_eq!(stage.names(), expected, "{action}: {run}");
    }
}

/// Every kind of picture and film × sidecar, in both spellings and mixed case.
#[test]
fn every_photo_and_its_sidecar_stay_together() {
    let stage = Stage::new(Tree::new());
    let (mut pairs, mut number) = (Vec::new(), 0);
    for photo in PHOTOS.split_whitespace() {
        for sidecar in SIDECARS.split_whitespace() {
            for beside in [
                format!("IMG.{sidecar}"),
                format!("img.{}.{sidecar}", photo.to_uppercase()),
            ] {
                number += 1;
                let folder = format!("a/{number}");
                stage
                    .tree
                    .write(format!("{folder}/IMG.{photo}"), format!("photo {number}"));
                // The bytes of each sidecar stay elsewhere.
                stage
                    .tree
                    .write(format!("{folder}/{beside}"), "the same edit");
                // The photo stays elsewhere, the sidecar does not.
                stage
                    .tree
                    .write(format!("b/{number}/Img.{photo}"), format!("photo {number}"));
                stage
                    .tree
                    .write(format!("b/{number}/{beside}"), format!("edit {number}"));
                pairs.push((folder, beside));
            }
        }
    }
    assert_eq!(number, 94 * 11 * 2, "each extension of the table");
    let before = stage.names();
    stage.run("remove -y --reference a a b").exits(0);
    assert!(stage.names() == before, "torn by a reference");
    stage.run("remove -y a").exits(0);
    assert!(stage.names() == before, "torn within a folder");
}

/// Crossed ages: each rule for files alone would keep the photo of one and the sidecar of the other.
#[test]
fn equal_pairs_are_chosen_as_groups() {
    for (photo, edits) in [
        (("IMG.JPG", "img.xmp"), "IMG.jpg.Xmp"),
        (("I.CR2", "I.cr2.xmp"), "I.XMP"),
    ] {
        let (photo, sidecar) = photo;
        for (old, first) in [("a", true), ("b", false)] {
            let new = if first { "b" } else { "a" };
            let tree = || {
                Tree::new()
                    .copies([&format!("a/{photo}"), &format!("b/{photo}")], "photo")
                    .file(format!("{old}/{sidecar}"), "edit")
                    .file(format!("{new}/{edits}"), "edit")
                    .modified(format!("{old}/{photo}"), 1_000)
                    .modified(format!("{new}/{edits}"), 1_000)
            };
            let stay = [format!("{old}/{photo}"), format!("{old}/{sidecar}")];
            let mut stay = [&stay[0][..], &stay[1][..]];
            stay.sort_unstable();
            leaves(tree, "--keep oldest a b", stay);
        }
    }
}

/// A photo of a Google export, with the file about it, and an edited version that shares this file.
#[test]
fn exported_photos_go_with_the_files_about_them() {
    let long = "A photo whose name is longer than its export allo";
    let about_long = &long[..46];
    let exported = |folder: &str, edited: &str| {
        Tree::new()
            .file(format!("{folder}/1.jpg"), "photo")
            .file(
                format!("{folder}/1.jpg.supplemental-metadata.json"),
                "about it",
            )
            .file(format!("{folder}/1-edited.jpg"), edited)
            .file(format!("{folder}/2.jpg"), "another")
            .file(format!("{folder}/2-edited.jpg"), "no file about it")
            .file(format!("{folder}/{long}.jpg"), "long")
            .file(format!("{folder}/{about_long}.json"), "about the long one")
    };
    for (edited, torn) in [("edited", false), ("edited later", true)] {
        let stage = Stage::new(exported("a", "edited"));
        let from = exported("b", edited);
        fs::rename(from.path("b"), stage.tree.path("b")).expect("moved");
        fs::remove_file(stage.tree.path("a/2-edited.jpg")).expect("removed");
        // The file about the long one has no copy.
        stage
            .tree
            .write(format!("b/{about_long}.json"), "about another");
        stage.run("remove -y --reference a a b").exits(0);
        let below_b = stage
            .names()
            .into_iter()
            .filter(|name| name.starts_with("b/"));
        let long = [format!("b/{about_long}.json"), format!("b/{long}.jpg")];
        let group = ["1-edited.jpg", "1.jpg", "1.jpg.supplemental-metadata.json"];
        let group = group
            .iter()
            .filter(|_| torn)
            .map(|name| format!("b/{name}"));
        let mut stay: Vec<String> = group.chain(["b/2-edited.jpg".into()]).chain(long).collect();
        stay.sort();
        assert_eq!(below_b.collect::<Vec<_>>(), stay, "{edited}");
    }
}

/// Two photos have names that begin with it, and are not bound to it.
#[test]
fn a_clipped_name_that_may_mean_two_photos_belongs_to_none() {
    let start = "Photos whose names begin with the same 46 char";
    let photos = ["one", "two"].map(|end| {
        [
            format!("a/{start} {end}.jpg"),
            format!("b/{start} {end}.jpg"),
        ]
    });
    let mut tree = Tree::new().file(format!("b/{start}.json"), "about one of them");
    for [a, b] in &photos {
        tree = tree.copies([&a[..], &b[..]], a);
    }
    let stage = Stage::new(tree);
    stage.run("remove -y --reference a a b").exits(0);
    let [[one, _], [two, _]] = &photos;
    let json = format!("b/{start}.json");
    assert_eq!(stage.names(), [&one[..], two, &json]);
}

fn below_a(stage: &Stage) -> Vec<String> {
    let names = stage.names().into_iter();
    names.filter(|name| name.starts_with("a/")).collect()
}

/// In the other folder, each group lacks its last file.
#[test]
fn no_file_about_an_exported_photo_is_left_alone() {
    let long = "A name of a film that moves and is longer than its export";
    let (clip, number) = (&long[..46], "A name of 44 characters with a number at the");
    let groups = [
        "PXL_1.MP.jpg, PXL_1.MP.jpg.supplemental-metadata.json",
        "PXL_1.MP(1).jpg, PXL_1.MP.jpg(1).json",
        "PXL_1.MP.jpg, PXL_1.MP.jpg.json, PXL_1.MP-edited.jpg",
        "DSC_1.NEF.jpg, DSC_1.NEF.jpg.json",
        "IMG_E1234.HEIC, IMG_E1234.HEIC.json",
        "a.jpg, a-edited.jpg, a.jpg.json",
        "Urlaub in Knaufspesch in der Schneifel (38).JPG, Urlaub in Knaufspesch in der Schneifel (38).JP.json",
        "a.jpg, a.jpg.json, a-edited.jpg",
        &format!("{long}.heic, {long}.mp4, {clip}.json"),
        &format!("{long}.jpg, {long}-edited.jpg, {clip}.json"),
        &format!("{number}.jpg, {number}.j.json, {number}-edited.jpg"),
        &format!("{number}(1).jpg, {number}.j(1).json"),
    ];
    let mut tree = Tree::new();
    let mut before = Vec::new();
    for (nth, group) in groups.into_iter().enumerate() {
        let group: Vec<&str> = group.split(", ").collect();
        for (file, name) in group.iter().enumerate() {
            let content = format!("{nth} {file}");
            before.push(format!("a/{nth}/{name}"));
            tree = tree.file(format!("a/{nth}/{name}"), &content);
            if file + 1 < group.len() {
                tree = tree.file(format!("b/{nth}/{name}"), &content);
            }
        }
    }
    let stage = Stage::new(tree);
    stage.run("remove -y --reference b a b").exits(0);
    before.sort();
    assert_eq!(below_a(&stage), before);
}

/// Without the file that lists the edits, and whichever of the two lacks a copy.
#[test]
fn what_an_iphone_calls_an_edited_photo_stays_with_its_original() {
    for (name, other) in [
        ("IMG_1234.HEIC", "IMG_E1234.HEIC"),
        ("IMG_E1234.JPG", "IMG_1234.JPG"),
        ("IMG_E1234.MOV", "IMG_1234.MOV"),
    ] {
        let tree = Tree::new()
            .copies([&*format!("a/{name}"), &format!("b/{name}")], "one")
            .file(format!("a/{other}"), "other");
        let stage = Stage::new(tree);
        let run = stage.run("remove -y --reference b a").exits(0);
        assert_eq!(below_a(&stage).len(), 2, "{run}");
        stage.tree.write(format!("b/{other}"), "other");
        let run = stage.run("remove -y --reference b a").exits(0);
        assert!(below_a(&stage).is_empty(), "{run}");
    }
}

#[test]
fn an_edited_photo_with_a_file_about_it_is_a_group_of_its_own() {
    let names = ["a.jpg", "a.jpg.json", "a-edited.jpg", "a-edited.jpg.json"];
    let mut tree = Tree::new();
    for name in names {
        tree = tree.file(format!("a/{name}"), name);
        if name != names[3] {
            tree = tree.file(format!("b/{name}"), name);
        }
    }
    let stage = Stage::new(tree);
    stage.run("remove -y --reference b a b").exits(0);
    assert_eq!(below_a(&stage), ["a/a-edited.jpg", "a/a-edited.jpg.json"]);
}

/// What a folder holds that cannot be listed, nobody knows.
#[test]
fn photos_in_a_folder_that_cannot_be_listed_stay() {
    let stage = Stage::new(
        Tree::new()
            .copies(["a/1.jpg", "b/1.jpg"], "photo")
            .copies(["a/1.txt", "b/1.txt"], "text")
            .file("b/1.xmp", "edit")
            .mode("b", 0o311),
    );
    let line = "remove -y --reference a a b/1.jpg b/1.txt";
    stage.seekless(line).without_privileges().run().exits(0);
    stage.tree.set_mode("b", 0o755);
    assert_eq!(stage.names(), ["a/1.jpg", "a/1.txt", "b/1.jpg", "b/1.xmp"]);
}

fn two_imports() -> Tree {
    Tree::new()
        .copies(["a/IMG.HEIC", "b/IMG.HEIC"], "x".repeat(5_000))
        .copies(["a/IMG.AAE", "b/img.heic.aae"], "edit")
        .copies(["a/lonely.xmp", "b/lonely.xmp"], "of no photo")
        .copies(["a/notes.txt", "b/notes.txt"], "text")
}

#[test]
fn a_report_of_photos_has_their_sidecars() {
    for preset in ["--preset photos", "--type image -f json"] {
        let stage = Stage::new(two_imports());
        let report = stage.report(&format!("{preset} a b"));
        stage.on_report("remove -y --from -", report).exits(0);
        let left = [
            "a/IMG.AAE",
            "a/IMG.HEIC",
            "a/lonely.xmp",
            "a/notes.txt",
            "b/notes.txt",
        ];
        assert_eq!(stage.names(), left, "{preset}");
    }
    let stage = Stage::new(two_imports());
    stage.run("remove -y --type image a b").exits(0);
    assert_eq!(stage.names().len(), 5);
}

#[test]
fn a_group_stays_if_a_filter_left_out_its_sidecar() {
    for filter in ["--min-size 1k", "--ext heic"] {
        let stage = Stage::new(two_imports());
        let before = stage.names();
        stage.run(&format!("remove -y --type image {filter} a b"));
        assert_eq!(stage.names(), before, "{filter}");
    }
}
