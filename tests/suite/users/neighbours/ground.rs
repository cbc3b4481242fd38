//! A tree of nobody's, files of root's outside it, and what root does in the tree.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{XattrFlags, lsetxattr};

use super::outside::{Seen, record};
use super::rival::Couple;
use crate::common::users::give_away;
use crate::common::volume::Volume;
use crate::common::{Tree, noise, seekless};

/// Pairs of equal files in the tree.
const PAIRS: u64 = 6;

/// Folders in the tree: of kept files, of their copies, and one that files are moved to.
const FOLDERS: [&str; 3] = ["keep", "dup", "to"];

/// Longer than any run takes here.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the other user swaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trick {
    /// Folders for links to the folder outside, which has files of the same names and contents.
    Folders,
    /// Files for links to those outside.
    Links,
    /// Files for further names of files of root's.
    HardLinks,
    /// Folders for links to the folder outside, which has further names of the same files: whoever follows the links
    /// finds just the files that are expected.
    FurtherNames,
    /// All of these at once.
    Everything,
    /// Folders of root's are mounted over those of the files.
    Mounts,
}

pub struct Ground {
    top: Tree,
    _volume: Volume,
    before: BTreeMap<PathBuf, Seen>,
    old: SystemTime,
}

impl Ground {
    pub fn on(volume: Volume) -> Self {
        let top = Tree::inside(&volume.path());
        let top = top.folder("state").folder("outside/folder").folder("other");
        top.set_mode("", 0o755);
        top.set_mode("state", 0o700);
        let old = SystemTime::now() - Duration::from_secs(3600);
        let mut ground = Self {
            top,
            _volume: volume,
            before: BTreeMap::new(),
            old,
        };
        for pair in 0..PAIRS {
            for name in ["k", "v", "h", "s"] {
                let name = format!("outside/{name}{pair}");
                ground.file(&name, &content(pair));
                ground.dress(&name, pair);
            }
            // What is mounted becomes a part of the tree: it may not be equal to anything.
            for (number, name) in [(1, "k"), (2, "v")] {
                let other = noise(1000 * number + pair, content(pair).len());
                ground.file(&format!("other/{name}{pair}"), &other);
            }
        }
        ground.file("outside/folder/file", b"of root");
        ground.before = ground.outside();
        ground
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.top.path(name)
    }

    fn file(&self, name: &str, content: &[u8]) {
        self.top.write(name, content);
        let file = File::options().write(true).open(self.path(name));
        let times = FileTimes::new().set_modified(self.old);
        file.and_then(|file| file.set_times(times)).expect("times");
    }

    /// Gives a file of root's what only root can give.
    fn dress(&self, name: &str, pair: u64) {
        const ACL: &[u8] = &[
            2, 0, 0, 0, // version
            1, 0, 6, 0, 255, 255, 255, 255, // owner
            2, 0, 4, 0, 210, 4, 0, 0, // user 1234
            4, 0, 4, 0, 255, 255, 255, 255, // group
            16, 0, 4, 0, 255, 255, 255, 255, // mask
            32, 0, 0, 0, 255, 255, 255, 255, // others
        ];
        const CAPABILITY: &[u8] = &[1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let set = |attribute: &str, value: &[u8]| {
            lsetxattr(self.path(name), attribute, value, XattrFlags::empty()).expect("root may");
        };
        match pair % 3 {
            0 => self.top.set_mode(name, 0o600),
            1 => {
                self.top.set_mode(name, 0o4755);
                set("security.capability", CAPABILITY);
                // Setting the mode comes last: an attribute of this kind may clear bits.
                self.top.set_mode(name, 0o4755);
            }
            _ => {
                set("system.posix_acl_access", ACL);
                set("trusted.mark", b"of root");
            }
        }
    }

    fn outside(&self) -> BTreeMap<PathBuf, Seen> {
        let mut seen = record(&self.path("outside"));
        seen.extend(record(&self.path("other")));
        seen
    }

    /// Makes the tree anew.
    pub fn prepare(&self, trick: Trick) {
        for folder in ["home", "to", "state"] {
            let _ = fs::remove_dir_all(self.path(folder));
        }
        for folder in [
            "home/tree/keep",
            "home/tree/dup",
            "home/away",
            "to",
            "state",
        ] {
            fs::create_dir_all(self.path(folder)).expect("a folder");
        }
        self.top.set_mode("state", 0o700);
        let outside = self.path("outside");
        for folder in FOLDERS {
            let (folder, link) = (format!("home/tree/{folder}"), format!("home/{folder}"));
            fs::create_dir_all(self.path(&folder)).expect("a folder");
            symlink(&outside, self.path(&link)).expect("a link");
        }
        for pair in 0..PAIRS {
            for (folder, name) in [("keep", "k"), ("dup", "v")] {
                self.file(&format!("home/tree/{folder}/{name}{pair}"), &content(pair));
                let link = self.path(&format!("home/away/link-{name}{pair}"));
                symlink(outside.join(format!("{name}{pair}")), link).expect("a link");
                let hard = self.path(&format!("home/away/hard-{name}{pair}"));
                fs::hard_link(outside.join(format!("h{pair}")), hard).expect("a hard link");
            }
            if trick == Trick::FurtherNames {
                let name = format!("s{pair}");
                let further = self.path("home/tree/dup").join(&name);
                fs::hard_link(outside.join(name), further).expect("a hard link");
            }
        }
        for entry in walkdir::WalkDir::new(self.path("home")) {
            let entry = entry.expect("an entry");
            let name = entry.file_name().to_string_lossy();
            let is_roots = name.starts_with("hard-") || name.starts_with('s');
            if !is_roots {
                give_away(entry.path());
            }
        }
    }

    /// What the other process is to swap.
    pub fn couples(&self, trick: Trick) -> Vec<Couple> {
        let path = |name: String| self.path(&format!("home/{name}"));
        let folders = FOLDERS.map(|name| (path(format!("tree/{name}")), path(name.into())));
        let names = (0..PAIRS).flat_map(|n| [("dup", "v", n), ("keep", "k", n)]);
        let files = |kind: &'static str| -> Vec<Couple> {
            let files = names.clone().map(|(folder, name, n)| {
                let file = path(format!("tree/{folder}/{name}{n}"));
                (file, path(format!("away/{kind}-{name}{n}")))
            });
            files.collect()
        };
        match trick {
            Trick::Folders | Trick::FurtherNames => folders.into(),
            Trick::Links => files("link"),
            Trick::HardLinks => files("hard"),
            Trick::Everything => {
                let mut all = files("link");
                all.extend(files("hard"));
                all.extend(folders);
                all
            }
            Trick::Mounts => {
                let other = self.path("other");
                ["dup", "keep"]
                    .map(|name| (path(format!("tree/{name}")), other.clone()))
                    .into()
            }
        }
    }

