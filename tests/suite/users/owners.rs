//! Files of several owners: no file becomes another user's, and nobody can read or write more than before, unless
//! set by the user.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::scene::{Perform, Scene, step};
use crate::common::stage::Stage;
use crate::common::users::{
    ALICE, CAPABILITY, NOBODY, acl, give, looks, nobody_does, open_stage, set_extended, set_mode,
};
use crate::common::volume::Mounted;
use crate::common::{Tree, noise};
use seekless::action::{ActionKind, Outcome, Settings};

/// `n/k` is nobody's, older and open to all; `r/v` is Alice's and private.
fn two_owners() -> Stage {
    let tree = Tree::new()
        .copies(["n/k", "r/v"], noise(1, 5000))
        .modified("n/k", 1000)
        .modified("r/v", 2000);
    let stage = open_stage(tree);
    give(&stage.tree.path("n"), NOBODY, 0o755);
    give(&stage.tree.path("n/k"), NOBODY, 0o644);
    give(&stage.tree.path("r/v"), ALICE, 0o600);
    stage
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).expect("there").ino()
}

#[test]
#[ignore = "acts as two users: root only"]
fn links_do_not_hand_a_private_file_to_another_user() {
    for action in ["hardlink", "symlink"] {
        let stage = two_owners();
        let (victim, before) = (stage.tree.path("r/v"), stage.tree.path("r/v"));
        let before = (looks(&before), inode(&before));
        stage
            .run(&format!("{action} --yes --keep oldest ."))
            .exits(0)
            .says("2 files left alone because each has another owner than its copies")
            .says("--allow other-owners");
        let plan = stage.run(&format!("{action} -n --keep oldest ."));
        let plan = plan.exits(0).stdout_text();
        assert!(plan.contains("has another owner"), "{plan}");
        // What the owner of the kept file does now is no matter of Alice's.
        assert!(nobody_does("echo mine > n/k", stage.tree.root()));
        assert_eq!((looks(&victim), inode(&victim)), before, "{action}");
        assert_eq!(fs::read(&victim).expect("read"), noise(1, 5000));
    }
}

#[test]
fn what_more_people_could_read_is_left_alone_and_what_they_can_read_is_not() {
    for (one, other, is_linked) in [
        (0o644, 0o600, false),
        (0o600, 0o644, false),
        (0o664, 0o644, false),
        (0o755, 0o644, true),
        (0o400, 0o600, true),
    ] {
        for action in ["hardlink", "symlink"] {
            let stage = Stage::new(Tree::new().copies(["a", "b"], noise(1, 5000)));
            set_mode(stage.tree.path("a"), one);
            set_mode(stage.tree.path("b"), other);
            let run = stage.run(&format!("{action} --yes --keep shortest-path ."));
            let run = run.exits(0);
            let context = format!("{action} {one:o} {other:o}");
            let inodes = ["a", "b"].map(|name| inode(&stage.tree.path(name)));
            assert_eq!(inodes[0] == inodes[1], is_linked, "{context}");
            if !is_linked {
                run.says("2 files left alone because each has other permissions");
                let line = format!("{action} --yes --allow other-owners .");
                stage.run(&line).exits(0);
                let inodes = ["a", "b"].map(|name| inode(&stage.tree.path(name)));
                assert_eq!(inodes[0], inodes[1], "{context}");
            }
        }
    }
}

#[test]
#[ignore = "sets capabilities: root only"]
fn acls_groups_and_capabilities_count() {
    let stage = || open_stage(Tree::new().copies(["a", "b"], noise(1, 5000)));
    let left = |stage: &Stage, why: &str| {
        for action in ["hardlink", "symlink"] {
            let line = format!("{action} --yes .");
            stage
                .run(&line)
                .exits(0)
                .says(&format!("2 files left alone because each has {why}"));
            let inodes = ["a", "b"].map(|name| inode(&stage.tree.path(name)));
            assert_ne!(inodes[0], inodes[1], "{action}");
        }
    };
    let s = stage();
    let value = acl(NOBODY, 4, 0o640);
    set_extended(&s.tree.path("b"), "system.posix_acl_access", &value);
    left(&s, "another ACL");
    set_extended(&s.tree.path("a"), "system.posix_acl_access", &value);
    s.run("hardlink --yes .")
        .exits(0)
        .says("replaced 1 file with hard links");

    let s = stage();
    set_extended(&s.tree.path("a"), "security.capability", &CAPABILITY);
    left(&s, "another security label or capability");

    let s = stage();
    std::os::unix::fs::chown(s.tree.path("b"), None, Some(ALICE)).expect("given");
    s.run("hardlink -n .").exits(0).never_says("left alone");
    set_mode(s.tree.path("a"), 0o640);
    set_mode(s.tree.path("b"), 0o640);
    left(&s, "another group");
}

