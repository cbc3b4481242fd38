//! Journals that are damaged, foreign, or of runs that were cut short; and what they prove.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::common::journal::{rewrite, without_digest};
use crate::common::scene::{SIZE, Scene, picture, prepared};
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
    fs::write(path, bytes).expect("written");
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
            .says(&format!("seekless undo {first}"))
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

#[test]
fn the_steps_of_a_run_whose_first_line_is_damaged_can_be_undone_by_name() {
    let scene = Scene::new();
    let [_, second] = two_runs(&scene);
    flip(&journals(&scene).join(&second), 30);
    run(&scene, &format!("undo {second}"))
        .exits(1)
        .says("line 1 is damaged")
        .says("1 file restored");
    assert_eq!((links(&scene, "dup/new"), links(&scene, "dup/v")), (1, 2));
}

#[test]
fn bare_undo_does_not_go_past_a_journal_of_another_version() {
    let scene = Scene::new();
    let [first, second] = two_runs(&scene);
    let path = journals(&scene).join(&second);
    rewrite(&path, |record| {
        if record["record"] == "run" {
            record["version"] = 99.into();
        }
        true
    });
    run(&scene, "undo --list").exits(1).says(&second).says("99");
    for arguments in ["undo".to_owned(), format!("undo {second}")] {
        run(&scene, &arguments).exits(2).says("version 99");
    }
    assert_eq!((links(&scene, "dup/new"), links(&scene, "dup/v")), (2, 2));
    run(&scene, &format!("undo {first}")).exits(0);
}

#[test]
fn a_journal_that_cannot_be_read_at_all_is_in_the_way_too() {
    let scene = Scene::new();
    let [first, second] = two_runs(&scene);
    let path = journals(&scene).join(&second);
    for content in [&b""[..], &[0; 5000], b"\n\n", b"0123456789abcdef {"] {
        fs::write(&path, content).expect("written");
        run(&scene, "undo")
            .exits(2)
            .says(&second)
            .says(&format!("seekless undo {first}"));
        run(&scene, "undo --list").exits(1).says(&second);
    }
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("a folder");
    run(&scene, "undo").exits(2).says(&second);
    // What has no run's name is not a journal.
    fs::remove_dir(&path).expect("removed");
    fs::write(path.with_extension("bak"), "anything").expect("written");
    run(&scene, "undo --list").exits(0);
    run(&scene, "undo").exits(0).says(&first);
}

#[test]
fn a_run_whose_only_step_is_damaged_is_not_passed_over() {
    let scene = Scene::new();
    let [_, second] = two_runs(&scene);
    let path = journals(&scene).join(&second);
    let text = fs::read_to_string(&path).expect("text");
    let at = text.find("\"intent\"").expect("a step");
    flip(&path, at);
    run(&scene, "undo").exits(2).says("damaged").says(&second);
    assert_eq!(links(&scene, "dup/v"), 2, "the older run stands");
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
    // Others may have opened it since.
    for arguments in ["undo", "hardlink --yes tree"] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("mode");
        run(&scene, arguments).exits(0);
        assert_eq!(mode(&folder), 0o700);
    }
}

/// Gives a file the present time and leaves its bytes.
fn touch(path: &Path) {
    let file = fs::File::options().write(true).open(path).expect("opened");
    file.set_modified(SystemTime::now()).expect("touched");
}

#[test]
fn a_kept_file_that_was_only_touched_is_good_enough() {
    for action in ["hardlink", "symlink"] {
        let scene = Scene::new();
        let before = fs::metadata(scene.victim()).expect("metadata");
        run(&scene, &format!("{action} --yes --keep oldest tree")).exits(0);
        touch(&scene.keeper());
        run(&scene, "undo")
            .exits(0)
            .says("1 file restored")
            .never_says("changed since");
        let after = fs::symlink_metadata(scene.victim()).expect("metadata");
        assert!(after.is_file() && after.nlink() == 1, "{action}");
        assert_eq!(after.mtime(), before.mtime());
        assert_eq!(fs::read(scene.victim()).expect("read"), noise(1, SIZE));
    }
}

