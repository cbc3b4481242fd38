//! While a step goes on, another process changes, replaces, renames and links what it works on.
//! Whatever was not the same at the moment of action must be there afterwards.
//!
//! `SEEKLESS_ROUNDS=20000 cargo test --release --test suite race::` is the long form.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::common::children::{Partner, own_process};
use crate::common::limits::Rng;
use crate::common::limits::seed;
use crate::common::rounds;
use crate::common::scene::{CHANGING, Perform, Scene, step, undo};
use crate::common::volume::Volume;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::mount::{MountFlags, UnmountFlags, mount_bind, unmount};
use seekless::action::{ActionKind, Actor, Journal, Outcome, RunHeader, runs};

const LENGTH: usize = 5000;

/// Contents of one length, told apart by their beginning.
fn content(tag: &str) -> Vec<u8> {
    let mut bytes = format!("<{tag}>").into_bytes();
    bytes.resize(LENGTH, b'.');
    bytes
}

/// What the other process does to the files of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trick {
    Nothing,
    ReplaceVictim,
    WriteVictim,
    WriteVictimAndForgeTimes,
    ReplaceKeeper,
    WriteKeeper,
    KeeperBecomesLinkToVictim,
    KeeperBecomesNameOfVictim,
    VictimBecomesLink,
    FolderBecomesLink,
    ExchangeVictim,
    MoveKeeperThereAndBack,
    MountOverVictim,
    MountOverFolder,
}

const TRICKS: [Trick; 12] = [
    Trick::Nothing,
    Trick::ReplaceVictim,
    Trick::WriteVictim,
    Trick::WriteVictimAndForgeTimes,
    Trick::ReplaceKeeper,
    Trick::WriteKeeper,
    Trick::KeeperBecomesLinkToVictim,
    Trick::KeeperBecomesNameOfVictim,
    Trick::VictimBecomesLink,
    Trick::FolderBecomesLink,
    Trick::ExchangeVictim,
    Trick::MoveKeeperThereAndBack,
];

const MOUNTS: [Trick; 2] = [Trick::MountOverVictim, Trick::MountOverFolder];

const ALL: [Trick; 14] = {
    let mut all = [Trick::Nothing; 14];
    let mut at = 0;
    while at < 14 {
        all[at] = if at < 12 { TRICKS[at] } else { MOUNTS[at - 12] };
        at += 1;
    }
    all
};

/// Plays one trick in the other process; returns the contents that must be there ever after.
///
/// `ino` is the victim's: what has its name when the trick begins may be another file already.
fn play(trick: Trick, tree: &Path, round: u64, ino: u64) -> std::io::Result<Vec<String>> {
    let (keeper, victim) = (tree.join("keep/k"), tree.join("dup/v"));
    let (same, new) = (format!("same{round}"), format!("new{round}"));
    let precious = format!("precious{round}");
    let spare = tree.join("spare");
    // The victim's name still leads to it: what was done to the keeper came first.
    let untouched = || fs::symlink_metadata(&victim).is_ok_and(|now| now.ino() == ino);
    let claim_if = |holds: bool, tag: String| if holds { vec![tag] } else { Vec::new() };
    match trick {
        Trick::Nothing => {}
        Trick::ReplaceVictim => {
            crate::common::write(&spare, content(&new))?;
            fs::rename(&spare, &victim)?;
            return Ok(vec![new]);
        }
        Trick::WriteVictim | Trick::WriteVictimAndForgeTimes => {
            let file = OpenOptions::new().write(true).open(&victim)?;
            file.write_all_at(format!("<{new}>").as_bytes(), 0)?;
            if trick == Trick::WriteVictimAndForgeTimes {
                let time = fs::metadata(tree.join("precious/v"))?.modified()?;
                file.set_times(FileTimes::new().set_modified(time))?;
            }
            // Whoever opens a file and writes when it has no name any more has lost it already.
            return Ok(claim_if(file.metadata()?.nlink() > 0, new));
        }
        Trick::WriteKeeper => {
            let file = OpenOptions::new().write(true).open(&keeper)?;
            let first = untouched();
            file.write_all_at(format!("<{new}>").as_bytes(), 0)?;
            return Ok(match first && untouched() {
                true => vec![new, same],
                false => vec![new],
            });
        }
        Trick::ReplaceKeeper => {
            crate::common::write(&spare, content(&new))?;
            fs::rename(&spare, &keeper)?;
            return Ok(match untouched() {
                true => vec![new, same],
                false => vec![new],
            });
        }
        Trick::KeeperBecomesLinkToVictim => {
            symlink(&victim, &spare)?;
            fs::rename(&spare, &keeper)?;
            return Ok(claim_if(untouched(), same));
        }
        Trick::KeeperBecomesNameOfVictim => {
            fs::hard_link(&victim, &spare)?;
            let is_victim = fs::symlink_metadata(&spare)?.ino() == ino;
            fs::rename(&spare, &keeper)?;
            return Ok(claim_if(is_victim, same));
        }
        Trick::VictimBecomesLink => {
            symlink(tree.join("precious/v"), &spare)?;
            fs::rename(&spare, &victim)?;
        }
        Trick::FolderBecomesLink => {
            fs::rename(tree.join("dup"), tree.join("dup-away"))?;
            symlink("precious", tree.join("dup"))?;
        }
        Trick::ExchangeVictim => {
            let other = tree.join("precious/v");
            renameat_with(CWD, &victim, CWD, &other, RenameFlags::EXCHANGE)?;
        }
        Trick::MoveKeeperThereAndBack => {
            fs::rename(&keeper, &spare)?;
            std::thread::sleep(Duration::from_micros(200));
            fs::rename(&spare, &keeper)?;
            return Ok(vec![same, precious]);
        }
        Trick::MountOverVictim => {
            mount_bind(tree.join("precious/v"), &victim)?;
        }
        Trick::MountOverFolder => {
            mount_bind(tree.join("precious"), tree.join("dup"))?;
            rustix::mount::mount_remount(tree.join("dup"), MountFlags::BIND, c"")?;
        }
    }
    Ok(vec![precious])
}