#[test]
#[ignore = "acts as two users: root only"]
fn root_removes_nobodys_file_for_the_sake_of_somebody_elses() {
    let stage = two_owners();
    stage
        .run("remove --yes --keep oldest .")
        .exits(0)
        .says("2 files left alone because each has another owner");
    assert!(stage.has("r/v") && stage.has("n/k"));
    // Each owner keeps one.
    fs::copy(stage.tree.path("r/v"), stage.tree.path("r/again")).expect("a copy");
    give(&stage.tree.path("r/again"), ALICE, 0o600);
    stage.run("remove --yes .").exits(0).says("removed 1 file");
    assert_eq!(stage.names().len(), 2, "{:?}", stage.names());
    stage
        .run("remove --yes --allow other-owners --keep oldest .")
        .exits(0)
        .says("For 1 of them the kept file belongs to another owner");
    assert_eq!(stage.names(), ["n/k"]);
}

#[test]
#[ignore = "gives files away: root only"]
fn who_owns_the_files_is_looked_at_again_before_each_step() {
    for action in [
        ActionKind::Hardlink,
        ActionKind::Symlink,
        ActionKind::Remove,
    ] {
        let scene = Scene::new();
        // As from a report that does not tell the change time.
        let mut step = step(action, &scene.keeper(), &scene.victim());
        let kept = &mut step.keeper;
        kept.expected.ctime_ns = None;
        step.victim.expected.ctime_ns = None;
        give(&scene.keeper(), NOBODY, 0o644);
        let before = inode(&scene.victim());
        let outcome = scene.actor().perform(&step);
        assert!(
            matches!(&outcome, Outcome::Skipped(why) if why.to_string().contains("another owner")),
            "{outcome:?}"
        );
        assert_eq!(inode(&scene.victim()), before);
        let told = Settings {
            across_owners: true,
            ..scene.settings()
        };
        let outcome = scene.actor_with(told).perform(&step);
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
}

const SHARED: &str = "left alone because it is in a folder that other users can change";

/// A copy in a folder of somebody else can be taken away afterwards: it does not count as the owner's copy.
#[test]
#[ignore = "acts as two users: root only"]
fn a_copy_in_a_strangers_folder_is_kept_for_nobody() {
    for (mode, action) in [
        (0o755, "remove"),
        (0o777, "remove"),
        (0o1777, "remove"),
        (0o1777, "symlink"),
        (0o755, "hardlink"),
        (0o755, "remove --trash"),
        (0o755, "move --to aside"),
    ] {
        let tree = Tree::new().copies(["alice/own", "drop/handed"], "of Alice");
        let stage = Stage::new(tree);
        give(&stage.tree.path("drop"), NOBODY, mode);
        give(&stage.tree.path("alice"), ALICE, 0o755);
        for file in ["alice/own", "drop/handed"] {
            give(&stage.tree.path(file), ALICE, 0o644);
        }
        for roots in ["drop alice", "alice drop"] {
            let line = format!("{action} --yes --keep first-root {roots}");
            stage.run(&line).exits(0).says(SHARED);
            let own = fs::symlink_metadata(stage.tree.path("alice/own")).expect("there");
            assert!(
                own.is_file() && stage.has("drop/handed"),
                "{mode:o} {action}"
            );
        }
        // Whoever wants it nevertheless says so.
        let line = format!("{action} --yes --keep first-root --allow shared drop alice");
        stage.run(&line).exits(0).says("1 file");
    }
}

/// What lies there could be read, changed and removed by that user.
#[test]
#[ignore = "acts as two users: root only"]
fn no_sidecar_is_carried_into_a_folder_of_another_user() {
    let tree = Tree::new().copies(["alice/1.jpg", "drop/1.jpg"], "photo");
    let stage = Stage::new(tree.file("alice/1.xmp", "edit"));
    for (name, owner, mode) in [
        ("alice", ALICE, 0o755),
        ("alice/1.jpg", ALICE, 0o644),
        ("alice/1.xmp", ALICE, 0o644),
        ("drop", NOBODY, 0o755),
        ("drop/1.jpg", NOBODY, 0o644),
    ] {
        give(&stage.tree.path(name), owner, mode);
    }
    let before = stage.names();
    let line = "remove --trash --yes --carry-sidecars --reference drop alice";
    stage
        .run(line)
        .exits(2)
        .says("other users can change that folder");
    assert_eq!(stage.names(), before);
    stage.run(&format!("{line} --allow shared")).exits(0);
    assert_eq!(stage.names(), ["drop/1.jpg", "drop/1.xmp"]);
}

/// A program can show another file at any time, or none, whatever owners and modes it reports.
#[test]
#[ignore = "mounts file systems, needs bindfs: root only"]
fn a_copy_that_a_program_of_another_user_shows_is_not_relied_on() {
    for (user, is_relied_on) in [(NOBODY, false), (ALICE, false), (0, true)] {
        for action in ["remove", "symlink"] {
            let tree = Tree::new().copies(["own/f", "store/in/f"], noise(1, 5000));
            let stage = Stage::new(tree.folder("shown"));
            let source = stage.tree.path("store");
            let command = format!("setpriv --ruid {user} bindfs {}", source.display());
            let mount = Mounted::by(&command, stage.tree.path("shown"));
            let is_file =
                |name| fs::symlink_metadata(stage.tree.path(name)).is_ok_and(|f| f.is_file());
            let line = format!("{action} --yes --keep first-root shown own");
            let run = stage.run(&line);
            assert_eq!(is_file("own/f"), !is_relied_on, "{user} {action}\n{run}");
            assert!(is_file("shown/in/f"), "{user} {action}\n{run}");
            if !is_relied_on {
                run.exits(0).says(SHARED);
            }
            drop(mount);
        }
    }
}

/// `safe` is root's, and everybody may write to `open`, as on a disk that is mounted with `umask=000`. A name with `=`
/// in it is a hard link to the name before it.
fn safe_and_open(files: &[&str]) -> Stage {
    let content = noise(1, 5000);
    let mut tree = Tree::new();
    for file in files {
        tree = match file.split_once('=') {
            Some((link, to)) => tree.hard_link(link, to),
            None => tree.file(file, &content),
        };
    }
    let stage = Stage::new(tree);
    stage.tree.set_mode("open", 0o777);
    stage
}

#[test]
#[ignore = "acts as root"]
fn nothing_is_done_in_a_folder_that_everybody_can_change_unless_that_is_allowed() {
    for files in [&["safe/f", "open/f"], &["safe/f", "open/in/f"]] {
        for line in [
            "remove --yes --keep first-root open safe",
            "remove --yes --keep first-root safe open",
            "remove --yes --reference open safe",
            "remove --yes --reference safe open",
            "symlink --yes --keep first-root open safe",
        ] {
            let stage = safe_and_open(files);
            let before = stage.names();
            stage.run(line).exits(0);
            assert_eq!(stage.names(), before, "{line}");
            assert!(!stage.tree.path("safe/f").is_symlink(), "{line}");
            stage
                .run(&format!("{line} --allow shared"))
                .exits(0)
                .says("1 file");
        }
    }
}

#[test]
#[ignore = "acts as root"]
fn a_symbolic_link_leads_to_the_name_of_the_kept_file_that_others_cannot_change() {
    let stage = safe_and_open(&["open/k", "safe/k=open/k", "safe/v"]);
    stage
        .run("symlink --yes --keep first-root open safe")
        .exits(0);
    let target = fs::read_link(stage.tree.path("safe/v")).expect("a link");
    assert_eq!(target, Path::new("k"));
    assert!(!stage.tree.path("safe/k").is_symlink());
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_file_that_two_users_can_remove_only_together_does_not_go_for_one_that_either_can_remove() {
    for (owner, keep) in [(NOBODY, "d0/f1"), (ALICE, "d1/f1")] {
        let tree = Tree::new()
            .copies([keep, "d0/f9"], noise(1, 5000))
            .modified(keep, 1000)
            .hard_link("d1/f3", "d0/f9");
        let stage = Stage::new(tree);
        give(&stage.tree.path("d0"), NOBODY, 0o755);
        give(&stage.tree.path("d1"), ALICE, 0o755);
        let before = stage.names();
        stage
            .run("remove --yes --keep oldest .")
            .exits(0)
            .says("in a folder that other users can change");
        assert_eq!(stage.names(), before, "{owner}");
    }
}

/// What root makes for others belongs to them: a link of root's would be one that root trusts.
#[test]
#[ignore = "acts as two users: root only"]
fn a_symbolic_link_belongs_to_the_owner_of_the_file() {
    let stage = Stage::new(Tree::new().copies(["a", "b"], "of Alice"));
    for file in ["a", "b"] {
        give(&stage.tree.path(file), ALICE, 0o644);
    }
    stage.run("symlink --yes .").exits(0);
    let links: Vec<_> = ["a", "b"]
        .map(|name| fs::symlink_metadata(stage.tree.path(name)).expect("there"))
        .into_iter()
        .filter(|file| file.is_symlink())
        .collect();
    assert_eq!(links.len(), 1);
    assert_eq!(links[0].uid(), ALICE);
}
