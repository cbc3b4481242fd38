//! Writes through a memory map to pages that the kernel has not written back: they leave all times as they are.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::thread;
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use seekless::engine::{CacheUse, Config, Mechanism};

use super::{Answer, Runs, answer, config, search, tick, written_back};
use crate::common::limits::Rng;
use crate::common::limits::{rounds, seed};
use crate::common::volume::Volume;
use crate::common::{Tree, noise};

/// A file that a program has mapped, to write to it.
struct Mapped {
    file: File,
    start: *mut u8,
    length: usize,
}

impl Mapped {
    fn new(path: &Path) -> Self {
        let file = File::options().read(true).write(true).open(path);
        let file = file.expect("is there");
        let length = file.metadata().expect("is open").len() as usize;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: nobody else knows of the map.
        let start = unsafe { mmap(ptr::null_mut(), length, access, MapFlags::SHARED, &file, 0) };
        Self {
            start: start.expect("is mapped").cast(),
            file,
            length,
        }
    }

    fn store(&self, at: usize, byte: u8) {
        assert!(at < self.length);
        // SAFETY: the place is inside of the map.
        unsafe { self.start.add(at).write_volatile(byte) };
    }

    fn load(&self, at: usize) -> u8 {
        assert!(at < self.length);
        // SAFETY: as above.
        unsafe { self.start.add(at).read_volatile() }
    }

    fn ctime(&self) -> (i64, i64) {
        let meta = self.file.metadata().expect("is open");
        (meta.ctime(), meta.ctime_nsec())
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the map is of this length, and nobody uses it any more.
        unsafe { munmap(self.start.cast(), self.length) }.expect("is unmapped");
    }
}

/// A tree with two copies of this many bytes, of which one is mapped.
fn copies(volume: &Volume, length: usize) -> (Tree, Mapped) {
    let tree = Tree::inside(&volume.path()).copies(["t/a", "t/b"], noise(1, length));
    let map = Mapped::new(&tree.path("t/a"));
    (tree, map)
}

/// A search that itself writes nothing back, as a query for shared blocks would.
fn search_at_once(roots: &[PathBuf], cache: Option<CacheUse>, digests: bool) -> Answer {
    answer(&Config {
        without: vec![Mechanism::SharedBlocks],
        ..config(roots, cache, digests)
    })
}

/// Searches while a page is dirty, changes the page, and searches again. Returns true if the change left the ctime.
fn changed_while_dirty(roots: &[PathBuf], runs: &mut Runs, map: &Mapped, digests: bool) -> bool {
    let at = map.length / 2;
    let byte = map.load(at);
    written_back(roots);
    tick(roots[0].parent().expect("a folder above"));
    map.store(at, byte);
    let before = map.ctime();
    search_at_once(roots, Some(runs.later()), digests);
    map.store(at, byte ^ 1);
    let is_hidden = map.ctime() == before;
    let without = search_at_once(roots, None, digests);
    let with = search_at_once(roots, Some(runs.later()), digests);
    assert_eq!(with.sets, without.sets, "the cache is wrong");
    is_hidden
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_page_that_stays_dirty_gives_no_wrong_answer() {
    for (kind, mebibytes) in [("ext4", 64), ("xfs", 320), ("btrfs", 256)] {
        let volume = Volume::on_loop(kind, mebibytes, "");
        for (length, digests) in [
            (5000, true),
            (200_000, true),
            (3 << 20, true),
            (3 << 20, false),
        ] {
            let (tree, map) = copies(&volume, length);
            let away = tempfile::tempdir().expect("a folder");
            let mut runs = Runs::new(away.path().join("cache"));
            let roots = [tree.path("t")];
            // The kernel may write the page back at any time.
            let mut tries = (0..20).map(|_| changed_while_dirty(&roots, &mut runs, &map, digests));
            let what = format!("{kind} {length}");
            assert!(
                tries.any(|is_hidden| is_hidden),
                "{what}: each change left a ctime"
            );
            // Once the page is written back, which the kernel may have done already, the file is cached.
            search(&roots, Some(runs.later()));
            assert_eq!(search(&roots, Some(runs.later())).bytes_read(), 0, "{what}");
        }
    }
}

/// Changes a dirty page at some moment of a search, and writes it back before the search ends.
fn written_back_meanwhile(count: usize) {
    let volume = Volume::on_loop("ext4", 64, "");
    let (tree, map) = copies(&volume, 12 << 20);
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = [tree.path("t")];
    let mut rng = Rng::new(seed());
    for round in 0..count {
        let at = rng.below(map.length);
        let byte = map.load(at);
        written_back(&roots);
        tick(tree.root());
        map.store(at, byte);
        let first = runs.later();
        thread::scope(|scope| {
            scope.spawn(|| search_at_once(&roots, Some(first), true));
            thread::sleep(Duration::from_micros(rng.below(60_000) as u64));
            map.store(at, byte ^ 1);
            map.file.sync_all().expect("is written back");
        });
        let without = search(&roots, None);
        let with = search(&roots, Some(runs.later()));
        assert_eq!(with.sets, without.sets, "round {round}");
        map.store(at, byte);
    }
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_page_that_is_written_back_during_a_read_gives_no_wrong_answer() {
    written_back_meanwhile(40);
}

#[test]
#[ignore = "needs root, loop devices and minutes"]
fn in_full_a_page_that_is_written_back_during_a_read_gives_no_wrong_answer() {
    written_back_meanwhile(rounds(5000));
}
