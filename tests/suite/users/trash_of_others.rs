//! A trash that somebody else has made, or could change, takes nothing of root's.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::run::{Run, seekless};
use crate::common::scene::{Scene, picture};
use crate::common::users::{NOBODY, give_all_away, give_away, set_mode};
use crate::common::volume::{Mounted, Volume};

/// A disk whose top folder somebody else may write to, with two equal files of root's.
struct Disk {
    volume: Volume,
    scene: Scene,
    /// On another file system.
    home: tempfile::TempDir,
}

impl Disk {
    fn new() -> Self {
        let volume = Volume::tmpfs("");
        let scene = Scene::below(&volume.path());
        set_mode(volume.path(), 0o1777);
        let home = tempfile::tempdir().expect("a folder");
        Self {
            volume,
            scene,
            home,
        }
    }

    fn top(&self) -> PathBuf {
        self.volume.path()
    }

    fn trash(&self) -> PathBuf {
        self.top().join(".Trash-0")
    }

    fn run(&self, arguments: &str) -> Run {
        self.run_at(self.home.path(), arguments)
    }

    /// The same, with this folder for the user's own trash.
    fn run_at(&self, data: &Path, arguments: &str) -> Run {
        let state = self.home.path().join("state");
        let run = seekless(&self.scene.top, arguments)
            .env("XDG_STATE_HOME", state.to_str().expect("plain"))
            .env("XDG_DATA_HOME", data.to_str().expect("plain"));
        run.run()
    }

    fn folder(&self, name: &str, owner: u32, bits: u32) -> PathBuf {
        let path = self.top().join(name);
        fs::create_dir_all(&path).expect("folders");
        set_mode(&path, bits);
        chown(&path, Some(owner), Some(owner)).expect("root gives");
        path
    }

    /// Nothing goes into a trash that is not root's alone.
    #[track_caller]
    fn refuses(&self, why: &str) {
        let before = picture(&self.top());
        let run = self.run("remove --trash --yes --allow shared tree");
        assert!(picture(&self.top()) == before, "{why}\n{run}");
        run.exits(2)
            .says(why)
            .says("use move, or remove without --trash");
        // The plan is as the run, and changes nothing.
        let run = self.run("remove --trash --dry-run --allow shared tree");
        assert!(picture(&self.top()) == before, "{why}\n{run}");
        run.exits(2).says("has no usable trash folder: ").says(why);
    }
}

#[test]
#[ignore = "mounts a file system and becomes another user: root only"]
fn a_trash_that_somebody_else_made_beforehand_is_refused() {
    for bits in [0o777, 0o755, 0o700] {
        let disk = Disk::new();
        disk.folder(".Trash-0", NOBODY, bits);
        disk.refuses(".Trash-0 belongs to user 65534, and this runs as root");
    }
    // Also where all of the disk is theirs, and the folders in it seem to be root's.
    let disk = Disk::new();
    disk.folder(".Trash-0", NOBODY, 0o777);
    disk.folder(".Trash-0/files", 0, 0o700);
    disk.folder(".Trash-0/info", 0, 0o700);
    give_away(&disk.top());
    set_mode(disk.top(), 0o755);
    disk.refuses(".Trash-0 belongs to user 65534");
    // Root's own, open to all.
    let disk = Disk::new();
    disk.folder(".Trash-0", 0, 0o777);
    disk.refuses(".Trash-0 can be written to by other users (mode 777)");
}

#[test]
#[ignore = "mounts a file system and becomes another user: root only"]
fn links_and_files_in_the_place_of_the_trash_are_refused() {
    let disk = Disk::new();
    let outside = disk.folder("outside", 0, 0o700);
    symlink(&outside, disk.trash()).expect("a link");
    disk.refuses(".Trash-0 is a symbolic link");
    fs::remove_file(disk.trash()).expect("removed");
    crate::common::write(disk.trash(), "a file").expect("written");
    disk.refuses(".Trash-0 is not a folder");
}

#[test]
#[ignore = "mounts a file system and becomes another user: root only"]
fn the_users_own_trash_is_used_first_and_only_if_it_is_the_users_own() {
    let disk = Disk::new();
    disk.folder(".Trash-0", NOBODY, 0o777);
    let data = disk.folder("data", 0, 0o755);
    disk.run_at(&data, "remove --trash --yes tree").exits(0);
    assert_eq!(picture(&data.join("Trash")).len(), 2);
    disk.run_at(&data, "undo").exits(0);
    // Another user's, of whom root has the HOME.
    let disk = Disk::new();
    let data = disk.folder("data", NOBODY, 0o755);
    disk.run_at(&data, "remove --trash --yes tree").exits(0);
    assert!(!data.join("Trash").exists());
    assert_eq!(picture(&disk.trash()).len(), 2);
}

