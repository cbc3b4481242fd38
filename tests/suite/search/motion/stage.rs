//! The tree: what nobody touches, what is played with, and enough folders that a run takes its time.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use rustix::mount::{UnmountFlags, mount_bind, unmount};
use tempfile::TempDir;

use super::truth::{FileId, Prospect, Truth};
use super::watch::Watch;
use crate::common::rng::Rng;
use crate::common::volume::Volume;

/// Symbolic links to folders in the tree, and where they lead.
pub const LINKS: [(&str, &str); 2] = [
    ("one/links/still", "one/still/0"),
    ("two/links/h", "two/h/0"),
];

/// Read whole at once, sampled at the head, sampled at both ends, compared.
const LENGTHS: [usize; 4] = [300, 5_000, 40_000, 200_000];

/// How long the files are that are played with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Many have the same, so that they are read.
    Shared,
    /// Each has its own, so that nothing of it is read: only the scan sees it.
    Own,
}

#[derive(Debug)]
pub struct Stage {
    pub truth: Truth,
    pub rng: Rng,
    pub watch: Option<Watch>,
    pub lengths: Lengths,
    /// What is mounted over folders, with what it hides.
    pub covers: BTreeMap<String, Vec<(String, FileId)>>,
    /// Something to mount, with its files.
    pub covering: Option<(Volume, Vec<(String, FileId)>)>,
    _folder: TempDir,
}

pub const HOSTS: usize = 6;
const LEAVES: usize = 4;
const FILES: usize = 3;
const FILLERS: usize = 150;

