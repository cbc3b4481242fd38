//! Scripts beside somebody who does not want them to go well.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::stage::Stage;
use crate::common::users::{become_nobody, give_away};
use crate::common::volume::Volume;
use crate::common::{Tree, rounds, seekless};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

/// No leftovers.
const NONE: [PathBuf; 0] = [];

/// A script that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(300);

const ACTIONS: [&str; 4] = ["remove", "hardlink", "symlink", "move"];

/// Starts a script; the words before the last are the shell.
fn start(shell: &str, script: &Path) -> Child {
    let mut words = shell.split(' ');
    let mut command = Command::new(words.next().expect("a shell"));
    command.args(words).arg(script).stdin(Stdio::null());
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().expect("the shell is there")
}

/// Runs a script to its end: its exit status, and what it said.
fn run(shell: &str, script: &Path) -> (Option<i32>, String) {
    let done = start(shell, script).wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    (done.status.code(), said)
}

/// What a folder holds: each name with all that a untrusted must not change.
type Picture = BTreeMap<PathBuf, (Vec<i64>, Vec<u8>)>;

fn picture(folder: &Path) -> Picture {
    let entries = walkdir::WalkDir::new(folder).into_iter();
    let entries = entries.map(|entry| entry.expect("an entry").into_path());
    entries
        .map(|path| {
            let found = path.symlink_metadata().expect("metadata");
            let facts = vec![
                found.ino() as i64,
                found.nlink() as i64,
                found.size() as i64,
                found.mode().into(),
                found.uid().into(),
                found.gid().into(),
                found.mtime(),
                found.mtime_nsec(),
                found.ctime(),
                found.ctime_nsec(),
            ];
            let bytes = fs::read(&path).unwrap_or_default();
            (path, (facts, bytes))
        })
        .collect()
}

/// Names below a folder that a script made for a moment.
fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    let names = entries.filter(|e| e.file_name().to_string_lossy().starts_with(".seekless-"));
    names.map(walkdir::DirEntry::into_path).collect()
}

/// Writes the script of a plan for two folders, the first of which is kept.
fn script(stage: &Stage, action: &str) -> PathBuf {
    let script = stage.state.path().join("script");
    let action = match action {
        "move" => "move --to away",
        other => other,
    };
    let line = format!("{action} --script --keep first-root keep go -o");
    let run = stage.seekless(&line).arg(&script).run();
    // Where files cannot share blocks, the script of reflink has no steps.
    let has_no_steps = action == "reflink" && run.code() == 2;
    assert!(has_no_steps || run.code() == 0, "{run}");
    script
}

fn small() -> Stage {
    Stage::new(Tree::new().copies(["keep/a", "go/b", "go/c"], "the same"))
}

#[test]
fn no_name_in_a_script_can_be_foretold() {
    for action in ACTIONS.iter().chain(&["reflink"]) {
        let text = fs::read_to_string(script(&small(), action)).expect("the script");
        assert!(!text.contains("$$"), "{action}");
        let names = text.matches(".seekless-").count();
        assert_eq!(names, text.matches(".seekless-XXXXXXXXXX").count());
        assert_eq!(names > 0, *action != "remove", "{action}");
        let says_so = "use seekless itself, especially\n# as root.";
        assert!(text.contains(says_so), "{text}");
    }
}

#[test]
fn a_folder_that_became_a_link_is_not_entered() {
    for shell in ["sh", "bash"] {
        for action in ACTIONS {
            for folder in ["keep", "go"] {
                let stage = small();
                let script = script(&stage, action);
                let (there, outside) = (stage.tree.path(folder), stage.tree.path("outside"));
                fs::rename(&there, &outside).expect("moved");
                symlink("outside", &there).expect("linked");
                let before = picture(stage.tree.root());
                let (code, said) = run(shell, &script);
                assert_eq!(code, Some(1), "{action}: {said}");
                assert!(
                    said.contains("is reached through a link"),
                    "{action}: {said}"
                );
                assert!(said.contains("0 done, 2 left alone, 0 failed"), "{said}");
                assert!(picture(stage.tree.root()) == before, "{action} {folder}");
            }
        }
    }
}

