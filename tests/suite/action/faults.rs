//! Whatever call fails, and however: a clear line, the other steps continue, nothing is lost.
//!
//! Builds without debug assertions have nothing that could fail (`sys::fault`).
#![cfg(debug_assertions)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use crate::common::noise;
use crate::common::scene::{Picture, SIZE, Scene, old_or_new, picture};
use crate::common::volume::Volume;
use rustix::io::Errno;
use seekless::action::runs;

const ERRORS: [Errno; 6] = [
    Errno::NOSPC,
    Errno::IO,
    Errno::PERM,
    Errno::ROFS,
    Errno::XDEV,
    Errno::MLINK,
];

/// Far more calls than two steps make.
const MANY: usize = 1000;

/// Where the files lie, and where `move` puts them.
#[derive(Clone, Copy)]
enum Ground<'a> {
    Here,
    ToAnotherFileSystem,
    /// Each pair is one file with two names.
    OneFile,
    On(&'a Volume),
}

/// Two sets, so that there is a rest to go on with.
fn make(ground: Ground<'_>) -> Scene {
    let scene = match ground {
        Ground::Here => Scene::new(),
        Ground::ToAnotherFileSystem => Scene::with_another_file_system(),
        Ground::OneFile => Scene::with_one_file(),
        Ground::On(volume) => Scene::below(&volume.path()),
    };
    scene.file("tree/keep/k2", &noise(4, SIZE), 0o644, 1_000_000_000);
    match ground {
        Ground::OneFile => scene.link("tree/keep/k2", "tree/dup/v2"),
        _ => scene.file("tree/dup/v2", &noise(4, SIZE), 0o744, 1_100_000_000),
    }
    scene
}

/// How many calls two steps make: as many as they can be killed before.
fn calls(action: &str, ground: Ground<'_>) -> usize {
    let is_reached = |at: &usize| {
        let output = make(ground).child(action, &format!("kill@{at}"));
        output.status.signal() == Some(9)
    };
    let all: Vec<usize> = (1..MANY).collect();
    let calls = all.partition_point(is_reached);
    // A step that only shares blocks takes fewer than one that moves names.
    let least = if action == "reflink" { 10 } else { 50 };
    assert!(
        (least..MANY - 1).contains(&calls),
        "{action}: {calls} calls"
    );
    calls
}

/// Lets one call of two steps fail, and looks at what is left.
fn fail(action: &str, ground: Ground<'_>, at: usize, error: Errno) {
    let context = format!("{action}, {error:?} at call {at}");
    let scene = make(ground);
    let before = picture(&scene.tree());
    let output = scene.child(action, &format!("{}@{at}", error.raw_os_error()));
    assert!(output.status.success(), "{context}: {output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("step "))
        .collect();
    assert_eq!(lines.len(), 2, "{context}: {said}");
    // One call fails, so one step at most: the other one is done. Both share the journal and a folder.
    let done = lines.iter().filter(|line| line.ends_with(": done")).count();
    let shared = [
        "write the journal, so nothing was done",
        "sync finished steps to the disk",
    ];
    let shares = shared.iter().any(|call| said.contains(call));
    assert!(done >= 1 || shares, "{context}: {said}");
    for line in lines.iter().filter(|line| !line.ends_with(": done")) {
        let clear = [": failed: cannot ", ": skipped: "]
            .iter()
            .any(|says| line.contains(says));
        assert!(clear, "{context}: {line}");
    }
    // Nothing is lost, nothing is half done.
    old_or_new(&scene, action, &before, &context);
    assert!(fs::read(scene.tree().join("keep/k2")).is_ok_and(|read| read == noise(4, SIZE)));
    let stuck = said.contains("seekless undo");
    assert!(
        stuck || scene.temporaries().is_empty(),
        "{context}: {said}: {:?}",
        scene.temporaries()
    );
    if runs(&scene.journals()).is_ok_and(|runs| runs.iter().any(|run| run.steps > 0)) {
        let tally = scene.undo();
        assert_eq!(tally.refused, 0, "{context}: {said}: {tally:?}");
        if action != "remove" {
            assert!(
                picture(&scene.tree()) == before,
                "{context}: {said}: not as before"
            );
        }
        assert!(
            scene.temporaries().is_empty(),
            "{context}: {:?}",
            scene.temporaries()
        );
        assert!(before.contains_key(Path::new("dup/v")));
    }
}

/// Every second call fails once, the errors taking turns; the long forms leave out none.
fn in_turns(action: &str, ground: Ground<'_>) {
    for (turn, at) in (1..=calls(action, ground)).step_by(2).enumerate() {
        fail(action, ground, at, ERRORS[turn % ERRORS.len()]);
    }
}

fn every_error(action: &str, ground: Ground<'_>) {
    for at in 1..=calls(action, ground) {
        for error in ERRORS {
            fail(action, ground, at, error);
        }
    }
}

macro_rules! faults {
    ($($name:ident: $action:literal, $ground:expr;)*) => {
        $(
            #[test]
            fn $name() {
                in_turns($action, $ground);
            }
        )*

        #[test]
        #[ignore = "takes minutes: every error at every call"]
        fn in_full_every_error_at_every_call() {
            $(
                every_error($action, $ground);
            )*
        }
    };
}

faults! {
    remove: "remove", Ground::Here;
    trash: "trash", Ground::Here;
    hardlink: "hardlink", Ground::Here;
    symlink: "symlink", Ground::Here;
    moving: "move", Ground::Here;
    moving_to_another_file_system: "move", Ground::ToAnotherFileSystem;
    remove_a_further_name: "remove", Ground::OneFile;
    trash_a_further_name: "trash", Ground::OneFile;
    symlink_a_further_name: "symlink", Ground::OneFile;
    move_a_further_name: "move", Ground::OneFile;
}

/// A file that can have no further name: the step is skipped, and the others go on.
#[test]
fn a_file_with_all_its_names_is_no_error() {
    let mut full = 0;
    for at in 1..=calls("hardlink", Ground::Here) {
        let scene = make(Ground::Here);
        let before = picture(&scene.tree());
        let output = scene.child("hardlink", &format!("{}@{at}", Errno::MLINK.raw_os_error()));
        let said = String::from_utf8_lossy(&output.stdout);
        if !said.contains("the maximum number of names") {
            continue;
        }
        full += 1;
        assert_eq!(said.matches(": skipped").count(), 1, "{said}");
        assert_eq!(said.matches(": done").count(), 1, "{said}");
        assert!(scene.temporaries().is_empty(), "{said}");
        assert_eq!(scene.undo().refused, 0, "{said}");
        assert!(picture(&scene.tree()) == before, "{said}");
    }
    // The call for either step.
    assert_eq!(full, 2);
}

/// A scene in which the action is done, and what was there before.
fn acted(action: &str, ground: Ground<'_>) -> (Scene, Picture) {
    let scene = make(ground);
    let before = picture(&scene.tree());
    let done = scene.child(action, "none");
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said.matches(": done").count(), 2, "{action}: {said}");
    (scene, before)
}

