//! One call of a run, or of its undo, is the last, fails, or gets no answer: nothing is lost, and what comes next
//! (undo, a sweep, another run) ends it.
//!
//! Builds without debug assertions have nothing to be killed by or to fail (`sys::fault`).
#![cfg(debug_assertions)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rustix::io::Errno;
use tempfile::TempDir;

use crate::common::mirror;
use crate::common::stage::Stage;
use crate::common::tree::contents_below;
use crate::common::volume::Volume;
use crate::common::{Run, Tree, noise};

/// What happens to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mishap {
    /// The process is killed before it.
    Killed,
    /// It is not made, and this is the error.
    Failed(Errno),
    /// The file system makes the change, and this error is told.
    Lost(Errno),
}

const ERRORS: [Errno; 7] = [
    Errno::NOSPC,
    Errno::IO,
    Errno::PERM,
    Errno::ROFS,
    Errno::XDEV,
    Errno::MLINK,
    Errno::INTR,
];

const LOST: [Errno; 4] = [Errno::IO, Errno::NOTCONN, Errno::INTR, Errno::NOSPC];

/// Far more calls than any of these runs makes.
const MANY: usize = 2000;

#[derive(Clone, Copy)]
enum Ground<'a> {
    Here,
    /// Moved files go to another file system.
    Away,
    /// A daemon shows the files at `mounted`.
    Mounted,
    On(&'a Volume),
}

/// A file or folder, as one sees it. A folder that lost and got a name has another time.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    is_file: bool,
    mode: u32,
    mtime: (i64, i64),
    content: Vec<u8>,
}

impl Seen {
    fn of(path: &Path, now: &Metadata) -> Self {
        let is_file = !now.is_dir();
        let content = is_file.then(|| fs::read(path).expect("a file"));
        let time = (now.mtime(), now.mtime_nsec());
        Self {
            is_file,
            mode: now.mode(),
            mtime: if is_file { time } else { (0, 0) },
            content: content.unwrap_or_default(),
        }
    }
}

type Picture = BTreeMap<PathBuf, Seen>;

fn picture(top: &Path) -> Picture {
    let entries = walkdir::WalkDir::new(top).min_depth(1).into_iter();
    let entries = entries.map(|entry| entry.expect("an entry"));
    let seen = entries.map(|entry| {
        let seen = Seen::of(entry.path(), &entry.metadata().expect("metadata"));
        (entry.into_path(), seen)
    });
    seen.collect()
}

/// What is done, and where.
#[derive(Clone, Copy)]
struct Row<'a> {
    action: &'static str,
    ground: Ground<'a>,
}

impl<'a> Row<'a> {
    fn is_undoable(&self) -> bool {
        self.action.contains("--trash") || !self.action.starts_with("remove")
    }

    /// How many calls can have this mishap.
    fn calls(&self, is_undo: bool, mishap: Mishap) -> usize {
        let is_lost = matches!(mishap, Mishap::Lost(_));
        let probe = if is_lost { mishap } else { Mishap::Killed };
        let is_reached = |at: &usize| Case::begun(*self, is_undo).run_with(probe, *at).0;
        let all: Vec<usize> = (1..MANY).collect();
        let calls = all.partition_point(is_reached);
        let least = if is_lost { 2 } else { 10 };
        let is_likely = (least..MANY - 1).contains(&calls);
        assert!(is_likely, "{}: {calls} calls", self.action);
        calls
    }

    /// Every so many calls have a mishap: one of these in turn, or all of them.
    fn suffers(&self, mishaps: &[Mishap], every: usize, all: bool) {
        let ways = [false, true].into_iter();
        for is_undo in ways.take(1 + usize::from(self.is_undoable())) {
            // Many calls are the same for each action: each begins with another one.
            let first = 1 + self.action.len() % every;
            let calls = first..=self.calls(is_undo, mishaps[0]);
            for (turn, at) in calls.step_by(every).enumerate() {
                let number = if all { mishaps.len() } else { 1 };
                for mishap in mishaps.iter().cycle().skip(turn).take(number) {
                    Case::begun(*self, is_undo).check(*mishap, at, turn);
                }
            }
        }
    }
}

