//! File systems that programs show: what an action does there, it does to the file that is meant, and the last copy
//! stays, whatever a mount remembers. Root only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::mounts::{Shown, Shows, is_kept_while_open};
use crate::common::{Run, noise, seekless};
use tempfile::TempDir;

/// A place for journals and a trash, and a folder to move to.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let prefix = "seekless-desk-";
        let folder = tempfile::Builder::new().prefix(prefix).tempdir();
        let desk = Self(folder.expect("a temporary folder can be made"));
        fs::create_dir(desk.path("to")).expect("a folder");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &str) -> Run {
        let state = self.0.path().to_str().expect("plain");
        seekless(self.0.path(), arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
            .run()
    }

    /// An action with `--yes` on these places; of two copies the one below `keep` stays.
    fn act(&self, how: &str, places: &[&Path], keep: Option<&Path>, from_report: bool) -> Run {
        let shown = |path: &&Path| path.display().to_string();
        let places = places.iter().map(shown).collect::<Vec<_>>().join(" ");
        let mut arguments = format!("{how} --yes --allow shared");
        match from_report {
            true => {
                let report = self.path("report");
                let report = report.display();
                let found = self.run(&format!("find -f json -o {report} {places}"));
                assert_eq!(found.code(), 0, "{found}");
                arguments += &format!(" --from {report}");
            }
            false => arguments += &format!(" {places}"),
        }
        let state = self.0.path().to_str().expect("plain");
        let mut run = seekless(self.0.path(), &arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state);
        if let Some(keep) = keep {
            run = run.arg("--keep").arg(format!("under {}", keep.display()));
        }
        run.run()
    }
}

/// Every regular file and link below a folder, without what a daemon hides until it is closed.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let start = Instant::now();
    loop {
        let entries = walkdir::WalkDir::new(folder).into_iter();
        // What a daemon removes meanwhile is gone.
        let entries = entries.filter_map(Result::ok);
        let entries = entries.filter(|entry| !entry.file_type().is_dir());
        let files: BTreeMap<_, _> = entries
            .map(|entry| {
                let path = entry.path();
                let content = match entry.path_is_symlink() {
                    true => b"a link".to_vec(),
                    false => fs::read(path).unwrap_or_default(),
                };
                let below = path.strip_prefix(folder).expect("below").to_owned();
                (below, content)
            })
            .collect();
        if !files.keys().any(|path| is_kept_while_open(path))
            || start.elapsed() > Duration::from_secs(20)
        {
            return files;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn assert_nothing_left(folder: &Path, context: &str) {
    let left = files(folder);
    let is_ours = |path: &&PathBuf| path.to_string_lossy().contains(".seekless-");
    let left: Vec<_> = left.keys().filter(is_ours).collect();
    assert!(left.is_empty(), "{left:?} {context}");
}

/// Two different files with equal bytes, one in memory and one on a mount.
fn two_files(what: Shown) -> (Shows, Desk, PathBuf) {
    let shows = Shows::new(what);
    let desk = Desk::new();
    let content = noise(7, 9_000);
    let other = desk.path("other");
    fs::create_dir(&other).expect("a folder");
    for folder in [shows.source().as_path(), &other] {
        crate::common::write(folder.join("x"), &content).expect("written");
    }
    (shows, desk, other)
}

#[test]
#[ignore = "mounts file systems of programs: root only"]
fn a_copy_elsewhere_is_removed_where_a_mount_asks_for_new_names() {
    for what in [Shown::Sshfs, Shown::Bindfs, Shown::Mergerfs, Shown::Overlay] {
        for keep_shown in [true, false] {
            let (shows, desk, other) = two_files(what);
            let point = shows.point();
            let (keep, gone) = match keep_shown {
                true => (&point, &other),
                false => (&other, &point),
            };
            let run = desk.act("remove", &[&point, &other], Some(keep), false);
            let run = run.exits(0).says("Done: removed 1 file");
            assert!(keep.join("x").exists(), "{what:?}\n{run}");
            assert!(!gone.join("x").exists(), "{what:?}\n{run}");
            assert_nothing_left(&point, &run.to_string());
            assert_nothing_left(&other, &run.to_string());
        }
    }
}

#[test]
#[ignore = "mounts file systems of programs: root only"]
fn where_a_mount_remembers_it_takes_a_flag_to_act_for_good() {
    for action in ["remove", "symlink"] {
        let (shows, desk, other) = two_files(Shown::Rclone);
        let places = format!("{} {}", shows.point().display(), other.display());
        let run = desk.run(&format!("{action} --yes {places}"));
        let run = run
            .exits(2)
            .says("may be the kept file itself")
            .says("--allow unproven-mounts");
        assert_eq!(files(&shows.source()).len(), 1, "{run}");
        assert_eq!(files(&other).len(), 1, "{run}");
        let trusting = format!("{action} --dry-run --allow unproven-mounts {places}");
        desk.run(&trusting)
            .exits(0)
            .says(&format!("To {action}: 1 file"));
    }
    for action in ["remove --trash", "move --to to"] {
        let (shows, desk, other) = two_files(Shown::Rclone);
        let places = format!("{} {}", shows.point().display(), other.display());
        let run = desk.run(&format!("{action} --dry-run {places}"));
        // Whatever it is, trash and move lose nothing.
        run.exits(0).says("1 file (9.0 kB) in 1 set");
    }
}

/// Two copies of which one has a file of another content behind it, on the second branch.
#[test]
#[ignore = "mounts file systems of programs: root only"]
fn a_file_that_hides_another_one_on_a_branch_is_left_alone() {
    for action in ["remove", "remove --trash", "symlink", "move --to to"] {
        let shows = Shows::new(Shown::Mergerfs);
        let desk = Desk::new();
        for name in ["a", "b", "c"] {
            crate::common::write(shows.source().join(name), noise(7, 9_000)).expect("written");
        }
        let hidden = shows.lower().join("b");
        crate::common::write(&hidden, "the only one").expect("written");
        let run = desk.act(action, &[&shows.point()], None, false);
        let run = run.exits(1).says("it hides files of the same name");
        let run = run
            .says("1 file (9.0 kB) in 1 set")
            .says("--allow unproven-mounts");
        assert_eq!(fs::read(&hidden).expect("it is there"), b"the only one");
        let left = fs::read(shows.source().join("b"));
        assert!(left.is_ok_and(|left| left == noise(7, 9_000)), "{run}");
        let other = fs::symlink_metadata(shows.source().join("c"));
        assert!(
            other.is_ok_and(|c| c.is_symlink()) == (action == "symlink"),
            "{run}"
        );
    }
}
