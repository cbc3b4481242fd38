//! Journals that are damaged, foreign, or of runs that were cut short; and what they prove.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::common::scene::{SIZE, Scene, picture, prepared};
use crate::common::stage::{rewrite, without_digest};
use crate::common::{Run, noise};

fn run(scene: &Scene, arguments: &str) -> Run {
    prepared(scene, arguments).run()
}

fn journals(scene: &Scene) -> PathBuf {
    scene.top.join("state/seekless/journals")
}

/// The names of all runs, the oldest first.
fn names(scene: &Scene) -> Vec<String> {
    let entries = fs::read_dir(journals(scene)).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.into_string().expect("plain"))
        .collect();
    names.sort();
    names
}

/// Two runs, each of which made a link.
fn two_runs(scene: &Scene) -> [String; 2] {
    run(scene, "hardlink --yes --keep oldest tree").exits(0);
    scene.file("tree/keep/new", b"new", 0o644, 1_000_000_000);
    scene.file("tree/dup/new", b"new", 0o644, 1_100_000_000);
    run(scene, "hardlink --yes --keep oldest tree").exits(0);
    let names = names(scene);
    names.try_into().expect("two runs")
}

/// Changes one bit of a file.
fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("read");
    bytes[at] ^= 1;
    crate::common::write(path, bytes).expect("written");
}

fn links(scene: &Scene, name: &str) -> u64 {
    let metadata = fs::metadata(scene.tree().join(name));
    metadata.expect("metadata").nlink()
}

#[test]
fn bare_undo_does_not_go_past_a_damaged_journal() {
    // Anywhere in the first line, and its end.
    let first_line = |bytes: &[u8]| bytes.iter().position(|&b| b == b'\n').expect("a line");
    for at in [0, 40, usize::MAX] {
        let scene = Scene::new();
        let [first, second] = two_runs(&scene);
        let path = journals(&scene).join(&second);
        let end = first_line(&fs::read(&path).expect("read"));
        flip(&path, at.min(end));
        run(&scene, "undo --list")
            .exits(1)
            .says(&second)
            .says("damaged");
        run(&scene, "undo")
            .exits(2)
            .says(&format!("{second}: line 1 is damaged"))
            .says("seekless undo --list")
            .says("move");
        assert_eq!(links(&scene, "dup/v"), 2, "the older run stands");
        // The ways out: by name, or without the file.
        run(&scene, &format!("undo {first}"))
            .exits(0)
            .says("1 file restored");
        assert_eq!(links(&scene, "dup/v"), 1);
    }
    let scene = Scene::new();
    let [first, second] = two_runs(&scene);
    flip(&journals(&scene).join(&second), 3);
    let away = scene.top.join("away");
    fs::rename(journals(&scene).join(&second), away).expect("moved");
    run(&scene, "undo").exits(0).says(&first);
    assert_eq!(links(&scene, "dup/v"), 1);
}

/// Permission bits.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("metadata").mode() & 0o7777
}

#[test]
fn journals_are_their_owners_alone_whatever_the_umask() {
    let scene = Scene::new();
    let prepared = prepared(&scene, "hardlink --yes tree").before(|| {
        rustix::process::umask(rustix::fs::Mode::empty());
        Ok(())
    });
    prepared.run().exits(0);
    let folder = journals(&scene);
    let file = folder.join(&names(&scene)[0]);
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    assert_eq!(mode(&scene.top.join("state/seekless")), 0o700);
}

/// Gives a file the present time and leaves its bytes.
fn touch(path: &Path) {
    let file = fs::File::options().write(true).open(path).expect("opened");
    file.set_modified(SystemTime::now()).expect("touched");
}

/// Other bytes, with the length and the times of before.
fn forge(path: &Path) {
    let before = fs::metadata(path).expect("metadata");
    let mut bytes = fs::read(path).expect("read");
    bytes[SIZE / 2] ^= 1;
    crate::common::write(path, bytes).expect("written");
    let file = fs::File::options().write(true).open(path).expect("opened");
    file.set_modified(before.modified().expect("a time"))
        .expect("set");
}

