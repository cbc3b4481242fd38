//! From find to undo on the command line, on whole trees.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::common::real;
use crate::common::scene::{Perform, SIZE, Scene, codes, picture, prepared, step};
use crate::common::stage::Stage;
use crate::common::{Run, Tree, noise};
use seekless::action::{ActionKind, Code, Outcome};

/// A run whose journals and trash are in this scene.
fn run(scene: &Scene, arguments: &str) -> Run {
    prepared(scene, arguments).run()
}

/// Nanoseconds since 1970 do not fit into 64 bits then.
#[test]
fn times_after_2262_come_back_as_they_were() {
    let scene = Scene::new();
    let times = || {
        let now = fs::metadata(scene.victim()).expect("there");
        let nanoseconds = (now.atime_nsec(), now.mtime_nsec());
        (now.atime(), now.mtime(), nanoseconds)
    };
    let time = |seconds| SystemTime::UNIX_EPOCH + Duration::new(seconds, 123_456_789);
    let wanted = FileTimes::new()
        .set_accessed(time(9_300_000_000))
        .set_modified(time(13_569_465_600));
    let victim = File::options().write(true).open(scene.victim());
    victim.expect("a file").set_times(wanted).expect("times");
    let before = times();
    assert_eq!((before.0, before.1), (9_300_000_000, 13_569_465_600));
    for action in ["hardlink", "symlink"] {
        let done = run(&scene, &format!("{action} --yes --keep oldest tree")).exits(0);
        assert_ne!(times(), before, "{done}");
        run(&scene, "undo").exits(0);
        assert_eq!(times(), before, "{action}");
    }
}

