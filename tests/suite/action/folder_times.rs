//! `--preserve-times`: the folders in which names change keep their times, and undo restores these, too.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use crate::common::stage::Stage;
use crate::common::{Tree, noise};

/// Folders that lose names or get links, and one that loses a folder.
const FOLDERS: [&str; 3] = ["x/p", "x/q", "x"];

/// Copies in `x` of files in `keep`, in folders of an earlier time.
fn stage() -> Stage {
    let (one, two) = (noise(1, 5000), noise(2, 7000));
    let tree = Tree::new()
        .copies(["keep/one", "x/p/one", "x/q/one"], one)
        .copies(["keep/two", "x/p/two"], two)
        .file("x/p/stays", "only here");
    let stage = Stage::new(tree);
    for (seconds, name) in (1_000..).zip(FOLDERS) {
        set_times(&stage, name, seconds);
    }
    stage
}

fn set_times(stage: &Stage, name: &str, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 5);
    let folder = File::open(stage.tree.path(name)).expect("a folder");
    let times = FileTimes::new().set_accessed(time).set_modified(time);
    folder.set_times(times).expect("times can be set");
}

/// Modification times of the folders that are there.
fn times(stage: &Stage) -> Vec<(&'static str, i64, i64)> {
    let folders = FOLDERS.into_iter();
    let there = folders.filter_map(|name| Some((name, fs::metadata(stage.tree.path(name)).ok()?)));
    there
        .map(|(name, now)| (name, now.mtime(), now.mtime_nsec()))
        .collect()
}

const ALL: &str = "--yes --preserve-times --reference keep x";

#[test]
fn folders_keep_their_times_in_every_action_and_undo() {
    for action in [
        "remove",
        "remove --trash",
        "move --to out",
        "hardlink",
        "symlink",
    ] {
        let stage = stage();
        let before = times(&stage);
        stage
            .run(&format!("{action} {ALL}"))
            .exits(0)
            .says("3 files");
        assert_eq!(times(&stage), before, "{action}");
        stage.run("undo --yes");
        assert_eq!(times(&stage), before, "undo of {action}");
    }
}