#[test]
fn what_replaced_a_file_is_not_replaced_in_turn() {
    for action in ACTIONS {
        let stage = small();
        let script = script(&stage, action);
        fs::create_dir(stage.tree.path("folder")).expect("a folder");
        fs::remove_file(stage.tree.path("go/b")).expect("removed");
        symlink("../folder", stage.tree.path("go/b")).expect("linked");
        fs::remove_file(stage.tree.path("go/c")).expect("removed");
        fs::create_dir(stage.tree.path("go/c")).expect("a folder");
        let before = picture(stage.tree.root());
        let (code, said) = run("sh", &script);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("0 done, 2 left alone, 0 failed"), "{said}");
        let mut after = picture(stage.tree.root());
        if action == "hardlink" {
            // A link that was made for a moment leaves its time.
            let kept = stage.tree.path("keep/a");
            after.insert(kept.clone(), before[&kept].clone());
        }
        after.retain(|path, _| !path.starts_with(stage.tree.path("away")));
        assert_eq!(
            after.keys().collect::<Vec<_>>(),
            before.keys().collect::<Vec<_>>()
        );
    }
}

#[test]
fn folders_that_a_script_makes_are_private() {
    let stage = small();
    let script = script(&stage, "move");
    assert_eq!(run("sh", &script).0, Some(0));
    let made = walkdir::WalkDir::new(stage.tree.path("away")).into_iter();
    let made = made.map(|entry| entry.expect("an entry"));
    for folder in made.filter(|entry| entry.file_type().is_dir()) {
        let mode = folder.metadata().expect("metadata").mode();
        assert_eq!(mode & 0o777, 0o700, "{}", folder.path().display());
    }
}

#[test]
fn a_move_to_another_file_system_keeps_everything_or_leaves_the_file_alone() {
    let away = TempDir::new_in("/dev/shm").expect("Linux has shared memory");
    let stage = small();
    stage.tree.set_mode("go/b", 0o2640);
    stage.tree.set_mode("go/c", 0o400);
    let stage = Stage {
        tree: stage.tree.modified("go/b", 1_000_000),
        ..stage
    };
    let script = stage.state.path().join("script");
    let run_it = stage.seekless("move --script --keep first-root keep go -o");
    let run_it = run_it.arg(&script).arg("--to").arg(away.path()).run();
    run_it.exits(0);
    let facts = |path: &Path| {
        let found = path.metadata().expect("a file");
        (
            found.mode(),
            found.uid(),
            found.gid(),
            found.mtime(),
            found.mtime_nsec(),
        )
    };
    let names = ["go/b", "go/c"].map(|name| stage.tree.path(name).canonicalize().expect("real"));
    let before = names.clone().map(|path| facts(&path));
    let (code, said) = run("sh", &script);
    assert_eq!(code, Some(0), "{said}");
    let moved = names.map(|path| away.path().join(path.strip_prefix("/").expect("absolute")));
    assert_eq!(moved.clone().map(|path| facts(&path)), before);
    assert_eq!(fs::read(&moved[0]).expect("a file"), b"the same");
    assert_eq!(stage.names(), ["keep/a"]);
    assert_eq!(leftovers(away.path()), NONE);
}

#[test]
fn a_script_that_is_ended_leaves_nothing_behind() {
    for action in ["hardlink", "symlink", "move"] {
        let mut tree = Tree::new().file("keep/a", "the same");
        for number in 0..200 {
            tree = tree.file(format!("go/{number}"), "the same");
        }
        let stage = Stage::new(tree);
        let script = script(&stage, action);
        for _ in 0..3 {
            let mut child = start("sh", &script);
            let began = Instant::now();
            while leftovers(stage.tree.root()).is_empty() {
                let ended = child.try_wait().expect("a child").is_some();
                if ended || began.elapsed() > PATIENCE {
                    break;
                }
            }
            let pid = rustix::process::Pid::from_child(&child);
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            let code = child.wait().expect("it ends").code();
            assert!(code == Some(143) || code.is_some_and(|c| c < 2), "{code:?}");
            assert_eq!(leftovers(stage.tree.root()), NONE, "{action}");
        }
        let files = stage.names().len();
        // One that is ended between the two steps of a move leaves the file in both places.
        let twice = if action == "move" { 3 } else { 0 };
        assert!((201..=201 + twice).contains(&files), "{action}: {files}");
    }
}