#[test]
fn a_moved_file_that_was_only_touched_comes_back() {
    for action in ["move --to away", "remove --trash"] {
        let scene = Scene::new();
        run(&scene, &format!("{action} --yes --keep oldest tree")).exits(0);
        let moved = picture(&scene.top).into_iter();
        let mut moved = moved
            .filter(|(path, seen)| seen.content == noise(1, SIZE) && !path.starts_with("tree"));
        let (moved, _) = moved.next().expect("it went somewhere");
        touch(&scene.top.join(moved));
        run(&scene, "undo").exits(0).says("1 file restored");
        assert_eq!(fs::read(scene.victim()).expect("read"), noise(1, SIZE));
    }
}

/// Other bytes, with the length and the times of before.
fn forge(path: &Path) {
    let before = fs::metadata(path).expect("metadata");
    let mut bytes = fs::read(path).expect("read");
    bytes[SIZE / 2] ^= 1;
    fs::write(path, bytes).expect("written");
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
fn without_comparing_the_digest_of_the_search_is_kept() {
    let scene = Scene::new();
    run(&scene, "find -f json -o found.json tree").exits(0);
    run(
        &scene,
        "hardlink --allow uncompared --yes --keep oldest --from found.json",
    )
    .exits(0);
    touch(&scene.keeper());
    run(&scene, "undo").exits(0).says("1 file restored");
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
fn a_dry_undo_says_what_would_be_done_and_does_nothing() {
    for action in ["hardlink", "symlink", "move --to away", "remove --trash"] {
        let scene = Scene::new();
        let before = picture(&scene.tree());
        run(&scene, &format!("{action} --yes --keep oldest tree")).exits(0);
        let done = picture(&scene.top);
        let shown = run(&scene, "undo --dry-run")
            .exits(0)
            .says("1 file would be restored");
        let text = shown.stdout_text();
        assert!(text.contains("dup/v: would be restored"), "{text}");
        assert!(picture(&scene.top) == done, "{action}: something was done");
        run(&scene, "undo --yes").exits(0);
        assert_eq!(picture(&scene.tree()), before, "{action}");
        let shown = run(&scene, "undo --dry-run").exits(0);
        shown.says("Nothing would be undone");
    }
    let scene = Scene::new();
    run(&scene, "hardlink --yes --keep oldest tree").exits(0);
    fs::write(scene.keeper(), noise(9, SIZE)).expect("written");
    let shown = run(&scene, "undo --dry-run").exits(2);
    let text = shown.stdout_text();
    assert!(text.contains("would be left alone"), "{text}");
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
    // A folder of other things is not for journals, and stays as it is.
    let tree = scene.tree();
    fs::set_permissions(&tree, fs::Permissions::from_mode(0o755)).expect("mode");
    run(&scene, "hardlink --yes tree --journal tree")
        .exits(2)
        .says("other users can access that folder")
        .says("--journal DIR");
    assert_eq!(mode(&tree), 0o755);
    assert_eq!(picture(&scene.tree()), before);
}

#[test]
fn where_no_journal_can_be_written_nothing_is_done_and_one_line_says_so() {
    let scene = Scene::new();
    let before = picture(&scene.tree());
    let full = prepared(&scene, "hardlink --yes tree").env("XDG_STATE_HOME", "/proc");
    let full = full.run().exits(2).says("--journal DIR");
    assert_eq!(full.stderr_text().matches("seekless:").count(), 1, "{full}");
    assert_eq!(picture(&scene.tree()), before);
}

/// A search may take hours, and a plan takes time to read.
#[test]
fn a_folder_for_journals_that_is_refused_is_named_before_the_search() {
    type Spoil = fn(&Path);
    let spoiled: [(Spoil, &str); 6] = [
        (
            |at| fs::write(at, "").expect("written"),
            "journals is not a folder: move ",
        ),
        (
            |at| symlink("/tmp", at).expect("linked"),
            "journals is a symbolic link: move ",
        ),
        (
            |at| {
                fs::create_dir(at).expect("a folder");
                fs::set_permissions(at, fs::Permissions::from_mode(0o777)).expect("mode");
            },
            "journals can be written to by other users (mode 777): run chmod go-w ",
        ),
        (
            |at| {
                fs::create_dir(at).expect("a folder");
                fs::write(at.join("other"), "").expect("written");
                fs::set_permissions(at, fs::Permissions::from_mode(0o755)).expect("mode");
            },
            "other users can access that folder (mode 755): use a folder",
        ),
        (
            |at| {
                let above = at.parent().expect("a folder");
                fs::remove_dir(above).expect("removed");
                fs::write(above, "").expect("written");
            },
            "Not a directory (os error 20); use another folder with --journal DIR",
        ),
        (
            |at| {
                fs::set_permissions(
                    at.parent().expect("a folder"),
                    fs::Permissions::from_mode(0o777),
                )
                .expect("mode")
            },
            "seekless can be written to by other users (mode 777): run chmod go-w ",
        ),
    ];
    for (spoil, why) in spoiled {
        let scene = Scene::new();
        let before = picture(&scene.tree());
        let folder = journals(&scene);
        fs::create_dir_all(folder.parent().expect("a folder")).expect("folders");
        spoil(&folder);
        for action in ["hardlink --yes tree", "remove --trash --yes tree"] {
            let run = run(&scene, action).exits(2).says(why);
            let said = run.stderr_text();
            assert!(said.ends_with("; nothing was done\n"), "{run}");
            assert_eq!(said.lines().count(), 1, "there is no plan yet: {run}");
        }
        run(&scene, "hardlink --dry-run tree").exits(0);
        assert_eq!(picture(&scene.tree()), before);
    }
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
            run(&scene, "find state").never_says("did not finish");
            run(&scene, "remove --yes state").never_says("did not finish");
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
            // Which of the two is meant nobody can tell.
            let second = names(&scene).remove(1);
            run(&scene, "undo")
                .exits(2)
                .says(&format!("seekless undo {first}"))
                .says(&format!("seekless undo {second}"));
            // What was removed for good does not come back, however often it is asked for.
            let code = if action == "remove" { 2 } else { 0 };
            run(&scene, &format!("undo {second}")).exits(code);
            run(&scene, &format!("undo {first}")).exits(0);
            run(&scene, "undo").exits(code).never_says("say which");
        }
    }
}

