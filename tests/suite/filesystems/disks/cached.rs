//! Files of programs' mounts and overlays that are in the page cache.

use std::fs;

use super::run_at;
use crate::common::mounts::{Shown, Shows};
use crate::common::noise;

const LEN: usize = 8 << 20;

/// What is compared is read as far as it is equal, and what is hashed to its end.
#[test]
#[ignore = "mounts file systems: root only"]
fn large_files_that_are_cached_are_compared_and_not_hashed() {
    for what in [Shown::Ntfs3g, Shown::Fuse2fs, Shown::Overlay] {
        let shows = Shows::new(what);
        let (point, home) = (shows.point(), tempfile::tempdir().expect("a folder"));
        let one = noise(1, LEN);
        let mut other = one.clone();
        other[LEN / 8] ^= 1;
        for (name, content) in [("a", &one), ("b", &other)] {
            fs::write(point.join(name), content).expect("written");
            assert_eq!(&fs::read(point.join(name)).expect("read"), content);
        }
        let run = run_at(&point, home.path(), "find -f json --digest when-needed .").exits(0);
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
        assert_eq!(report["sets"].as_array().map(Vec::len), Some(0), "{run}");
        let read = report["summary"]["devices"][0]["bytes_read"]
            .as_u64()
            .expect("a number");
        assert!(read < LEN as u64, "{what:?}: {read} of {LEN} bytes each");
    }
}
