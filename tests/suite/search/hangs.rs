//! A table: a command, a call that hangs, and a kind of files on the disks that answer. Of these files the answer is
//! the one without the dead mount; what depends on every file may only weaken to "not fully seen". Root only.
//!
//! Cells that cannot be: see [`is_possible`]. The calls of actions and of undo hang in `action/hangs.rs`.
//!
//! `cargo test --test suite -- --ignored hangs::in_full_` is the whole table.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use rustix::fs::{Advice, fadvise};
use tempfile::TempDir;

use crate::common::daemon::{Daemon, FLUSH, LOOKUP, OPEN, READ, READDIR, Shows};
use crate::common::run::{LONGEST, Seekless, await_end, finish};
use crate::common::volume::{Volume, sh};
use crate::common::{Run, Sets, Tree, noise, seekless};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Command {
    Find,
    Verify,
    Unique,
    Folders,
    Compare,
    Remove,
    Hardlink,
    Symlink,
    Move,
}

const COMMANDS: [Command; 9] = [
    Command::Find,
    Command::Verify,
    Command::Unique,
    Command::Folders,
    Command::Compare,
    Command::Remove,
    Command::Hardlink,
    Command::Symlink,
    Command::Move,
];

/// The call that is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Stat,
    List,
    Open,
    Read,
    Close,
}

const CALLS: [Call; 5] = [Call::Stat, Call::List, Call::Open, Call::Read, Call::Close];

/// The files that answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// Up to 4 KiB.
    Tiny,
    /// Up to 128 KiB.
    Short,
    Warm,
    Cold,
    /// At least sixteen of a size of at least 1 MiB.
    Many,
    SharedBlocks,
    /// An earlier run left rows about them.
    CachedRows,
}

const KINDS: [Kind; 7] = [
    Kind::Tiny,
    Kind::Short,
    Kind::Warm,
    Kind::Cold,
    Kind::Many,
    Kind::SharedBlocks,
    Kind::CachedRows,
];

type Cell = (Command, Call, Kind);

fn is_possible(&(command, _, kind): &Cell) -> bool {
    // These read what may decide that a folder goes.
    kind != Kind::CachedRows || !matches!(command, Command::Folders | Command::Compare)
}

fn cells() -> Vec<Cell> {
    let mut all = Vec::new();
    for command in COMMANDS {
        for call in CALLS {
            all.extend(KINDS.map(|kind| (command, call, kind)));
        }
    }
    all.retain(is_possible);
    all
}

/// Cells with every pair of two columns.
fn pairwise() -> Vec<Cell> {
    fn pairs((command, call, kind): Cell) -> [(Option<Command>, Option<Call>, Option<Kind>); 3] {
        [
            (Some(command), Some(call), None),
            (Some(command), None, Some(kind)),
            (None, Some(call), Some(kind)),
        ]
    }
    let mut missing: HashSet<_> = cells().into_iter().flat_map(pairs).collect();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let gain = |cell: &Cell| {
            pairs(*cell)
                .iter()
                .filter(|pair| missing.contains(pair))
                .count()
        };
        let best = cells().into_iter().max_by_key(gain).expect("a cell");
        for pair in pairs(best) {
            missing.remove(&pair);
        }
        chosen.push(best);
    }
    chosen
}

/// Equal files in `k/a/in` and `k/b/in`, others in `k/lone`, and `k/a/z` for the file system that hangs.
struct Scene {
    tree: Tree,
    cache: TempDir,
    pairs: usize,
    size: usize,
    _volume: Option<Volume>,
}