#[test]
#[ignore = "mounts a file system and becomes another user: root only"]
fn a_trash_that_cannot_be_made_is_named_before_the_question() {
    let disk = Disk::new();
    give_all_away(&disk.scene.top);
    set_mode(disk.top(), 0o755);
    let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
    let home = disk.home.path();
    set_mode(home, 0o755);
    let state = disk.folder("state", NOBODY, 0o700);
    command
        .args(["remove", "--trash", "--yes", "tree"])
        .current_dir(&disk.scene.top)
        .env("XDG_STATE_HOME", state)
        .env("XDG_DATA_HOME", home)
        // Root's settings cannot be looked at.
        .env("XDG_CONFIG_HOME", home)
        .uid(NOBODY)
        .gid(NOBODY);
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let why = "is not writable: Permission denied (os error 13) (change its permissions); use move, or remove";
    assert!(said.contains(why), "{said}");
    assert_eq!(picture(&disk.scene.tree()).len(), 4, "{said}");
}

/// Whoever owns the top folder exchanges the trash all the time.
#[test]
#[ignore = "mounts a file system and becomes another user: root only"]
fn nothing_goes_into_a_trash_that_is_exchanged_meanwhile() {
    let disk = Disk::new();
    let top = disk.top();
    give_away(&top);
    for name in ["theirs", "theirs/files", "theirs/info"] {
        disk.folder(name, NOBODY, 0o777);
    }
    for number in 0..200 {
        let names = [format!("tree/keep/{number}"), format!("tree/dup/{number}")];
        for name in names {
            crate::common::write(disk.scene.top.join(name), number.to_string()).expect("written");
        }
    }
    let exchange = "while :; do mv -T .Trash-0 roots; mv -T theirs .Trash-0; mv -T .Trash-0 theirs; \
                    mv -T roots .Trash-0; done 2>/dev/null";
    let mut shell = Command::new("sh");
    let mut child = shell
        .args(["-c", exchange])
        .current_dir(&top)
        .uid(NOBODY)
        .gid(NOBODY)
        .spawn()
        .expect("sh is there");
    let runs: Vec<Run> = (0..3)
        .flat_map(|_| ["remove --trash --yes tree", "undo"])
        .map(|arguments| disk.run(arguments))
        .collect();
    child.kill().expect("killed");
    child.wait().expect("waited");
    for run in runs {
        assert!(run.code() < 3, "{run}");
    }
    for entry in walkdir::WalkDir::new(&top) {
        let entry = entry.expect("listed");
        let is_theirs = fs::metadata(entry.path()).expect("there").uid() == NOBODY;
        let holds_files = fs::read_dir(entry.path()).is_ok_and(|mut entries| {
            entries.any(|entry| entry.expect("an entry").path().is_file())
        });
        assert!(!is_theirs || !holds_files, "{}", entry.path().display());
    }
}

#[test]
#[ignore = "mounts a file system and becomes another user: root only"]
fn undo_takes_nothing_from_a_trash_that_was_exchanged() {
    let disk = Disk::new();
    let before = picture(&disk.scene.tree());
    give_away(&disk.top());
    disk.run("remove --trash --yes --allow shared tree")
        .exits(0);
    let gone = picture(&disk.scene.tree());
    // Same names, same bytes, another owner.
    let aside = disk.top().join("aside");
    fs::rename(disk.trash(), &aside).expect("moved");
    for name in picture(&aside).keys() {
        let path = disk.trash().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::copy(aside.join(name), &path).expect("copied");
    }
    give_all_away(&disk.trash());
    for arguments in ["undo --dry-run", "undo"] {
        let run = disk.run(arguments).exits(2);
        let said = format!("{}{}", run.stdout_text(), run.stderr_text());
        assert!(said.contains("files belongs to user 65534"), "{run}");
        assert_eq!(picture(&disk.scene.tree()), gone);
    }
    fs::remove_dir_all(disk.trash()).expect("removed");
    fs::rename(&aside, disk.trash()).expect("moved");
    disk.run("undo").exits(0);
    assert_eq!(picture(&disk.scene.tree()), before);
}

/// A file system of another user can show folders of root, with mode 700.
#[test]
#[ignore = "mounts file systems and becomes another user: root only"]
fn a_trash_on_another_file_system_is_not_used() {
    for mounted in [".Trash-0", ".Trash-0/files", ".Trash-0/info"] {
        let disk = Disk::new();
        let point = disk.folder(mounted, 0, 0o700);
        set_mode(disk.trash(), 0o700);
        let _mounted = Mounted::new("-t tmpfs -o mode=700 tmpfs", point);
        disk.refuses(&format!("{mounted} is on another file system"));
    }
    let disk = Disk::new();
    disk.run("remove --trash --yes --allow shared tree")
        .exits(0);
    let gone = picture(&disk.scene.tree());
    let files = disk.trash().join("files");
    let copies = tempfile::tempdir().expect("a folder");
    for name in picture(&files).keys() {
        fs::copy(files.join(name), copies.path().join(name)).expect("copied");
    }
    let mounted = Mounted::new("-t tmpfs -o mode=700 tmpfs", files.clone());
    for name in picture(copies.path()).keys() {
        fs::copy(copies.path().join(name), files.join(name)).expect("copied");
    }
    for arguments in ["undo --dry-run", "undo"] {
        let run = disk.run(arguments).exits(2);
        assert!(
            run.to_string().contains("files is on another file system"),
            "{run}"
        );
        assert_eq!(picture(&disk.scene.tree()), gone);
    }
    drop(mounted);
    disk.run("undo").exits(0);
}