/// The other process: a line with trick, round and delay comes in, the contents to look for go out.
#[test]
fn a_rival_plays_the_trick_that_it_is_told() {
    let Some(tree) = std::env::var_os("SEEKLESS_RACE") else {
        let scene = Scene::new();
        prepare(&scene, 7);
        let mut rival = Rival::start(&scene.tree());
        rival.order(Trick::FolderBecomesLink, 7, 0, 0);
        assert_eq!(rival.claims(), ["precious7"]);
        assert!(scene.tree().join("dup").is_symlink());
        return;
    };
    let tree = PathBuf::from(tree);
    for line in std::io::stdin().lines() {
        let line = line.expect("a line");
        let numbers: Vec<u64> = line
            .split(' ')
            .map(|n| n.parse().expect("a number"))
            .collect();
        let [trick, round, ino, delay] = numbers[..] else {
            panic!("{line}")
        };
        let start = Instant::now();
        while start.elapsed() < Duration::from_nanos(delay) {
            std::hint::spin_loop();
        }
        let trick = ALL[usize::try_from(trick).expect("small")];
        let claims = play(trick, &tree, round, ino).unwrap_or_default();
        println!("claims:{}", claims.join(" "));
    }
}

/// The other process, told what to do and asked what must be there ever after.
struct Rival(Partner);

impl Rival {
    fn start(tree: &Path) -> Self {
        let mut command = own_process(module_path!(), "a_rival_plays_the_trick_that_it_is_told");
        command.env("SEEKLESS_RACE", tree);
        Self(Partner::start(command))
    }

    fn order(&mut self, trick: Trick, round: u64, ino: u64, delay: usize) {
        let trick = ALL.iter().position(|&known| known == trick);
        let trick = trick.expect("known");
        let line = format!("{trick} {round} {ino} {delay}");
        self.0.order(line.as_bytes());
    }

    fn claims(&mut self) -> Vec<String> {
        let claims = self.0.answer("claims:");
        claims.split_whitespace().map(str::to_owned).collect()
    }
}

/// What begins the files below these folders, links left aside.
fn tags(folders: &[PathBuf]) -> BTreeSet<String> {
    let entries = folders.iter().flat_map(walkdir::WalkDir::new);
    let files = entries.filter_map(|entry| entry.ok().filter(|e| e.file_type().is_file()));
    let tag = |path: &Path| {
        let read = fs::read(path).ok().filter(|bytes| bytes.len() == LENGTH)?;
        let end = read.iter().position(|&b| b == b'>')?;
        Some(String::from_utf8_lossy(&read[1..end]).into_owned())
    };
    files.filter_map(|file| tag(file.path())).collect()
}

fn prepare(scene: &Scene, round: u64) {
    let tree = scene.tree();
    for folder in [tree.clone(), scene.destination(), scene.top.join("Trash")] {
        let _ = fs::remove_dir_all(folder);
    }
    let old = SystemTime::now() - Duration::from_secs(3600);
    for (name, tag) in [
        ("keep/k", "same"),
        ("dup/v", "same"),
        ("precious/v", "precious"),
    ] {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        crate::common::write(&path, content(&format!("{tag}{round}"))).expect("written");
        let file = File::options().write(true).open(&path).expect("opened");
        file.set_times(FileTimes::new().set_modified(old))
            .expect("times");
    }
}

