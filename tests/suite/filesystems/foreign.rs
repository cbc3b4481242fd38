//! File systems that programs show: what an action does there, it does to the file that is meant, and the last copy
//! stays, whatever a mount remembers. Root only.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::mounts::{Shown, Shows, is_kept_while_open};
use crate::common::{Run, noise, rounds, seekless};
use tempfile::TempDir;

const TRUST: [&str; 2] = ["", "--allow uncompared"];

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

const ALL: [&str; 5] = ["remove", "remove --trash", "symlink", "hardlink", "move"];

/// One file, seen in its folder and through the mount that shows the folder. All cases share the mount, each with a
/// folder and a file of its own, which are there before anybody looks: some mounts remember what is not there.
fn one_file_survives(what: Shown, actions: &[&str], rounds: u64) {
    let shows = Shows::new(what);
    let mut cases = Vec::new();
    for _ in 0..rounds {
        for action in actions {
            for trust in TRUST {
                for from_report in [false, true] {
                    cases.extend([true, false].map(|keep| (action, trust, from_report, keep)));
                }
            }
        }
    }
    for number in 0..cases.len() as u64 {
        let folder = shows.source().join(format!("d{number}"));
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("x"), noise(number + 1, 9_000)).expect("written");
    }
    for (number, (action, trust, from_report, keep_shown)) in (0..).zip(cases) {
        let how = format!("{action} {trust}");
        survives_once(&shows, &how, from_report, keep_shown, number);
    }
}

fn survives_once(shows: &Shows, action: &str, from_report: bool, keep_shown: bool, number: u64) {
    let desk = Desk::new();
    let content = noise(number + 1, 9_000);
    let [point, source] = [shows.point(), shows.source()].map(|top| top.join(format!("d{number}")));
    // Both are looked at, so that whoever remembers has something to remember.
    let _ = fs::read(point.join("x"));
    let keep = if keep_shown { &point } else { &source };
    let how = action.replace("move", "move --to to");
    let run = desk.act(&how, &[&point, &source], Some(keep), from_report);
    let context = format!("{:?}, keep {}\n{run}", shows.what, keep.display());

    let there = |folder: &Path| files(folder).into_values();
    let mut copies = there(&source).chain(there(desk.0.path()));
    assert!(copies.any(|copy| copy == content), "lost: {context}");
    assert_nothing_left(&shows.source(), &context);
    let is_whole = || fs::read(source.join("x")).is_ok_and(|read| read == content);
    if action.contains("trash") || action.contains("move") {
        if !is_whole() {
            let undone = desk.run("undo --yes");
            assert!(is_whole(), "{context}\n{undone}");
        }
        return;
    }
    assert!(is_whole(), "{context}");
    let now = fs::symlink_metadata(source.join("x")).expect("a file");
    assert!(now.is_file(), "{context}");
}

macro_rules! one_file_survives {
    ($($name:ident: $what:ident, $actions:expr;)*) => {$(
        #[test]
        #[ignore = "mounts file systems of programs: root only"]
        fn $name() {
            one_file_survives(Shown::$what, $actions, 1);
        }
    )*};
}

one_file_survives! {
    a_file_seen_through_sshfs_survives: Sshfs, &ALL;
    a_file_seen_through_rclone_survives: Rclone, &ALL;
    a_file_seen_through_rclone_with_a_cache_survives: RcloneCached, &["remove", "move"];
    a_file_seen_through_bindfs_survives: Bindfs, &["remove", "symlink", "move"];
    a_file_seen_through_mergerfs_survives: Mergerfs, &["remove", "remove --trash", "symlink", "move"];
    a_file_seen_through_unionfs_survives: Unionfs, &["remove", "symlink", "move"];
    a_file_seen_through_disorderfs_survives: Disorderfs, &["remove"];
    a_file_seen_through_an_overlay_survives: Overlay, &["remove", "symlink", "move"];
}

/// A server may refuse links that lead out of their folder; others work, and undo takes them back.
#[test]
#[ignore = "mounts file systems of programs: root only"]
fn copies_beside_each_other_become_symbolic_links_on_sshfs() {
    let (shows, desk) = (Shows::new(Shown::Sshfs), Desk::new());
    let top = shows.point().join("d");
    fs::create_dir(&top).expect("a folder");
    for name in ["a", "b"] {
        fs::write(top.join(name), noise(7, 9_000)).expect("written");
    }
    let before = files(&top);
    let run = desk.act("symlink", &[&top], None, false).exits(0);
    let leads = fs::read_link(top.join("b")).ok();
    assert_eq!(leads, Some(PathBuf::from("a")), "{run}");
    let undone = desk.run("undo --yes").exits(0);
    assert_eq!(files(&top), before, "{run}\n{undone}");
    assert_nothing_left(&shows.point(), &undone.to_string());
}

