//! Two files with the same bytes, and what can be done to one of them: in this process, or in
//! one that is made to fail or die.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use seekless::action::{
    ActionKind, Actor, Back, Bond, Code, Expected, Journal, Outcome, Reason, Reversion, RunHeader,
    Settings, Step, StepFile, UndoTally, UndoneFile,
};
use tempfile::TempDir;

use super::children::await_started;
use super::noise;
use super::run::{Seekless, seekless};

/// A place with `tree/keep/k` and `tree/dup/v`, which are equal, and something else beside each.
#[derive(Debug)]
pub struct Scene {
    pub top: PathBuf,
    _folder: TempDir,
    /// Another file system, for what goes there.
    pub away: Option<TempDir>,
}

/// All that one sees of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub mode: u32,
    pub mtime: (i64, i64),
    pub content: Vec<u8>,
}

/// Every file and link below a folder.
pub type Picture = BTreeMap<PathBuf, Seen>;

pub fn picture(top: &Path) -> Picture {
    let entries = walkdir::WalkDir::new(top).into_iter();
    let files = entries
        .map(|entry| entry.expect("the tree can be listed"))
        .filter(|entry| !entry.file_type().is_dir());
    files
        .map(|entry| {
            let metadata = entry.metadata().expect("metadata");
            let content = match metadata.is_symlink() {
                true => fs::read_link(entry.path())
                    .expect("a link")
                    .into_os_string()
                    .into_encoded_bytes(),
                false => fs::read(entry.path()).expect("a file"),
            };
            let seen = Seen {
                mode: metadata.mode(),
                mtime: (metadata.mtime(), metadata.mtime_nsec()),
                content,
            };
            let path = entry.path().strip_prefix(top).expect("below").to_owned();
            (path, seen)
        })
        .collect()
}

/// Actions after which the file is not what it was.
pub const CHANGING: [ActionKind; 5] = [
    ActionKind::Remove,
    ActionKind::Trash,
    ActionKind::Hardlink,
    ActionKind::Symlink,
    ActionKind::Move,
];

/// Those of them that undo takes back.
pub const UNDOABLE: [ActionKind; 4] = [
    ActionKind::Trash,
    ActionKind::Hardlink,
    ActionKind::Symlink,
    ActionKind::Move,
];

pub const SIZE: usize = 300_000;

impl Scene {
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// In a folder of this file system.
    pub fn below(folder: &Path) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("seekless-scene-")
            .tempdir_in(folder)
            .expect("a temporary folder");
        let top = folder.path().canonicalize().expect("a real path");
        let scene = Self {
            top,
            _folder: folder,
            away: None,
        };
        fs::create_dir_all(scene.tree().join("keep")).expect("a folder");
        fs::create_dir_all(scene.tree().join("dup")).expect("a folder");
        scene.file("tree/keep/k", &noise(1, SIZE), 0o644, 1_000_000_000);
        scene.file("tree/dup/v", &noise(1, SIZE), 0o744, 1_100_000_000);
        scene.file("tree/keep/other", &noise(2, 1000), 0o600, 1_200_000_000);
        scene.file("tree/dup/other", &noise(3, 1000), 0o600, 1_300_000_000);
        scene
    }

    /// The same, and `move` goes to memory, which is another file system.
    pub fn with_another_file_system() -> Self {
        let mut scene = Self::new();
        let away = TempDir::new_in("/dev/shm").expect("Linux has shared memory");
        let devices = [scene.top.as_path(), away.path()].map(|p| fs::metadata(p).map(|m| m.dev()));
        let [here, there] = devices.map(|dev| dev.expect("metadata"));
        assert_ne!(here, there, "TMPDIR must not be /dev/shm");
        scene.away = Some(away);
        scene
    }

    pub fn file(&self, name: &str, content: &[u8], mode: u32, mtime: u64) {
        let path = self.top.join(name);
        crate::common::write(&path, content).expect("written");
        let time = SystemTime::UNIX_EPOCH + Duration::new(mtime, 123_456_789);
        let file = File::options().write(true).open(&path).expect("a file");
        file.set_times(FileTimes::new().set_modified(time))
            .expect("times");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("mode");
    }

    pub fn tree(&self) -> PathBuf {
        self.top.join("tree")
    }

    pub fn keeper(&self) -> PathBuf {
        self.tree().join("keep/k")
    }

    pub fn victim(&self) -> PathBuf {
        self.tree().join("dup/v")
    }

    /// The place to which `move` takes the victim.
    pub fn moved(&self) -> PathBuf {
        let victim = self.victim();
        self.destination()
            .join(victim.strip_prefix("/").expect("absolute"))
    }

    pub fn journals(&self) -> PathBuf {
        self.top.join("state/journal")
    }

    /// Where `move` puts things.
    pub fn destination(&self) -> PathBuf {
        match &self.away {
            Some(away) => away.path().join("to"),
            None => self.top.join("to"),
        }
    }

    pub fn settings(&self) -> Settings {
        settings(&self.top, self.destination())
    }

    /// What to do, from what is there now.
    pub fn step(&self, action: ActionKind) -> Step {
        step(action, &self.keeper(), &self.victim())
    }

    pub fn actor(&self) -> Actor {
        self.actor_with(self.settings())
    }

    pub fn actor_with(&self, settings: Settings) -> Actor {
        await_started();
        let header = RunHeader {
            started_ns: 1_795_225_396_000_000_000,
            ..RunHeader::default()
        };
        let journal = Journal::create(&self.journals(), header).expect("a journal");
        Actor::new(settings, journal)
    }

    pub fn perform(&self, action: ActionKind) -> Outcome {
        self.actor().perform(&self.step(action))
    }

    pub fn undo(&self) -> UndoTally {
        self.undo_run(None)
    }

    pub fn undo_run(&self, run: Option<&str>) -> UndoTally {
        await_started();
        undo(&self.journals(), run, &mut |_| {}).expect("a journal")
    }

    /// The name that the first step of a run uses on the way, as its journal tells.
    pub fn temporary(&self, run: &str) -> String {
        let journal = fs::read_to_string(self.journals().join(run)).expect("a journal");
        let (_, name) = journal.split_once("\"temporary\":\"").expect("a step");
        name.split('"').next().expect("a name").to_owned()
    }

    /// Names below a folder that are only there while something is going on.
    pub fn temporaries(&self) -> Vec<PathBuf> {
        let mut tops = vec![self.tree()];
        tops.extend(Some(self.destination()).filter(|to| to.exists()));
        let files = tops.iter().flat_map(|top| picture(top).into_keys());
        let is_temporary = |path: &PathBuf| path.to_string_lossy().contains(".seekless-");
        files.filter(is_temporary).collect()
    }
}