#[test]
fn other_bytes_are_never_given_back_whatever_their_times_say() {
    for action in ["hardlink", "symlink"] {
        let scene = Scene::new();
        run(&scene, &format!("{action} --yes --keep oldest tree")).exits(0);
        forge(&scene.keeper());
        let before = picture(&scene.tree());
        run(&scene, "undo").exits(2).says("other bytes");
        assert_eq!(picture(&scene.tree()), before, "{action}");
    }
    let scene = Scene::with_another_file_system();
    let to = scene.destination();
    let to = to.to_str().expect("UTF-8");
    run(&scene, &format!("move --to {to} --yes --keep oldest tree")).exits(0);
    let moved = picture(&scene.destination());
    let moved = scene.destination().join(moved.keys().next().expect("one"));
    forge(&moved);
    run(&scene, "undo").exits(2).says("other bytes");
    assert!(moved.exists() && !scene.victim().exists());
    assert_eq!(scene.temporaries().first(), None);
}

#[test]
fn journals_without_digests_are_undone_by_times() {
    for touched in [false, true] {
        let scene = Scene::new();
        let before = picture(&scene.tree());
        run(&scene, "hardlink --yes --keep oldest tree").exits(0);
        let path = journals(&scene).join(&names(&scene)[0]);
        rewrite(&path, without_digest);
        if touched {
            touch(&scene.keeper());
            run(&scene, "undo").exits(2).says("has changed since");
        } else {
            run(&scene, "undo").exits(0).says("1 file restored");
            assert_eq!(picture(&scene.tree()), before);
        }
    }
}

#[test]
fn journals_can_be_kept_elsewhere() {
    let scene = Scene::new();
    let before = picture(&scene.tree());
    let elsewhere = scene.top.join("else where");
    let done = prepared(&scene, "hardlink --yes --keep oldest tree --journal")
        .arg(&elsewhere)
        .run()
        .exits(0);
    done.says(&format!(
        "seekless undo --journal '{}' 2",
        elsewhere.display()
    ));
    assert!(!journals(&scene).exists());
    assert_eq!(mode(&elsewhere), 0o700);
    let listed = prepared(&scene, "undo --list --journal").arg(&elsewhere);
    assert_eq!(listed.run().exits(0).stdout_text().lines().count(), 1);
    let undone = prepared(&scene, "undo --journal").arg(&elsewhere).run();
    undone.exits(0);
    assert_eq!(picture(&scene.tree()), before);
}

/// What undo, or the next run, has to clear up.
fn leftovers(scene: &Scene) -> Vec<PathBuf> {
    let tops = [scene.tree(), scene.destination()];
    let tops = tops.iter().filter(|top| top.exists());
    let files = tops.flat_map(|top| picture(top).into_keys());
    let temporary = files.filter(|path| path.to_string_lossy().contains(".seekless-"));
    let trash = scene.top.join("data/Trash");
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(trash.join(folder)).into_iter().flatten();
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    };
    let files = names("files");
    let notes = names("info").into_iter();
    let idle = notes.filter(|note| !files.iter().any(|file| note.starts_with(file)));
    temporary.chain(idle.map(PathBuf::from)).collect()
}

/// A run that is killed in the middle of a step, such that something is left lying about.
#[cfg(debug_assertions)]
fn killed(action: &str, nth: usize) -> Option<(Scene, Vec<PathBuf>)> {
    killed_in(Scene::new, action, nth)
}

/// Makes the scene of a run.
#[cfg(debug_assertions)]
type Make = fn() -> Scene;

#[cfg(debug_assertions)]
fn killed_in(make: Make, action: &str, nth: usize) -> Option<(Scene, Vec<PathBuf>)> {
    use std::os::unix::process::ExitStatusExt;
    let mut before = None;
    let mut different = 0;
    for at in (1..200).step_by(2) {
        let scene = make();
        let action = action.replace("DESTINATION", scene.destination().to_str().expect("UTF-8"));
        let line = format!("{action} --yes --keep oldest tree");
        let run = prepared(&scene, &line).env("SEEKLESS_FAULT", &format!("kill@{at}"));
        let status = run.stdout(std::process::Stdio::null()).spawn().wait();
        if status.expect("it ends").signal() != Some(9) {
            return None;
        }
        let left = leftovers(&scene);
        // Each state only once: many calls do not change it.
        let state = (left.len(), scene.victim().symlink_metadata().is_ok());
        if before != Some(state) {
            before = Some(state);
            if !left.is_empty() {
                different += 1;
                if different > nth {
                    return Some((scene, left));
                }
            }
        }
    }
    panic!("{action} never ends");
}