impl Scene {
    fn new(kind: Kind) -> Self {
        let volume = match kind {
            Kind::SharedBlocks => Some(Volume::on_loop("btrfs", 200, "")),
            Kind::CachedRows => Some(Volume::on_loop("ext4", 64, "")),
            _ => None,
        };
        let tree = match &volume {
            Some(volume) => Tree::inside(&volume.path()),
            None => Tree::new(),
        };
        let (pairs, size, lone) = match kind {
            Kind::Tiny => (10, 3_000, 2),
            Kind::Short => (10, 60_000, 2),
            Kind::Warm | Kind::Cold | Kind::CachedRows => (10, 300_000, 2),
            Kind::Many => (9, 1_200_000, 2),
            Kind::SharedBlocks => (4, 400_000, 2),
        };
        let mut tree = tree.folder("k/a/z").folder("k/b/in");
        for pair in 0..pairs {
            let [a, b] = names(pair);
            // Photos are of different sizes.
            let more = if kind == Kind::Warm { 75_000 } else { 0 };
            tree = tree.file(&a, noise(pair as u64, size + pair * more));
            let (a, b) = (tree.path(a), tree.path(b));
            let how = match kind {
                Kind::SharedBlocks => "--reflink=always",
                _ => "--reflink=never",
            };
            sh(&format!("cp -p {how} {} {}", a.display(), b.display()));
        }
        for lone in 0..lone {
            let content = noise((pairs + lone) as u64, size);
            tree = tree.file(format!("k/lone/{lone}"), content);
        }
        if let (Some(volume), Kind::CachedRows) = (&volume, kind) {
            leave_alone(volume, &tree, pairs);
        }
        let cache = tempfile::tempdir().expect("a folder");
        let scene = Self {
            tree,
            cache,
            pairs,
            size,
            _volume: volume,
        };
        match kind {
            Kind::CachedRows => {
                let run = scene.seekless("find -v k").run().exits(0);
                assert!(
                    fs::read_dir(scene.cache.path()).expect("there").count() > 0,
                    "{run}"
                );
            }
            Kind::Cold => scene.cool_down(),
            _ => {}
        }
        scene
    }

    fn seekless(&self, line: &str) -> Seekless {
        let cache = self.cache.path().to_str().expect("plain");
        let run = seekless(self.tree.root(), line);
        run.env("XDG_CACHE_HOME", cache)
            .env("XDG_STATE_HOME", cache)
            .env("HOME", cache)
    }

    fn cool_down(&self) {
        for pair in 0..self.pairs {
            for name in names(pair) {
                let file = File::open(self.tree.path(name)).expect("there");
                file.sync_all().expect("written");
                fadvise(&file, 0, None, Advice::DontNeed).expect("dropped");
            }
        }
    }

    /// Runs a command while the file system in the tree falls silent, and insists on one of these exit statuses. On a
    /// busy machine a run may close its files only after everything is done: then it ends as if nothing hung.
    fn hangs(&self, line: &str, call: Call, statuses: &[i32]) -> Run {
        let shows = Shows::Files {
            count: 6,
            size: self.size as u64,
        };
        let daemon = Daemon::mount(self.tree.path("k/a/z"), shows);
        daemon.wait_for(1);
        if call == Call::Close {
            daemon.flushes();
        }
        let (kind, nth) = match call {
            Call::Stat => (LOOKUP, 3),
            Call::List => (READDIR, 1),
            Call::Open => (OPEN, 3),
            Call::Read => (READ, 3),
            Call::Close => (FLUSH, 2),
        };
        daemon.be_silent_at(kind, nth);
        let run = self.seekless(&format!("{line} --patience 1"));
        let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        await_end(&child);
        let was_silent = daemon.is_silent();
        drop(daemon);
        let run = finish(child, LONGEST);
        assert!(was_silent, "nothing hung\n{run}");
        let said = run.stderr_text();
        // A mount point is named by its absolute path.
        let of_a_place =
            |line: &&str| line.starts_with("seekless: /") && line.contains("not answer");
        let mut named = said.lines().filter(of_a_place);
        assert!(
            named.all(|line| line.contains("/k/a/z")),
            "another disk is named\n{run}"
        );
        if call == Call::Close && !said.contains("z: did not answer") {
            // The sides differ.
            let is_compare = line.starts_with("compare");
            return run.exits(i32::from(is_compare));
        }
        assert!(statuses.contains(&run.code()), "exit status\n{run}");
        run.says("z: did not answer")
    }
}

fn names(pair: usize) -> [String; 2] {
    ["a", "b"].map(|side| format!("k/{side}/in/{pair}.jpg"))
}

/// Sets the change times back, as of files that were left alone for years.
fn leave_alone(volume: &Volume, tree: &Tree, pairs: usize) {
    let years = 1_577_836_800;
    let below = tree.root().strip_prefix(volume.path()).expect("inside");
    let below = below.display().to_string();
    volume.unmount();
    let image = volume.image().display().to_string();
    for name in (0..pairs).flat_map(names) {
        for field in [format!("ctime @{years}"), "ctime_extra 4000".to_owned()] {
            let set = format!("sif \\\"/{below}/{name}\\\" {field}");
            sh(&format!("debugfs -w -R \"{set}\" {image} 2>/dev/null"));
        }
    }
    volume.mount();
}

