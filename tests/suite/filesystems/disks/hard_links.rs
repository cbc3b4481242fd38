//! Mounts that show names of one file as files of their own.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::run_at;
use crate::common::mounts::{Shown, Shows};
use crate::common::noise;
use crate::common::volume::{Mounted, sh};

const WORDS: &str = "this mount may show hard links to one file as separate files";

/// Says so if it is so, and only then.
fn check(what: &str, point: &Path) {
    let home = tempfile::tempdir().expect("a folder");
    let ino = |name: &str| fs::metadata(point.join(name)).expect("metadata").ino();
    let is_hidden = ino("a") != ino("link");
    for arguments in ["find -f nul .", "remove --dry-run ."] {
        let run = run_at(point, home.path(), arguments).exits(0);
        let times = run.stderr_text().matches(WORDS).count();
        assert_eq!(times, usize::from(is_hidden), "{what} {arguments}\n{run}");
    }
}

fn fill(source: &Path) {
    for name in ["a", "copy", "another"] {
        fs::write(source.join(name), noise(1, 50_000)).expect("written");
    }
    fs::hard_link(source.join("a"), source.join("link")).expect("a hard link");
}

#[test]
#[ignore = "mounts file systems: root only"]
fn a_mount_that_hides_hard_links_is_named_once() {
    for what in Shown::VIEWS {
        let shows = Shows::new(what);
        fill(&shows.source());
        check(&format!("{what:?}"), &shows.point());
    }
    for what in [
        Shown::Encfs,
        Shown::Gocryptfs,
        Shown::Ntfs3g,
        Shown::Lowntfs3g,
        Shown::Fuse2fs,
    ] {
        let shows = Shows::new(what);
        fill(&shows.point());
        check(&format!("{what:?}"), &shows.point());
    }
}

#[test]
#[ignore = "mounts file systems: root only"]
fn so_is_a_squashed_folder() {
    let source = tempfile::tempdir().expect("a folder");
    for folder in ["t", "point"] {
        fs::create_dir(source.path().join(folder)).expect("a folder");
    }
    fill(&source.path().join("t"));
    let top = source.path().display();
    sh(&format!(
        "mksquashfs {top}/t {top}/image -quiet -no-progress >{top}/log"
    ));
    let squashed = Mounted::by(
        &format!("squashfuse {top}/image"),
        source.path().join("point"),
    );
    check("squashfuse", squashed.path());
}
