//! One thing at one moment: what was listed is removed, and what is made where the run has yet to come gets its inode.
//!
//! The run is stopped when it has opened some of many folders. An inode is given back and files are made until one of
//! them has its number, which takes one or two on ext4 with a journal: each run meets it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::stops::stopped_once;
use super::watch::Watch;
use crate::common::volume::Volume;
use crate::common::{Run, Tree, noise};

const FOLDERS: usize = 600;
/// As many as are opened before the run is stopped.
const OPENED: usize = 40;
const LENGTH: usize = 5_000;

/// Many folders with one file each: all of one length, no two equal.
struct Scene {
    volume: Volume,
    tree: Tree,
    watch: Watch,
    folders: Vec<String>,
}

impl Scene {
    fn new() -> Self {
        let volume = Volume::on_loop("ext4", 64, "");
        let tree = Tree::inside(&volume.path());
        let mut watch = Watch::new();
        let folders: Vec<String> = (0..FOLDERS).map(|number| format!("top/{number}")).collect();
        for (number, folder) in folders.iter().enumerate() {
            tree.write(format!("{folder}/old"), noise(number as u64, LENGTH));
            watch.add(&tree.path(folder), folder);
        }
        Self {
            volume,
            tree,
            watch,
            folders,
        }
    }

    /// Runs with one walker; when that has been in a folder and gone on, does something with this folder and one that
    /// it has yet to come to.
    fn run(&self, options: &str, mut does: impl FnMut(&Path, &Path) -> bool) -> Run {
        let arguments = format!("find -f json --threads 1 {options} top");
        let root = self.tree.root();
        let run = stopped_once(root, &arguments, &self.watch, OPENED, |opened| {
            let ahead = self.folders.iter().find(|folder| !opened.contains(folder));
            let Some(ahead) = ahead.map(|ahead| self.tree.path(ahead)) else {
                return false;
            };
            // What the run still has open keeps its number for now.
            let done = opened.iter().any(|was| does(&self.tree.path(was), &ahead));
            assert!(done, "a number is given to somebody");
            true
        });
        assert!(self.volume.path().exists());
        run
    }
}

/// Makes things until one has this inode number, and takes the others away again.
fn until(ino: u64, folder: &Path, make: impl Fn(&Path)) -> Option<PathBuf> {
    let mut others = Vec::new();
    let found = (0..100)
        .map(|number| folder.join(format!("new{number}")))
        .find(|path| {
            make(path);
            let is_it = fs::metadata(path).expect("metadata").ino() == ino;
            if !is_it {
                others.push(path.clone());
            }
            is_it
        });
    for other in others {
        let _ = fs::remove_file(&other).or_else(|_| fs::remove_dir(&other));
    }
    found
}

fn ino(path: &Path) -> u64 {
    fs::metadata(path).expect("metadata").ino()
}

/// All names of the sets, each as it is below the tree.
fn names(run: &Run) -> Vec<BTreeSet<String>> {
    let text = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
    let sets = run.file_sets();
    sets.iter()
        .map(|set| set.iter().flatten().map(text).collect())
        .collect()
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_file_with_the_inode_of_one_that_was_listed_is_another_file() {
    for options in [
        "",
        "-H",
        "--verify",
        "-H --verify",
        "-L -H",
        "--digest=when-needed",
    ] {
        let scene = Scene::new();
        let root = scene.tree.root();
        let mut expected = BTreeSet::new();
        let run = scene.run(options, |listed, ahead| {
            let number = ino(&listed.join("old"));
            fs::remove_file(listed.join("old")).expect("removed");
            let Some(new) = until(number, ahead, |path| {
                fs::write(path, noise(7_000, LENGTH)).expect("written");
            }) else {
                return false;
            };
            let twin = ahead.join("twin");
            fs::write(&twin, noise(7_000, LENGTH)).expect("written");
            expected = [new, twin]
                .map(|path| {
                    let name = path.strip_prefix(root).expect("below");
                    name.to_string_lossy().into_owned()
                })
                .into();
            true
        });
        assert_eq!(names(&run), [expected], "{options}\n{run}");
    }
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_unique_file_with_the_inode_of_one_that_was_listed_is_shown() {
    for options in ["", "-H", "-L"] {
        let scene = Scene::new();
        let root = scene.tree.root();
        let mut expected = String::new();
        let run = scene.run(&format!("--unique {options}"), |listed, ahead| {
            let number = ino(&listed.join("old"));
            fs::remove_file(listed.join("old")).expect("removed");
            let Some(new) = until(number, ahead, |path| {
                fs::write(path, noise(7_000, LENGTH)).expect("written");
            }) else {
                return false;
            };
            let name = new.strip_prefix(root).expect("below");
            expected = name.to_string_lossy().into_owned();
            true
        });
        let found = names(&run);
        let alone = BTreeSet::from([expected]);
        assert!(found.contains(&alone), "{options}: {alone:?}\n{run}");
        // The removed one may be missing, and nothing else.
        assert!(
            found.len() >= FOLDERS - OPENED,
            "{options}: {} shown\n{run}",
            found.len()
        );
    }
}

#[test]
#[ignore = "mounts a file system: root only"]
fn a_folder_with_the_inode_of_one_that_was_listed_is_listed() {
    for options in ["", "-H", "-L", "--verify"] {
        let scene = Scene::new();
        let root = scene.tree.root();
        let mut expected = BTreeSet::new();
        let run = scene.run(options, |listed, ahead| {
            let number = ino(listed);
            fs::remove_dir_all(listed).expect("removed");
            let Some(new) = until(number, ahead, |path| {
                fs::create_dir(path).expect("a folder")
            }) else {
                return false;
            };
            for name in ["one", "two"] {
                fs::write(new.join(name), noise(7_000, LENGTH)).expect("written");
            }
            let new = new
                .strip_prefix(root)
                .expect("below")
                .to_string_lossy()
                .into_owned();
            expected = ["one", "two"].map(|name| format!("{new}/{name}")).into();
            true
        });
        assert_eq!(names(&run), [expected], "{options}\n{run}");
    }
}
