//! Tests of the length of each read of a file.

use std::path::Path;
use std::sync::Arc;

use crate::read::buffer::PIECE;
use crate::read::reader::Reader;
use crate::read::task::{Batch, Span};
use crate::read::testing::{Hashing, add_task, bytes, fingerprint, forget_pages, settings};

use super::file::{FIRST, File, SETTLED, UNDECIDED};

const SIZE: u64 = 1 << 20;

/// A file in this folder of which these spans are wanted.
fn file(folder: &Path, spans: [(u64, u64); 2], may_end_early: bool) -> File<Hashing> {
    let path = folder.join("file");
    if !path.exists() {
        std::fs::write(&path, bytes(1, SIZE as usize)).expect("written");
    }
    let spans = spans.map(|(offset, len)| Span { offset, len });
    let mut batch = Batch::default();
    let task = add_task(&mut batch, 0, "file", fingerprint(&path), spans);
    task.may_end_early = may_end_early;
    let fd = std::fs::File::open(&path).expect("is there");
    File::new(*task, Arc::new(fd.into()), (false, false))
}

/// Bytes of the first read, and of one after this many.
fn reads(mut file: File<Hashing>, after: u64) -> (u64, u64) {
    let first = file.next_to_read().len;
    file.read = after;
    (first, file.next_to_read().len)
}

#[test]
fn readahead_is_begun_with_small_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut reader = Reader::new(settings(folder.path()), Hashing::default());
    let mut prepared = |spans| {
        let mut file = file(folder.path(), spans, false);
        let is_cold = forget_pages(&folder.path().join("file"));
        file.prepare(&mut reader, false);
        is_cold.then_some(file)
    };
    let whole = [(0, SIZE), (0, 0)];
    let Some(file) = prepared(whole) else { return };
    assert_eq!(reads(file, SETTLED), (FIRST, PIECE as u64));
    let Some(file) = prepared([(0, 4096), (0, SIZE)]) else {
        return;
    };
    assert_eq!(reads(file, SETTLED), (FIRST, PIECE as u64));
    // The head's digest is taken from the first piece.
    let Some(file) = prepared([(0, 100_000), (0, SIZE)]) else {
        return;
    };
    assert_eq!(reads(file, 100_000), (100_000, PIECE as u64));
    // Of a stretch the kernel is told exactly what is wanted.
    let Some(file) = prepared([(4096, 300_000), (600_000, 300_000)]) else {
        return;
    };
    assert_eq!(reads(file, SETTLED).0, PIECE as u64);
}

#[test]
fn what_is_cached_or_announced_is_read_in_large_pieces() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut reader = Reader::new(settings(folder.path()), Hashing::default());
    for is_announced in [false, true] {
        let mut file = file(folder.path(), [(0, SIZE), (0, 0)], false);
        if is_announced {
            forget_pages(&folder.path().join("file"));
        }
        file.prepare(&mut reader, is_announced);
        assert_eq!(reads(file, SETTLED), (PIECE as u64, PIECE as u64));
    }
}

#[test]
fn a_file_that_is_read_in_order_has_no_read_longer_than_the_readahead() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut file = file(folder.path(), [(0, SIZE), (0, 0)], false);
    file.task.device.in_order = true;
    assert_eq!(reads(file, SETTLED), (128 << 10, 128 << 10));
}

#[test]
fn it_is_left_open_whether_to_read_on_only_if_the_head_will_be_known_by_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let decided = |head| file(folder.path(), [(0, head), (0, SIZE)], true).decided();
    assert_eq!(decided(4096), UNDECIDED);
    assert_eq!(decided(UNDECIDED), UNDECIDED);
    assert_eq!(decided(UNDECIDED + 1), SIZE);
}