/// A run of the program whose journals and trash are in this scene.
pub fn prepared(scene: &Scene, arguments: &str) -> Seekless {
    let path = |name: &str| scene.top.join(name).display().to_string();
    seekless(&scene.top, arguments)
        .env("XDG_STATE_HOME", &path("state"))
        .env("XDG_DATA_HOME", &path("data"))
}

/// Undoes a run, or the last one.
pub fn undo(
    journals: &Path,
    run: Option<&str>,
    tell: &mut dyn FnMut(&UndoneFile),
) -> Result<UndoTally, Reason> {
    let reversion = Reversion::open(journals, run)?;
    Ok(reversion.take_back(Back::Undo, &AtomicBool::new(false), tell))
}

fn settings(top: &Path, destination: PathBuf) -> Settings {
    let bytes = |path: PathBuf| Some(path.as_os_str().as_bytes().to_vec());
    Settings {
        destination: bytes(destination),
        home_trash: bytes(top.join("Trash")),
        ..Settings::default()
    }
}

pub fn step(action: ActionKind, keeper: &Path, victim: &Path) -> Step {
    Step {
        action,
        keeper: target(keeper),
        victim: target(victim),
        bond: Bond::Bytes,
    }
}

pub fn target(path: &Path) -> StepFile {
    let ns = |seconds: i64, rest: i64| seconds * 1_000_000_000 + rest;
    let expected = fs::metadata(path).map(|metadata| Expected {
        size: metadata.len(),
        dev: Some(metadata.dev()),
        ino: Some(metadata.ino()),
        mtime_ns: Some(ns(metadata.mtime(), metadata.mtime_nsec())),
        ctime_ns: Some(ns(metadata.ctime(), metadata.ctime_nsec())),
    });
    StepFile {
        path: path.as_os_str().as_bytes().to_vec(),
        expected: expected.unwrap_or_default(),
    }
}

/// Carries out steps, each by itself.
pub trait Perform {
    /// Carries out one step.
    fn perform(&mut self, step: &Step) -> Outcome;

    /// Carries out all steps, and reports each outcome with its place.
    fn perform_all(&mut self, steps: &[Step], tell: impl FnMut(usize, Outcome));
}

impl Perform for Actor {
    fn perform(&mut self, step: &Step) -> Outcome {
        let mut outcome = Outcome::Already;
        self.perform_all(std::slice::from_ref(step), |_, told| outcome = told);
        outcome
    }

    fn perform_all(&mut self, steps: &[Step], mut tell: impl FnMut(usize, Outcome)) {
        let mut place = 0;
        let mut tell = |_: &Step, outcome: &Outcome| {
            tell(place, outcome.clone());
            place += 1;
        };
        for portion in steps.chunks(self.portion()) {
            let alone = portion.iter().map(|step| vec![step.clone()]);
            self.perform_groups(alone.collect(), &mut tell);
            if self.is_over() {
                break;
            }
        }
        self.finish(&mut tell);
    }
}

/// The codes of a reason and of the reasons that it follows from.
pub fn codes(why: &Reason) -> Vec<Code> {
    let why = std::iter::successors(Some(why), |why| why.facts().because.as_deref());
    why.map(|why| why.code).collect()
}

/// True if a removed file has changed in this.
pub fn is_changed(why: &Reason, what: &str) -> bool {
    why.code == Code::Changed && why.facts().what.as_deref() == Some(what)
}
