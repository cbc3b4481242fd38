//! Files that belong together go together or stay together. `action::cut_short` has what may happen in between.

use crate::common::Tree;
use crate::common::stage::Stage;
use crate::common::tree::Writer;

const ACTIONS: [&str; 3] = ["remove", "remove --trash", "move --to out"];

fn stage() -> Stage {
    Stage::new(
        Tree::new()
            .copies(["a/IMG_1.HEIC", "b/IMG_1.HEIC"], "still ".repeat(1000))
            .copies(["a/IMG_1.MOV", "b/IMG_1.MOV"], "moving ".repeat(2000)),
    )
}

fn line(action: &str) -> String {
    format!("{action} --yes --keep first-root a b")
}

/// Both files are there, or neither.
#[track_caller]
fn is_whole(stage: &Stage, context: &str) -> bool {
    let there = ["b/IMG_1.HEIC", "b/IMG_1.MOV"].map(|name| stage.has(name));
    assert_eq!(there[0], there[1], "{context}: torn: {:?}", stage.names());
    for name in ["a/IMG_1.HEIC", "a/IMG_1.MOV"] {
        assert!(stage.has(name), "{context}: {:?}", stage.names());
    }
    there[0]
}

#[track_caller]
fn nothing_lies_about(stage: &Stage, context: &str) {
    let names = stage.names();
    let left = names.iter().find(|name| name.contains(".seekless-"));
    assert_eq!(left, None, "{context}: {names:?}");
}

#[test]
fn a_group_stays_if_one_of_its_files_is_in_use() {
    for action in ACTIONS {
        for in_use in ["b/IMG_1.MOV", "b/IMG_1.HEIC"] {
            let stage = stage();
            let writer = Writer::open(stage.tree.path(in_use));
            let run = stage.run(&line(action)).exits(2);
            assert!(is_whole(&stage, action), "{action}: {run}");
            let other = match in_use {
                "b/IMG_1.MOV" => "b/IMG_1.HEIC: belongs together with",
                _ => "b/IMG_1.MOV: belongs together with",
            };
            run.says(&format!("{in_use}: is open for writing"))
                .says(other);
            nothing_lies_about(&stage, action);
            drop(writer);
            stage.run(&line(action)).exits(0);
            assert!(!is_whole(&stage, action));
        }
    }
}

#[test]
fn a_file_that_stays_for_one_of_its_names_keeps_what_belongs_to_the_others() {
    // The still has two names, and what belongs to one of them is no duplicate.
    let tree = Tree::new()
        .copies(["a/IMG_1.HEIC", "b/IMG_1.HEIC"], "still")
        .hard_link("b/COPY.HEIC", "b/IMG_1.HEIC")
        .copies(["a/IMG_1.MOV", "b/IMG_1.MOV"], "moving")
        .file("b/COPY.MOV", "another film");
    let stage = Stage::new(tree);
    let before = stage.names();
    stage
        .run(&line("remove"))
        .exits(0)
        .says("Nothing to remove")
        .says("3 files left alone");
    assert_eq!(stage.names(), before);
}

/// More files than one portion has: what is interrupted ends with whole groups.
#[test]
fn an_interruption_comes_before_a_group_or_after_it() {
    const GROUPS: usize = 300;
    let mut tree = Tree::new();
    for number in 0..GROUPS {
        for (kind, size) in [("HEIC", 1 << 20), ("MOV", 1 << 19)] {
            let names = ["a", "b"].map(|folder| format!("{folder}/IMG_{number}.{kind}"));
            let start = format!("{kind} {number}");
            for name in names {
                tree = tree.sparse(name, size, &[(0, start.as_bytes())]);
            }
        }
    }
    let stage = Stage::new(tree);
    let child = stage.seekless(&line("remove")).spawn();
    let goes = |number: usize| !stage.has(&format!("b/IMG_{number}.MOV"));
    while !(0..GROUPS).any(goes) {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    assert!(
        [Some(0), Some(130)].contains(&output.status.code()),
        "{output:?}"
    );
    for number in 0..GROUPS {
        let there = ["HEIC", "MOV"].map(|kind| stage.has(&format!("b/IMG_{number}.{kind}")));
        assert_eq!(there[0], there[1], "{number} is torn: {output:?}");
    }
}

#[test]
fn where_every_step_failed_nothing_is_left_of_the_destination() {
    let stage = Stage::new(
        Tree::new()
            .copies(["a/x", "b/deep/x"], "same")
            .mode("b/deep", 0o555),
    );
    let line = "move --yes --to out/of/here --keep first-root a b";
    let run = stage.seekless(line).without_privileges().run();
    stage.tree.set_mode("b/deep", 0o755);
    run.exits(2).says("cannot move it");
    assert_eq!(stage.names(), ["a/x", "b/deep/x"]);
    assert!(!stage.has("out"));
    // What was there before stays, empty or not.
    std::fs::create_dir(stage.tree.path("out")).expect("a folder");
    stage.tree.set_mode("b/deep", 0o555);
    stage.seekless(line).without_privileges().run().exits(2);
    stage.tree.set_mode("b/deep", 0o755);
    assert!(stage.has("out") && !stage.has("out/of"));
}
