//! Undo puts nothing into a folder, and replaces no link in one, that another user may have put in place of the old
//! one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::stage::Stage;
#[cfg(debug_assertions)]
use crate::common::stage::Stopped;
use crate::common::users::{ALICE, NOBODY, give, looks, nobody_does, open_stage};
#[cfg(debug_assertions)]
use crate::common::users::{extended, set_extended};
use crate::common::{Tree, mirror, noise};

const MOVE: &str = "move --yes --allow shared --to out --reference keep x";
const EMPTYING: &str = "remove --trash --yes --remove-empty-folders --reference keep x";
const ANOTHER: &str = "another folder has the path of its folder now";

/// A copy in `x/p`. Both folders are nobody's, and so is the copy; `x/r` and `x/wide` are empty folders of root's.
fn nobodys() -> Stage {
    let stage = open_stage(Tree::new().copies(["keep/f", "x/p/f"], noise(1, 5000)));
    for (name, owner, mode) in [
        ("x", NOBODY, 0o755),
        ("x/p", NOBODY, 0o775),
        ("x/p/f", NOBODY, 0o644),
        ("x/r", 0, 0o700),
        ("x/wide", 0, 0o777),
    ] {
        let path = stage.tree.path(name);
        let _ = fs::create_dir(&path);
        give(&path, owner, mode);
    }
    stage
}

fn nobody(stage: &Stage, script: &str) {
    assert!(nobody_does(script, stage.tree.root()), "{script}");
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("it is there").count() == 0
}

#[test]
fn a_folder_that_its_only_user_made_again_gets_its_files_back() {
    let stage = Stage::new(Tree::new().copies(["keep/f", "x/p/f"], noise(1, 5000)));
    stage.run(MOVE).exits(0);
    let folder = stage.tree.path("x/p");
    fs::rename(&folder, stage.tree.path("x/old")).expect("renamed");
    fs::create_dir(&folder).expect("made again");
    stage.run("undo --yes").exits(0).says("1 file restored.");
    assert!(stage.has("x/p/f"));
}