/// Runs the script with an `rm` that ends it in place of removing anything.
fn ended_at_rm(script: &Path) -> Option<i32> {
    let programs = TempDir::new().expect("a folder");
    let rm = programs.path().join("rm");
    fs::write(&rm, "#!/bin/sh\nkill -TERM $PPID\n").expect("written");
    fs::set_permissions(&rm, PermissionsExt::from_mode(0o755)).expect("executable");
    let path = std::env::var("PATH").expect("programs are found");
    let ended = Command::new("sh")
        .arg(script)
        .env("PATH", format!("{}:{path}", programs.path().display()))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    ended.expect("the shell is there").code()
}

#[test]
fn a_move_that_was_ended_half_way_is_finished_by_the_next_run() {
    let other_disk = TempDir::new_in("/dev/shm").expect("Linux has shared memory");
    for is_copied in [false, true] {
        let stage = small();
        let away = match is_copied {
            true => other_disk.path().to_owned(),
            false => stage.state.path().join("away"),
        };
        let script = stage.state.path().join("script");
        let line = "move --script --keep first-root keep go -o";
        let line = stage.seekless(line).arg(&script).arg("--to").arg(&away);
        line.run().exits(0);
        assert_eq!(ended_at_rm(&script), Some(143));
        let victim = stage
            .tree
            .path("go/b")
            .canonicalize()
            .expect("it is still here");
        let moved = away.join(victim.strip_prefix("/").expect("absolute"));
        assert!(moved.exists(), "and there");
        let (code, said) = run("sh", &script);
        assert_eq!(
            said, "2 done, 0 left alone, 0 failed\n",
            "copied: {is_copied}"
        );
        assert_eq!(code, Some(0));
        assert_eq!(stage.names(), ["keep/a"]);
        assert_eq!(fs::read(&moved).expect("a file"), b"the same");
        assert_eq!(leftovers(&away), NONE);
    }
}

/// Only what the script itself has put there stands for the file.
#[test]
fn what_is_at_the_new_place_of_a_move_stays_and_so_does_the_file() {
    for (content, seconds) in [("the same", 1_000_000), ("another!", 0)] {
        let stage = small();
        let away = stage.state.path().join("away");
        let script = stage.state.path().join("script");
        let line = "move --script --keep first-root keep go -o";
        let line = stage.seekless(line).arg(&script).arg("--to").arg(&away);
        line.run().exits(0);
        let victim = stage.tree.path("go/b").canonicalize().expect("there");
        let taken = away.join(victim.strip_prefix("/").expect("absolute"));
        fs::create_dir_all(taken.parent().expect("a folder")).expect("made");
        fs::write(&taken, content).expect("written");
        let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let file = fs::File::options()
            .write(true)
            .open(&taken)
            .expect("opened");
        file.set_modified(time).expect("set");
        let (code, said) = run("sh", &script);
        assert!(said.contains("its new name is taken"), "{said}");
        assert_eq!(code, Some(1), "{said}");
        assert_eq!(stage.names(), ["go/b", "keep/a"]);
        assert_eq!(fs::read(&taken).expect("there"), content.as_bytes());
    }
}

#[test]
#[ignore = "needs dash and busybox installed"]
fn scripts_run_in_every_shell_that_is_called_sh() {
    for shell in ["dash", "bash", "bash --posix", "busybox sh"] {
        for action in ACTIONS {
            let names = [
                "keep/a",
                "go/b",
                "go/-x",
                "go/ends\n",
                "go/in\n/$(x)'\\0101",
            ];
            let stage = Stage::new(Tree::new().copies(names, "the same"));
            let script = script(&stage, action);
            let (code, said) = run(shell, &script);
            assert_eq!(code, Some(0), "{shell} {action}: {said}");
            assert_eq!(said, "4 done, 0 left alone, 0 failed\n", "{shell} {action}");
            let again = run(shell, &script);
            assert_eq!(again.0, Some(1), "{shell} {action}: {}", again.1);
            assert!(
                again.1.contains("0 done, 4 left alone, 0 failed"),
                "{}",
                again.1
            );
            assert_eq!(leftovers(stage.tree.root()), NONE);
        }
    }
}

