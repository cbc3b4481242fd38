//! Two runs at once, each a process of its own: never both in one tree, and no link that leads nowhere.
//!
//! Builds without debug assertions cannot be stopped in the middle of a step (`sys::fault`).
#![cfg(debug_assertions)]

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::scene::{SIZE, Scene, picture, prepared};
use crate::common::stage::Stopped;
use crate::common::volume::Volume;
use crate::common::{noise, rounds};
use rustix::process::{Signal, kill_process};

/// A call in the middle of the first step, and one before anything is changed.
const MIDDLE: u64 = 40;
#[test]
fn a_second_run_in_the_same_tree_is_refused_and_says_who_is_at_work() {
    let scene = Scene::new();
    fs::create_dir(scene.top.join("other")).expect("a folder");
    let before = picture(&scene.top);
    let line = "symlink --yes --keep oldest tree";
    let first = Stopped::start(prepared(&scene, line), MIDDLE);
    let held = picture(&scene.tree());
    let occupied = format!("process {}: ", first.pid().as_raw_nonzero());
    for second in [
        "symlink --yes --keep newest tree",
        "move --yes --to away tree/dup tree/keep",
        "remove --yes tree/keep/k tree/dup",
        "hardlink --yes .",
        "move --yes --to tree/dup other",
        "undo",
    ] {
        let run = prepared(&scene, second).run();
        match second {
            // Whichever of the two is met first: the run's journal, or its locks.
            "undo" if run.stderr_text().contains("is still active") => run.exits(2),
            _ => run
                .exits(2)
                .says(&occupied)
                .says(line)
                .says("wait until it ends")
                .says("nothing was done"),
        };
        assert_eq!(picture(&scene.tree()), held, "{second}");
    }
    // A plan, a search and another tree are nobody's business.
    for second in [
        "find tree",
        "remove --dry-run tree",
        "remove --yes other",
        "undo --list",
    ] {
        prepared(&scene, second).run().exits(0);
    }
    assert_eq!(first.goes_on(), Some(0));
    prepared(&scene, "undo").run().exits(0);
    let after = picture(&scene.tree());
    assert!(
        after
            .iter()
            .all(|(path, seen)| { before.get(&Path::new("tree").join(path)) == Some(seen) })
    );
}

#[test]
fn an_undo_has_its_trees_for_itself() {
    let scene = Scene::new();
    prepared(&scene, "symlink --yes tree").run().exits(0);
    let undo = Stopped::start(prepared(&scene, "undo"), MIDDLE);
    prepared(&scene, "remove --yes tree")
        .run()
        .exits(2)
        .says("another seekless run")
        .says(" undo)");
    assert_eq!(undo.goes_on(), Some(0));
    assert!(
        fs::symlink_metadata(scene.victim())
            .expect("there")
            .is_file()
    );
}

#[test]
fn a_run_that_died_locks_nothing() {
    let scene = Scene::new();
    let first = Stopped::start(prepared(&scene, "remove --yes tree"), 10);
    kill_process(first.pid(), Signal::KILL).expect("it is there");
    assert_eq!(first.goes_on(), None);
    prepared(&scene, "remove --yes tree").run().exits(0);
}

/// One keeps what the other would replace; each of them is right by itself.
#[test]
fn two_runs_at_once_leave_no_link_that_leads_nowhere() {
    const PAIRS: u64 = 30;
    let opponents = [
        "symlink --yes --keep", // the same, the other way round
        "move --to away --yes --keep",
        "remove --trash --yes --keep",
    ];
    let mut done = 0;
    for round in 0..rounds(6) {
        let scene = Scene::new();
        for pair in 0..PAIRS {
            for folder in ["keep", "dup"] {
                let name = format!("tree/{folder}/pair-{pair}");
                scene.file(&name, &noise(100 + pair, 3000), 0o644, 1_000_000_000);
            }
        }
        let second = opponents[usize::try_from(round).expect("small") % opponents.len()];
        let start = |line: &str, folder: &str| {
            let run = prepared(&scene, line).arg(format!("under tree/{folder}"));
            run.arg("tree").stdout(Stdio::null()).spawn()
        };
        let runs = [start("symlink --yes --keep", "keep"), start(second, "dup")];
        let codes = runs.map(|mut run| run.wait().expect("it ends").code());
        assert!(codes.contains(&Some(0)), "{second}: {codes:?}");
        assert!(
            codes.iter().all(|code| [Some(0), Some(2)].contains(code)),
            "{second}: {codes:?}"
        );
        done += codes.iter().filter(|&&code| code == Some(0)).count();
        let contents = picture(&scene.top);
        for entry in walkdir::WalkDir::new(scene.tree()) {
            let path = entry.expect("an entry").into_path();
            let target = fs::metadata(&path);
            assert!(target.is_ok(), "{second}: {} leads nowhere", path.display());
        }
        for pair in 0..PAIRS {
            let content = noise(100 + pair, 3000);
            let is_there = contents.values().any(|seen| seen.content == content);
            assert!(is_there, "{second}: a content is lost");
        }
    }
    assert!(done > 0);
}

