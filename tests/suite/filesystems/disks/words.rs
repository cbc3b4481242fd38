//! What is said where a mount cannot do something, and where it says something else than it means.

use std::fs;

use super::{Disk, run_at};
use crate::common::mounts::{Shown, Shows};
use crate::common::noise;
use crate::common::volume::{Mounted, sh};

fn with_copies(shows: &Shows) {
    for name in ["a", "b"] {
        fs::write(shows.point().join(name), noise(1, 50_000)).expect("written");
    }
}

/// Each line that names a refusal by the system says what to do about it.
#[test]
#[ignore = "mounts file systems: root only"]
fn every_refusal_is_explained() {
    let source = crate::common::Tree::new().copies(["t/a", "t/b"], noise(1, 50_000));
    let image = source.path("image");
    sh(&format!(
        "mksquashfs {} {} -quiet -no-progress >{}.log",
        source.path("t").display(),
        image.display(),
        image.display()
    ));
    let place = |name: &str| {
        let place = source.path(name);
        fs::create_dir(&place).expect("a folder");
        place
    };
    let squashed = Mounted::by(&format!("squashfuse {}", image.display()), place("fuse"));
    let kernel = Mounted::new(
        &format!("-o loop -t squashfs {}", image.display()),
        place("kernel"),
    );
    let exfat = Disk::new(Shown::ExfatFuse, "");
    with_copies(&exfat.shows);
    let rclone = Disk::new(Shown::Rclone, "");
    with_copies(&rclone.shows);
    let home = tempfile::tempdir().expect("a folder");
    let places = [squashed.path(), kernel.path(), &exfat.top(), &rclone.top()];
    for place in places {
        for action in ["symlink", "remove --trash", "remove", "move --to there"] {
            let run = run_at(place, home.path(), &format!("{action} --yes ."));
            for line in run
                .stderr_text()
                .lines()
                .filter(|line| line.contains("(os error"))
            {
                let explained = line
                    .split_once("(os error")
                    .is_some_and(|(_, rest)| rest.contains("); "));
                assert!(explained, "{} {action}\n{run}", place.display());
            }
        }
    }
}