/// `SEEKLESS_FILES=100000 cargo test --test suite -- --ignored --nocapture undo::real` is the long form.
#[test]
#[ignore = "copies files of this machine: /usr, sources and libraries of Rust"]
fn a_tree_of_real_files_comes_back() {
    let scene = Scene::new();
    let top = scene.top.join("real");
    real::fill(&top, real::files());
    let before = real::looks(&top);
    let call = |arguments: &str| {
        let patience = Duration::from_secs(3600);
        let run = prepared(&scene, arguments).patience(patience).run();
        println!("{arguments}: {run}");
        run.exits(0)
    };
    for action in [
        "hardlink --yes --allow managed real",
        "remove --trash --yes --allow managed real",
    ] {
        call(action);
        if action.starts_with("hardlink") {
            assert!(real::linked(&top) > before.len() / 3, "links were made");
        }
        assert!(real::looks(&top) != before, "something was done");
        call("undo");
        let after = real::looks(&top);
        let differs = before
            .iter()
            .find(|(path, was)| after.get(*path) != Some(*was));
        assert_eq!(differs, None, "{action}");
        assert_eq!(before.len(), after.len(), "{action}");
        assert_eq!(real::linked(&top), 0, "{action}");
        println!("{action}: {} files are as before", after.len());
    }
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
fn without_a_run_there_is_nothing_to_undo() {
    let scene = Scene::new();
    let nothing = run(&scene, "undo");
    assert_eq!(nothing.code(), 2);
    assert!(
        nothing.stderr_text().contains("nothing to undo"),
        "{nothing}"
    );
    assert_eq!(run(&scene, "undo --list").code(), 0);
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
            fs::write(&journal, lines[..kept].concat()).expect("written");
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
fn plain_removal_says_that_it_cannot_be_undone() {
    let scene = Scene::new();
    let before = picture(&scene.tree()).len();
    assert_eq!(run(&scene, "remove --yes tree").code(), 0);
    // It stays so, however often somebody tries.
    for _ in 0..2 {
        let listed = run(&scene, "undo --list").exits(0).stdout_text();
        assert!(listed.contains("  permanent "), "{listed}");
        let name = listed.split_whitespace().next().expect("a run").to_owned();
        for line in ["undo".to_owned(), format!("undo {name}")] {
            let undone = run(&scene, &line).exits(2);
            let said = undone.stderr_text();
            assert!(said.contains("1 file removed permanently"), "{undone}");
            assert_eq!(said.lines().count(), 1, "{undone}");
        }
        let shown = run(&scene, "undo --dry-run").exits(2);
        let shown = shown.stdout_text();
        assert!(shown.contains("cannot be restored"), "{shown}");
    }
    assert_eq!(picture(&scene.tree()).len(), before - 1);
    assert!(Path::new(&scene.tree()).exists());
}

#[test]
fn undo_names_the_run_before_a_removal_and_does_not_undo_it_unasked() {
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
        .says(&way_out);
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
    fs::write(scene.victim(), "edited").expect("written");
    assert_eq!(scene.undo().refused, 1);
    assert_eq!(fs::read(scene.victim()).expect("read"), b"edited");
    assert_eq!(fs::read(&aside).expect("read"), noise(1, SIZE));
}

#[test]
fn a_moved_file_stays_if_its_place_has_other_bytes() {
    let scene = Scene::with_another_file_system();
    done(&scene, ActionKind::Move);
    // The same length, times and mode, but another file.
    scene.file("tree/dup/v", &noise(9, SIZE), 0o744, 1_100_000_000);
    assert_eq!(scene.undo().refused, 1);
    let moved = fs::read(scene.destination().join("sub/v")).expect("read");
    assert_eq!(moved, noise(1, SIZE));
    assert_eq!(fs::read(scene.victim()).expect("read"), noise(9, SIZE));
}

#[test]
fn an_unfinished_copy_stays_if_it_is_the_last() {
    for (elsewhere, left) in [(true, "part"), (false, "undo")] {
        let scene = Scene::with_another_file_system();
        let run = done(&scene, ActionKind::Move);
        let name = scene.temporary(&run).replace(".tmp", &format!(".{left}"));
        let copy = match elsewhere {
            true => scene.destination().join("sub").join(name),
            false => scene.tree().join("dup").join(name),
        };
        fs::copy(scene.destination().join("sub/v"), &copy).expect("copied");
        fs::remove_file(scene.destination().join("sub/v")).expect("removed");
        assert_eq!(scene.undo().refused, 1);
        assert_eq!(fs::read(&copy).expect("read"), noise(1, SIZE));
    }
}

#[test]
fn a_name_that_was_only_half_moved_is_one_again() {
    let scene = Scene::new();
    let dup = scene.tree().join("dup");
    let before = picture(&scene.tree());
    // As where names are moved by making a second one: the file has both when the process dies.
    fs::hard_link(scene.victim(), dup.join("spare")).expect("a link");
    let run = done(&scene, ActionKind::Remove);
    let aside = dup.join(scene.temporary(&run));
    fs::hard_link(dup.join("spare"), aside).expect("a link");
    fs::rename(dup.join("spare"), scene.victim()).expect("renamed");
    let tally = scene.undo();
    assert_eq!((tally.cleaned, tally.refused), (1, 0), "{tally:?}");
    assert_eq!(picture(&scene.tree()), before);
}

#[test]
fn within_one_batch_nothing_is_done_to_what_another_step_relies_on() {
    let scene = Scene::new();
    let third = scene.tree().join("third");
    fs::copy(scene.keeper(), &third).expect("copied");
    let steps = [
        step(ActionKind::Symlink, &scene.keeper(), &scene.victim()),
        step(ActionKind::Remove, &third, &scene.keeper()),
    ];
    let mut outcomes = Vec::new();
    scene
        .actor()
        .perform_all(&steps, |_, outcome| outcomes.push(outcome));
    let [Outcome::Done(_), Outcome::Skipped(why)] = &outcomes[..] else {
        panic!("{outcomes:?}");
    };
    assert_eq!(codes(why), [Code::ReliedOn]);
    assert_eq!(fs::read(scene.victim()).expect("read"), noise(1, SIZE));
}

#[test]
fn a_second_undo_names_the_run_before_and_touches_nothing() {
    let scene = Scene::new();
    assert_eq!(run(&scene, "hardlink --yes tree").code(), 0);
    let first = run(&scene, "undo --list").stdout_text();
    let first = first.split_whitespace().next().expect("a run").to_owned();
    scene.file("tree/keep/new", b"new", 0o644, 1_000_000_000);
    scene.file("tree/dup/new", b"new", 0o644, 1_000_000_000);
    assert_eq!(run(&scene, "symlink --yes tree").code(), 0);
    let linked = fs::metadata(scene.victim()).expect("metadata").ino();
    let undone = run(&scene, "undo").exits(0);
    undone.never_says("seekless undo");
    let again = run(&scene, "undo").exits(0);
    again
        .says("nothing to undo")
        .says(&format!("hardlink --yes tree): seekless undo {first}"))
        .never_says("file restored")
        .never_says("files restored");
    let still = fs::metadata(scene.victim()).expect("metadata").ino();
    assert_eq!(linked, still);
    run(&scene, &format!("undo {first}"))
        .exits(0)
        .says("restored");
    run(&scene, "undo").exits(0).never_says("run before");
}

#[test]
fn a_run_of_which_nothing_can_be_undone_is_not_the_last_for_good() {
    let scene = Scene::new();
    assert_eq!(run(&scene, "hardlink --yes tree").code(), 0);
    let first = run(&scene, "undo --list").stdout_text();
    let first = first.split_whitespace().next().expect("a run").to_owned();
    scene.file("tree/keep/new", b"new", 0o644, 1_000_000_000);
    scene.file("tree/dup/new", b"new", 0o644, 1_000_000_000);
    let folders = "tree/keep/new tree/dup/new";
    let linked = run(&scene, &format!("symlink --yes {folders}")).exits(0);
    linked.says("replaced 1 file with a symbolic link,");
    for name in ["tree/keep/new", "tree/dup/new"] {
        let path = scene.top.join(name);
        if fs::symlink_metadata(&path).expect("there").is_symlink() {
            fs::remove_file(path).expect("removed");
        }
    }
    run(&scene, "undo")
        .exits(2)
        .says("no longer exists; left alone")
        .says(&format!("hardlink --yes tree): seekless undo {first}"));
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
fn an_undo_that_was_cut_short_joins_names_as_well() {
    let scene = Scene::new();
    fs::hard_link(scene.victim(), scene.tree().join("a")).expect("a link");
    let before = picture(&scene.tree());
    let names = [scene.victim(), scene.tree().join("a")];
    let steps = names.map(|name| step(ActionKind::Hardlink, &scene.keeper(), &name));
    let mut actor = scene.actor();
    actor.perform_all(&steps, |_, outcome| {
        assert!(matches!(outcome, Outcome::Done(_)))
    });
    let journal = scene.journals().join(actor.run_name());
    drop(actor);
    assert_eq!(scene.undo().restored, 2);
    // As if the second step had not been reached: the last name is back, the first is not.
    let whole = fs::read_to_string(&journal).expect("text");
    let kept: Vec<&str> = whole
        .lines()
        .filter(|line| {
            let is_first = line.contains("\"step\":0");
            !(line.contains("all_undone") || is_first && line.contains("undone"))
        })
        .collect();
    fs::write(&journal, kept.join("\n") + "\n").expect("written");
    fs::remove_file(scene.victim()).expect("removed");
    fs::hard_link(scene.keeper(), scene.victim()).expect("a link");
    assert_eq!(scene.undo().restored, 1);
    assert_eq!(picture(&scene.tree()), before);
    let again = inodes(&scene, &["dup/v", "a"]);
    assert_eq!(again[0], again[1]);
}

#[test]
fn names_that_the_run_had_not_touched_are_told_apart() {
    let scene = Scene::new();
    let outside = scene.top.join("outside");
    fs::hard_link(scene.victim(), &outside).expect("a link");
    run(&scene, "hardlink --yes --keep oldest tree").exits(0);
    run(&scene, "undo")
        .exits(0)
        .says("1 file no longer linked to names (hard links)");
    assert_eq!(fs::metadata(&outside).expect("metadata").nlink(), 1);
    assert_eq!(fs::read(&outside).expect("read"), noise(1, SIZE));
}

#[test]
fn a_name_is_not_joined_to_a_file_that_was_edited() {
    let scene = Scene::new();
    fs::hard_link(scene.victim(), scene.tree().join("a")).expect("a link");
    let steps = [scene.tree().join("a"), scene.victim()]
        .map(|name| step(ActionKind::Hardlink, &scene.keeper(), &name));
    scene.actor().perform_all(&steps[..1], |_, _| {});
    let other = scene.actor().perform(&scene.step(ActionKind::Hardlink));
    assert!(matches!(other, Outcome::Done(_)), "{other:?}");
    // Its own length and times, but other bytes.
    let mut edited = noise(1, SIZE);
    edited[SIZE / 2] ^= 1;
    fs::remove_file(scene.tree().join("a")).expect("removed");
    scene.file("tree/a", &edited, 0o744, 1_100_000_000);
    assert_eq!(scene.undo().restored, 1);
    assert_eq!(fs::read(scene.victim()).expect("read"), noise(1, SIZE));
    assert_eq!(fs::read(scene.tree().join("a")).expect("read"), edited);
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
        fs::write(&victim, noise(1, SIZE)).expect("written");
        let outcome = actor.perform(&step(action, &scene.keeper(), &victim));
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
    scene.undo();
    let kind = |name: &str| fs::symlink_metadata(scene.tree().join(name)).expect("metadata");
    assert!(kind("dup/second").is_file(), "the second run was undone");
    assert_eq!(kind("dup/v").nlink(), 2, "the first was not");
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

#[test]
fn undo_of_a_run_that_changed_nothing_says_so() {
    let tree = Tree::new()
        .copies(["closed/a", "open/a"], noise(1, 5000))
        .mode("closed", 0o555);
    let stage = Stage::new(tree);
    for action in ["remove", "remove --trash", "move --to out"] {
        let names = stage.names();
        stage
            .seekless(&format!("{action} --yes open closed"))
            .arg("--only-under")
            .arg("closed")
            .without_privileges()
            .run()
            .exits(2);
        for undo in ["undo --dry-run", "undo"] {
            stage
                .run(undo)
                .exits(0)
                .says("1 file not changed by the run.")
                .never_says("already restored");
        }
        assert_eq!(stage.names(), names, "{action}");
    }
    std::fs::set_permissions(stage.tree.path("closed"), Permissions::from_mode(0o755))
        .expect("the mode can be set");
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
    fs::write(path("b"), noise(2, 5000)).expect("written");
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
