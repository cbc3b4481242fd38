//! Set-user-ID bits and capabilities on a disk that somebody else prepared: a mount with `nosuid` ignores them, and no
//! action carries them to a mount that does not.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::common::noise;
use crate::common::run::{Run, seekless};
use crate::common::users::set_mode;
use crate::common::volume::{Volume, sh};

const CAPABILITY: &str = "security.capability";

/// A stick with two equal programs that run as their owner and may change their user, and root's own folder.
struct Stick {
    volume: Volume,
    own: tempfile::TempDir,
}

impl Stick {
    fn new(mounted: &str) -> Self {
        let volume = Volume::on_loop("ext4", 64, "");
        let own = tempfile::tempdir().expect("a folder");
        let stick = Self { volume, own };
        for name in ["f1", "f2"] {
            stick.program(&stick.volume.path().join(name));
        }
        sh(&format!(
            "mount -o remount,{mounted} {}",
            stick.volume.path().display()
        ));
        stick
    }

    fn program(&self, path: &Path) {
        crate::common::write(path, noise(1, 9_000)).expect("written");
        set_mode(path, 0o6755);
        // CAP_SETUID, permitted and effective, in the second version of the format (linux/capability.h).
        let mut capability = [0; 20];
        capability[..8].copy_from_slice(&[1, 0, 0, 2, 1 << 7, 0, 0, 0]);
        let set = setxattr(path, CAPABILITY, &capability, XattrFlags::empty());
        set.expect("a file system with capabilities");
    }

    fn run(&self, arguments: &str) -> Run {
        let own = self.own.path();
        seekless(own, arguments)
            .env("XDG_STATE_HOME", own.join("state").to_str().expect("plain"))
            .run()
    }

    fn top(&self) -> String {
        self.volume.path().display().to_string()
    }
}

/// True if a program has more rights than whoever runs it, and all of those that it was made with.
fn has_set_id(path: &Path) -> bool {
    let mode = fs::metadata(path).expect("it is there").mode();
    let capable = getxattr(path, CAPABILITY, &mut [0; 24][..]).is_ok();
    let bits = mode & 0o6000;
    assert_eq!(capable, bits == 0o6000, "{}: {mode:o}", path.display());
    assert!(capable || bits == 0, "{}: {mode:o}", path.display());
    capable
}

/// The copy in root's own folder.
fn moved(stick: &Stick) -> PathBuf {
    let to = stick.own.path().join("to");
    to.join(stick.volume.path().strip_prefix("/").expect("absolute"))
        .join("f2")
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_copy_elsewhere_has_none_that_the_mount_ignored() {
    let stick = Stick::new("nosuid");
    let run = stick.run(&format!("move --yes --to to --keep oldest {}", stick.top()));
    let run = run.exits(0).says("nosuid");
    assert!(!has_set_id(&moved(&stick)), "{run}");
    // Back on the mount, they do no harm.
    stick.run("undo --yes").exits(0);
    assert!(has_set_id(&stick.volume.path().join("f2")));
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_copy_elsewhere_has_those_that_counted() {
    let stick = Stick::new("suid");
    let run = stick.run(&format!("move --yes --to to --keep oldest {}", stick.top()));
    run.exits(0).never_says("nosuid");
    assert!(has_set_id(&moved(&stick)));
}

#[test]
#[ignore = "mounts a file system: root only"]
fn undo_gives_none_where_they_would_count() {
    let stick = Stick::new("nosuid");
    let line = format!("hardlink --yes --keep oldest {}", stick.top());
    stick.run(&line).exits(0);
    sh(&format!("mount -o remount,suid {}", stick.top()));
    let undone = stick.run("undo --yes").says("nosuid");
    assert!(!has_set_id(&stick.volume.path().join("f2")), "{undone}");
}