/// Requests that overtake one another make fusefat walk through a file: the kernel is to read ahead no further than it
/// does by itself.
#[test]
#[ignore = "mounts file systems of programs, and needs strace: root only"]
fn the_readahead_is_not_doubled_where_a_program_walks_through_files() {
    for (what, is_in_order) in [(Shown::Fusefat, true), (Shown::Bindfs, false)] {
        let shows = Shows::new(what);
        let desk = Desk::new();
        for name in ["a", "b"] {
            fs::write(shows.point().join(name), noise(7, 900_000)).expect("written");
        }
        let log = desk.path("log");
        let run = std::process::Command::new("strace")
            .args(["-f", "-e", "trace=fadvise64", "-o"])
            .arg(&log)
            .args([env!("CARGO_BIN_EXE_seekless"), "find"])
            .arg(shows.point())
            .output();
        let found = run.expect("strace is there");
        let said = String::from_utf8_lossy(&found.stderr);
        assert!(said.contains("Found 1 set"), "{what:?}\n{said}");
        let advice = fs::read_to_string(log).expect("text");
        let is_doubled = advice.contains("POSIX_FADV_SEQUENTIAL");
        assert_eq!(is_doubled, !is_in_order, "{what:?}\n{advice}");
    }
}

/// Nothing is changed, and this number of lines says why.
fn is_refused(what: Shown, action: &str, reason: &str, number: usize) {
    let shows = Shows::new(what);
    let desk = Desk::new();
    let top = shows.point().join("d");
    fs::create_dir(&top).expect("a folder");
    for name in ["a", "b", "c"] {
        fs::write(top.join(name), noise(7, 9_000)).expect("written");
    }
    let before = files(&top);
    let run = desk.act(action, &[&top], None, false);
    let context = format!("{what:?}\n{run}");
    assert_eq!(files(&shows.point()).len(), 3, "{context}");
    assert_eq!(files(&top), before, "{context}");
    assert_ne!(run.code(), 0, "{context}");
    let said = run.stderr_text();
    let lines: Vec<_> = said.lines().filter(|line| line.contains(reason)).collect();
    assert_eq!(lines.len(), number, "{context}");
    assert_nothing_left(&top, &context);
}

#[test]
#[ignore = "mounts file systems of programs: root only"]
fn sharing_blocks_is_refused_before_the_question() {
    for what in [Shown::Ntfs3g, Shown::ExfatFuse, Shown::Sshfs] {
        is_refused(what, "reflink", "cannot share blocks", 1);
    }
}

/// Two different files with equal bytes, one in memory and one on a mount.
fn two_files(what: Shown) -> (Shows, Desk, PathBuf) {
    let shows = Shows::new(what);
    let desk = Desk::new();
    let content = noise(7, 9_000);
    let other = desk.path("other");
    fs::create_dir(&other).expect("a folder");
    for folder in [shows.source().as_path(), &other] {
        fs::write(folder.join("x"), &content).expect("written");
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
        for how in ["--yes", "--dry-run"] {
            let (shows, desk, other) = two_files(Shown::Rclone);
            let places = format!("{} {}", shows.point().display(), other.display());
            let run = desk.run(&format!("{action} {how} {places}"));
            let run = run
                .exits(2)
                .says("may be the kept file itself")
                .says("--allow unproven-mounts");
            let run = run.says(&format!("Nothing to {action}."));
            assert_eq!(files(&shows.source()).len(), 1, "{run}");
            assert_eq!(files(&other).len(), 1, "{run}");
            let trusting = format!("{action} --dry-run --allow unproven-mounts {places}");
            desk.run(&trusting)
                .exits(0)
                .says(&format!("To {action}: 1 file"));
        }
    }
    for action in ["remove --trash", "move --to to"] {
        let (shows, desk, other) = two_files(Shown::Rclone);
        let places = format!("{} {}", shows.point().display(), other.display());
        let run = desk.run(&format!("{action} --dry-run {places}"));
        // Whatever it is, trash and move lose nothing.
        run.exits(0).says("1 file (9.0 kB) in 1 set");
    }
}