impl Stage {
    pub fn new(place: &Path, seed: u64, lengths: Lengths) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("seekless-motion-")
            .tempdir_in(place)
            .expect("a temporary folder");
        let top = folder.path().canonicalize().expect("a real path");
        let mut stage = Self {
            truth: Truth::new(&top),
            rng: Rng::new(seed),
            watch: Some(Watch::new()),
            lengths,
            covers: BTreeMap::new(),
            covering: None,
            _folder: folder,
        };
        stage.fill();
        stage
    }

    pub fn top(&self) -> &Path {
        &self.truth.top
    }

    fn folder(&self, name: &str) {
        fs::create_dir_all(self.truth.path(name)).expect("a folder");
    }

    fn fill(&mut self) {
        // By turns, so that what belongs together lies apart in the order of inode numbers.
        for filler in 0..FILLERS {
            for root in ["one", "two"] {
                let folder = format!("{root}/fill/{}/{filler}", filler % 7);
                self.folder(&folder);
                let size = 6_000 + 2 * filler + usize::from(root == "two");
                let content = self.truth.content(size);
                let file = self.truth.create(&format!("{folder}/f"), content);
                self.truth.files[file.0].still = true;
            }
            if filler % (FILLERS / HOSTS) == 0 {
                let host = filler / (FILLERS / HOSTS);
                self.host("one", host);
                self.still(host);
                self.host("two", HOSTS - 1 - host);
            }
        }
        if self.lengths == Lengths::Shared {
            self.pairs();
        }
        for (link, target) in LINKS {
            let path = self.truth.path(link);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            symlink(self.truth.path(target), path).expect("a link");
        }
        let watched: Vec<PathBuf> = walkdir::WalkDir::new(self.top())
            .into_iter()
            .map(|entry| entry.expect("an entry"))
            .filter(|entry| entry.file_type().is_dir())
            .map(walkdir::DirEntry::into_path)
            .collect();
        if let Some(watch) = &mut self.watch {
            for path in watched {
                let name = path.strip_prefix(&self.truth.top).expect("below");
                watch.add(&path, name.to_str().expect("ASCII"));
            }
        }
    }

    /// A place with folders and files to play with.
    fn host(&mut self, root: &str, host: usize) {
        let host = format!("{root}/h/{host}");
        self.folder(&host);
        self.truth.folders.insert(host.clone(), Prospect::Ahead);
        for _ in 0..LEAVES {
            let leaf = self.make_leaf(&host);
            for _ in 0..FILES {
                self.make_file(&leaf);
            }
        }
    }

    /// Equal files, one below each root, to play with.
    fn pairs(&mut self) {
        for host in 0..HOSTS {
            for _ in 0..2 {
                let size = self.length();
                let content = self.truth.content(size);
                for root in ["one", "two"] {
                    let leaves = self.leaves();
                    let host = format!("{root}/h/{host}/");
                    let leaves: Vec<_> = leaves.iter().filter(|l| l.starts_with(&host)).collect();
                    let leaf = (*self.rng.pick(&leaves)).clone();
                    let name = self.name_in(&leaf);
                    self.truth.create(&name, content);
                }
            }
        }
    }

    /// Pairs, further names and unique files that nobody touches.
    fn still(&mut self, number: usize) {
        let (one, two) = (format!("one/still/{number}"), format!("two/still/{number}"));
        self.folder(&one);
        self.folder(&two);
        let before = self.truth.files.len();
        for size in LENGTHS {
            let content = self.truth.content(size);
            self.truth.create(&format!("{one}/pair-{size}"), content);
            self.truth.create(&format!("{two}/pair-{size}"), content);
            let content = self.truth.content(size);
            self.truth.create(&format!("{one}/near-{size}"), content);
            self.truth.create(&format!("{one}/here-{size}"), content);
            let content = self.truth.content(size);
            self.truth.create(&format!("{two}/named-{size}"), content);
            self.truth.link(
                &format!("{two}/named-{size}"),
                &format!("{one}/again-{size}"),
            );
            let content = self.truth.content(size);
            self.truth.create(&format!("{two}/alone-{size}"), content);
            let content = self.truth.content(size);
            self.truth.create(&format!("{one}/alone-{size}"), content);
        }
        for known in &mut self.truth.files[before..] {
            known.still = true;
        }
    }

    /// A folder to play with in a host.
    pub fn make_leaf(&mut self, host: &str) -> String {
        let leaf = format!("{host}/d{}", self.truth.fresh());
        self.truth.make_folder(&leaf);
        self.watched(&leaf);
        leaf
    }

    /// Takes note of a folder's name.
    pub fn watched(&mut self, folder: &str) {
        if let Some(watch) = &mut self.watch {
            watch.add(&self.truth.path(folder), folder);
        }
    }

    /// A length for a file to play with.
    pub fn length(&mut self) -> usize {
        match self.lengths {
            Lengths::Shared => *self.rng.pick(&LENGTHS),
            Lengths::Own => 10_000 + usize::try_from(self.truth.fresh()).expect("small"),
        }
    }

    /// A name that nothing ever had.
    pub fn name_in(&mut self, leaf: &str) -> String {
        format!("{leaf}/f{}", self.truth.fresh())
    }

    /// A file with content of its own in a folder to play with.
    pub fn make_file(&mut self, leaf: &str) -> String {
        let size = self.length();
        let content = self.truth.content(size);
        let name = self.name_in(leaf);
        self.truth.create(&name, content);
        name
    }

    /// Folders to play with that hold files.
    pub fn leaves(&self) -> Vec<String> {
        let leaves = self.truth.folders.keys();
        let leaves = leaves.filter(|name| name.split('/').count() == 4);
        leaves
            .filter(|name| !self.covers.contains_key(*name))
            .cloned()
            .collect()
    }

    pub fn hosts(&self) -> Vec<String> {
        let hosts = self.truth.folders.keys();
        let hosts = hosts.filter(|name| name.split('/').count() == 3);
        hosts.cloned().collect()
    }

    /// Names of files to play with.
    pub fn toys(&self) -> Vec<String> {
        let leaves = self.leaves();
        leaves
            .iter()
            .flat_map(|leaf| self.truth.below(leaf))
            .collect()
    }

    /// Mounts something over a folder: memory, or another folder of the tree.
    pub fn cover(&mut self, leaf: &str, with: Option<&str>) {
        let (source, files) = match with {
            Some(other) => {
                let names = self.truth.below(other);
                let files = names.iter().map(|name| {
                    let file = self.truth.at(name).expect("known");
                    (name[other.len()..].to_owned(), file)
                });
                (self.truth.path(other), files.collect())
            }
            None => {
                if self.covering.is_none() {
                    self.covering = Some(self.make_covering());
                }
                let (volume, files) = self.covering.as_ref().expect("made");
                (volume.path(), files.clone())
            }
        };
        let hidden = self.truth.below(leaf);
        let hidden = hidden.into_iter().map(|name| {
            let file = self.truth.at(&name).expect("known");
            (name, file)
        });
        let hidden = hidden.collect();
        mount_bind(source, self.truth.path(leaf)).expect("mounted");
        let there: Vec<_> = files
            .into_iter()
            .map(|(name, file)| (format!("{leaf}{name}"), file))
            .collect();
        self.truth.covered(leaf, &there);
        self.covers.insert(leaf.to_owned(), hidden);
    }

    fn make_covering(&mut self) -> (Volume, Vec<(String, FileId)>) {
        let volume = Volume::tmpfs("");
        let files = LENGTHS.map(|length| {
            let content = self.truth.content(length);
            let name = format!("/m{length}");
            let path = volume.path().join(&name[1..]);
            fs::write(&path, content.bytes()).expect("written");
            let ino = fs::metadata(&path).expect("metadata").ino();
            (name, self.truth.foreign(ino, content))
        });
        (volume, files.into())
    }

    pub fn uncover(&mut self, leaf: &str) {
        unmount(self.truth.path(leaf), UnmountFlags::DETACH).expect("unmounted");
        let hidden = self.covers.remove(leaf).expect("covered");
        self.truth.covered(leaf, &hidden);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for leaf in self.covers.keys() {
            let _ = unmount(self.truth.path(leaf), UnmountFlags::DETACH);
        }
    }
}
