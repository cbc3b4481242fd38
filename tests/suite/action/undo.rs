//! From find to undo on the command line, on whole trees.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;

use crate::common::scene::{Perform, SIZE, Scene, picture, prepared, step};
use crate::common::stage::Stage;
use crate::common::{Run, Tree, noise};
use seekless::action::{ActionKind, Outcome};

/// A run whose journals and trash are in this scene.
fn run(scene: &Scene, arguments: &str) -> Run {
    prepared(scene, arguments).run()
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
    assert!(undone.stderr_text().contains("restored"), "{undone}");
    assert_eq!(picture(&scene.tree()), before);
    assert!(run(&scene, "undo --list").stdout_text().contains("undone"));
    let wrong = run(&scene, "undo 19700101T000000Z");
    assert_eq!(wrong.code(), 2);
    assert!(
        wrong.stderr_text().contains("'seekless undo --list' lists"),
        "{wrong}"
    );
}

#[test]
fn a_journal_without_its_last_line_is_never_nothing_to_undo() {
    for action in ["hardlink", "remove --trash", "remove"] {
        for kept in 1.. {
            let scene = Scene::new();
            let before = picture(&scene.tree());
            assert_eq!(run(&scene, &format!("{action} --yes tree")).code(), 0);
            let journals = scene.top.join("state/seekless/journals");
            let journals = fs::read_dir(journals).expect("a folder");
            let journal = journals.flatten().next().expect("a journal").path();
            let text = fs::read_to_string(&journal).expect("read");
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            if kept == lines.len() {
                assert!(kept >= 4, "{action}: {text}");
                break;
            }
            crate::common::write(&journal, lines[..kept].concat()).expect("written");
            let undone = run(&scene, "undo");
            let undone = undone.never_says("nothing to undo");
            // The first line names no step; the second one does.
            let is_back = picture(&scene.tree()) == before;
            assert_eq!(
                is_back,
                kept > 1 && action != "remove",
                "{action}, {kept}: {undone}"
            );
        }
    }
}

#[test]
fn undo_does_not_undo_the_run_before_a_removal_unasked() {
    let scene = Scene::new();
    let copy = scene.tree().join("dup/copy");
    fs::copy(scene.keeper(), &copy).expect("a copy");
    assert_eq!(run(&scene, "hardlink --yes tree/keep tree/dup/v").code(), 0);
    let listed = run(&scene, "undo --list").stdout_text();
    let first = listed.split_whitespace().next().expect("a run").to_owned();
    assert_eq!(
        run(&scene, "remove --yes tree/keep tree/dup/copy").code(),
        0
    );
    let links = || fs::metadata(scene.keeper()).expect("metadata").nlink();
    let way_out = format!("seekless undo {first}");
    run(&scene, "undo")
        .exits(2)
        .says("cannot be undone")
        .says("seekless undo --list");
    assert_eq!(links(), 2);
    run(&scene, &way_out["seekless ".len()..]).exits(0);
    assert_eq!(links(), 1);
}

/// Does it, as the library does; the run's name.
#[track_caller]
fn done(scene: &Scene, action: ActionKind) -> String {
    let mut actor = scene.actor();
    let outcome = actor.perform(&scene.step(action));
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    actor.run_name().to_owned()
}

#[test]
fn a_link_that_was_edited_is_not_taken_for_a_leftover() {
    let scene = Scene::new();
    let dup = scene.tree().join("dup");
    // As after a run that was killed before it could remove what it had replaced.
    fs::hard_link(scene.victim(), dup.join("spare")).expect("a link");
    let run = done(&scene, ActionKind::Hardlink);
    let aside = dup.join(scene.temporary(&run));
    fs::rename(dup.join("spare"), &aside).expect("renamed");
    fs::remove_file(scene.keeper()).expect("removed");
    crate::common::write(scene.victim(), "edited").expect("written");
    assert_eq!(scene.undo().refused, 1);
    assert_eq!(fs::read(scene.victim()).expect("read"), b"edited");
    assert_eq!(fs::read(&aside).expect("read"), noise(1, SIZE));
}

#[test]
fn an_unfinished_copy_stays_if_it_is_the_last() {
    for (elsewhere, left) in [(true, "part"), (false, "undo")] {
        let scene = Scene::with_another_file_system();
        let run = done(&scene, ActionKind::Move);
        let name = scene.temporary(&run).replace(".tmp", &format!(".{left}"));
        let copy = match elsewhere {
            true => scene.moved().with_file_name(name),
            false => scene.tree().join("dup").join(name),
        };
        fs::copy(scene.moved(), &copy).expect("copied");
        fs::remove_file(scene.moved()).expect("removed");
        assert_eq!(scene.undo().refused, 1);
        assert_eq!(fs::read(&copy).expect("read"), noise(1, SIZE));
    }
}

/// The inode number and the number of names of files below the tree.
fn inodes(scene: &Scene, names: &[&str]) -> Vec<(u64, u64)> {
    let metadata = names
        .iter()
        .map(|name| fs::metadata(scene.tree().join(name)));
    let metadata = metadata.map(|metadata| metadata.expect("metadata"));
    metadata.map(|now| (now.ino(), now.nlink())).collect()
}

