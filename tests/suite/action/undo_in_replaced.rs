//! Undo of links, and folders below a mount: nothing comes into a folder that another user put in
//! place of the old one.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::common::stage::Stage;
use crate::common::users::{ALICE, NOBODY, give, nobody_does, open_stage};
use crate::common::volume::Mounted;
use crate::common::{Tree, mirror, noise};

const ANOTHER: &str = "another folder has the path of its folder now";

/// A copy of Alice's in her closed folder `sh/d`. Everybody may rename that folder.
fn alices() -> Stage {
    let stage = open_stage(Tree::new().copies(["k/f", "sh/d/f"], noise(1, 5000)));
    give(&stage.tree.path("sh"), 0, 0o777);
    give(&stage.tree.path("sh/d"), ALICE, 0o700);
    give(&stage.tree.path("sh/d/f"), ALICE, 0o644);
    give(&stage.tree.path("k"), 0, 0o700);
    stage
}

fn nobody(stage: &Stage, script: &str) {
    assert!(nobody_does(script, stage.tree.root()), "{script}");
}

#[test]
#[ignore = "acts as two users: root only"]
fn no_copy_replaces_a_link_in_a_folder_that_was_put_in_place_of_the_old_one() {
    for action in ["symlink", "hardlink"] {
        let stage = alices();
        let line = format!("{action} --allow other-owners,shared --yes --reference k sh");
        stage.run(&line).exits(0);
        let link = stage.tree.path("sh/d/f");
        let text = fs::read_link(&link);
        nobody(&stage, "mv sh/d sh/old; mkdir sh/d; chmod 755 sh/d");
        match text {
            Ok(text) => nobody(&stage, &format!("ln -s {} sh/d/f", text.display())),
            // As where the system lets everybody make further names (fs.protected_hardlinks).
            Err(_) => fs::hard_link(stage.tree.path("k/f"), &link).expect("linked"),
        }
        let context = |what: &str| format!("{action}: {what}");
        for words in ["undo --dry-run", "undo --yes"] {
            let run = stage.run(words);
            let text = run.to_string();
            assert!(text.contains(ANOTHER), "{}", context(&text));
            assert!(text.contains("the link stays"), "{}", context(&text));
            let now = fs::metadata(stage.tree.path("k/f")).expect("the kept file");
            let here = fs::metadata(&link).expect("the link");
            assert!(same(&now, &here), "{}", context(&text));
        }
        fs::remove_file(&link).expect("removed");
        nobody(&stage, "rmdir sh/d; mv sh/old sh/d");
        stage.run("undo --yes").exits(0).says("1 file restored.");
    }
}

fn same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// A copy of nobody's in `x/p`, a folder of nobody's; `x/wide` is an open folder of root's.
fn nobodys() -> Stage {
    let stage = open_stage(Tree::new().copies(["keep/f", "x/p/f"], noise(1, 5000)));
    let _ = fs::create_dir(stage.tree.path("x/wide"));
    for (name, owner, mode) in [
        ("x", NOBODY, 0o755),
        ("x/p", NOBODY, 0o755),
        ("x/wide", 0, 0o777),
    ] {
        give(&stage.tree.path(name), owner, mode);
    }
    stage
}

#[test]
#[ignore = "mounts file systems, needs bindfs: root only"]
fn nothing_goes_back_into_a_mount_in_place_of_the_old_folder() {
    let stage = nobodys();
    stage
        .run("move --yes --allow shared --to out --reference keep x")
        .exits(0);
    nobody(&stage, "mv x/p x/old; mkdir x/p");
    let store = stage.tree.path("x/wide");
    let mount = Mounted::by(
        &format!("bindfs {}", store.display()),
        stage.tree.path("x/p"),
    );
    let run = stage.run("undo --yes").says(ANOTHER);
    assert_eq!(fs::read_dir(&store).expect("there").count(), 0, "{run}");
    drop(mount);
    nobody(&stage, "rmdir x/p; mv x/old x/p");
    stage.run("undo --yes").exits(0).says("1 file restored.");
    assert!(stage.has("x/p/f"));
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn nothing_goes_back_under_the_mount_point_of_the_old_folder() {
    let stage = Stage::new(Tree::new().copies(["keep/f", "real/f"], noise(1, 5000)));
    let place = stage.tree.path("mounted");
    fs::create_dir(&place).expect("made");
    let real = stage.tree.path("real");
    let daemon = mirror::mount(&real, place.clone());
    stage
        .run("move --yes --to out --reference keep mounted")
        .exits(0);
    drop(daemon);
    let run = stage.run("undo --yes").exits(2);
    let run = run.says("and that is not mounted there now (mount it there, and run undo again)");
    assert_eq!(fs::read_dir(&place).expect("there").count(), 0, "{run}");
    let _daemon = mirror::mount(&real, place);
    stage.run("undo --yes").exits(0).says("1 file restored.");
    assert!(stage.has("real/f"));
}
