//! Without an option, a search uses the cache of the user, and never fails because of it.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use super::{REFUSED, ext4, old_pair, pair};
use crate::common::run::{Run, Seekless};
use crate::common::standin::{Rules, Standin};
use crate::common::users::ALICE;
use crate::common::volume::{Volume, sh};
use crate::common::{Tree, noise, seekless};

const NOT_READ: &str = "that an earlier run read";

/// A search of `t` by a user with this folder of caches.
fn search(tree: &Tree, options: &str, caches: &Path) -> Seekless {
    let run = seekless(tree.root(), &format!("find -f nul {options} t"));
    run.env("XDG_CACHE_HOME", &caches.display().to_string())
}

/// A search finds the copies, ends as without a cache, and does not mention the cache.
#[track_caller]
fn is_quiet(run: Run) {
    run.exits(0).never_says("cache").finds(["t/a t/b"]);
}

/// The names in the user's cache.
fn kept(caches: &Path) -> Vec<String> {
    let names = fs::read_dir(caches.join("seekless")).expect("is listed");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    names.filter_map(|name| name.into_string().ok()).collect()
}

#[test]
fn the_folder_is_for_its_owner_only_and_no_cache_makes_none() {
    let tree = pair(Tree::new());
    let caches = tree.path("caches");
    is_quiet(search(&tree, "--cache off", &caches).run());
    let contradiction = search(&tree, "--cache caches/own --cache off", &caches);
    contradiction
        .run()
        .exits(2)
        .says("--cache off cannot be used with another --cache");
    assert!(!caches.exists());
    // A path with such a name is given as one.
    tree.write("off", "a file");
    is_quiet(search(&tree, "--cache off", &caches).run());
    let run = search(&tree, "--cache mtime --cache ./off", &caches).run();
    run.exits(0)
        .says("off: ")
        .says("is not a folder")
        .finds(["t/a t/b"]);
    assert!(!caches.exists());
    fs::remove_file(tree.path("off")).expect("removed");
    let task = |folder: &str| seekless(tree.root(), &format!("cache --cache {folder}")).run();
    task("./off").exits(0);
    is_quiet(search(&tree, "", &caches).run());
    let made = fs::metadata(caches.join("seekless")).expect("is made");
    assert_eq!(made.mode() & 0o7777, 0o700);
}

#[test]
fn comparisons_of_folders_use_no_cache() {
    let tree = pair(Tree::new()).copies(["u/a", "u/b"], noise(1, 5000));
    for line in ["compare t u", "folders t u"] {
        let run = seekless(tree.root(), line);
        let caches = tree.path("caches").display().to_string();
        run.env("XDG_CACHE_HOME", &caches).run().exits(0);
        assert!(!tree.path("caches").exists(), "{line}");
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_only_mentioned_to_the_curious() {
    let tree = pair(Tree::new()).file("file", "x").folder("open/seekless");
    tree.set_mode("open/seekless", 0o777);
    for caches in ["file", "open"] {
        let caches = tree.path(caches);
        is_quiet(search(&tree, "", &caches).run());
        let run = search(&tree, "-v", &caches).run().exits(0);
        run.says(REFUSED).finds(["t/a t/b"]);
        // What was asked for is missed.
        let run = search(&tree, "--cache mtime", &caches).run().exits(0);
        run.says(REFUSED).finds(["t/a t/b"]);
    }
    let homeless = search(&tree, "", Path::new("")).env("HOME", "");
    is_quiet(homeless.run());
}

#[test]
#[ignore = "needs root: gives folders to another user"]
fn root_leaves_the_home_of_another_user_alone() {
    let tree = pair(Tree::new()).folder("theirs");
    chown(tree.path("theirs"), Some(ALICE), Some(ALICE)).expect("is given away");
    let home = tree.path("theirs").display().to_string();
    let run = search(&tree, "", Path::new("")).env("HOME", &home);
    is_quiet(run.run());
    let left = fs::read_dir(tree.path("theirs")).expect("is listed");
    assert_eq!(left.count(), 0);
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_second_search_reads_nothing_and_gives_the_same_bytes() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let away = Tree::new();
    let caches = away.path("caches");
    let first = search(&tree, "-v", &caches).run().exits(0);
    let first = first.never_says(NOT_READ);
    let again = search(&tree, "-v", &caches).run().exits(0).says(NOT_READ);
    assert_eq!(again.stdout, first.stdout);
    let without = search(&tree, "-v --cache off", &caches).run().exits(0);
    assert_eq!(without.never_says(NOT_READ).stdout, first.stdout);
    let [file] = &kept(&caches)[..] else {
        panic!("one file of rows");
    };
    let made = fs::metadata(caches.join("seekless").join(file)).expect("is there");
    assert_eq!(made.mode() & 0o7777, 0o600);
    // An action finds the copies by the cache, and compares their bytes.
    let remove = seekless(tree.root(), "remove --yes t");
    let remove = remove.env("XDG_STATE_HOME", &away.path("state").display().to_string());
    let remove = remove.env("XDG_CACHE_HOME", &caches.display().to_string());
    remove.run().exits(0);
    let left = fs::read_dir(tree.path("t")).expect("is listed");
    assert_eq!(left.count(), 1);
}

#[test]
#[ignore = "needs root and /dev/fuse"]
fn a_home_on_a_server_holds_no_cache() {
    let tree = pair(Tree::new());
    let server = Standin::new(Rules::NFS);
    let caches = server.point().join("caches");
    is_quiet(search(&tree, "", &caches).run());
    let run = search(&tree, "-v", &caches).run().exits(0);
    run.says(REFUSED).says("local disk");
    assert!(!caches.exists(), "no folder is left there");
    let given = format!("-q --cache {}", server.point().join("given").display());
    let run = search(&tree, &given, &caches).run().exits(0);
    run.says(REFUSED).says("local disk");
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_home_that_is_full_or_read_only_costs_nothing() {
    let volume = ext4();
    let tree = old_pair(&volume);
    let home = Volume::on_loop("ext4", 8, "");
    let caches = home.path().join("caches");
    let full = noise(1, 1 << 16);
    for nth in 0.. {
        if fs::write(home.path().join(nth.to_string()), &full).is_err() {
            break;
        }
    }
    is_quiet(search(&tree, "", &caches).run());
    sh(&format!("mount -o remount,ro {}", home.path().display()));
    is_quiet(search(&tree, "", &caches).run());
}
