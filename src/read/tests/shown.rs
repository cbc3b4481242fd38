//! Reads of what pictures show.

use std::fs::{self, File};
use std::os::fd::AsFd;

use super::{forget_pages, settings, task, wanted};
use crate::hash::Fold;
use crate::read::access::Access;
use crate::read::page_use::PageUse;
use crate::read::reader::{ReadSettings, Reader};
use crate::read::task::{Ask, Batch, Depth, Outcome};
use crate::sys::page_cache;

/// A JPEG image with so many bytes of data.
fn picture(size: usize) -> Vec<u8> {
    let start =
        b"\xFF\xD8\xFF\xC0\0\x0B\x08\0\x08\0\x08\x01\x01\x11\0\xFF\xDA\0\x08\x01\x01\0\0\x3F\0";
    [&start[..], &vec![7; size], b"\xFF\xD9"].concat()
}

#[test]
fn its_pages_go_if_they_must_not_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("f");
    fs::write(&path, picture(1 << 20)).expect("written");
    let file = File::open(&path).expect("is there");
    for (page_use, stays) in [(PageUse::Keep, true), (PageUse::Drop, false)] {
        if !forget_pages(&path) {
            // The file system is in memory.
            return;
        }
        let settings = ReadSettings {
            access: Access::new(None, page_use),
            ..settings(folder.path())
        };
        let size = file.metadata().expect("is open").len();
        let whole = wanted(folder.path(), "f", [(0, size), (0, 0)]);
        let mut task = task(&mut Batch::default(), 0, "f", whole.expect, whole.spans);
        task.ask = Ask::Shown(Depth::Parts);
        let outcome = Reader::new(settings, Fold::default()).look(&task, file.as_fd());
        let read = matches!(outcome, Some(Outcome::Read { bytes, .. }) if bytes >= size);
        assert!(read, "{outcome:?}");
        let pages = page_cache::cached_pages(&file, 0, size);
        assert_eq!(pages > Some(0), stays, "{page_use:?}: {pages:?}");
    }
}
