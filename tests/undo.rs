//! From find to undo on the command line, on whole trees.

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use common::run::Seekless;
use common::scene::{Scene, picture};
use common::{Run, noise, seekless};

/// A run whose journals and trash are in this scene.
fn run(scene: &Scene, arguments: &str) -> Run {
    prepared(scene, arguments).run()
}

fn prepared(scene: &Scene, arguments: &str) -> Seekless {
    let state = scene.top.join("state");
    seekless(&scene.top, arguments)
        .env("XDG_STATE_HOME", state.to_str().expect("UTF-8"))
        .env(
            "XDG_DATA_HOME",
            scene.top.join("data").to_str().expect("UTF-8"),
        )
}

/// Fills a tree with sets of two to four equal files, each with times and a mode of its own.
fn fill(scene: &Scene, files: u64) {
    for number in 0..files {
        let folder = format!("tree/many/{}", number % 97);
        fs::create_dir_all(scene.top.join(&folder)).expect("a folder");
        let content = noise(100 + number / 3, 64);
        let mode = [0o644, 0o600, 0o755, 0o440][usize::try_from(number % 4).expect("small")];
        scene.file(
            &format!("{folder}/{number}"),
            &content,
            mode,
            1_000_000_000 + number,
        );
    }
}

/// Does it to a whole tree, undoes it, and compares what was before and after.
#[track_caller]
fn round_trip(files: u64, action: &str) {
    let scene = Scene::new();
    fill(&scene, files);
    let before = picture(&scene.tree());
    let patience = Duration::from_secs(1800);
    let long = |arguments: &str| prepared(&scene, arguments).patience(patience).run();
    let done = long(&format!("{action} --yes tree"));
    assert_eq!(done.code(), 0, "{done}");
    assert!(done.stderr_text().contains("seekless undo "), "{done}");
    assert!(picture(&scene.tree()) != before, "nothing was done");
    let undone = long("undo");
    assert_eq!(undone.code(), 0, "{undone}");
    let after = picture(&scene.tree());
    let differs = before
        .iter()
        .find(|(path, seen)| after.get(*path) != Some(*seen));
    assert_eq!(differs.map(|(path, _)| path), None);
    assert_eq!(before.len(), after.len());
    let again = long("undo");
    assert_eq!(again.code(), 0, "{again}");
    assert!(
        again.stderr_text().contains("nothing was to be undone"),
        "{again}"
    );
}

#[test]
fn whole_trees_come_back() {
    for action in ["hardlink", "symlink", "move --to away", "remove --trash"] {
        round_trip(200, action);
    }
}

#[test]
#[ignore = "takes minutes: 100,000 files there and back"]
fn a_hundred_thousand_files_come_back() {
    round_trip(100_000, "hardlink");
}

#[test]
fn runs_are_listed_and_undone_by_name() {
    let scene = Scene::new();
    let before = picture(&scene.tree());
    assert_eq!(run(&scene, "hardlink --yes tree").code(), 0);
    let listed = run(&scene, "undo --list").stdout_text();
    let name = listed.split_whitespace().next().expect("a run").to_owned();
    assert!(
        listed.contains("done") && listed.contains("hardlink --yes tree"),
        "{listed}"
    );
    let undone = run(&scene, &format!("undo -v {name}"));
    assert!(undone.stderr_text().contains("as before again"), "{undone}");
    assert_eq!(picture(&scene.tree()), before);
    assert!(run(&scene, "undo --list").stdout_text().contains("undone"));
    let wrong = run(&scene, "undo 19700101T000000Z");
    assert_eq!(wrong.code(), 2);
    assert!(
        wrong.stderr_text().contains("see seekless undo --list"),
        "{wrong}"
    );
}

#[test]
fn without_a_run_there_is_nothing_to_undo() {
    let scene = Scene::new();
    let nothing = run(&scene, "undo");
    assert_eq!(nothing.code(), 2);
    assert!(
        nothing.stderr_text().contains("there is nothing to undo"),
        "{nothing}"
    );
    assert_eq!(run(&scene, "undo --list").code(), 0);
}

#[test]
fn what_changed_since_is_named_and_left() {
    let scene = Scene::new();
    assert_eq!(run(&scene, "hardlink --yes tree").code(), 0);
    let links = fs::metadata(scene.victim()).expect("metadata").nlink();
    assert_eq!(links, 2);
    fs::write(scene.keeper(), "edited").expect("written");
    let undone = run(&scene, "undo");
    assert_eq!(undone.code(), 1, "{undone}");
    assert!(undone.stderr_text().contains("changed since"), "{undone}");
    assert_eq!(fs::read(scene.victim()).expect("read"), b"edited");
}

#[test]
fn plain_removal_says_that_it_cannot_be_undone() {
    let scene = Scene::new();
    let before = picture(&scene.tree()).len();
    assert_eq!(run(&scene, "remove --yes tree").code(), 0);
    let undone = run(&scene, "undo");
    assert!(
        undone.stderr_text().contains("1 file removed for good"),
        "{undone}"
    );
    assert_eq!(picture(&scene.tree()).len(), before - 1);
    assert!(Path::new(&scene.tree()).exists());
}
