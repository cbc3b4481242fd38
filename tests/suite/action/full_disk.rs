//! A disk without space: what cannot be written down is not done, and undo works all the same.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::noise;
use crate::common::scene::{Scene, picture, prepared};
use crate::common::volume::Volume;

/// Pairs of equal files, in folders of their own: a folder whose blocks are full of names has no room for a temporary
/// one.
fn fill(scene: &Scene, pairs: u64) {
    for folder in ["keep", "dup"] {
        fs::create_dir(scene.tree().join(folder).join("pairs")).expect("a folder");
    }
    for pair in 0..pairs {
        for folder in ["keep", "dup"] {
            let name = format!("tree/{folder}/pairs/{pair}");
            scene.file(&name, &noise(100 + pair, 2000), 0o644, 1_000_000_000);
        }
    }
}

/// Takes what space there is.
fn use_up(folder: &Path) {
    let mut file = File::create(folder.join("ballast")).expect("a file");
    // What is on the disk takes less space than what has still to be placed.
    for _ in 0..4 {
        for length in [1 << 20, 4096, 512, 1] {
            let block = vec![0x5a; length];
            while file.write_all(&block).is_ok() {}
        }
        let _ = file.sync_all();
    }
}

const PAIRS: u64 = 300;

fn a_full_disk(volume: &Volume) {
    let scene = Scene::below(&volume.path());
    fill(&scene, PAIRS);
    let before = picture(&scene.tree());
    use_up(&scene.top);
    // One line says it, with the way out, and nothing is done.
    let full = prepared(&scene, "move --yes --to tree/dup/away --keep oldest tree").run();
    let full = full.exits(2).says("--journal DIR").says("nothing was done");
    assert_eq!(
        full.stderr_text().matches("seekless: ").count(),
        1,
        "{full}"
    );
    assert_eq!(picture(&scene.tree()), before);
    // The way out is one.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let done = prepared(
        &scene,
        "remove --yes --keep oldest tree/keep/k tree/dup/v --journal",
    );
    done.arg(elsewhere.path().join("journals")).run().exits(0);
}

fn a_disk_that_gets_full(volume: &Volume) {
    let scene = Scene::below(&volume.path());
    fill(&scene, PAIRS);
    fs::create_dir(scene.top.join("away")).expect("a folder");
    let before = picture(&scene.tree());
    // Folders have their blocks, and there is no space for more than a few steps' records.
    use_up(&scene.top);
    let ballast = File::options().write(true).open(scene.top.join("ballast"));
    let ballast = ballast.expect("opened");
    let length = ballast.metadata().expect("metadata").len();
    ballast.set_len(length - (160 << 10)).expect("cut");
    ballast.sync_all().expect("written");
    // Few descriptors make small portions.
    let run = prepared(&scene, "move --yes --to away --keep oldest tree").descriptors(256);
    let run = run.run();
    let run = run.exits(1).says("--journal DIR").says("INCOMPLETE");
    let complaints = run.stderr_text().matches("seekless: ").count();
    assert_eq!(complaints, 1, "{run}");
    let moved = before.len() - picture(&scene.tree()).len();
    assert!(moved >= 64, "{moved} files were moved");
    // What was written down can be taken back without any more space.
    prepared(&scene, "undo").run().exits(0);
    assert_eq!(picture(&scene.tree()), before);
}

fn undo_on_a_full_disk(volume: &Volume) {
    let scene = Scene::below(&volume.path());
    fill(&scene, PAIRS);
    let before = picture(&scene.tree());
    prepared(&scene, "move --yes --to away --keep oldest tree")
        .run()
        .exits(0);
    use_up(&scene.top);
    let undone = prepared(&scene, "undo").run().exits(0);
    undone.never_says("could be written").never_says("No space");
    assert_eq!(picture(&scene.tree()), before);
    prepared(&scene, "undo")
        .run()
        .exits(0)
        .says("nothing to undo");
}

macro_rules! volumes {
    ($($name:ident: $volume:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            #[ignore = "mounts a file system: root only"]
            fn nothing_is_begun_that_cannot_be_written_down() {
                a_full_disk(&$volume);
            }

            #[test]
            #[ignore = "mounts a file system: root only"]
            fn the_first_step_that_cannot_be_written_down_is_the_last() {
                a_disk_that_gets_full(&$volume);
            }

            #[test]
            #[ignore = "mounts a file system: root only"]
            fn undo_needs_no_space_for_its_records() {
                undo_on_a_full_disk(&$volume);
            }
        }
    )*};
}

volumes! {
    ext4: Volume::on_loop("ext4", 32, "-m 0");
    tmpfs: Volume::tmpfs(",size=16m");
}