#[test]
fn names_of_one_file_are_names_of_one_file_again() {
    for (action, elsewhere) in [
        ("hardlink", false),
        ("symlink", false),
        ("move --to ../to", false),
        ("move", true),
    ] {
        let scene = match elsewhere {
            true => Scene::with_another_file_system(),
            false => Scene::new(),
        };
        for name in ["a", "b"] {
            fs::hard_link(scene.victim(), scene.tree().join(name)).expect("a link");
        }
        let before = picture(&scene.tree());
        let mut acting = prepared(&scene, action);
        if elsewhere {
            acting = acting.arg("--to").arg(scene.destination());
        }
        let acting = acting.arg("--yes").arg("--keep").arg("under tree/keep");
        let done = acting.arg("tree").run().exits(0);
        done.says("3 files");
        run(&scene, "undo").exits(0).never_says("apart");
        assert_eq!(picture(&scene.tree()), before, "{action}");
        let again = inodes(&scene, &["dup/v", "a", "b"]);
        assert!(
            again.iter().all(|&now| now == (again[0].0, 3)),
            "{action}: {again:?}"
        );
        assert_eq!(inodes(&scene, &["keep/k"])[0].1, 1, "{action}");
        assert_eq!(scene.temporaries().first(), None, "{action}");
    }
}

#[test]
fn the_last_run_is_the_last_whatever_the_clock_says() {
    let scene = Scene::new();
    let began = |seconds: i64| seekless::action::RunHeader {
        started_ns: seconds * 1_000_000_000,
        ..Default::default()
    };
    for (seconds, action) in [
        (2_000_000_000, ActionKind::Hardlink),
        (1_000_000_000, ActionKind::Symlink),
    ] {
        let journal = seekless::action::Journal::create(&scene.journals(), began(seconds));
        let mut actor = seekless::action::Actor::new(scene.settings(), journal.expect("a journal"));
        let victim = match action {
            ActionKind::Hardlink => scene.victim(),
            _ => scene.tree().join("dup/second"),
        };
        crate::common::write(&victim, noise(1, SIZE)).expect("written");
        let outcome = actor.perform(&step(action, &scene.keeper(), &victim));
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
    scene.undo();
    let kind = |name: &str| fs::symlink_metadata(scene.tree().join(name)).expect("metadata");
    assert!(kind("dup/second").is_file(), "the second run was undone");
    assert_eq!(kind("dup/v").nlink(), 2, "the first was not");
}

/// A run of which every step failed is not the last one.
#[test]
#[cfg(debug_assertions)]
fn a_run_that_changed_nothing_is_passed_over() {
    let is_refused = |at: u32| {
        let scene = Scene::new();
        let before = picture(&scene.tree());
        let act = || {
            let line = "remove --trash --yes --allow shared --reference tree/keep tree/dup";
            prepared(&scene, line)
        };
        act().run().exits(0);
        fs::copy(scene.keeper(), scene.victim()).expect("copied");
        let run = act().env("SEEKLESS_FAULT", &format!("28@{at}")).run();
        let is_refused = run.stderr_text().contains("cannot move it: No");
        if is_refused {
            fs::remove_file(scene.victim()).expect("removed");
            prepared(&scene, "undo --yes").run().exits(0);
            assert_eq!(picture(&scene.tree()), before, "call {at}");
        }
        is_refused
    };
    assert!((40..95).any(is_refused));
}

#[test]
#[ignore = "gives files to another user: root only"]
fn nobody_gets_the_rights_of_an_owner_who_does_not_come_back() {
    use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
    use std::os::unix::fs::{PermissionsExt, chown};
    let scene = Scene::new();
    chown(scene.victim(), Some(12345), Some(12346)).expect("given");
    fs::set_permissions(scene.victim(), fs::Permissions::from_mode(0o6755)).expect("mode");
    run(
        &scene,
        "hardlink --yes --allow other-owners --keep oldest tree",
    )
    .exits(0);
    let undo = prepared(&scene, "undo");
    undo.before(|| Ok(remove_capability_from_bounding_set(CapabilitySet::CHOWN)?))
        .run()
        .exits(1)
        .says("restored without its owner, mode");
    let now = fs::metadata(scene.victim()).expect("metadata");
    assert_eq!((now.uid(), now.gid(), now.mode() & 0o7777), (0, 0, 0o755));
}

/// A length and a time are no proof of content.
#[test]
fn another_file_of_the_same_length_and_time_is_not_called_restored() {
    let tree = Tree::new().copies(["a", "b"], noise(1, 5000));
    let stage = Stage::new(tree.modified("a", 1_000_000).modified("b", 1_000_000));
    let path = |name| stage.tree.path(name);
    // No other file gets the number of the open file.
    let _replaced = File::open(path("b")).expect("opened");
    stage.run("hardlink --yes .").exits(0);
    let time = fs::metadata(path("a")).and_then(|a| a.modified());
    fs::remove_file(path("b")).expect("removed");
    crate::common::write(path("b"), noise(2, 5000)).expect("written");
    let other = File::options().write(true).open(path("b"));
    other
        .and_then(|other| other.set_modified(time?))
        .expect("times");
    for arguments in ["undo --dry-run", "undo"] {
        let run = stage.run(arguments);
        let is_named = run.to_string().contains("b: has changed since");
        assert!(run.code() != 0 && is_named, "{run}");
    }
    assert_eq!(fs::read(path("b")).expect("read"), noise(2, 5000));
}
