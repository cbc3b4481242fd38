//! What is read for measuring: which blocks, which files, and where they lie.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use crate::read::{Access, PageUse};
use crate::sys::extents;

use super::control::Control;
use super::listing::Listing;
use super::rng::Rng;
use super::test_data::{TestData, position_in};

fn access() -> Access {
    Access::new(None, PageUse::Drop, None)
}

fn test_data(files: &[(&str, usize)]) -> (tempfile::TempDir, TestData) {
    let folder = tempfile::tempdir().expect("a folder");
    for &(name, size) in files {
        let file = folder.path().join(name);
        fs::write(&file, vec![7; size]).expect("written");
        fs::File::open(&file)
            .expect("opened")
            .sync_all()
            .expect("synced");
    }
    let until = Instant::now() + Duration::from_secs(600);
    let mut rng = Rng::new(1);
    let mut listing = Listing::below(folder.path(), until, &mut rng, &Control::default());
    for entry in &mut listing.entries {
        entry.stat = entry.ask();
    }
    let test_data = TestData::of_files(&listing, access());
    (folder, test_data)
}

#[test]
fn every_block_of_every_file_can_be_met_and_no_other() {
    let (_folder, test_data) = test_data(&[("a", 4096), ("b", 10_000), ("empty", 0)]);
    let (mut rng, sums) = (Rng::new(2), test_data.block_sums());
    let mut met = HashSet::new();
    for _ in 0..1000 {
        let (file, offset) = test_data.any_block(&sums, &mut rng);
        assert!(offset < test_data.files[file].size);
        met.insert((file, offset));
    }
    assert_eq!(met.len(), 4);
    assert_eq!(test_data.bytes(), 14_096);
}

#[test]
fn holes_and_further_names_are_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let hole = fs::File::create(folder.path().join("hole")).expect("made");
    hole.set_len(1 << 20).expect("grown");
    let full = folder.path().join("full");
    fs::write(&full, vec![7; 5000]).expect("written");
    fs::File::open(&full)
        .expect("opened")
        .sync_all()
        .expect("synced");
    fs::hard_link(&full, folder.path().join("again")).expect("linked");
    // Where room can be reserved, it is; not every file system knows that, or tells.
    let reserved = fs::File::create(folder.path().join("reserved")).expect("made");
    let flags = rustix::fs::FallocateFlags::empty();
    let is_known = rustix::fs::fallocate(&reserved, flags, 0, 1 << 20).is_ok()
        && extents::extents(&reserved).is_some();
    if !is_known {
        fs::remove_file(folder.path().join("reserved")).expect("removed");
    }
    let sparse = 1 + u64::from(is_known);
    let until = Instant::now() + Duration::from_secs(600);
    let control = Control::default();
    let mut listing = Listing::below(folder.path(), until, &mut Rng::new(1), &control);
    for entry in &mut listing.entries {
        entry.stat = entry.ask();
    }
    let test_data = TestData::of_files(&listing, access());
    assert_eq!((test_data.files.len(), test_data.sparse), (1, sparse));
}

#[test]
fn positions_follow_the_extents() {
    let extent = |logical, physical, length| extents::Extent {
        logical,
        physical,
        length,
        shared: false,
        unwritten: false,
        inline: false,
    };
    let extents = [extent(0, 1000, 10), extent(20, 5000, 20)];
    for (offset, position) in [
        (0, Some(1000)),
        (9, Some(1009)),
        (10, None),
        (21, Some(5001)),
        (40, None),
    ] {
        assert_eq!(position_in(&extents, offset), position);
    }
}