    fn command(&self, arguments: &str) -> crate::common::run::Seekless {
        let state = self.path("state");
        let state = state.to_str().expect("plain");
        seekless(self.top.root(), arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
            .env("HOME", state)
            .patience(PATIENCE)
    }

    /// Runs the program as root. Whatever it finds impossible is its affair.
    pub fn run(&self, arguments: &str) -> i32 {
        self.command(arguments).run().code()
    }

    /// The same, but the program is killed before this call of those that act.
    pub fn run_and_kill(&self, arguments: &str, call: u64) -> ExitStatus {
        let command = self
            .command(arguments)
            .env("SEEKLESS_FAULT", &format!("kill@{call}"));
        let mut child = command.spawn();
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                return status;
            }
            if start.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("{arguments} hangs");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Steps that came to this end, as the journals tell.
    pub fn journalled(&self, end: &str) -> usize {
        let journals = self.path("state/seekless/journals");
        let files = fs::read_dir(journals).into_iter().flatten().flatten();
        let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
        let wanted = format!("\"record\":\"{end}\"");
        texts.map(|text| text.matches(&wanted).count()).sum()
    }

    /// Nothing outside the tree is another than it was.
    #[track_caller]
    pub fn look(&self, context: &str) {
        let mut now = self.outside();
        for (path, was) in &self.before {
            let Some(now) = now.remove(path) else {
                panic!("{context}: {} is gone", path.display());
            };
            let mut was = was.clone();
            let is_shared = path
                .file_name()
                .is_some_and(|name| [b'h', b's'].contains(&name.as_encoded_bytes()[0]));
            if is_shared {
                // Its further names are nobody's to rename, which the kernel notes in the file, and root's to act on.
                // No name may be lost or made that is not to be seen.
                was.changed = now.changed;
                was.links = self.names_of(now.inode);
            }
            assert_eq!(now, was, "{context}: {}", path.display());
        }
        let new: Vec<_> = now.keys().collect();
        assert!(new.is_empty(), "{context}: {new:?} was made");
    }

    fn names_of(&self, inode: (u64, u64)) -> u64 {
        let entries = walkdir::WalkDir::new(self.top.root()).into_iter();
        let entries = entries.map(|entry| entry.expect("root may look").metadata());
        let same = entries.filter(|m| {
            let m = m.as_ref().expect("metadata");
            (m.dev(), m.ino()) == inode
        });
        same.count() as u64
    }

    /// Takes away what a killed process left mounted.
    pub fn unmount_all(&self) {
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("proc is mounted");
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
        for point in points.filter(|point| Path::new(point).starts_with(self.top.root())) {
            let _ = rustix::mount::unmount(point, rustix::mount::UnmountFlags::DETACH);
        }
    }
}

/// What the files of a pair hold: large ones, so that comparing takes its time, and small ones.
fn content(pair: u64) -> Vec<u8> {
    noise(pair, if pair.is_multiple_of(2) { 700 } else { 300_000 })
}

/// Lets everybody enter a volume.
pub fn open(volume: Volume) -> Volume {
    let path = volume.path();
    let above = path.parent().expect("a folder above");
    for folder in [above, &path] {
        fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("root may");
    }
    volume
}
