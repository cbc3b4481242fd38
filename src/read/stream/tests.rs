//! Tests of the order in which a stream begins files.

use std::fs;

use crossbeam_channel::unbounded;

use crate::hash::Fold;
use crate::read::reader::Reader;
use crate::read::task::{Batch, Recalls, Source, Span};
use crate::read::tests::{add_task, bytes, fingerprint, settings};

use super::{Stream, Window};

const WINDOW: Window = Window {
    bytes: 256 << 10,
    files: 8,
};

/// The most files that are under way at a time, of files that begin at this distance from each other.
fn most_at_a_time(distance: u64) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let mut batch = Batch::default();
    for number in 0..40 {
        let name = format!("f{number}");
        let path = folder.path().join(&name);
        fs::write(&path, bytes(number, 4096)).expect("written");
        let whole = Span {
            offset: 0,
            len: 4096,
        };
        let none = Span { offset: 0, len: 0 };
        let expect = fingerprint(&path);
        add_task(&mut batch, number as u32, &name, expect, [whole, none]).position =
            number * distance;
    }
    let mut reader = Reader::new(settings(folder.path()), Fold::default());
    let ((_, tasks), (done, completions)) = (unbounded(), unbounded());
    let recalls = Recalls::default();
    let mut source = Source::new(batch, &tasks, &done, 64, &recalls);
    let (mut stream, mut most) = (Stream::new(WINDOW), 0);
    loop {
        stream.announce(&mut reader, &mut source);
        most = most.max(stream.files.len());
        let Some((piece, failure)) = stream.read_on(&mut reader) else {
            break;
        };
        stream.take(piece, failure, &mut reader, &mut source);
    }
    source.end();
    assert_eq!(completions.try_iter().flatten().count(), 40);
    most
}

#[test]
fn files_close_together_are_announced_as_far_as_the_drive_reads_on() {
    assert_eq!(most_at_a_time(64 << 10), 4);
    assert_eq!(most_at_a_time(128 << 10), 2);
    // The drive may choose among files far apart.
    assert_eq!(most_at_a_time(1 << 20), 8);
    // These are numbers of inodes instead of positions.
    assert_eq!(most_at_a_time(1), 8);
}