/// What somebody else does in folders of his own while root runs a script there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attack {
    /// Puts links where temporary files with the script's number were expected.
    Planted,
    /// Exchanges a folder and a link that leads out.
    Folder(&'static str),
    /// Exchanges files and links that lead out.
    Files,
    /// Exchanges what the script makes and a link that leads out.
    Private,
}

const ATTACKS: [Attack; 6] = [
    Attack::Planted,
    Attack::Folder("go"),
    Attack::Folder("keep"),
    Attack::Folder("away"),
    Attack::Files,
    Attack::Private,
];

const CONTENT: &[u8] = b"the same bytes, which everybody may know";

/// A folder `upload` of nobody's, and a folder `outside` of root's, in which files have the same names and bytes.
struct Upload {
    base: PathBuf,
    upload: PathBuf,
    files: usize,
}

impl Upload {
    fn new(base: &Path, files: usize) -> Self {
        fs::set_permissions(base, PermissionsExt::from_mode(0o755)).expect("open to all");
        let base = base.canonicalize().expect("real");
        let (upload, outside) = (base.join("upload"), base.join("outside"));
        let is_anew = upload.exists();
        if is_anew {
            fs::remove_dir_all(&upload).expect("removed");
        }
        for folder in ["", "go", "keep", "away"] {
            fs::create_dir(upload.join(folder)).expect("a folder");
        }
        let names = (0..files).map(|number| format!("go/{number}"));
        for name in names.chain(["keep/original".to_owned()]) {
            fs::write(upload.join(name), CONTENT).expect("a file");
        }
        for folder in ["go", "keep", "away"] {
            symlink(&outside, upload.join(format!("{folder}.link"))).expect("a link");
        }
        let targets = ["folder", "set-id", "secret", "0", "not-there"];
        for place in ["go", "keep"] {
            for (number, target) in targets.iter().enumerate() {
                let link = upload.join(format!("{place}/x{number}"));
                symlink(outside.join(target), link).expect("a link");
            }
        }
        for entry in walkdir::WalkDir::new(&upload) {
            let path = entry.expect("an entry").into_path();
            give_away(&path);
        }
        if !is_anew {
            fs::create_dir_all(outside.join("folder")).expect("a folder");
            let names = (0..files).map(|number| number.to_string());
            let more = ["original", "set-id", "secret"].map(str::to_owned);
            for name in names.chain(more) {
                fs::write(outside.join(name), CONTENT).expect("a file");
            }
            let mode = |name: &str, mode| {
                let mode = fs::Permissions::from_mode(mode);
                fs::set_permissions(outside.join(name), mode).expect("a mode");
            };
            mode("set-id", 0o4755);
            mode("secret", 0o600);
            fs::write(outside.join("secret"), "for root's eyes").expect("a file");
        }
        Self {
            base,
            upload,
            files,
        }
    }