/// A tree to act on, or whose undo is next.
struct Case<'a> {
    row: Row<'a>,
    is_undo: bool,
    stage: Stage,
    /// Where `move` puts what it moves.
    to: PathBuf,
    _away: Option<TempDir>,
    before: Picture,
}

impl<'a> Case<'a> {
    fn begun(row: Row<'a>, is_undo: bool) -> Self {
        let stage = stage(row);
        let before = picture(stage.tree.root());
        let away = matches!(row.ground, Ground::Away)
            .then(|| TempDir::new_in("/dev/shm").expect("Linux has shared memory"));
        let to = away
            .as_ref()
            .map_or(stage.tree.path("away"), |away| away.path().join("to"));
        let case = Self {
            row,
            is_undo,
            stage,
            to,
            _away: away,
            before,
        };
        if is_undo {
            case.run(&case.act()).exits(0);
        }
        case
    }

    fn act(&self) -> String {
        let is_shown = matches!(self.row.ground, Ground::Mounted);
        let top = if is_shown { "mounted" } else { "real" };
        let action = self
            .row
            .action
            .replace("TO", &self.to.display().to_string());
        format!("{action} --yes --keep first-root {top}/keep {top}/x")
    }

    /// The command of which a call has a mishap.
    fn line(&self) -> String {
        if self.is_undo {
            "undo --yes".to_owned()
        } else {
            self.act()
        }
    }

    fn places(&self) -> [PathBuf; 2] {
        ["real", "mounted"].map(|name| self.stage.tree.path(name))
    }

    /// Runs a command whose calls all succeed.
    fn run(&self, line: &str) -> Run {
        let [real, mounted] = self.places();
        let is_shown = matches!(self.row.ground, Ground::Mounted);
        let _daemon = is_shown.then(|| mirror::mount(&real, mounted));
        self.stage.run(line)
    }

    /// Runs the command; false if it makes too few calls for the mishap.
    fn run_with(&self, mishap: Mishap, at: usize) -> (bool, Run) {
        let faulty = |fault: String| {
            let run = self.stage.seekless(&self.line());
            run.with_fault(&fault)
        };
        match mishap {
            Mishap::Killed => {
                let run = faulty(format!("kill@{at}"));
                (run.status.signal() == Some(9), run)
            }
            Mishap::Failed(error) => (true, faulty(format!("{}@{at}", error.raw_os_error()))),
            Mishap::Lost(error) => {
                let left = Arc::new(AtomicI64::new(at as i64 - 1));
                let [real, mounted] = self.places();
                let error = error.raw_os_error();
                let daemon = mirror::losing(&real, mounted, Arc::clone(&left), error);
                let run = self.stage.run(&self.line());
                drop(daemon);
                (left.load(Ordering::SeqCst) < 0, run)
            }
        }
    }

    fn check(&self, mishap: Mishap, at: usize, turn: usize) {
        let (_, run) = self.run_with(mishap, at);
        let mut context = format!("{}: {mishap:?}, call {at}\n{run}", self.line());
        self.nothing_is_lost(&context);
        if matches!(mishap, Mishap::Failed(_)) && !self.is_undo {
            self.others_are_done(&run, &context);
        }
        let next = match turn % 3 {
            0 => "undo --yes".to_owned(),
            1 => "undo --sweep --yes".to_owned(),
            _ => self.line(),
        };
        context += &format!("{next}\n{}", self.run(&next));
        self.nothing_is_lost(&context);
        if !self.is_undo {
            self.is_together(&context);
        }
        // An undo that ended with an error is no run that was cut short.
        let is_for_undo = self.is_undo && next.contains("--sweep");
        let left = self.leftovers();
        assert!(left.is_empty() || is_for_undo, "{left:?}: {context}");
        // Another run, and the one with the mishap.
        for run in self.runs().iter().rev() {
            context += &self.run(&format!("undo --yes {run}")).to_string();
        }
        self.is_as_before(mishap, &context);
        if self.row.action == "reflink" {
            self.run(&self.act()).exits(0);
            self.run(&self.act()).exits(0).says("needed no change");
        }
    }