/// Rounds of one action against these tricks; returns how many were done and how many refused.
fn race(action: ActionKind, tricks: &[Trick], rounds: u64) -> (u64, u64) {
    race_in(&Scene::new(), action, tricks, rounds)
}

fn race_in(scene: &Scene, action: ActionKind, tricks: &[Trick], rounds: u64) -> (u64, u64) {
    let mut rival = Rival::start(&scene.tree());
    let (mut done, mut refused) = (0, 0);
    let mut rng = Rng::new(seed() * 100 + action as u64);
    // About how long a step takes, learnt as it goes, so that tricks come at every point of it.
    let mut typical = 1_000_000;
    for round in 0..rounds {
        prepare(scene, round);
        let trick = *rng.pick(tricks);
        let mut wanted = step(action, &scene.keeper(), &scene.victim());
        // Only what a report knows.
        wanted.victim.expected.ctime_ns = None;
        let kept = &mut wanted.keeper;
        kept.expected.ctime_ns = None;
        let header = RunHeader {
            started_ns: i64::try_from(round).expect("small") * 1_000_000_000,
            ..RunHeader::default()
        };
        let journal = Journal::create(&scene.journals(), header).expect("a journal");
        let mut actor = Actor::new(scene.settings(), journal);
        let name = actor.run_name().to_owned();
        let ino = fs::metadata(scene.victim()).expect("metadata").ino();
        rival.order(trick, round, ino, rng.below(typical * 5 / 4));
        let start = Instant::now();
        let outcome = actor.perform(&wanted);
        let took = usize::try_from(start.elapsed().as_nanos()).expect("short");
        typical = (typical * 15 + took.min(20_000_000)) / 16;
        match outcome {
            Outcome::Done(_) => done += 1,
            _ => refused += 1,
        }
        let claims = rival.claims();
        let context = format!("{action:?}, {trick:?}, round {round}: {outcome:?}");
        let places = [scene.tree(), scene.destination(), scene.top.join("Trash")];
        look(&claims, &places, &context);
        drop(actor);
        unmount_all(trick, &scene.top);
        look(&claims, &places, &context);
        if runs(&scene.journals()).is_ok_and(|runs| runs.iter().any(|run| run.name == name)) {
            let _refused = undo(&scene.journals(), Some(&name), &mut |_| {});
            look(&claims, &places, &format!("{context}, undone"));
        }
        let _ = fs::remove_file(scene.journals().join(name));
    }
    (done, refused)
}

/// A mount goes along with the name that it is on: it may be anywhere by now.
fn unmount_all(trick: Trick, top: &Path) {
    if MOUNTS.contains(&trick) {
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("proc is mounted");
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
        for point in points.filter(|point| Path::new(point).starts_with(top)) {
            let _ = unmount(point, UnmountFlags::DETACH);
        }
    }
}

#[track_caller]
fn look(claims: &[String], places: &[PathBuf], context: &str) {
    let there = tags(places);
    for claim in claims {
        assert!(there.contains(claim), "{context}: {claim} is lost");
    }
}

fn survives(action: ActionKind) {
    let (done, refused) = race(action, &TRICKS, rounds(120));
    // Both happen, or the tricks came too early or too late to matter.
    assert!(done > 0 && refused > 0, "{done} done, {refused} refused");
}

#[test]
fn nothing_is_lost_while_removing() {
    survives(ActionKind::Remove);
}

#[test]
fn nothing_is_lost_while_putting_into_the_trash() {
    survives(ActionKind::Trash);
}

#[test]
fn nothing_is_lost_while_linking() {
    survives(ActionKind::Hardlink);
}

#[test]
fn nothing_is_lost_while_linking_symbolically() {
    survives(ActionKind::Symlink);
}

#[test]
fn nothing_is_lost_while_moving() {
    survives(ActionKind::Move);
}

#[test]
#[ignore = "mounts over the files at work: root only"]
fn nothing_is_lost_under_mounts() {
    for action in CHANGING {
        race(action, &MOUNTS, rounds(200));
    }
}

fn survives_sharing(volume: &Volume) {
    let scene = Scene::below(&volume.path());
    let (done, refused) = race_in(&scene, ActionKind::Reflink, &ALL, rounds(300));
    assert!(done > 0 && refused > 0, "{done} done, {refused} refused");
}

#[test]
#[ignore = "mounts file systems: root only"]
fn nothing_is_lost_while_sharing() {
    survives_sharing(&Volume::on_loop("btrfs", 256, ""));
    survives_sharing(&Volume::on_loop("xfs", 320, "-m reflink=1"));
}