#[test]
#[ignore = "acts as two users: root only"]
fn nothing_goes_back_into_a_folder_that_was_put_in_place_of_the_old_one() {
    for (folder, mode) in [("x/r", 0o700), ("x/wide", 0o777)] {
        // A file of root would be more open there. The user nobody could not put a file of their own there.
        for owner in [0, NOBODY] {
            let stage = nobodys();
            give(&stage.tree.path("x/p/f"), owner, 0o644);
            stage.run(MOVE).exits(0);
            nobody(&stage, &format!("mv x/p x/old && mv {folder} x/p"));
            let shown = stage.run("undo --dry-run");
            assert!(shown.stdout_text().contains(ANOTHER), "{shown}");
            let run = stage.run("undo --yes").says(ANOTHER);
            let now = stage.tree.path("x/p");
            assert!(is_empty(&now), "{folder}\n{run}");
            assert_eq!(looks(&now), (0, 0, mode), "{run}");
            nobody(&stage, &format!("mv x/p {folder} && mv x/old x/p"));
            stage.run("undo --yes").exits(0).says("1 file restored.");
            assert!(stage.has("x/p/f"));
        }
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_folder_that_the_owner_of_the_file_made_again_gets_it_back() {
    for (owner, comes) in [(NOBODY, true), (0, false)] {
        let stage = nobodys();
        give(&stage.tree.path("x/p/f"), owner, 0o644);
        stage.run(MOVE).exits(0);
        nobody(&stage, "rmdir x/p && mkdir x/p && chmod 777 x/p");
        let run = stage.run("undo --yes");
        assert_eq!(stage.has("x/p/f"), comes, "{run}");
        assert_eq!(run.stderr_text().contains(ANOTHER), !comes, "{run}");
    }
}

#[test]
#[ignore = "acts as two users: root only"]
fn a_folder_that_was_put_in_place_of_a_removed_one_stays_as_it_is() {
    let stage = nobodys();
    stage.run(EMPTYING).exits(0);
    assert!(!stage.has("x/p"));
    nobody(&stage, "mv x/r x/p");
    let run = stage.run("undo --yes");
    let run = run.says("1 folder left alone").says(ANOTHER);
    let run = run.says("another folder or file has its name now");
    let path = stage.tree.path("x/p");
    assert!(looks(&path) == (0, 0, 0o700) && is_empty(&path), "{run}");
    nobody(&stage, "mv x/p x/r");
    stage.run("undo --yes").exits(0).says("1 file restored.");
    assert!(stage.has("x/p/f"));
    assert_eq!(looks(&path), (NOBODY, NOBODY, 0o775));
}

#[test]
#[ignore = "acts as two users: root only"]
fn no_folder_comes_back_into_a_folder_that_was_put_in_place() {
    let stage = nobodys();
    for (name, mode) in [("x/p/q", 0o755), ("x/p/keep", 0o755)] {
        fs::create_dir(stage.tree.path(name)).expect("made");
        give(&stage.tree.path(name), NOBODY, mode);
    }
    nobody(&stage, "mv x/p/f x/p/q/f; echo 1 > x/p/keep/only");
    stage.run(EMPTYING).exits(0);
    assert!(stage.has("x/p") && !stage.has("x/p/q"));
    nobody(&stage, "mv x/p x/old && mv x/r x/p");
    for words in ["undo --dry-run", "undo --yes"] {
        let run = stage.run(words);
        let text = run.to_string();
        assert!(text.contains(&format!("{ANOTHER}, and")), "{run}");
        assert!(text.contains("create the folder yourself"), "{run}");
        assert!(is_empty(&stage.tree.path("x/p")), "{run}");
    }
    nobody(&stage, "mv x/p x/r && mv x/old x/p");
    stage.run("undo --yes").exits(0);
    assert!(stage.has("x/p/q/f"));
}

/// A copy of Alice's in her closed folder `sh/d`. Everybody may rename that folder.
fn alices() -> Stage {
    let stage = open_stage(Tree::new().copies(["k/f", "sh/d/f"], noise(1, 5000)));
    give(&stage.tree.path("sh"), 0, 0o777);
    give(&stage.tree.path("sh/d"), ALICE, 0o700);
    give(&stage.tree.path("sh/d/f"), ALICE, 0o644);
    give(&stage.tree.path("k"), 0, 0o700);
    stage
}

fn same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
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

/// Puts a folder of root in place of each folder that undo has created so far.
#[cfg(debug_assertions)]
const SWAP: &str = "for new in x/p x/.seekless-*; do
        if [ -d \"$new\" ] && [ -d x/r ]; then mv \"$new\" x/aside && mv x/r \"$new\"; fi
    done";

/// Distinguishes the folder of root from others. Undo may remove the folder, and another one may get its inode number.
#[cfg(debug_assertions)]
const MARK: &str = "trusted.mark";

/// The folder of root's is as before, wherever it is.
#[cfg(debug_assertions)]
#[track_caller]
fn roots_folder_is_as_before(stage: &Stage, context: &str) {
    let entries = walkdir::WalkDir::new(stage.tree.root()).into_iter();
    let entries = entries.map(|entry| entry.expect("an entry").into_path());
    for path in entries.filter(|path| extended(path, MARK).is_some()) {
        assert_eq!(looks(&path), (0, 0, 0o700), "{context}: {path:?}");
        assert!(is_empty(&path), "{context}: {path:?}");
    }
}

#[cfg(debug_assertions)]
fn swapped_while(act: impl Fn(&Stage, u64) -> bool) {
    let mut swaps = 0;
    for at in 1..400 {
        let stage = nobodys();
        set_extended(&stage.tree.path("x/r"), MARK, b"1");
        stage.run(EMPTYING).exits(0);
        let is_over = act(&stage, at);
        swaps += u64::from(!stage.has("x/r"));
        roots_folder_is_as_before(&stage, &format!("before call {at}"));
        if is_over {
            assert!(swaps > 5, "{swaps} of {at}");
            return;
        }
    }
    panic!("it never comes so far");
}

#[test]
#[cfg(debug_assertions)]
#[ignore = "acts as two users: root only"]
fn a_folder_that_takes_the_place_of_what_undo_makes_stays_as_it_is() {
    swapped_while(|stage, at| {
        let stopped = Stopped::start(stage.seekless("undo --yes"), at);
        let is_over = stage.has("x/p/f") && looks(&stage.tree.path("x/p")).0 == NOBODY;
        if is_over {
            stopped.goes_on();
            return true;
        }
        nobody(stage, SWAP);
        stopped.goes_on();
        false
    });
}

#[test]
#[cfg(debug_assertions)]
#[ignore = "acts as two users: root only"]
fn a_folder_that_takes_the_place_of_what_a_killed_undo_made_stays_as_it_is() {
    swapped_while(|stage, at| {
        let is_over = !stage.is_killed("undo --yes", at);
        if !is_over {
            nobody(stage, SWAP);
            stage.run("undo --yes");
        }
        is_over
    });
}
