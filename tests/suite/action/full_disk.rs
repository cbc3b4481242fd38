//! A disk without space: what cannot be written down is not done, and undo works all the same.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::common::noise;
use crate::common::scene::{Scene, picture, prepared};
use crate::common::volume::Volume;

/// Pairs of equal files, in folders of their own: a folder whose blocks are full of names has no room for a temporary one.
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
    for length in [1 << 20, 4096, 512, 1] {
        let block = vec![0x5a; length];
        while file.write_all(&block).is_ok() {}
    }
    let _ = file.sync_all();
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