    /// Does its worst again and again, as nobody.
    fn attack(&self, attack: Attack, pid: u32, goes_on: &AtomicBool) {
        let go = self.upload.join("go");
        let exchange = |one: &Path, other: &Path| {
            let _ = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
        };
        let mut round = 0;
        while goes_on.load(Ordering::Relaxed) {
            round += 1;
            match attack {
                Attack::Planted => {
                    let name = go.join(format!(".seekless-{pid}.tmp"));
                    let target = ["folder", "secret", "planted"][round % 3];
                    let _ = symlink(self.base.join("outside").join(target), &name);
                    let _ = fs::remove_file(&name);
                }
                Attack::Folder(folder) => {
                    let link = self.upload.join(format!("{folder}.link"));
                    exchange(&self.upload.join(folder), &link);
                    // Time for a few steps.
                    thread::sleep(Duration::from_micros(100 * (round as u64 % 50)));
                }
                Attack::Files => {
                    let link = |place: &str| format!("{place}/x{}", round % 5);
                    let file = format!("go/{}", round % self.files);
                    let kept = "keep/original".to_owned();
                    for (file, link) in [(file, link("go")), (kept, link("keep"))] {
                        let (file, link) = (self.upload.join(file), self.upload.join(link));
                        exchange(&file, &link);
                        thread::sleep(Duration::from_micros(100 * (round as u64 % 10)));
                        exchange(&file, &link);
                    }
                }
                Attack::Private => {
                    let below = walkdir::WalkDir::new(&self.upload).into_iter().flatten();
                    for entry in below.filter(|entry| entry.file_type().is_dir()) {
                        if entry
                            .file_name()
                            .to_string_lossy()
                            .starts_with(".seekless-")
                        {
                            exchange(entry.path(), &go.join("x0"));
                            if round % 2 == 0 {
                                exchange(entry.path(), &go.join("x0"));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Root runs a script while nobody attacks it.
    fn round(&self, action: &str, attack: Attack, shell: &str) {
        let text = self.base.join("script");
        let action = match action {
            "move" => "move --to upload/away",
            other => other,
        };
        let line = format!("{action} --script --keep first-root upload/keep upload/go -o");
        seekless(&self.base, &line).arg(&text).run().exits(0);
        let outside = self.base.join("outside");
        let before = picture(&outside);
        let goes_on = AtomicBool::new(true);
        let mut child = start(shell, &text);
        let pid = child.id();
        thread::scope(|scope| {
            scope.spawn(|| {
                become_nobody().expect("only root can be somebody else");
                self.attack(attack, pid, &goes_on);
            });
            let began = Instant::now();
            while child.try_wait().expect("a child").is_none() && began.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(2));
            }
            goes_on.store(false, Ordering::Relaxed);
        });
        let hangs = child.kill().is_ok() && child.try_wait().expect("a child").is_none();
        let said = child.wait_with_output().expect("it ended");
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        let what = format!("{action} in {shell} against {attack:?}: {said}");
        assert!(!hangs, "{what}");
        let after = picture(&outside);
        for (path, facts) in &before {
            let now = after.get(path);
            assert!(
                now == Some(facts),
                "{} changed: {now:?}\n{facts:?}\n{what}",
                path.display()
            );
        }
        assert_eq!(
            after.len(),
            before.len(),
            "something is new outside\n{what}"
        );
        for entry in walkdir::WalkDir::new(&self.upload).into_iter().flatten() {
            let found = entry.metadata().expect("metadata");
            let is_set_id = found.is_file() && found.mode() & 0o6000 != 0;
            assert!(!is_set_id, "{}\n{what}", entry.path().display());
        }
    }
}

/// Plays each action against each attack, below a folder.
fn play(base: &Path, actions: &[&str], files: usize, rounds: usize) {
    let mut shells = ["sh", "bash"].iter().cycle();
    for _ in 0..rounds {
        for action in actions {
            for attack in ATTACKS {
                let shell = shells.next().expect("for ever");
                Upload::new(base, files).round(action, attack, shell);
            }
            // With the other shell the next time.
            shells.next();
        }
    }
}

#[test]
#[ignore = "needs root"]
fn a_script_of_roots_touches_nothing_outside_a_tree_that_somebody_else_changes() {
    let base = TempDir::new().expect("a temporary folder");
    play(base.path(), &ACTIONS, 12, rounds(1));
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_script_for_reflink_touches_nothing_outside_either() {
    let volume = Volume::on_loop("btrfs", 256, "");
    play(&volume.path(), &["reflink"], 12, rounds(1));
}

#[test]
#[ignore = "the long form of the two above: needs root and loop devices"]
fn in_full_scripts_touch_nothing_outside() {
    let base = TempDir::new().expect("a temporary folder");
    play(base.path(), &ACTIONS, 100, rounds(8));
    let volume = Volume::on_loop("xfs", 512, "");
    play(&volume.path(), &["reflink"], 100, rounds(8));
}
