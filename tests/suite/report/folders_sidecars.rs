//! A folder can go only if each sidecar file of it stays beside a copy of its photo.

use serde_json::json;

use crate::common::{Tree, noise, seekless};

/// What is said: each folder with its verdict, whether it can go, and its torn photos.
fn said(tree: &Tree) -> Vec<serde_json::Value> {
    let report = seekless(tree.root(), "folders -f json a b").run();
    let report = report.exits(0).json();
    let entries = report["entries"].as_array().expect("entries").iter();
    let lines = entries.flat_map(|entry| {
        let folders = entry["folders"].as_array().expect("folders").iter();
        folders.map(|folder| {
            let path = &folder["path"]["text"];
            json!([
                path,
                folder["verdict"],
                entry["can_go"],
                folder["torn_photos"]
            ])
        })
    });
    lines.collect()
}

/// Larger than what is in `a`, and only here.
fn more(tree: Tree) -> Tree {
    tree.file("b/x/1", noise(1, 5000))
        .file("b/y/2", noise(2, 5000))
}

#[test]
fn a_folder_whose_photo_and_sidecar_are_torn_apart_elsewhere_stays() {
    let tree = Tree::new()
        .copies(["a/p.heic", "b/x/p.heic"], noise(3, 2000))
        .copies(["a/P.AAE", "b/y/p.aae"], noise(4, 1000));
    let tree = more(tree);
    assert_eq!(said(&tree), [json!(["a", "in-parts", "none", 1])]);
    let text = || seekless(tree.root(), "folders a b").run().stdout_text();
    let found = text();
    for line in [
        "also elsewhere, 1 folder:",
        "    3.0 kB (3000 bytes), 2 files, found elsewhere in parts: 3.0 kB in b",
        "    # 1 photo is elsewhere without its sidecar files beside it, such as a/p.heic",
    ] {
        assert!(found.contains(&format!("{line}\n")), "{found}");
    }
    for (copy, number) in [("q.jpg", 5), ("q.jpg.xmp", 6)] {
        let content = noise(number, 1000);
        tree.write(format!("a/{copy}"), &content);
        tree.write(format!("b/{number}/{copy}"), &content);
    }
    let line =
        "# 2 photos are elsewhere without their sidecar files beside them, such as a/p.heic\n";
    assert!(text().contains(line), "{}", text());
}

#[test]
fn a_folder_whose_photo_has_its_sidecar_elsewhere_can_go() {
    let tree = Tree::new()
        .copies(["a/p.heic", "b/x/other.heic", "b/y/p.heic"], noise(3, 2000))
        .copies(["a/p.MOV", "b/y/film.mov"], noise(7, 1000))
        .copies(["a/p.AAE", "b/x/other.heic.aae"], noise(4, 1000));
    assert_eq!(said(&more(tree)), [json!(["a", "contained", "all", null])]);
}

#[test]
fn of_the_same_contents_the_folder_with_whole_groups_stays() {
    let tree = Tree::new()
        .copies(["a/p.heic", "b/x/p.heic"], noise(3, 2000))
        .copies(["a/p.aae", "b/y/p.aae"], noise(4, 1000));
    assert_eq!(said(&tree), [json!(["b", "same-contents", "all", null])]);
    let whole = Tree::new()
        .copies(["a/p.heic", "b/x/q.heic"], noise(3, 2000))
        .copies(["a/p.aae", "b/x/q.aae"], noise(4, 1000));
    let both = [
        json!(["a", "same-contents", "all-but-one", null]),
        json!(["b", "same-contents", "all-but-one", null]),
    ];
    assert_eq!(said(&whole), both);
}

#[test]
fn a_whole_group_in_a_folder_that_goes_is_no_reason_to_let_another_go() {
    let tree = Tree::new()
        .copies(["a/1/p.jpg", "a/2/p.jpg", "b/x/p.jpg"], noise(3, 2000))
        .copies(["a/1/p.xmp", "a/2/p.xmp", "b/y/p.xmp"], noise(4, 1000))
        .copies(["a/2/q.jpg", "b/x/q.jpg"], noise(5, 3000));
    let found = said(&more(tree));
    assert!(
        found.contains(&json!(["a/1", "contained", "all", null])),
        "{found:?}"
    );
    assert!(
        !found
            .iter()
            .any(|line| line[0] == "a/2" && line[2] != "none"),
        "{found:?}"
    );
}
