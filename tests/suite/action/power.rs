//! Loss of power: what is on the disk at that moment is all there is, and every content is in it.
//!
//! The disk is an image behind a loop device: what ext4 has not written back is not in the image yet.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::common::noise;
use crate::common::scene::{Perform, SIZE, Scene, picture, prepared, step};
use crate::common::volume::{Volume, sh, unmount};
use seekless::action::{ActionKind, Outcome};
use tempfile::TempDir;

/// What a volume is after a loss of power, until it is dropped.
struct After {
    folder: TempDir,
}

impl After {
    fn of(volume: &Volume) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let copy = folder.path().join("image");
        fs::create_dir(folder.path().join("mounted")).expect("a folder");
        sh(&format!(
            "cp --sparse=always {} {}",
            volume.image().display(),
            copy.display()
        ));
        sh(&format!(
            "mount -o loop {} {}",
            copy.display(),
            folder.path().join("mounted").display()
        ));
        Self { folder }
    }

    /// Where a file of the volume is.
    fn path(&self, volume: &Volume, file: &Path) -> PathBuf {
        let below = file.strip_prefix(volume.path()).expect("of the volume");
        self.folder.path().join("mounted").join(below)
    }

    /// True if one of these has the content.
    fn has(&self, volume: &Volume, files: &[PathBuf], content: &[u8]) -> bool {
        let whole =
            |file: &PathBuf| fs::read(self.path(volume, file)).is_ok_and(|read| read == content);
        files.iter().any(whole)
    }
}

impl Drop for After {
    fn drop(&mut self) {
        let mounted = self.folder.path().join("mounted");
        unmount(&mounted);
    }
}

/// `cp -p`, `rsync -t`: new bytes with an old time of modification.
fn copied_with_its_times(path: &Path, content: &[u8]) {
    crate::common::write(path, content).expect("written");
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options().write(true).open(path).expect("a file");
    file.set_times(FileTimes::new().set_modified(time))
        .expect("times");
}

#[test]
#[ignore = "mounts file systems: root only"]
fn a_file_that_was_just_copied_with_its_times_is_on_the_disk_before_its_copy_goes() {
    let volume = Volume::on_loop("ext4", 64, "");
    let scene = Scene::below(&volume.path());
    let content = noise(4, SIZE);
    let (keeper, victim) = (scene.tree().join("keep/k2"), scene.tree().join("dup/v2"));
    crate::common::write(&victim, &content).expect("written");
    sh(&format!("sync -f {}", volume.path().display()));
    let mut actor = scene.actor();
    let outcome = actor.perform(&scene.step(ActionKind::Remove));
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    copied_with_its_times(&keeper, &content);
    let outcome = actor.perform(&step(ActionKind::Remove, &keeper, &victim));
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    let after = After::of(&volume);
    assert!(!after.path(&volume, &victim).exists(), "the copy went");
    assert!(
        after.has(&volume, &[keeper], &content),
        "and the file is not there"
    );
}

/// Killed before every third call, and the power is off at the same moment.
#[test]
#[ignore = "mounts file systems: root only"]
fn killed_and_without_power_no_content_is_lost() {
    let volume = Volume::on_loop("ext4", 64, "");
    for action in ["remove", "hardlink", "symlink"] {
        let mut losses = 0;
        for at in (1..500).step_by(3) {
            let scene = Scene::below(&volume.path());
            let files = ["v", "v2"].map(|name| scene.tree().join("dup").join(name));
            crate::common::write(&files[1], noise(4, SIZE)).expect("written");
            sh(&format!("sync -f {}", volume.path().display()));
            // Both are new again, and the system has not written anything of them.
            let keepers = [scene.keeper(), scene.tree().join("keep/k2")];
            copied_with_its_times(&keepers[0], &noise(1, SIZE));
            copied_with_its_times(&keepers[1], &noise(4, SIZE));
            let line = format!("{action} --yes --keep first-root tree/keep tree/dup");
            let run = prepared(&scene, &line).with_fault(&format!("kill@{at}"));
            let after = After::of(&volume);
            for (number, content) in [(0, noise(1, SIZE)), (1, noise(4, SIZE))] {
                let mut files = vec![keepers[number].clone(), files[number].clone()];
                let folder = scene.tree().join("dup");
                let names = fs::read_dir(after.path(&volume, &folder)).expect("a list");
                files.extend(names.map(|name| folder.join(name.expect("a name").file_name())));
                let context = format!("{action}, killed before call {at}");
                assert!(after.has(&volume, &files, &content), "{context}");
            }
            if run.status.success() {
                break;
            }
            losses += 1;
        }
        assert!(losses > 10, "{action}: {losses} losses only");
    }
}

/// Each of the three waits of a step that goes to the trash: for its folder, for that of the trash, for the note there.
#[test]
#[cfg(debug_assertions)]
fn a_step_that_may_not_be_on_the_disk_is_named() {
    let is_named = |at: &u32| {
        let scene = Scene::new();
        let run = prepared(&scene, "remove --trash --yes --keep oldest tree");
        let run = run.env("SEEKLESS_FAULT", &format!("5@{at}")).run();
        let said = run.stderr_text();
        let is_named = said.contains("cannot sync finished steps to the disk");
        assert!(!is_named || run.code() != 0, "{run}");
        is_named
    };
    assert_eq!((50..110).filter(is_named).count(), 3);
}

#[test]
#[cfg(debug_assertions)]
fn an_undo_that_may_not_be_on_the_disk_is_named_and_goes_on_later() {
    let mut named = 0;
    for at in 20..90 {
        let scene = Scene::new();
        let before = picture(&scene.tree());
        prepared(&scene, "move --to out --yes --keep oldest tree")
            .run()
            .exits(0);
        let run = prepared(&scene, "undo --yes");
        let run = run.env("SEEKLESS_FAULT", &format!("5@{at}")).run();
        if run.stderr_text().contains("cannot sync undone steps") {
            named += 1;
            assert_ne!(run.code(), 0, "{run}");
            prepared(&scene, "undo --yes").run();
            assert_eq!(picture(&scene.tree()), before, "call {at}: {run}");
        }
    }
    assert!(named > 0);
}
