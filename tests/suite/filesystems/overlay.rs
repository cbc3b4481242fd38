//! Overlays of which a file gets another device or inode number when the kernel copies it up: containers, live systems.
//! Actions work there, and undo takes them back. Root only.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use crate::common::run::Seekless;
use crate::common::scene::{Picture, picture};
use crate::common::volume::{Mounted, Volume, sh};
use crate::common::{Run, noise, seekless};
use tempfile::TempDir;

/// Where the lower layer is, and how its numbers are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lower {
    /// On the file system of the upper layer: files and folders have one device number.
    SameDisk,
    /// On another one: files have the device number of their layer, folders that of the overlay.
    OtherDisk,
    /// On another one, whose number is part of the inode number.
    OtherDiskInNumbers,
    /// In a squashfs image, which is read-only.
    Image,
}

const ALL: [Lower; 4] = [
    Lower::SameDisk,
    Lower::OtherDisk,
    Lower::OtherDiskInNumbers,
    Lower::Image,
];

const ACTIONS: [&str; 5] = [
    "remove",
    "remove --trash",
    "hardlink",
    "symlink",
    "move --to to",
];

/// A mounted overlay, and a place for journals.
struct Container {
    top: PathBuf,
    options: String,
    mounted: Option<Mounted>,
    _image: Option<Mounted>,
    _lower: Option<Volume>,
    desk: TempDir,
}

/// A squashfs image of a folder, mounted.
fn image_of(folder: &Path) -> Mounted {
    let (image, point) = (
        folder.with_extension("image"),
        folder.with_extension("mounted"),
    );
    fs::create_dir(&point).expect("a folder");
    sh(&format!(
        "mksquashfs {} {} -quiet -no-progress >/dev/null",
        folder.display(),
        image.display()
    ));
    Mounted::new(&format!("-o loop -t squashfs {}", image.display()), point)
}

impl Container {
    /// One whose lower layer holds these files; a second name in a row is a hard link to the first one.
    fn new(kind: Lower, files: &[(&[&str], u64)]) -> Self {
        let prefix = "seekless-overlay-";
        let desk = tempfile::Builder::new().prefix(prefix).tempdir();
        let desk = desk.expect("a temporary folder can be made");
        let volume = match kind {
            Lower::SameDisk | Lower::Image => None,
            _ => Some(Volume::on_loop("ext4", 16, "")),
        };
        let lower = match &volume {
            None => desk.path().join("lower"),
            Some(volume) => volume.path(),
        };
        for (names, seed) in files {
            let first = lower.join("d").join(names[0]);
            for (place, name) in names.iter().enumerate() {
                let path = lower.join("d").join(name);
                fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
                match place {
                    0 => crate::common::write(path, noise(*seed, 9_000)).expect("written"),
                    _ => fs::hard_link(&first, path).expect("linked"),
                }
            }
        }
        for folder in ["upper", "work", "mounted", "journals"] {
            fs::create_dir(desk.path().join(folder)).expect("a folder");
        }
        let at = |name: &str| desk.path().join(name).display().to_string();
        let xino = match kind {
            Lower::OtherDiskInNumbers => "on",
            _ => "off",
        };
        let image = (kind == Lower::Image).then(|| image_of(&lower));
        let lower = image
            .as_ref()
            .map_or(lower, |image| image.path().to_owned());
        let options = format!(
            "lowerdir={},upperdir={},workdir={},xino={xino}",
            lower.display(),
            at("upper"),
            at("work"),
        );
        let mut container = Self {
            top: desk.path().join("mounted"),
            options,
            mounted: None,
            _image: image,
            _lower: volume,
            desk,
        };
        container.restart();
        container
    }

    /// Forgets all that the kernel has in memory about it.
    fn restart(&mut self) {
        self.mounted = None;
        let arguments = format!("-t overlay overlay -o {}", self.options);
        self.mounted = Some(Mounted::new(&arguments, self.top.clone()));
    }

    fn tree(&self) -> PathBuf {
        self.top.join("d")
    }

    fn command(&self, arguments: &str) -> Seekless {
        let state = self.desk.path().join("journals");
        let state = state.to_str().expect("plain");
        seekless(&self.top, arguments)
            .env("XDG_STATE_HOME", state)
            .env("XDG_DATA_HOME", state)
    }

    fn run(&self, arguments: &str) -> Run {
        self.command(arguments).run()
    }

    /// An action that keeps what lies in `d/a`.
    fn acting(&self, action: &str, more: &str) -> Seekless {
        let command = self.command(&format!("{action} --yes {more} d"));
        command.arg("--keep").arg("under d/a")
    }

    fn inode(&self, name: &str) -> (u64, u64) {
        let now = fs::symlink_metadata(self.tree().join(name)).expect("metadata");
        (now.dev(), now.ino())
    }
}

