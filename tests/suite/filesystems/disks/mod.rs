//! Disks of other systems and what answers in their place: NTFS, exFAT and FAT by their FUSE programs, sshfs, rclone,
//! unions, btrfs. Root only.

mod spelling;
mod subvolumes;
mod trash;

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::mounts::{Shown, Shows};
use crate::common::{Run, seekless};
use tempfile::TempDir;

/// A mounted file system, and folders for the state of runs elsewhere.
struct Disk {
    shows: Shows,
    home: TempDir,
}

impl Disk {
    fn new(what: Shown, options: &str) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let shows = Shows::with_options(what, options);
        Self { shows, home }
    }

    fn top(&self) -> PathBuf {
        self.shows.point()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.top().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        crate::common::write(path, content).expect("written");
    }

    fn has(&self, name: &str) -> bool {
        self.top().join(name).exists()
    }

    fn run(&self, arguments: &str) -> Run {
        run_at(&self.top(), self.home.path(), arguments)
    }
}

/// A run in this folder, with its state and the user's own trash in that one.
fn run_at(folder: &Path, home: &Path, arguments: &str) -> Run {
    let text = |path: PathBuf| path.to_str().expect("plain").to_owned();
    // Everybody may write to many of these disks, and root acts there.
    let mut words = arguments.split(' ');
    let acts =
        words.any(|word| word == "--yes" || word == "--dry-run") && !arguments.starts_with("undo");
    let arguments = if acts {
        format!("{arguments} --allow shared")
    } else {
        arguments.to_owned()
    };
    seekless(folder, &arguments)
        .env("XDG_STATE_HOME", &text(home.join("state")))
        .env("XDG_DATA_HOME", &text(home.join("data")))
        .run()
}
