//! The folders that `move` makes are closed to other users, and no file goes where others could reach it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

use crate::common::stage::Stage;
use crate::common::users::{
    ALICE, NOBODY, acl, give, looks, moved, open_stage, set_extended, set_mode,
};
use crate::common::volume::Mounted;
use crate::common::{Tree, noise};
use tempfile::TempDir;

const ACL: &str = "system.posix_acl_access";

fn tree() -> Tree {
    Tree::new()
        .copies(["k", "p/q/r/v", "p/w"], noise(1, 5000))
        .copies(["k2", "p/q/v2"], noise(2, 5000))
}

#[test]
fn new_folders_are_for_their_owner_only() {
    let stage = Stage::new(tree());
    set_mode(stage.tree.path("p"), 0o755);
    stage
        .run("move --yes --keep shortest-path --to aside .")
        .exits(0)
        .says("moved 3 files");
    let to = stage.tree.path("aside");
    for name in ["p", "p/q", "p/q/r"] {
        let now = looks(&moved(&to, &stage.tree.path(name))).2;
        assert_eq!(now, 0o700, "{name}");
    }
}

/// What may be done to a folder or a copy on its way, in either direction: as much as to the old one, or nothing by
/// anybody but root.
#[test]
#[cfg(debug_assertions)]
#[ignore = "gives files away: root only"]
fn killed_at_any_moment_nothing_is_more_open_than_the_old_one() {
    for (is_undo, shared) in [(false, false), (false, true), (true, true)] {
        let deaths = (1..).take_while(|&at| {
            let stage = open_stage(Tree::new().copies(["k", "p/v"], noise(1, 5000)));
            give(&stage.tree.path("p"), ALICE, 0o750);
            give(&stage.tree.path("p/v"), ALICE, 0o440);
            let away = TempDir::new_in("/dev/shm").expect("Linux has shared memory");
            let to = if shared {
                away.path().join("to")
            } else {
                stage.tree.path("to")
            };
            let line = format!("move --yes --keep shortest-path --to {} .", to.display());
            let is_killed = if is_undo {
                stage.run(&line).exits(0);
                stage.is_killed("undo --yes", at)
            } else {
                stage.is_killed(&line, at)
            };
            let made = moved(&to, &stage.tree.path("p"));
            for folder in [&made, &stage.tree.path("p")] {
                let entries = walkdir::WalkDir::new(folder).into_iter();
                for entry in entries.filter_map(Result::ok) {
                    let (uid, gid, mode) = looks(entry.path());
                    let is_closed = uid == 0 && mode & 0o077 == 0;
                    let most = if entry.file_type().is_dir() {
                        0o750
                    } else {
                        0o440
                    };
                    let is_as_open = (uid, gid) == (ALICE, ALICE) && mode & !most == 0;
                    let context = format!("{:?} {is_undo}, call {at}", entry.path());
                    assert!(is_closed || is_as_open, "{context}: {uid} {gid} {mode:o}");
                }
            }
            is_killed
        });
        let deaths = deaths.count();
        assert!((10..400).contains(&deaths), "killed {deaths} times");
    }
}

#[test]
#[ignore = "gives folders away: root only"]
fn folders_of_a_step_that_fails_go_again() {
    let stage = open_stage(tree());
    let to = stage.tree.path("aside");
    fs::create_dir(&to).expect("a folder");
    chown(&to, Some(0), Some(0)).expect("root's");
    fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).expect("mode");
    // A folder has the name that the file would get.
    let place = moved(&to, &stage.tree.path("p/w"));
    fs::create_dir_all(&place).expect("a folder");
    stage
        .run("move --yes --keep shortest-path --to aside .")
        .exits(1)
        .says("cannot move it");
    assert!(stage.has("p/w") && !stage.has("p/q/v2"));
}

const OPEN: &str = "other users can change that folder";

type OwnerAndMode = (u32, u32);