#[test]
#[cfg(debug_assertions)]
fn the_next_run_says_what_was_cut_short_and_puts_it_back_first() {
    for action in ["remove", "hardlink", "symlink"] {
        for nth in 0..2 {
            let Some((scene, _)) = killed(action, nth) else {
                assert!(nth > 0, "{action} leaves nothing");
                continue;
            };
            let first = names(&scene).remove(0);
            let says = format!("run {first} (");
            // To look is not to act.
            for looking in ["find tree", "remove --dry-run tree"] {
                run(&scene, looking)
                    .exits(0)
                    .says(&says)
                    .says("did not finish")
                    .says(&format!("seekless undo --sweep {first}"))
                    .says(&format!("seekless undo {first}"));
            }
            run(&scene, "find -q tree").never_says("did not finish");
            assert!(!leftovers(&scene).is_empty(), "{action}");
            run(&scene, &format!("{action} --yes --keep oldest tree"))
                .exits(0)
                .says(&says)
                .says("1 file restored")
                .says("Done: ");
            assert_eq!(leftovers(&scene).first(), None, "{action}");
            run(&scene, "find tree")
                .exits(0)
                .never_says("did not finish");
            let second = names(&scene).remove(1);
            // What was removed for good does not come back, however often it is asked for.
            let code = if action == "remove" { 2 } else { 0 };
            run(&scene, &format!("undo {second}")).exits(code);
            run(&scene, &format!("undo {first}")).exits(0);
            run(&scene, "undo").exits(code).never_says("say which");
        }
    }
}

/// The name of a run so many days ago.
fn days_ago(days: i64) -> String {
    let time = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days);
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}

#[test]
fn old_journals_go_when_a_run_begins() {
    let scene = Scene::new();
    run(&scene, "hardlink --yes --keep oldest tree").exits(0);
    let first = names(&scene).remove(0);
    let whole = fs::read(journals(&scene).join(&first)).expect("a journal");
    let ended = whole.windows(9).rposition(|part| part == b"\"ended\"}\n");
    let ended = ended.map(|_| whole[..whole.len() - 1].iter().rposition(|&b| b == b'\n'));
    let last_line = ended.expect("it ended").expect("lines") + 1;
    let write = |name: &str, bytes: &[u8]| {
        let path = journals(&scene).join(name);
        crate::common::write(&path, bytes).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("mode");
    };
    let old: Vec<_> = (91..100).rev().map(days_ago).collect();
    old.iter().for_each(|name| write(name, &whole));
    let [unfinished, damaged, other] = [101, 102, 103].map(days_ago);
    write(&unfinished, &whole[..last_line]);
    write(&damaged, &whole[..whole.len() - 5]);
    write(&format!("{other}.bak"), &whole);
    let again = |pairs: std::ops::Range<u64>| {
        for pair in pairs {
            scene.file(
                &format!("tree/keep/{pair}"),
                &noise(pair, 10),
                0o644,
                1_000_000_000,
            );
            scene.file(
                &format!("tree/dup/{pair}"),
                &noise(pair, 10),
                0o644,
                1_100_000_000,
            );
            run(&scene, "hardlink --yes --keep oldest tree").exits(0);
        }
    };
    // These are among the last 20.
    again(100..103);
    let has = |name: &String| names(&scene).contains(name);
    assert!(old.iter().all(has), "{:?}", names(&scene));
    // These are not, and are not old enough.
    let young: Vec<_> = (50..89).rev().map(days_ago).collect();
    young.iter().for_each(|name| write(name, &whole));
    // The clock was wrong, once.
    write(&days_ago(-5000), &whole);
    let running = fs::File::open(journals(&scene).join(&old[0])).expect("opened");
    rustix::fs::flock(&running, rustix::fs::FlockOperation::LockShared).expect("locked");
    again(103..104);
    assert!(
        old[1..].iter().all(|name| !has(name)),
        "{:?}",
        names(&scene)
    );
    for stays in [
        &unfinished,
        &damaged,
        &format!("{other}.bak"),
        &first,
        &old[0],
    ] {
        assert!(has(stays), "{stays}");
    }
    assert!(young.iter().all(has), "{:?}", names(&scene));
    drop(running);
    // What undo and a search say of them does not remove them.
    run(&scene, "find tree");
    assert!(has(&old[0]));
    again(104..105);
    assert!(!has(&old[0]));
}
