//! Two mounts of one file system have one device number, but no link and no rename leads from one to the other.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::common::run::Run;
use crate::common::users::give;
use crate::common::volume::{Mounted, Volume};
use crate::common::{Tree, noise, seekless};

/// The folder `real`, which the folder `bm` shows as well, on one file system with everything else.
struct Ground {
    _mounted: Mounted,
    tree: Tree,
    _volume: Volume,
}

impl Ground {
    fn new<const N: usize>(names: [&str; N]) -> Self {
        let volume = Volume::tmpfs("");
        let tree = Tree::inside(&volume.path()).folder("bm").folder("real");
        let tree = tree.folder("home").copies(names, noise(1, 5000));
        let bind = format!("--bind {}", tree.path("real").display());
        Self {
            _mounted: Mounted::new(&bind, tree.path("bm")),
            tree,
            _volume: volume,
        }
    }

    fn with_home(&self, home: &str, arguments: &str) -> Run {
        let home = self.tree.path(home);
        let home = home.to_str().expect("plain");
        let run = seekless(self.tree.root(), arguments);
        run.env("HOME", home)
            .env("XDG_DATA_HOME", home)
            .env("XDG_STATE_HOME", home)
            .run()
    }

    fn run(&self, arguments: &str) -> Run {
        self.with_home("home", arguments)
    }

    fn inode(&self, name: &str) -> u64 {
        let now = fs::symlink_metadata(self.tree.path(name));
        now.unwrap_or_else(|error| panic!("{name}: {error}")).ino()
    }

    fn entries(&self, folder: &str) -> usize {
        fs::read_dir(self.tree.path(folder)).map_or(0, Iterator::count)
    }
}

#[test]
#[ignore = "mounts folders: root only"]
fn a_file_goes_to_the_trash_of_its_mount() {
    for is_there in [false, true] {
        let ground = Ground::new(["real/1", "real/2", "real/3"]);
        if is_there {
            fs::create_dir(ground.tree.path("real/.Trash-0")).expect("made");
            give(&ground.tree.path("real/.Trash-0"), 0, 0o700);
        }
        ground.run("remove --trash --yes bm").exits(0);
        assert_eq!(ground.entries("real/.Trash-0/files"), 2);
        assert_eq!(ground.entries("home/Trash"), 0);
        ground.run("undo --yes").exits(0).says("2 files restored");
        assert_eq!(ground.entries("real/.Trash-0/files"), 0);
        let inodes = ["real/1", "real/2", "real/3"].map(|name| ground.inode(name));
        assert!(inodes[0] != inodes[1] && inodes[1] != inodes[2]);
    }
}

/// The names of one file may lie in two mounts.
#[test]
#[ignore = "mounts folders: root only"]
fn a_name_in_another_mount_than_the_kept_file_is_refused_with_the_way_out() {
    let ground = Ground::new(["o/a", "o/kept"]);
    let further = ground.tree.path("real/a");
    fs::hard_link(ground.tree.path("o/a"), further).expect("linked");
    let rules = "--keep longest-path";
    let run = ground.run(&format!("hardlink --yes {rules} o bm")).exits(1);
    run.says("a hard link cannot cross file systems, or mounts of one");
    assert_eq!(ground.inode("o/a"), ground.inode("o/kept"));
    assert_ne!(ground.inode("real/a"), ground.inode("o/kept"));
}