/// A folder below the destination, and the folder above it: the owner and the mode of each; the owner of the file; and
/// whether the file may be moved there.
const EXISTING: [(OwnerAndMode, OwnerAndMode, u32, bool); 11] = [
    // Alice may have put a folder of root there.
    ((0, 0o777), (ALICE, 0o777), 0, false),
    ((0, 0o755), (ALICE, 0o755), 0, false),
    ((0, 0o700), (ALICE, 0o777), 0, false),
    // The file is hers, and only she can do that.
    ((0, 0o755), (ALICE, 0o755), ALICE, true),
    ((ALICE, 0o700), (ALICE, 0o700), ALICE, true),
    ((NOBODY, 0o700), (ALICE, 0o755), ALICE, false),
    // No other user may rename it, but other users may rename its entries.
    ((0, 0o777), (0, 0o755), 0, false),
    ((0, 0o1777), (0, 0o755), 0, true),
    // The group is the private group of the owner.
    ((0, 0o775), (0, 0o755), 0, true),
    ((0, 0o755), (0, 0o755), 0, true),
    ((NOBODY, 0o700), (0, 0o755), 0, false),
];

#[test]
#[ignore = "acts as two users: root only"]
fn no_file_comes_into_a_folder_that_others_can_change() {
    for (folder, above, owner, comes) in EXISTING {
        let stage = open_stage(Tree::new().copies(["k", "p/q/secret"], noise(2, 5000)));
        give(&stage.tree.path("p/q/secret"), owner, 0o600);
        let to = stage.tree.path("aside");
        let [outer, inner] = ["p", "p/q"].map(|name| moved(&to, &stage.tree.path(name)));
        fs::create_dir_all(&inner).expect("folders");
        give(&outer, above.0, above.1);
        give(&inner, folder.0, folder.1);
        let line = "move --yes --keep shortest-path --to aside";
        let run = stage.run(&format!("{line} ."));
        let context = format!("{folder:?} in {above:?} for {owner}\n{run}");
        assert_eq!(inner.join("secret").exists(), comes, "{context}");
        assert_eq!(stage.has("p/q/secret"), !comes, "{context}");
        if !comes {
            run.exits(2).says(OPEN);
            stage.run(&format!("{line} --allow shared .")).exits(0);
            assert!(inner.join("secret").exists(), "{context}");
        }
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn no_file_comes_into_a_destination_of_another_user() {
    for (owner, of_file, comes) in [(NOBODY, 0, false), (NOBODY, NOBODY, true), (0, 0, true)] {
        let stage = open_stage(Tree::new().copies(["k", "p/q/secret"], noise(2, 5000)));
        give(&stage.tree.path("p/q/secret"), of_file, 0o600);
        let to = stage.tree.path("aside");
        fs::create_dir(&to).expect("a folder");
        give(&to, owner, 0o700);
        let run = stage.run("move --yes --keep shortest-path --to aside .");
        assert_eq!(stage.has("p/q/secret"), !comes, "to {owner}\n{run}");
        if !comes {
            run.exits(2).says(OPEN);
            assert_eq!(fs::read_dir(&to).expect("listed").count(), 0);
        }
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn no_file_comes_into_a_folder_that_an_acl_opens() {
    let stage = open_stage(Tree::new().copies(["k", "p/q/secret"], noise(2, 5000)));
    let to = stage.tree.path("aside");
    let inner = moved(&to, &stage.tree.path("p/q"));
    fs::create_dir_all(&inner).expect("folders");
    give(&inner, 0, 0o700);
    set_extended(&inner, ACL, &acl(ALICE, 7, 0o700));
    let line = "move --yes --keep shortest-path --to aside .";
    stage.run(line).exits(2).says(OPEN);
    assert!(stage.has("p/q/secret"));
}

#[test]
#[ignore = "mounts file systems, needs bindfs: root only"]
fn no_file_comes_into_a_mount_that_a_program_of_another_user_serves() {
    for (user, comes) in [(NOBODY, false), (0, true)] {
        let stage = open_stage(Tree::new().copies(["k", "p/q/secret"], noise(2, 5000)));
        give(&stage.tree.path("p/q"), 0, 0o700);
        let to = stage.tree.path("aside");
        let [outer, inner] = ["p", "p/q"].map(|name| moved(&to, &stage.tree.path(name)));
        fs::create_dir_all(&outer).expect("folders");
        let store = TempDir::new().expect("a folder");
        // It looks like a closed folder of root, whoever serves it.
        give(store.path(), 0, 0o700);
        let command = format!("setpriv --ruid {user} bindfs {}", store.path().display());
        let mount = Mounted::by(&command, outer);
        let run = stage.run("move --yes --keep shortest-path --to aside .");
        assert_eq!(inner.join("secret").exists(), comes, "{user}: {run}");
        assert_eq!(stage.has("p/q/secret"), !comes, "{user}: {run}");
        if !comes {
            run.says(OPEN);
        }
        drop(mount);
    }
}