#[test]
#[cfg(debug_assertions)]
fn what_lies_elsewhere_is_found_by_the_file_that_it_is_of() {
    let actions: [(Make, &str); 2] = [
        (Scene::with_another_file_system, "move --to DESTINATION"),
        (Scene::new, "remove --trash"),
    ];
    for (make, action) in actions {
        let (scene, left) = killed_in(make, action, 0).expect("something is left");
        // As if the last record had been torn as well.
        let journal = journals(&scene).join(&names(&scene)[0]);
        let mut bytes = fs::read(&journal).expect("read");
        bytes.extend_from_slice(b"0123");
        fs::write(&journal, bytes).expect("written");
        run(&scene, "find tree").exits(0).says("did not finish");
        let action = action.replace("DESTINATION", scene.destination().to_str().expect("UTF-8"));
        run(&scene, &format!("{action} --yes --keep oldest tree"))
            .exits(0)
            .says("did not finish")
            .says("Done: ");
        assert_eq!(leftovers(&scene).first(), None, "{action}: {left:?}");
        assert!(!scene.victim().exists());
    }
}

#[test]
#[cfg(debug_assertions)]
fn a_program_sweeps_what_was_cut_short_below_its_paths() {
    let (scene, _) = killed("remove", 0).expect("something is left");
    let before = picture(&Scene::new().tree());
    let journals = seekless::Journals::new(journals(&scene));
    let elsewhere = journals.sweep([scene.top.join("state")]);
    assert_eq!(elsewhere.expect("swept"), []);
    assert!(!leftovers(&scene).is_empty());
    let swept = journals.sweep([scene.tree()]).expect("swept");
    let swept: Vec<_> = swept
        .iter()
        .map(|file| (&file.path, &file.outcome))
        .collect();
    let restored = seekless::Undone::Restored;
    assert_eq!(swept, [(&scene.victim(), &restored)]);
    assert_eq!(picture(&scene.tree()), before);
}

#[test]
#[cfg(debug_assertions)]
fn what_was_cut_short_can_be_swept_by_itself() {
    for action in ["remove", "hardlink", "symlink"] {
        let (scene, _) = killed(action, 0).expect("something is left");
        let before = picture(&Scene::new().tree());
        run(&scene, "undo --sweep").exits(0).says("1 file restored");
        assert_eq!(picture(&scene.tree()), before, "{action}");
        run(&scene, "undo --sweep").exits(0).says("No killed run");
        run(&scene, "undo").exits(0);
    }
}

