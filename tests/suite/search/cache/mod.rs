//! With a cache the answer is the one that a search gives without it, and nothing is read twice.

mod broken;
mod by_default;
mod by_mtime;
mod by_path;
mod changed_below;
mod dirty_pages;
mod foreign_folder;
mod kept;
mod pruned;
mod same_uuid;
mod shown;
mod soundness;
mod tokens;
mod unusable;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use seekless::decide::{DuplicateSet, Summary};
use seekless::engine::{self, CacheChoice, CacheUse, Config, Control, Delivery, Root, Trust};
use seekless::event::{Notice, Observer, Problem};

use crate::common::volume::{Volume, sh};
use crate::common::{Tree, noise};

const REFUSED: &str = "continuing without this cache";

/// What one search came to.
struct Answer {
    /// Paths by set, with the digest if digests are wanted.
    sets: BTreeSet<(String, BTreeSet<Vec<u8>>)>,
    cached: usize,
    summary: Summary,
    problems: Vec<String>,
}

impl Answer {
    fn bytes_read(&self) -> u64 {
        self.summary
            .stages
            .iter()
            .map(|stage| stage.bytes_read)
            .sum()
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Observer for Heard {
    fn problem(&self, problem: Problem) {
        let line = format!("{}: {problem}", problem.path.display());
        self.0.lock().expect("no panic").push(line);
    }

    fn notice(&self, _: Notice) {}
}

fn search(roots: &[PathBuf], cache: Option<CacheUse>) -> Answer {
    search_for(roots, cache, true)
}

fn search_for(roots: &[PathBuf], cache: Option<CacheUse>, digests: bool) -> Answer {
    if cache.is_some() {
        written_back(roots);
    }
    answer(&config(roots, cache, digests))
}

fn config(roots: &[PathBuf], cache: Option<CacheUse>, digests: bool) -> Config {
    Config {
        roots: roots.iter().cloned().map(Root::from).collect(),
        cache,
        digests,
        ..Config::default()
    }
}

fn answer(config: &Config) -> Answer {
    let (mut sets, mut cached) = (BTreeSet::new(), 0);
    let heard = Heard::default();
    let summary = engine::find(
        config,
        Delivery::AsFinal,
        &heard,
        &Control::default(),
        &mut |set: &DuplicateSet| {
            cached += usize::from(set.cached);
            let digest = set
                .digest
                .filter(|_| config.digests)
                .map_or(String::new(), |digest| digest.to_string());
            let names = set.members.iter().flat_map(|member| member.names.clone());
            sets.insert((digest, names.collect()));
            Ok(())
        },
    );
    Answer {
        sets,
        cached,
        summary: summary.expect("a search"),
        problems: heard.0.into_inner().expect("no panic"),
    }
}

/// A cache folder, and a clock that goes on by two minutes from run to run: what was changed before a run has been left
/// alone for longer than a minute.
struct Runs {
    folder: PathBuf,
    ahead: Duration,
    trust: Trust,
}

impl Runs {
    fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            ahead: Duration::ZERO,
            trust: Trust::Change,
        }
    }

    /// With `--cache mtime`.
    fn by_mtime(folder: PathBuf) -> Self {
        Self {
            trust: Trust::Modification,
            ..Self::new(folder)
        }
    }

    fn later(&mut self) -> CacheUse {
        self.ahead += Duration::from_secs(120);
        self.now()
    }

    fn now(&self) -> CacheUse {
        CacheUse {
            folder: self.folder.clone(),
            trust: self.trust,
            choice: CacheChoice::Named,
            ahead: self.ahead,
        }
    }
}

/// Writes everything on these file systems to their disks, as the kernel does within a minute.
fn written_back(roots: &[PathBuf]) {
    for root in roots {
        let root = File::open(root).expect("is there");
        rustix::fs::syncfs(root).expect("is written back");
    }
}

/// Waits until a change leaves a later time than all changes so far.
fn tick(folder: &Path) {
    let probe = folder.join("clock");
    let changed = || {
        fs::write(&probe, b"tick").expect("is written");
        let meta = fs::metadata(&probe).expect("is there");
        (meta.ctime(), meta.ctime_nsec())
    };
    let before = changed();
    while changed() == before {}
}

/// A pair of copies in `t`, and nothing else there.
fn pair(tree: Tree) -> Tree {
    tree.copies(["t/a", "t/b"], noise(1, 5000))
}

/// The same, left alone for long enough to be kept.
fn old_pair(volume: &Volume) -> Tree {
    let tree = pair(Tree::inside(&volume.path()));
    leave_alone(volume, &tree, &["t/a", "t/b"]);
    tree
}

/// Sets the change times of these files back, as of files that were left alone for years. They are in a tree on a
/// volume.
fn leave_alone(volume: &Volume, tree: &Tree, names: &[&str]) {
    let years = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800);
    change_at(volume, tree, names, years);
}