    /// A file that stays is whole, and another one is as before, gone, or a link to it. Each content is somewhere.
    fn nothing_is_lost(&self, context: &str) {
        let tops = [self.stage.tree.root(), self.stage.state.path(), &self.to];
        let tops = tops.into_iter().filter(|top| top.exists());
        let there: BTreeSet<_> = tops.flat_map(contents_below).collect();
        for (path, was) in self.before.iter().filter(|(_, was)| was.is_file) {
            let may_go = path.starts_with(self.stage.tree.path("real/x"));
            let is_whole = match fs::read(path) {
                Ok(now) => now == was.content,
                Err(_) => may_go && path.symlink_metadata().is_err(),
            };
            assert!(is_whole, "{}: {context}", path.display());
            assert!(
                there.contains(&was.content),
                "lost: {}: {context}",
                path.display()
            );
        }
    }

    /// One call fails, so one step at most: the others are done, unless all share the call.
    fn others_are_done(&self, run: &Run, context: &str) {
        let names = ["p/q/one", "r/IMG_1.HEIC"];
        let is_done = |name: &&str| {
            let path = self.stage.tree.path(format!("real/x/{name}"));
            let now = path.symlink_metadata();
            now.map_or(true, |now| self.before[&path] != Seen::of(&path, &now))
        };
        let done = names.iter().filter(|name| is_done(name)).count();
        let said = run.stderr_text();
        let is_shared = run.code() == 2 || said.contains("sync finished steps to the disk");
        let shows = self.row.action != "reflink";
        assert!(done >= 1 || is_shared || !shows, "{context}");
        let is_left = !self.leftovers().is_empty();
        assert!(!is_left || said.contains("seekless undo"), "{context}");
    }

    /// A still, its film and its edits go together, but for a permanent removal that was cut short and names the one
    /// that is left.
    fn is_together(&self, context: &str) {
        let names = ["HEIC", "MOV", "AAE"].map(|kind| format!("real/x/r/IMG_1.{kind}"));
        let mut all = names.to_vec();
        all.retain(|name| self.before.contains_key(&self.stage.tree.path(name)));
        let left: Vec<_> = all.iter().filter(|name| self.stage.has(name)).collect();
        if let Some(&left) = left.first().filter(|_| left.len() < all.len()) {
            let says = |line: &str| line.contains("which belongs together with it");
            let is_named = context
                .lines()
                .any(|line| says(line) && line.contains(left));
            assert!(!self.row.is_undoable() && is_named, "torn: {context}");
        }
    }

    /// The names of the runs, the oldest first.
    fn runs(&self) -> BTreeSet<String> {
        let journals = self.stage.state.path().join("seekless/journals");
        let names = fs::read_dir(journals).into_iter().flatten();
        let names = names.map(|entry| entry.expect("an entry").file_name());
        names
            .map(|name| name.into_string().expect("plain"))
            .collect()
    }

    /// Names that no run may leave behind.
    fn leftovers(&self) -> Vec<String> {
        let mut names = self.stage.names();
        names.retain(|name| name.contains(".seekless-"));
        names
    }

    fn is_as_before(&self, mishap: Mishap, context: &str) {
        let now = picture(self.stage.tree.root());
        // What this user may not give back is said; the bytes are there all the same.
        let lacks = context.contains("restored without");
        assert!(!lacks || mishap == Mishap::Failed(Errno::PERM), "{context}");
        let is_failed = matches!(mishap, Mishap::Failed(_));
        let is_same = |path: &PathBuf| match (self.before.get(path), now.get(path)) {
            (Some(was), Some(now)) => was == now || lacks && was.content == now.content,
            (Some(_), None) => !self.row.is_undoable(),
            // Undo leaves a folder alone that the run could not record as its own.
            (None, Some(now)) => is_failed && !now.is_file && path.starts_with(&self.to),
            (None, None) => true,
        };
        let all: BTreeSet<_> = self.before.keys().chain(now.keys()).collect();
        let differs: Vec<_> = all.into_iter().filter(|path| !is_same(path)).collect();
        assert!(differs.is_empty(), "{differs:?}: {context}");
        let is_there = self.to.exists();
        let is_fine = !is_there || is_failed && contents_below(&self.to).is_empty();
        assert!(is_fine, "something is left at the destination: {context}");
    }
}