/// The copy is whole and has its name, and what was copied is in its place.
#[test]
#[cfg(debug_assertions)]
fn a_move_that_was_cut_short_before_the_original_went_is_found() {
    let mut seen = 0;
    for at in 1..200 {
        let scene = Scene::with_another_file_system();
        let to = scene.destination().to_str().expect("UTF-8").to_owned();
        let line = format!("move --to {to} --yes --keep oldest tree");
        let run = prepared(&scene, &line).env("SEEKLESS_FAULT", &format!("kill@{at}"));
        let status = run.stdout(std::process::Stdio::null()).spawn().wait();
        if status.expect("it ends").success() {
            break;
        }
        let copies = walkdir::WalkDir::new(scene.destination()).into_iter();
        let mut copies = copies
            .filter_map(Result::ok)
            .map(walkdir::DirEntry::into_path);
        let is_copied =
            copies.any(|path| path.is_file() && !path.to_string_lossy().contains(".seekless-"));
        if !(is_copied && scene.victim().exists() && leftovers(&scene).is_empty()) {
            continue;
        }
        seen += 1;
        run_again_moves_it(&scene, &line);
    }
    assert!(seen > 0, "no such moment");
}

#[cfg(debug_assertions)]
fn run_again_moves_it(scene: &Scene, line: &str) {
    run(scene, "find tree").exits(0).says("did not finish");
    run(scene, line).exits(0).says("Done: ");
    assert!(!scene.victim().exists());
    assert_eq!(leftovers(scene).first(), None);
}

/// The folder may be on a disk that is not plugged in.
#[test]
#[cfg(debug_assertions)]
fn what_is_out_of_reach_is_not_taken_for_swept() {
    let (scene, _) = killed("remove", 0).expect("something is left");
    let name = names(&scene)[0].clone();
    let folder = scene.victim().parent().expect("a folder").to_owned();
    let away = folder.with_extension("away");
    fs::rename(&folder, &away).expect("unplugged");
    run(&scene, &format!("undo --sweep {name}"))
        .exits(1)
        .says("its folder is gone");
    fs::rename(&away, &folder).expect("plugged in");
    run(&scene, &format!("undo --sweep {name}"))
        .exits(0)
        .says("1 file restored");
    assert!(scene.victim().exists());
}

/// Whoever may write to the folder could put one there, and it would be waited for.
#[test]
fn a_pipe_with_the_name_of_a_run_is_not_waited_for() {
    let scene = Scene::new();
    run(&scene, "hardlink --yes tree").exits(0);
    let pipe = journals(&scene).join("20991231T000000Z");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).expect("made");
    let list = prepared(&scene, "undo --list").patience(std::time::Duration::from_secs(60));
    list.run().exits(1).says("20991231T000000Z");
    let dry = prepared(&scene, "remove --dry-run tree");
    dry.patience(std::time::Duration::from_secs(60))
        .run()
        .exits(0);
}

#[test]
#[cfg(debug_assertions)]
fn what_cannot_be_put_back_is_named() {
    let (scene, _) = killed("remove", 0).expect("something is left");
    // Another file has the name now.
    fs::write(scene.victim(), "new").expect("written");
    run(&scene, "remove --yes tree")
        .exits(1)
        .says("another file now has its name");
    assert_eq!(fs::read(scene.victim()).expect("there"), b"new");
    // It is a copy like any other by then.
    assert_eq!(fs::read(scene.keeper()).expect("there"), noise(1, SIZE));
}

#[test]
fn commands_of_runs_are_shown_as_a_shell_takes_them() {
    let scene = Scene::new();
    fs::rename(scene.tree(), scene.top.join("a tree")).expect("renamed");
    let command = prepared(&scene, "hardlink --yes").arg("a tree");
    command.run().exits(0);
    let list = run(&scene, "undo --list").exits(0);
    let shown = list.stdout_text();
    assert!(shown.contains("hardlink --yes 'a tree'"), "{shown}");
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
        fs::write(&path, bytes).expect("written");
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
    run(&scene, "undo --list").says("journals that are older than 90 days");
    drop(running);
    // What undo and a search say of them does not remove them.
    run(&scene, "find tree");
    assert!(has(&old[0]));
    again(104..105);
    assert!(!has(&old[0]));
}