#[test]
#[ignore = "mounts a folder in another place: root only"]
fn a_tree_is_one_by_whichever_mount_it_is_reached() {
    let volume = Volume::tmpfs("");
    let view = Volume::tmpfs("");
    let scene = Scene::below(&volume.path());
    let inner = view.path().join("inner");
    fs::create_dir(&inner).expect("a folder");
    rustix::mount::mount_bind(scene.tree().join("dup"), &inner).expect("mounted");
    let first = Stopped::start(prepared(&scene, "symlink --yes --keep oldest tree"), MIDDLE);
    // The folder itself, by another name; and what is above that name.
    for path in [inner.clone(), view.path()] {
        let second = prepared(&scene, "remove --yes").arg(&path).run();
        second.exits(2).says("another seekless run");
    }
    assert_eq!(first.goes_on(), Some(0));
    prepared(&scene, "undo --yes").run().exits(0);
    // The other way round: who acts below the mount is met above the folder itself.
    fs::write(inner.join("w"), noise(1, SIZE)).expect("written");
    let line = prepared(&scene, "symlink --yes").arg(&inner);
    let first = Stopped::start(line, MIDDLE);
    let second = prepared(&scene, "remove --yes tree").run();
    second.exits(2).says("another seekless run");
    assert_eq!(first.goes_on(), Some(0));
    rustix::mount::unmount(&inner, rustix::mount::UnmountFlags::DETACH).expect("unmounted");
}

fn as_user(user: u32) -> impl FnMut() -> std::io::Result<()> + Send + Sync + 'static {
    // SAFETY: numbers go in and nothing comes out.
    move || match unsafe { (libc::setgid(user), libc::setuid(user)) } {
        (0, 0) => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Any user can lock any folder that they may read, with a program of any name.
#[test]
#[ignore = "becomes other users: root only"]
fn who_may_not_write_to_a_folder_hinders_nobody() {
    const OWNER: u32 = 54321;
    const ANOTHER: u32 = 54322;
    let scene = Scene::new();
    let state = tempfile::TempDir::new().expect("a folder");
    for entry in walkdir::WalkDir::new(&scene.top)
        .into_iter()
        .chain(walkdir::WalkDir::new(state.path()))
    {
        let path = entry.expect("an entry").into_path();
        lchown(&path, Some(OWNER), Some(OWNER)).expect("root gives files away");
    }
    let run = |line: &str| {
        let state = state.path().to_str().expect("plain");
        let run = prepared(&scene, line).env("XDG_STATE_HOME", state);
        run.before(as_user(OWNER)).run()
    };
    // Its thread has the name of a run.
    let named = tempfile::TempDir::new().expect("a folder");
    fs::set_permissions(named.path(), fs::Permissions::from_mode(0o755)).expect("mode");
    let program = named.path().join("seekless");
    fs::copy("/usr/bin/flock", &program).expect("copied");
    for (mode, hinders) in [(0o755, false), (0o775, false), (0o777, true)] {
        fs::set_permissions(&scene.top, fs::Permissions::from_mode(mode)).expect("mode");
        let mut other = Command::new(&program);
        other
            .arg(&scene.top)
            .args(["sh", "-c", "echo locked; read line"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let become_another = as_user(ANOTHER);
        // SAFETY: it makes two system calls.
        let mut other = unsafe {
            std::os::unix::process::CommandExt::pre_exec(&mut other, become_another)
                .spawn()
                .expect("flock runs")
        };
        let mut locked = [0];
        let said = other.stdout.as_mut().expect("a pipe");
        said.read_exact(&mut locked).expect("locked");
        let done = run("symlink --yes --keep oldest tree");
        if hinders {
            done.exits(2).says("another seekless run");
        } else {
            done.exits(0);
            run("undo --yes").exits(0);
        }
        drop(other.stdin.take());
        other.wait().expect("it ends");
    }
}

#[test]
fn locks_of_other_programs_mean_something_else() {
    let scene = Scene::new();
    // Not this process: a test beside this one may be a run of the library.
    let mut other = Command::new("flock")
        .arg(scene.tree())
        .args(["sh", "-c", "echo locked; read line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("flock runs");
    let mut locked = [0];
    let said = other.stdout.as_mut().expect("a pipe");
    said.read_exact(&mut locked).expect("locked");
    prepared(&scene, "remove --yes tree").run().exits(0);
    drop(other.stdin.take());
    other.wait().expect("it ends");
}