/// One that a copy-up numbers anew: its names, each with the content.
const FILES: &[(&[&str], u64)] = &[
    // Nothing is linked.
    (&["a/keep-1"], 1),
    (&["b/1"], 1),
    // What goes has a second name.
    (&["a/keep-2"], 2),
    (&["b/2", "c/2"], 2),
    // What stays has a second name.
    (&["a/keep-3", "a/keep-3-too"], 3),
    (&["b/3"], 3),
    (&["c/3"], 3),
    // Both have.
    (&["a/keep-4", "a/keep-4-too"], 4),
    (&["b/4", "c/4"], 4),
];

/// Each content, however often it is there.
fn contents(picture: &Picture) -> BTreeMap<Vec<u8>, usize> {
    let mut contents = BTreeMap::new();
    for seen in picture.values() {
        *contents.entry(seen.content.clone()).or_default() += 1;
    }
    contents
}

#[track_caller]
fn nothing_is_lost(container: &Container, context: &str) {
    let held = contents(&picture(&container.top));
    for seed in 1..=4 {
        assert!(held.contains_key(&noise(seed, 9_000)), "{seed} {context}");
    }
}

#[track_caller]
fn nothing_is_left(container: &Container, context: &str) {
    let is_ours = |path: &&PathBuf| path.to_string_lossy().contains(".seekless-");
    let now = picture(&container.top);
    let left: Vec<_> = now.keys().filter(is_ours).collect();
    assert!(left.is_empty(), "{left:?} {context}");
}

fn works_and_is_undone(kind: Lower, action: &str, more: &str, restart: bool) {
    let mut container = Container::new(kind, FILES);
    // A copy in the upper layer.
    crate::common::write(container.tree().join("b/1-too"), noise(1, 9_000)).expect("written");
    fs::create_dir(container.top.join("to")).expect("a folder");
    let before = picture(&container.tree());
    let run = container.acting(action, more).run();
    let context = format!("{kind:?} {action} {more}\n{run}");
    assert_eq!(run.code(), 0, "{context}");
    nothing_is_lost(&container, &context);
    nothing_is_left(&container, &context);
    let after = picture(&container.tree());
    let gone = ["b/1", "b/1-too", "b/2", "c/2", "b/3", "c/3", "b/4", "c/4"];
    match action {
        "hardlink" => {
            for name in gone {
                let kept = format!("a/keep-{}", &name[2..3]);
                assert_eq!(container.inode(name), container.inode(&kept), "{context}");
            }
        }
        "symlink" => {
            for name in gone {
                let path = container.tree().join(name);
                assert!(path.is_symlink() && path.exists(), "{name} {context}");
            }
        }
        _ => {
            let left = gone.iter().find(|name| after.contains_key(Path::new(name)));
            assert_eq!(left, None, "{context}");
        }
    }
    if restart {
        container.restart();
    }
    if action != "remove" {
        let undone = container.run("undo --yes");
        let context = format!("{context}\n{undone}");
        assert_eq!(undone.code(), 0, "{context}");
        assert!(picture(&container.tree()) == before, "{context}");
        nothing_is_left(&container, &context);
    }
}

/// Of a squashfs image the kernel shows a new link with another number than the file.
fn works(action: &str, kind: Lower) -> bool {
    action != "hardlink" || kind != Lower::Image
}

#[test]
#[ignore = "mounts overlays: root only"]
fn each_action_works_where_copies_get_other_numbers() {
    for action in ACTIONS {
        for kind in ALL.into_iter().filter(|kind| works(action, *kind)) {
            works_and_is_undone(kind, action, "", false);
        }
    }
}

#[test]
#[ignore = "mounts overlays: root only"]
fn undo_works_after_a_container_was_started_again() {
    for kind in [Lower::SameDisk, Lower::OtherDisk] {
        for action in ACTIONS {
            works_and_is_undone(kind, action, "", true);
        }
    }
}

/// A file of the lower layer that changed its number because somebody wrote to it is another file than was found.
#[test]
#[ignore = "mounts overlays: root only"]
fn a_file_that_somebody_else_changed_is_left_alone() {
    for kind in ALL {
        let container = Container::new(kind, FILES);
        let found = container.run("find -f json -o report d");
        assert_eq!(found.code(), 0, "{found}");
        // Copied up, with its bytes and its times; and replaced.
        let path = container.tree().join("b/2");
        let times = fs::metadata(&path).expect("metadata");
        let file = fs::OpenOptions::new().append(true).open(&path);
        let file = file.expect("it opens");
        file.set_times(fs::FileTimes::new().set_modified(times.modified().expect("a time")))
            .expect("times");
        let other = container.tree().join("b/3");
        fs::remove_file(&other).expect("removed");
        symlink("../a/keep-1", &other).expect("a link");
        let run = container.acting("remove", "--from report").run();
        let context = format!("{kind:?}\n{run}");
        assert!(path.exists() && other.is_symlink(), "{context}");
        assert_eq!(run.code(), 1, "{context}");
        nothing_is_lost(&container, &context);
    }
}