/// Lets one call of undo fail: nothing is lost, and undo called again ends it.
fn fail_undo(action: &str, ground: Ground<'_>, at: usize, error: Errno) {
    let context = format!("undo of {action}, {error:?} at call {at}");
    let (scene, before) = acted(action, ground);
    let output = scene.child("undo", &format!("{}@{at}", error.raw_os_error()));
    assert!(output.status.success(), "{context}: {output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    let (_, end) = said.split_once("undone: ").expect(&context);
    // One of the two files at most is not back, and that is said with its reason.
    let refused = said.matches("Refused(").count();
    let goes_on = end.starts_with("Err(") || refused <= 1;
    assert!(goes_on, "{context}: {said}");
    // What this user may not give back is said; the bytes are there all the same.
    let lacks = said.contains("RestoredWithout(");
    assert!(!lacks || error == Errno::PERM, "{context}: {said}");
    if !lacks {
        old_or_new(&scene, action, &before, &context);
    }
    let again = scene.undo();
    assert_eq!(again.refused, 0, "{context}: {said}: {again:?}");
    let contents = |seen: &Picture| -> Vec<Vec<u8>> {
        seen.values().map(|seen| seen.content.clone()).collect()
    };
    let now = picture(&scene.tree());
    assert!(contents(&now) == contents(&before), "{context}: {said}");
    assert!(lacks || now == before, "{context}: {said}: not as before");
    assert_eq!(scene.temporaries().first(), None, "{context}: {said}");
}

fn calls_of_undo(action: &str, ground: Ground<'_>) -> usize {
    let is_reached = |at: &usize| {
        let (scene, _) = acted(action, ground);
        let output = scene.child("undo", &format!("kill@{at}"));
        output.status.signal() == Some(9)
    };
    let all: Vec<usize> = (1..MANY).collect();
    let calls = all.partition_point(is_reached);
    assert!((20..MANY - 1).contains(&calls), "{action}: {calls} calls");
    calls
}

const UNDOABLE: [(&str, Ground<'_>); 7] = [
    ("trash", Ground::Here),
    ("hardlink", Ground::Here),
    ("symlink", Ground::Here),
    ("move", Ground::Here),
    ("move", Ground::ToAnotherFileSystem),
    ("symlink", Ground::OneFile),
    ("move", Ground::OneFile),
];

#[test]
fn undo_may_fail_too() {
    for (action, ground) in UNDOABLE {
        let calls = calls_of_undo(action, ground);
        for (turn, at) in (1..=calls).step_by(7).enumerate() {
            fail_undo(action, ground, at, ERRORS[turn % ERRORS.len()]);
        }
    }
}

#[test]
#[ignore = "takes minutes: every error at every call"]
fn in_full_every_error_at_every_call_of_undo() {
    for (action, ground) in UNDOABLE {
        for at in 1..=calls_of_undo(action, ground) {
            for error in ERRORS {
                fail_undo(action, ground, at, error);
            }
        }
    }
}

/// File systems where blocks can be shared.
fn sharing() -> [Volume; 2] {
    [
        Volume::on_loop("btrfs", 256, ""),
        Volume::on_loop("xfs", 320, "-m reflink=1"),
    ]
}

#[test]
#[ignore = "mounts file systems: root only"]
fn while_sharing() {
    for volume in sharing() {
        in_turns("reflink", Ground::On(&volume));
    }
}

#[test]
#[ignore = "takes minutes, mounts file systems: root only"]
fn in_full_every_error_at_every_call_while_sharing() {
    for volume in sharing() {
        every_error("reflink", Ground::On(&volume));
    }
}
