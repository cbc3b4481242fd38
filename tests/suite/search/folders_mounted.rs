//! Folders that are reached at two places within one given path. Root only.

use std::path::Path;

use crate::common::volume::{Mounted, Volume, sh};
use crate::common::{Tree, noise, seekless};

/// `me` with two folders, of which one is also in `bk`.
fn tree(tree: Tree) -> Tree {
    tree.file("me/photos/1", noise(1, 5000))
        .copies(["me/docs/2", "bk/2"], noise(2, 5000))
        .folder("aa")
}

fn bind(tree: &Tree, source: &str, place: &str) -> Mounted {
    let arguments = format!("--bind {}", tree.path(source).display());
    Mounted::new(&arguments, tree.path(place))
}

/// Every verdict on `me` and what lies in it, by a report of what is below a folder.
fn verdicts(top: &Path) -> Vec<String> {
    let report = seekless(top, "folders -f json .").run().exits(0).json();
    let entries = report["entries"].as_array().expect("entries").iter();
    let folders = entries.flat_map(|entry| entry["folders"].as_array().expect("folders"));
    let folders = folders.map(|folder| folder.to_string());
    let of_me = |folder: &String| folder.contains("\"./me") && !folder.contains("not-fully-seen");
    folders.filter(of_me).collect()
}

#[test]
#[ignore = "mounts folders: root only"]
fn a_folder_that_is_bound_within_the_same_path_is_not_fully_seen() {
    for (source, place) in [("me/photos", "aa"), ("me", "aa"), ("me/photos", "zz/deep")] {
        let tree = tree(Tree::new()).folder("zz/deep");
        let before = verdicts(tree.root());
        assert!(
            !before.iter().any(|line| line.contains("\"./me\"")),
            "{before:?}"
        );
        let _bound = bind(&tree, source, place);
        let said = verdicts(tree.root());
        assert!(
            !said.iter().any(|line| line.contains("\"./me\"")),
            "{place}: {said:?}"
        );
        assert!(
            !said.iter().any(|line| line.contains("photos\"")),
            "{place}: {said:?}"
        );
    }
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_subvolume_that_is_mounted_within_the_same_path_is_not_fully_seen() {
    let volume = Volume::on_loop("btrfs", 128, "");
    let tree = tree(Tree::inside(&volume.path()));
    let inside = |folder: &Path| {
        folder
            .strip_prefix(volume.path())
            .expect("inside")
            .to_owned()
    };
    let source = inside(&tree.path("me/photos"));
    sh(&format!(
        "rm -r {0} && btrfs subvolume create {0}",
        tree.path("me/photos").display()
    ));
    tree.write("me/photos/1", noise(1, 5000));
    let arguments = format!(
        "-o loop,subvol={} {}",
        source.display(),
        volume.image().display()
    );
    let _again = Mounted::new(&arguments, tree.path("aa"));
    let said = verdicts(tree.root());
    assert!(
        !said.iter().any(|line| line.contains("\"./me\"")),
        "{said:?}"
    );
}

#[test]
#[ignore = "mounts folders: root only"]
fn a_side_with_a_folder_bound_within_it_is_never_a_yes() {
    let tree = tree(Tree::new());
    let _bound = bind(&tree, "me/photos", "aa");
    let other = Tree::new()
        .copies(["me/photos/1", "aa/1"], noise(1, 5000))
        .copies(["me/docs/2", "bk/2"], noise(2, 5000));
    for sides in [[tree.root(), other.root()], [other.root(), tree.root()]] {
        let run = seekless(tree.root(), "compare --same-disk")
            .arg(sides[0])
            .arg(sides[1]);
        let said = run.run().exits(2).stdout_text();
        assert!(said.contains("reached a second time"), "{said}");
    }
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_side_that_is_mounted_in_another_side_is_refused() {
    let tree = Tree::new().file("a/f", "f").folder("a/in").file("b/f", "f");
    let _mounted = Mounted::new("-t tmpfs tmpfs", tree.path("a/in"));
    tree.write("a/in/f", "f");
    for sides in ["a a/in", "b a a/in", "a/in a"] {
        let run = seekless(tree.root(), &format!("compare {sides}")).run();
        run.exits(2).says("a/in: lies in a;");
    }
}