/// Copies below `x` of files below `keep`: one alone, and two that belong together.
fn stage(row: Row<'_>) -> Stage {
    let tree = match row.ground {
        Ground::On(volume) => Tree::inside(&volume.path()),
        _ => Tree::new(),
    };
    let tree = tree.folder("mounted").file("real/x/stays", "only here");
    // Blocks of a long file are shared in several calls.
    let size = if row.action == "reflink" {
        40 << 20
    } else {
        300_000
    };
    let tree = tree
        .copies(["real/keep/one", "real/x/p/q/one"], noise(1, size))
        .copies(
            ["real/keep/IMG_1.HEIC", "real/x/r/IMG_1.HEIC"],
            noise(2, 6000),
        )
        .copies(
            ["real/keep/IMG_1.MOV", "real/x/r/IMG_1.MOV"],
            noise(3, 7000),
        )
        .mode("real/x/p/q/one", 0o744)
        .mode("real/x/r/IMG_1.HEIC", 0o744)
        .modified("real/x/p/q/one", 1_100_000_000)
        .mode("real/x/p", 0o750)
        .mode("real/x/p/q", 0o705);
    if row.action.contains("carry") {
        tree.write("real/x/r/IMG_1.AAE", "only here, as well");
    }
    Stage::new(tree)
}

fn failed() -> Vec<Mishap> {
    ERRORS.map(Mishap::Failed).into()
}

macro_rules! rows {
    ($($name:ident: $action:expr, $ground:ident;)*) => {$(
        mod $name {
            use super::{Ground, Mishap, Row};

            const ROW: Row<'_> = Row {
                action: $action,
                ground: Ground::$ground,
            };

            #[test]
            fn killed() {
                ROW.suffers(&[Mishap::Killed], 9, false);
            }

            #[test]
            fn with_an_error() {
                ROW.suffers(&super::failed(), 9, false);
            }

            #[test]
            #[ignore = "takes minutes: every call, every error"]
            fn in_full_at_each_call() {
                ROW.suffers(&[Mishap::Killed], 1, true);
                ROW.suffers(&super::failed(), 1, true);
            }
        }
    )*};
}

rows! {
    remove: "remove --remove-empty-folders", Here;
    trash: "remove --trash --remove-empty-folders", Here;
    hardlink: "hardlink", Here;
    symlink: "symlink", Here;
    moving: "move --to TO --remove-empty-folders", Here;
    moving_to_another_file_system: "move --to TO --remove-empty-folders", Away;
    carrying: "remove --trash --carry-sidecars --reference real/keep --remove-empty-folders", Here;
}

/// The answer to each change is lost.
fn lost(every_error: bool) {
    for action in [
        "remove",
        "remove --trash --remove-empty-folders",
        "hardlink",
        "symlink",
        "move --to mounted/away --remove-empty-folders",
        "move --to TO",
    ] {
        let row = Row {
            action,
            ground: Ground::Mounted,
        };
        row.suffers(&LOST.map(Mishap::Lost), 1, every_error);
    }
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn answers_that_are_lost() {
    lost(false);
}

/// On file systems where blocks can be shared.
fn sharing(every: usize) {
    for volume in [
        Volume::on_loop("btrfs", 512, ""),
        Volume::on_loop("xfs", 512, "-m reflink=1"),
    ] {
        let row = Row {
            action: "reflink",
            ground: Ground::On(&volume),
        };
        row.suffers(&[Mishap::Killed], every, true);
        row.suffers(&failed(), every, false);
    }
}

#[test]
#[ignore = "mounts file systems: root only"]
fn sharing_blocks() {
    sharing(5);
}

#[test]
#[ignore = "takes minutes, mounts file systems: root only"]
fn in_full_sharing_blocks_and_each_error_in_place_of_an_answer() {
    sharing(1);
    lost(true);
}

/// A file that can have no further name: the step is skipped, and the others go on.
#[test]
fn a_file_with_all_its_names_is_no_error() {
    let row = Row {
        action: "hardlink",
        ground: Ground::Here,
    };
    let mut full = 0;
    for at in 1..=row.calls(false, Mishap::Killed) {
        let case = Case::begun(row, false);
        let (_, run) = case.run_with(Mishap::Failed(Errno::MLINK), at);
        if run.stderr_text().contains("the maximum number of names") {
            full += 1;
            run.exits(1).says("replaced 2 files");
        }
    }
    assert_eq!(full, 3, "a call for each of the steps");
}