/// Sets the change times of these files to this second, and a fraction of it.
fn change_at(volume: &Volume, tree: &Tree, names: &[&str], time: SystemTime) {
    let time = time.duration_since(SystemTime::UNIX_EPOCH);
    let ctime = format!("ctime @{}", time.expect("is later").as_secs());
    let below = tree.root().strip_prefix(volume.path());
    let below = below.expect("is inside").display().to_string();
    volume.unmount();
    let image = volume.image().display().to_string();
    for name in names {
        // A ctime in whole seconds would not count.
        for field in [&*ctime, "ctime_extra 4000"] {
            let set = format!("sif \\\"/{below}/{name}\\\" {field}");
            sh(&format!("debugfs -w -R \"{set}\" {image} 2>/dev/null"));
        }
    }
    volume.mount();
}

/// A file system of which rows are kept. That of the temporary folder may have no UUID, or be in memory.
fn ext4() -> Volume {
    Volume::on_loop("ext4", 64, "")
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_second_run_reads_nothing_of_files_that_are_as_they_were() {
    let volume = ext4();
    let tree = Tree::inside(&volume.path());
    for (name, seed, length) in [
        ("one byte", 1, 1),
        ("short", 2, 3000),
        ("whole at once", 3, 12_000),
        ("with a tail", 4, 200_000),
        ("long", 5, 3 << 20),
    ] {
        for copy in ["a", "b"] {
            tree.write(format!("{name} {copy}"), noise(seed, length));
        }
        // Of this one only the middle is another one.
        let mut other = noise(seed, length);
        other[length / 2] ^= 1;
        tree.write(format!("{name} other"), other);
    }
    for nth in 0..20 {
        let mut content = noise(9, 2 << 20);
        content[8192] = nth;
        tree.write(format!("one of many {nth}"), content);
    }
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = [tree.root().to_owned()];
    let without = search(&roots, None);
    assert_eq!(without.sets.len(), 5);
    let first = search(&roots, Some(runs.later()));
    assert_eq!(first.problems, Vec::<String>::new());
    assert_eq!((first.sets, first.cached), (without.sets.clone(), 0));
    assert_eq!(first.summary.cached.files, 0);
    let second = search(&roots, Some(runs.later()));
    assert_eq!(second.bytes_read(), 0, "{:?}", second.summary.stages);
    assert_eq!((&second.sets, second.cached), (&without.sets, 5));
    assert_eq!(second.summary.cached.files, second.summary.files);
    assert!(second.summary.cached.bytes > 6 << 20);
}

/// The copies that come first in the second run make it likely that files of other sizes have copies, too.
#[test]
#[ignore = "needs root and loop devices"]
fn a_second_run_does_not_read_whole_what_the_first_one_told_apart_by_heads() {
    let volume = ext4();
    let tree = Tree::inside(&volume.path());
    for pair in 0..60 {
        for folder in ["a", "b"] {
            tree.write(format!("{folder}/{pair}"), noise(pair, 20_000));
        }
    }
    for alone in 0..30 {
        tree.write(format!("c/{alone}"), noise(100 + alone, 30_000));
    }
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = ["a", "b", "c"].map(|folder| tree.path(folder));
    let first = search(&roots, Some(runs.later()));
    assert_eq!((first.sets.len(), first.cached), (60, 0));
    let second = search(&roots, Some(runs.later()));
    assert_eq!(second.bytes_read(), 0, "{:?}", second.summary.stages);
    assert_eq!(second.sets, first.sets);
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_file_system_is_known_by_the_uuid_that_its_superblock_has_now() {
    let volume = Volume::on_loop("ext4", 64, "-U clear -O metadata_csum_seed");
    let tree = Tree::inside(&volume.path()).copies(["a", "b"], noise(1, 5000));
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = [tree.root().to_owned()];
    let nameless = search(&roots, Some(runs.later()));
    let [said] = &nameless.problems[..] else {
        panic!("one line: {:?}", nameless.problems);
    };
    assert!(
        said.contains("the kernel does not report its UUID"),
        "{said}"
    );
    // Dirty pages would be read again.
    sh(&format!("sync -f {}", volume.path().display()));
    for uuid in ["0123456789abcdef", "fedcba9876543210"] {
        // As newer versions of `tune2fs -U` do: EXT4_IOC_SETFSUUID.
        sh(&format!(
            "perl -e 'open(F, q({})) or die; my $uuid = pack(q(LLa16), 16, 0, q({uuid})); \
             ioctl(F, 0x4008662c, $uuid) or die $!'",
            volume.path().display()
        ));
        assert_eq!(search(&roots, Some(runs.later())).bytes_read(), 10_000);
        assert_eq!(search(&roots, Some(runs.later())).bytes_read(), 0);
        volume.unmount();
        volume.mount();
        assert_eq!(search(&roots, Some(runs.later())).bytes_read(), 0);
    }
}

#[test]
fn a_cache_inside_the_tree_takes_no_part() {
    let tree = Tree::new().copies(["a", "b"], noise(1, 5000));
    let mut runs = Runs::new(tree.path("cache"));
    let roots = [tree.root().to_owned()];
    for _ in 0..2 {
        let answer = search(&roots, Some(runs.later()));
        assert_eq!((answer.sets.len(), answer.summary.files), (1, 2));
    }
}