/// A full disk is when people remove duplicates. The journal is on another disk.
fn files_are_removed(volume: &Volume, modes: &[u32]) {
    const FEW: u64 = 20;
    for &mode in modes {
        let scene = Scene::below(&volume.path());
        fs::remove_file(scene.victim()).expect("removed");
        let folder = scene.tree().join("dup/pairs");
        // Another name fits into none of these folders: xfs keeps few short names in the inode.
        let make = |number: u64, names: &[&str], neighbour: &str| {
            for (seed, name) in names.iter().enumerate() {
                let content = noise(100 * number + seed as u64, 2000);
                for top in ["keep", "dup"] {
                    let folder = format!("tree/{top}/pairs/{number}");
                    fs::create_dir_all(scene.top.join(&folder)).expect("folders");
                    scene.file(&format!("{folder}/{name}"), &content, 0o644, 1_000_000_000);
                }
            }
            let here = folder.join(number.to_string());
            crate::common::write(here.join(neighbour), number.to_string()).expect("written");
            fs::set_permissions(here, fs::Permissions::from_mode(mode)).expect("mode");
        };
        (0..FEW).for_each(|number| make(number, &[&"n".repeat(255)], &"o".repeat(40)));
        // These go together.
        make(FEW, &["IMG.jpg", "IMG.jpg.xmp"], &"o".repeat(250));
        let all = FEW + 2;
        use_up(&scene.top);
        let left = || picture(&folder).len() as u64 - (FEW + 1);
        // Without room for the journal nothing is done.
        let line =
            "remove --yes --allow shared --reference tree/keep tree/dup --sidecars keep-together";
        let full = prepared(&scene, line).run();
        if full.code() == 2 {
            full.says("--journal DIR").says("nothing was done");
            assert_eq!(left(), all);
        }
        let elsewhere = tempfile::tempdir().expect("a folder");
        let run = prepared(&scene, &format!("{line} --journal"));
        let run = run.arg(elsewhere.path().join("journals")).run();
        if mode == 0o777 {
            // Another user could give the name to another file before it is removed.
            run.exits(2).says("No space left on device");
            assert_eq!(left(), all);
        } else {
            run.exits(0);
            assert_eq!(left(), 0);
        }
        assert_eq!(scene.temporaries().first(), None);
        let kept = picture(&scene.tree().join("keep"));
        assert_eq!(kept.len() as u64, all + 2);
    }
}

#[test]
#[ignore = "mounts a file system: root only"]
fn files_are_removed_from_a_full_btrfs() {
    files_are_removed(&Volume::on_loop("btrfs", 128, "--mixed"), &[0o755, 0o777]);
}

#[test]
#[ignore = "mounts a file system: root only"]
fn files_are_removed_from_a_full_xfs() {
    files_are_removed(&Volume::on_loop("xfs", 320, ""), &[0o755]);
}

/// The short form: the call that sets the name aside says that there is no space.
#[test]
#[cfg(debug_assertions)]
fn a_file_is_removed_without_a_temporary_name_only_where_nobody_else_changes_names() {
    for (mode, action, calls, is_refused) in [
        (0o755, "remove", 20..50, false),
        (0o777, "remove", 20..50, true),
        (0o755, "remove --trash", 60..95, true),
    ] {
        let mut refused = 0;
        for at in calls {
            let scene = Scene::new();
            let folder = scene.tree().join("dup");
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).expect("mode");
            let run = prepared(
                &scene,
                &format!("{action} --yes --allow shared --reference tree/keep tree/dup"),
            );
            let run = run.env("SEEKLESS_FAULT", &format!("28@{at}")).run();
            let said = run.stderr_text();
            let doing = ["cannot remove its name: No", "cannot move it: No"];
            refused += u64::from(doing.iter().any(|doing| said.contains(doing)));
            assert!(scene.keeper().exists(), "{run}");
        }
        assert_eq!(refused > 0, is_refused, "{mode:o} {action}");
    }
}

/// The short form: the one call that takes the space says that there is none.
#[test]
#[cfg(debug_assertions)]
fn where_the_disk_is_full_one_line_says_so_and_nothing_more_is_done() {
    let mut seen = 0;
    for at in 15..70 {
        let scene = Scene::new();
        fill(&scene, 1);
        let before = picture(&scene.tree());
        let run = prepared(&scene, "hardlink --yes --keep oldest tree");
        let run = run.env("SEEKLESS_FAULT", &format!("28@{at}")).run();
        let said = run.stderr_text();
        if said.contains("--journal DIR") {
            seen += 1;
            assert_eq!(said.matches("seekless: ").count(), 1, "call {at}: {run}");
            assert_eq!(picture(&scene.tree()), before, "call {at}: {run}");
        }
    }
    assert!(seen > 2, "the journal was written {seen} times");
}