/// The sets without the names on the file system that hangs.
fn healthy(sets: &Sets) -> Sets {
    let is_healthy = |name: &Vec<u8>| !name.starts_with(b"k/a/z/");
    let sets = sets.iter().map(|set| {
        let names = set.iter().filter(|name| is_healthy(name));
        names.cloned().collect::<BTreeSet<_>>()
    });
    sets.filter(|set| !set.is_empty()).collect()
}

fn check(cell: Cell) {
    let (command, call, kind) = cell;
    let scene = Scene::new(kind);
    // A folder that has just changed is waited for. Time stamps lag behind the clock by up to 20 ms.
    thread::sleep(Duration::from_millis(100));
    let line = match command {
        Command::Find => "find -f nul k",
        Command::Verify => "find --verify -f nul k",
        Command::Unique => "find --unique -f nul k",
        Command::Folders => "folders k",
        Command::Compare => "compare k/a k/b",
        Command::Remove => "remove --yes k",
        Command::Hardlink => "hardlink --yes k",
        Command::Symlink => "symlink --yes k",
        Command::Move => "move --yes --to there k",
    };
    match command {
        Command::Find | Command::Verify => {
            let expected = scene.seekless(line).run().exits(0).sets();
            assert_eq!(expected.len(), scene.pairs);
            let run = scene.hangs(line, call, &[1]);
            assert_eq!(healthy(&run.sets()), expected, "{cell:?}\n{run}");
            let is_counted = run
                .stderr_text()
                .contains("without an answer (named above)");
            // The answer comes before the file is closed.
            assert!(is_counted || call == Call::Close, "{cell:?}\n{run}");
        }
        Command::Unique => {
            let expected = scene.seekless(line).run().exits(0).sets();
            let run = scene.hangs(line, call, &[1]);
            assert!(healthy(&run.sets()).is_subset(&expected), "{cell:?}\n{run}");
            let is_said = run.stderr_text().contains("INCOMPLETE");
            assert!(is_said || run.code() == 0, "{cell:?}\n{run}");
        }
        Command::Folders => {
            let run = scene.hangs(line, call, &[1]);
            let text = run.stdout_text();
            let is_said =
                text.contains("identical to k/a/in") || text.contains("identical to k/b/in");
            assert!(is_said, "{cell:?}\n{run}");
        }
        Command::Compare => {
            let run = scene.hangs(line, call, &[2]);
            assert!(!run.stdout_text().contains("in/"), "{cell:?}\n{run}");
        }
        Command::Remove | Command::Hardlink | Command::Symlink | Command::Move => {
            let run = scene.hangs(line, call, &[1, 2]);
            if call == Call::Close && run.code() == 2 {
                // All files were read before the last of them was closed, and the plan looks at them again.
                run.says("nothing was done");
                return;
            }
            assert_ne!(run.code(), 2, "{cell:?}\n{run}");
            for pair in 0..scene.pairs {
                let paths = names(pair).map(|name| scene.tree.path(name));
                assert!(is_done(command, &paths), "{cell:?}: {pair}\n{run}");
            }
        }
    }
}

/// True if the action was done to one of the two files.
fn is_done(command: Command, paths: &[std::path::PathBuf; 2]) -> bool {
    let meta = |path: &Path| fs::symlink_metadata(path).ok();
    let [a, b] = paths.each_ref().map(|path| meta(path));
    match (command, a, b) {
        (Command::Remove | Command::Move, a, b) => a.is_some() != b.is_some(),
        (Command::Hardlink, Some(a), Some(b)) => a.ino() == b.ino(),
        (Command::Symlink, Some(a), Some(b)) => a.is_symlink() != b.is_symlink(),
        _ => false,
    }
}

fn check_all(cells: Vec<Cell>) {
    let cells = Mutex::new(cells.into_iter());
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let next = cells.lock().expect("no panic").next();
                    let Some(cell) = next else { return };
                    if std::panic::catch_unwind(|| check(cell)).is_err() {
                        failed.lock().expect("no panic").push(cell);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    assert!(failed.is_empty(), "{} cells: {failed:?}", failed.len());
}

#[test]
#[ignore = "mounts file systems of its own: root only"]
fn nothing_is_lost_beside_a_call_that_hangs() {
    check_all(pairwise());
}

#[test]
#[ignore = "takes some 25 minutes, root only"]
fn in_full_nothing_is_lost_beside_a_call_that_hangs() {
    check_all(cells());
}