/// A daemon numbers files anew when the kernel has forgotten them.
#[test]
#[ignore = "mounts file systems of programs: root only"]
fn a_new_inode_number_is_no_change_where_a_daemon_gives_them() {
    let options = "-o entry_timeout=0,attr_timeout=0,dir_cache=no";
    let shows = Shows::with_options(Shown::Sshfs, options);
    let desk = Desk::new();
    for name in ["a", "b"] {
        fs::write(shows.source().join(name), noise(7, 9_000)).expect("written");
    }
    let inode = || {
        fs::metadata(shows.point().join("b"))
            .expect("metadata")
            .ino()
    };
    let before = inode();
    let report = desk.path("report");
    let (report, point) = (report.display(), shows.point());
    let point = point.display();
    desk.run(&format!("find -f json -o {report} {point}"))
        .exits(0);
    // A name that leads nowhere is forgotten, soon.
    let (there, away) = (shows.source().join("b"), shows.source().join("away"));
    let start = Instant::now();
    while inode() == before {
        let waited = start.elapsed();
        assert!(waited < Duration::from_secs(60), "the number stays");
        fs::rename(&there, &away).expect("renamed");
        assert!(fs::metadata(shows.point().join("b")).is_err());
        fs::rename(&away, &there).expect("renamed");
    }
    let run = desk.run(&format!("remove --yes --from {report} {point}"));
    let run = run.exits(0).says("Done: removed 1 file");
    assert_eq!(files(&shows.source()).len(), 1, "{run}");
}

#[test]
#[ignore = "mounts file systems of programs: root only"]
fn a_report_says_what_may_be_one_file() {
    for what in [Shown::Sshfs, Shown::Rclone, Shown::Bindfs, Shown::Overlay] {
        let shows = Shows::new(what);
        let desk = Desk::new();
        fs::write(shows.source().join("x"), noise(7, 9_000)).expect("written");
        let places = format!("{} {}", shows.point().display(), shows.source().display());
        let text = desk.run(&format!("find {places}")).exits(0);
        assert!(
            text.stdout_text().contains("1, 2 may be one file"),
            "{what:?}\n{text}"
        );
        let json = desk.run(&format!("find -f json {places}")).exits(0).json();
        let members = json["sets"][0]["members"]
            .as_array()
            .expect("members")
            .clone();
        assert_eq!(members.len(), 2);
        let all = members.iter().all(|member| member["ambiguous"] == true);
        assert!(all, "{what:?} {json}");
    }
}

/// A file that one daemon shows under two names, and a second daemon under two more.
#[test]
#[ignore = "mounts file systems of programs: root only"]
fn a_file_that_one_or_two_daemons_show_twice_survives() {
    for (what, options) in [
        (Shown::Sshfs, "-o follow_symlinks"),
        (Shown::Rclone, "-L"),
        (Shown::RcloneCached, "-L"),
    ] {
        for action in [
            "remove",
            "remove --allow uncompared",
            "remove --trash",
            "move --to to",
        ] {
            let shows = Shows::with_options(what, options);
            let desk = Desk::new();
            let content = noise(7, 9_000);
            let source = shows.source();
            fs::create_dir(source.join("one")).expect("a folder");
            fs::write(source.join("one/x"), &content).expect("written");
            std::os::unix::fs::symlink("one", source.join("two")).expect("a link");
            let run = desk.act(action, &[&shows.point()], None, false);
            let read = fs::read(source.join("one/x"));
            assert!(read.is_ok_and(|read| read == content), "{what:?}\n{run}");
            assert_nothing_left(&source, &run.to_string());
            if what == Shown::Sshfs {
                let again = shows.again();
                let run = desk.act(
                    action,
                    &[&shows.point().join("one"), &again.point().join("one")],
                    None,
                    false,
                );
                let read = fs::read(source.join("one/x"));
                assert!(read.is_ok_and(|read| read == content), "{what:?}\n{run}");
                assert_nothing_left(&source, &run.to_string());
            }
        }
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
            fs::write(shows.source().join(name), noise(7, 9_000)).expect("written");
        }
        let hidden = shows.lower().join("b");
        fs::write(&hidden, "the only one").expect("written");
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

#[test]
#[ignore = "takes minutes, mounts file systems of programs: root only"]
fn in_full_one_file_survives_every_action_in_many_rounds() {
    for what in Shown::VIEWS {
        one_file_survives(what, &ALL, rounds(12));
    }
}
