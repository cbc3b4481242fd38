//! Folders that a run emptied and may not remove, and what undo gives those that it restores. Root only.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::sync::Mutex;

use rustix::process::geteuid;

use crate::common::stage::Stage;
use crate::common::users::{
    ALICE, NOBODY, acl, extended, give_all_away, open_stage, set_extended, set_mode,
};
use crate::common::volume::{Mounted, Volume, sh};
use crate::common::{Tree, noise};
use seekless::{Action, Applied};

use super::emptied::{plan_that_empties, with_a_race};

/// A copy in `x/p/q`, alone there.
fn tree(tree: Tree) -> Tree {
    tree.copies(["keep/one", "x/p/q/one"], noise(1, 5000))
}

const ALL: &str = "--yes --remove-empty-folders --reference keep x";

#[test]
#[ignore = "acts as another user: root only"]
fn a_folder_that_may_not_be_removed_stays_and_is_named() {
    assert!(geteuid().is_root(), "become root");
    // The user may remove the file, but not the folder: from a folder of root's, or from one like /tmp.
    for (above, why) in [
        (0o755, "Permission denied"),
        (0o1777, "Operation not permitted"),
    ] {
        let stage = open_stage(tree(Tree::new()));
        give_all_away(stage.tree.root());
        give_all_away(stage.state.path());
        let at = |name: &str| stage.tree.path(name);
        chown(at("x/p"), Some(0), Some(0)).expect("root gives");
        set_mode(at("x/p"), above);
        // In a sticky folder only its owner, and that of the folder above, may remove it.
        chown(at("x/p/q"), Some(ALICE), Some(ALICE)).expect("root gives");
        set_mode(at("x/p/q"), 0o777);
        let run = |words: &str| stage.seekless(words).by_nobody().run();
        let acted = run(&format!("remove --trash {ALL}"));
        acted
            .exits(1)
            .says("x/p/q: cannot remove the folder: ")
            .says(why)
            .never_says("empty folder removed");
        assert!(!stage.has("x/p/q/one") && stage.has("x/p/q"), "{above:o}");
        run("undo --yes").exits(0).says("1 file restored.");
        assert!(stage.has("x/p/q/one"));
        let owner = fs::metadata(at("x/p/q")).expect("there").uid();
        assert_eq!(owner, ALICE, "nobody made it anew");
        assert_ne!(owner, NOBODY);
    }
}

/// Removes the copy, and lets something happen between that and the folder.
fn removed_with_a_race(tree: &Tree, meanwhile: impl Fn(&Path) + Sync) -> Applied {
    let root = tree.root().canonicalize().expect("real");
    let state = tempfile::tempdir().expect("a folder");
    let plan = plan_that_empties(&root, Action::remove());
    with_a_race(plan, 1, state.path(), || meanwhile(&root))
}

#[track_caller]
fn stays(applied: &Applied, name: &str, why: &str) {
    assert_eq!((applied.done, applied.folders), (1, 0));
    let (path, said) = &applied.folders_left[0];
    assert!(path.ends_with(name) && said.contains(why), "{said}");
}

#[test]
#[ignore = "mounts folders: root only"]
fn a_folder_that_became_a_mount_point_stays() {
    let tree = tree(Tree::new());
    let mounted = Mutex::new(None);
    let applied = removed_with_a_race(&tree, |root| {
        // Through the mount it has the same numbers.
        let q = root.join("x/p/q");
        let bound = Mounted::new(&format!("--bind {}", q.display()), q);
        *mounted.lock().expect("no panic") = Some(bound);
    });
    stays(&applied, "x/p/q", "resource busy");
    drop(mounted);
    assert!(tree.path("x/p/q").exists());
}

#[test]
#[ignore = "mounts a file system: root only"]
fn on_a_file_system_that_became_read_only_folders_stay() {
    let volume = Volume::tmpfs("");
    let tree = tree(Tree::inside(&volume.path()));
    let mount = format!("mount {} -o remount", volume.path().display());
    let applied = removed_with_a_race(&tree, |_| {
        // A child that another test is about to start may have a file open that was written here.
        sh(&format!(
            "timeout 20 sh -c 'until {mount},ro; do sleep 0.02; done'"
        ));
    });
    sh(&format!("{mount},rw"));
    stays(&applied, "x/p/q", "Read-only file system");
    assert!(tree.path("x/p/q").exists());
}

#[test]
#[ignore = "gives folders away: root only"]
fn undo_gives_folders_all_that_they_had() {
    const ACL: &str = "system.posix_acl_access";
    const DEFAULT: &str = "system.posix_acl_default";
    let stage = Stage::new(tree(Tree::new()));
    let at = |name: &str| stage.tree.path(name);
    chown(at("x/p"), Some(ALICE), Some(NOBODY)).expect("root gives");
    set_mode(at("x/p"), 0o2711);
    for name in [ACL, DEFAULT] {
        set_extended(&at("x/p/q"), name, &acl(NOBODY, 5, 0o750));
    }
    set_extended(&at("x/p/q"), "user.note", b"\0 a note");
    set_extended(&at("x/p"), "trusted.note", b"of root");
    let looks = || {
        ["x/p", "x/p/q"].map(|name| {
            let now = fs::metadata(at(name)).expect("there");
            let names = [ACL, DEFAULT, "user.note", "trusted.note"];
            let extended = names.map(|attribute| extended(&at(name), attribute));
            let owner = (now.uid(), now.gid(), now.mode());
            (owner, now.mtime(), now.mtime_nsec(), extended)
        })
    };
    let before = looks();
    for action in ["move --to out", "remove --trash"] {
        let words = format!("{action} --allow shared {ALL}");
        stage.run(&words).exits(0).says("2 empty folders removed.");
        assert!(!stage.has("x/p"));
        stage.run("undo --yes").exits(0).says("2 folders restored.");
        assert_eq!(looks(), before, "{action}");
    }
}
