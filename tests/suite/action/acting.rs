//! Actions do what they say, to the file that is meant, or nothing.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::thread;

use crate::common::noise;
use crate::common::scene::{
    CHANGING, Perform, Picture, SIZE, Scene, UNDOABLE, codes, is_changed, picture, step, target,
    undo,
};
use crate::common::tree::Writer;
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use seekless::action::{ActionKind, Code, Done, Outcome, Reason, Settings, Step};

#[track_caller]
fn done(outcome: Outcome) -> Done {
    match outcome {
        Outcome::Done(done) => done,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn skipped(outcome: Outcome) -> Reason {
    match outcome {
        Outcome::Skipped(skip) => skip,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn failed(outcome: Outcome) -> String {
    match outcome {
        Outcome::Failed(failure) => failure.to_string(),
        other => panic!("{other:?}"),
    }
}

fn allocated(path: &Path) -> u64 {
    fs::metadata(path).expect("metadata").blocks() * 512
}

#[test]
fn remove_takes_the_name_and_nothing_else() {
    let scene = Scene::new();
    let (before, size) = (picture(&scene.tree()), allocated(&scene.victim()));
    assert_eq!(done(scene.perform(ActionKind::Remove)).freed, size);
    let mut after = before;
    after.remove(Path::new("dup/v"));
    assert_eq!(picture(&scene.tree()), after);
    assert_eq!(scene.undo().impossible, 1);
    assert_eq!(picture(&scene.tree()), after);
}

/// Undo gives back everything; undo again changes nothing.
#[track_caller]
fn undo_restores(scene: &Scene, before: &Picture) {
    let tally = scene.undo();
    assert_eq!((tally.restored, tally.refused), (1, 0), "{tally:?}");
    assert_eq!(&picture(&scene.tree()), before);
    let again = scene.undo();
    assert_eq!((again.restored, again.refused, again.as_before), (0, 0, 1));
    assert_eq!(&picture(&scene.tree()), before);
}

#[test]
fn hardlink_makes_one_file_of_two_and_undo_two_of_one() {
    let scene = Scene::new();
    let (before, size) = (picture(&scene.tree()), allocated(&scene.victim()));
    let done = done(scene.perform(ActionKind::Hardlink));
    assert_eq!(done.freed, size);
    let ino = |path: &Path| fs::symlink_metadata(path).expect("metadata").ino();
    assert_eq!(ino(&scene.keeper()), ino(&scene.victim()));
    assert!(matches!(
        scene.perform(ActionKind::Hardlink),
        Outcome::Already
    ));
    undo_restores(&scene, &before);
    assert_ne!(ino(&scene.keeper()), ino(&scene.victim()));
}

#[test]
fn symlink_leads_to_the_keeper_by_a_relative_or_absolute_path() {
    for absolute_links in [false, true] {
        let scene = Scene::new();
        let before = picture(&scene.tree());
        let settings = Settings {
            absolute_links,
            ..scene.settings()
        };
        done(
            scene
                .actor_with(settings)
                .perform(&scene.step(ActionKind::Symlink)),
        );
        let text = fs::read_link(scene.victim()).expect("a link");
        match absolute_links {
            true => assert_eq!(text, scene.keeper()),
            false => assert_eq!(text, Path::new("../keep/k")),
        }
        assert_eq!(fs::read(scene.victim()).expect("read"), noise(1, SIZE));
        undo_restores(&scene, &before);
    }
}

#[test]
fn move_keeps_the_path_and_all_that_belongs_to_the_file() {
    for scene in [Scene::new(), Scene::with_another_file_system()] {
        let before = picture(&scene.tree());
        let size = allocated(&scene.victim());
        let done = done(scene.perform(ActionKind::Move));
        assert_eq!(done.freed, if scene.away.is_some() { size } else { 0 });
        assert!(!scene.victim().exists());
        let moved = picture(&scene.destination());
        assert_eq!(
            moved.get(
                scene
                    .moved()
                    .strip_prefix(scene.destination())
                    .expect("below")
            ),
            before.get(Path::new("dup/v"))
        );
        assert_eq!(moved.len(), 1);
        undo_restores(&scene, &before);
        assert!(!scene.destination().exists(), "the move had created it");
    }
}

#[test]
fn move_never_overwrites() {
    for scene in [Scene::new(), Scene::with_another_file_system()] {
        let moved = scene.moved();
        let there = moved.parent().expect("a folder");
        fs::create_dir_all(there).expect("a folder");
        crate::common::write(there.join("v"), "precious").expect("written");
        let before = picture(&scene.tree());
        let said = failed(scene.perform(ActionKind::Move));
        assert!(said.contains("seekless never overwrites a file"), "{said}");
        assert_eq!(fs::read(there.join("v")).expect("read"), b"precious");
        assert_eq!(picture(&scene.tree()), before);
    }
}

#[test]
fn trash_can_be_read_by_a_desktop_and_undone() {
    let scene = Scene::new();
    let before = picture(&scene.tree());
    let done = done(scene.perform(ActionKind::Trash));
    let trash = scene.top.join("Trash");
    let files = picture(&trash.join("files"));
    let (name, seen) = files.iter().next().expect("a file in the trash");
    assert_eq!(Some(seen), before.get(Path::new("dup/v")));
    let path = trash.join("files").join(name);
    assert_eq!(done.destination, Some(path));
    let info = format!("info/{}.trashinfo", name.display());
    let info = fs::read_to_string(trash.join(info)).expect("a note");
    let wanted = format!(
        "[Trash Info]\nPath={}\nDeletionDate=",
        scene.victim().display()
    );
    assert!(info.starts_with(&wanted), "{info}");
    undo_restores(&scene, &before);
    assert!(!trash.exists(), "the run had created it");
}

/// Nothing is done, for this reason, whatever the action.
#[track_caller]
fn all_refuse(spoil: impl Fn(&Scene, &mut Step), reason: impl Fn(&Reason) -> bool) {
    for action in CHANGING {
        let scene = Scene::new();
        let mut step = scene.step(action);
        spoil(&scene, &mut step);
        let before = picture(&scene.tree());
        let skip = skipped(scene.actor().perform(&step));
        assert!(reason(&skip), "{action:?}: {skip:?}");
        assert_eq!(picture(&scene.tree()), before, "{action:?}");
        assert_eq!(
            scene.temporaries(),
            [""; 0].map(Into::<std::path::PathBuf>::into)
        );
    }
}

#[test]
fn a_victim_that_changed_is_left_alone() {
    all_refuse(
        |scene, _| scene.file("tree/dup/v", &noise(1, SIZE), 0o744, 1_100_000_001),
        |skip| is_changed(skip, "its modification time"),
    );
    all_refuse(
        |scene, _| scene.file("tree/dup/v", &noise(1, SIZE), 0o600, 1_100_000_000),
        |skip| is_changed(skip, "its change time"),
    );
    all_refuse(
        |scene, _| scene.file("tree/dup/v", &noise(1, SIZE - 1), 0o744, 1_100_000_000),
        |skip| is_changed(skip, "its length"),
    );
    all_refuse(
        |scene, _| fs::rename(scene.tree().join("dup/other"), scene.victim()).expect("renamed"),
        |skip| is_changed(skip, "another file has its name"),
    );
    all_refuse(
        |scene, _| fs::remove_file(scene.victim()).expect("removed"),
        |skip| codes(skip) == [Code::Gone],
    );
}

#[test]
fn a_keeper_that_is_no_safe_copy_saves_the_victim() {
    all_refuse(
        |scene, _| fs::remove_file(scene.keeper()).expect("removed"),
        |skip| codes(skip) == [Code::Keeper, Code::Gone],
    );
    // The field's worst story: the kept one is a link to the file that would go.
    all_refuse(
        |scene, _| {
            fs::remove_file(scene.keeper()).expect("removed");
            symlink(scene.victim(), scene.keeper()).expect("a link");
        },
        |skip| codes(skip) == [Code::Keeper, Code::NotRegular],
    );
    // The same through a folder: one file, two paths, one of them through a link.
    all_refuse(
        |scene, step| {
            symlink("dup", scene.tree().join("link")).expect("a link");
            step.keeper = target(&scene.tree().join("link/v"));
        },
        |skip| codes(skip) == [Code::Keeper, Code::ThroughLink],
    );
    all_refuse(
        |scene, step| step.keeper = target(&scene.tree().join("keep/../keep/k")),
        |skip| codes(skip) == [Code::Keeper, Code::BadPath],
    );
}

#[test]
fn bytes_decide_whatever_the_report_says() {
    let differ = |scene: &Scene, step: &mut Step| {
        let mut content = noise(1, SIZE);
        content[SIZE - 7] ^= 1;
        scene.file("tree/keep/k", &content, 0o644, 1_000_000_000);
        step.keeper = target(&scene.keeper());
    };
    all_refuse(differ, |skip| skip.facts().offset == Some(SIZE as u64 - 7));
}

#[test]
fn the_last_copy_cannot_be_named_as_its_own_keeper() {
    for action in [
        ActionKind::Remove,
        ActionKind::Trash,
        ActionKind::Move,
        ActionKind::Symlink,
    ] {
        let scene = Scene::new();
        let itself = step(action, &scene.victim(), &scene.victim());
        assert_eq!(
            codes(&skipped(scene.actor().perform(&itself))),
            [Code::SameFile]
        );
        fs::hard_link(scene.victim(), scene.tree().join("dup/again")).expect("a link");
        let again = step(action, &scene.tree().join("dup/again"), &scene.victim());
        assert_eq!(
            codes(&skipped(scene.actor().perform(&again))),
            [Code::SameFile]
        );
        assert!(scene.victim().exists());
    }
}

#[test]
fn a_circle_of_keepers_leaves_one_of_them() {
    for action in CHANGING {
        let scene = Scene::new();
        let there = step(action, &scene.keeper(), &scene.victim());
        let back = step(action, &scene.victim(), &scene.keeper());
        let mut actor = scene.actor();
        let mut outcomes = Vec::new();
        actor.perform_all(&[there, back], |_, outcome| outcomes.push(outcome));
        assert!(matches!(outcomes[0], Outcome::Done(_)), "{outcomes:?}");
        assert!(!matches!(outcomes[1], Outcome::Done(_)), "{outcomes:?}");
        assert_eq!(
            fs::read(scene.keeper()).expect("read"),
            noise(1, SIZE),
            "{action:?}"
        );
    }
}

#[test]
fn a_file_open_for_writing_is_left_alone() {
    all_refuse_while(
        |scene| scene.victim(),
        |skip| codes(skip) == [Code::OpenForWriting],
    );
    all_refuse_while(
        |scene| scene.keeper(),
        |skip| codes(skip) == [Code::Keeper, Code::OpenForWriting],
    );
}

#[track_caller]
fn all_refuse_while(
    which: impl Fn(&Scene) -> std::path::PathBuf,
    reason: impl Fn(&Reason) -> bool,
) {
    for action in CHANGING {
        let scene = Scene::new();
        let before = picture(&scene.tree());
        let held = Writer::open(which(&scene));
        let skip = skipped(scene.perform(action));
        assert!(reason(&skip), "{action:?}: {skip:?}");
        assert_eq!(picture(&scene.tree()), before);
        drop(held);
        done(scene.perform(action));
    }
}

#[test]
fn hard_links_across_file_systems_are_never_something_else() {
    let scene = Scene::with_another_file_system();
    let there = scene.away.as_ref().expect("another").path().join("v");
    crate::common::write(&there, noise(1, SIZE)).expect("written");
    let there = there.canonicalize().expect("a real path");
    let said = failed(
        scene
            .actor()
            .perform(&step(ActionKind::Hardlink, &scene.keeper(), &there)),
    );
    assert!(
        said.contains("a hard link cannot cross file systems"),
        "{said}"
    );
    assert!(fs::symlink_metadata(&there).expect("metadata").is_file());
    assert_eq!(fs::metadata(&there).expect("metadata").nlink(), 1);
}

#[test]
fn undo_refuses_what_changed_since_and_says_which() {
    for action in UNDOABLE {
        // The bytes that were shared are others now.
        let scene = Scene::new();
        let done = done(scene.perform(action));
        let changed = done.destination.unwrap_or_else(|| scene.keeper());
        crate::common::write(&changed, noise(9, SIZE)).expect("written");
        let before = picture(&scene.top);
        let mut told = Vec::new();
        let tally = undo(&scene.journals(), None, &mut |step| {
            told.push(step.clone());
        });
        assert_eq!(tally.expect("a journal").refused, 1, "{action:?}");
        let refused = matches!(&told[0].outcome, seekless::action::Undone::Refused(why) if why.to_string().contains("changed \
        since"));
        assert!(refused, "{told:?}");
        let mut after = picture(&scene.top);
        after.retain(|path, _| !path.starts_with("state"));
        assert!(
            after
                .iter()
                .all(|(path, seen)| before.get(path) == Some(seen))
        );
        // Another file has the name now.
        let scene = Scene::new();
        scene.perform(action);
        let _ = fs::remove_file(scene.victim());
        crate::common::write(scene.victim(), "new").expect("written");
        assert_eq!(scene.undo().refused, 1, "{action:?}");
        assert_eq!(fs::read(scene.victim()).expect("read"), b"new");
    }
}

#[test]
fn sparse_files_stay_sparse_when_they_become_independent_again() {
    let scene = Scene::new();
    for path in [scene.keeper(), scene.victim()] {
        let file = File::create(&path).expect("a file");
        std::os::unix::fs::FileExt::write_at(&file, b"end", 10 << 20).expect("written");
    }
    let (before, size) = (picture(&scene.tree()), allocated(&scene.victim()));
    done(scene.perform(ActionKind::Hardlink));
    undo_restores(&scene, &before);
    assert_eq!(allocated(&scene.victim()), size);
}

#[test]
fn a_folder_that_may_not_be_written_is_named_with_the_way_out() {
    let scene = Scene::new();
    let folder = scene.tree().join("dup");
    fs::set_permissions(&folder, Permissions::from_mode(0o555)).expect("mode");
    let said = thread::scope(|scope| {
        let acting = scope.spawn(|| {
            // Root may write everywhere; `immutable_files` shows the same for root.
            let none = CapabilitySets {
                effective: CapabilitySet::empty(),
                permitted: CapabilitySet::empty(),
                inheritable: CapabilitySet::empty(),
            };
            set_capabilities(None, none).expect("less is always allowed");
            failed(scene.perform(ActionKind::Remove))
        });
        acting.join().expect("it fails")
    });
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("mode");
    assert!(
        said.contains("run as a user who may write to the folder"),
        "{said}"
    );
}
