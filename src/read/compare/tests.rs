//! Tests that compare files with each other and check the outcomes against their contents.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::Path;

use crossbeam_channel::unbounded;

use crate::device::VolumeId;
use crate::file::FileIndex;
use crate::hash::Fold;
use crate::read::access::Access;
use crate::read::holes::Holes;
use crate::read::open_file::OpenFile;
use crate::read::page_use::PageUse;
use crate::read::reader::Reader;
use crate::read::stream::Window;
use crate::read::task::{Ask, Batch, BatchKind, Completion, Failure, Outcome, Task};
use crate::read::tests::{add_task, bytes, failure, settings, wanted};
use crate::read::worker::{self, Shape};

/// Files whose contents have these marks, compared; returns each one's outcome.
fn compare(marks: &[(usize, u8)], size: usize, spoil: impl Fn(&Path)) -> Vec<Outcome> {
    let folder = tempfile::tempdir().expect("a folder");
    let content = |i: usize| {
        let (place, mark) = marks[i];
        let mut content = bytes(1, size);
        content[place] ^= mark;
        content
    };
    compare_spoilt(folder.path(), marks.len(), content, spoil)
}

fn compare_spoilt(
    folder: &Path,
    files: usize,
    content: impl Fn(usize) -> Vec<u8>,
    spoil: impl Fn(&Path),
) -> Vec<Outcome> {
    answered(folder, files, Ask::Bytes, content, spoil)
}

fn answered(
    folder: &Path,
    files: usize,
    ask: Ask,
    content: impl Fn(usize) -> Vec<u8>,
    spoil: impl Fn(&Path),
) -> Vec<Outcome> {
    let mut batch = Batch {
        kind: BatchKind::Compare,
        ..Batch::default()
    };
    for i in 0..files {
        let (name, content) = (format!("f{i}"), content(i));
        fs::write(folder.join(&name), &content).expect("written");
        let want = wanted(folder, &name, [(0, content.len() as u64), (0, 0)]);
        let task = add_task(&mut batch, i as u32, &name, want.expect, want.spans);
        task.ask = ask;
        task.device.has_head = true;
    }
    let settings = settings(folder);
    spoil(folder);
    let (to, tasks) = unbounded();
    let (done, completions) = unbounded();
    to.send(batch).expect("we hold the other end");
    drop(to);
    let shape = Shape {
        completions: 64,
        slots: 2,
        slot_size: 4096,
        window: Window { bytes: 1, files: 1 },
    };
    worker::run(Reader::new(settings, Fold::default()), shape, &tasks, &done);
    drop(done);
    let mut all: Vec<_> = completions.into_iter().flatten().collect();
    all.sort_by_key(|completion| completion.ticket);
    assert_eq!(all.len(), files, "one answer for each");
    all.into_iter()
        .map(|completion| completion.outcome)
        .collect()
}

#[test]
fn comparing_tells_apart_what_differs_anywhere() {
    const SIZE: usize = 300_001;
    let places = [0, 65_535, 65_536, 150_000, SIZE - 1];
    let mut marks = vec![(0, 0); 3];
    for place in places {
        marks.extend([(place, 1), (place, 2), (place, 1)]);
    }
    let outcomes = compare(&marks, SIZE, |_| ());
    for (i, outcome) in outcomes.iter().enumerate() {
        let first = marks.iter().position(|mark| *mark == marks[i]);
        let Outcome::Compared { with, bytes, .. } = *outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(marks[with.0 as usize], marks[i], "file {i}");
        assert_eq!(Some(with.0 as usize), first, "file {i}");
        let alone = marks.iter().filter(|mark| **mark == marks[i]).count() == 1;
        let all = SIZE as u64;
        assert!(if alone { bytes <= all } else { bytes == all }, "{bytes}");
    }
    let early =
        |outcome: &Outcome| matches!(outcome, Outcome::Compared { bytes, .. } if *bytes == 1 << 16);
    assert!(
        early(&outcomes[13]),
        "a difference in the middle, where a large class is looked at first, ends the reading"
    );
}

#[test]
fn what_cannot_be_compared_is_named_and_leaves_the_others_alone() {
    let marks = [(0, 0); 4];
    let outcomes = compare(&marks, 200_000, |folder| {
        fs::remove_file(folder.join("f0")).expect("removed");
        let file = File::options().write(true).open(folder.join("f2"));
        file.and_then(|file| file.set_len(100)).expect("cut off");
    });
    assert_eq!(failure(&outcomes[0]), Failure::Vanished);
    assert_eq!(failure(&outcomes[2]), Failure::Changed);
    for i in [1, 3] {
        let equal = matches!(
            outcomes[i],
            Outcome::Compared {
                with: FileIndex(1),
                bytes: 200_000,
                may_be_stored: false,
            }
        );
        assert!(equal, "{:?}", outcomes[i]);
    }
}

#[test]
fn files_are_compared_with_the_first_one_that_can_be_read() {
    const SIZE: usize = 300_000;
    for ask in [Ask::Bytes, Ask::EveryByte] {
        let folder = tempfile::tempdir().expect("a folder");
        let content = |_| vec![0; SIZE];
        let outcomes = answered(folder.path(), 3, ask, content, |folder| {
            fs::remove_file(folder.join("f0")).expect("removed");
        });
        assert_eq!(failure(&outcomes[0]), Failure::Vanished);
        for outcome in &outcomes[1..] {
            let Outcome::Compared { with, bytes, .. } = *outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!((with, bytes), (FileIndex(1), SIZE as u64), "{ask:?}");
        }
    }
}

/// The tasks for two files that lie in the same blocks; the first file is written to afterwards.
fn two_in_the_same_blocks(folder: &Path) -> [Task; 2] {
    let mut batch = Batch::default();
    for (i, name) in ["first", "second"].into_iter().enumerate() {
        fs::write(folder.join(name), bytes(1, 200_000)).expect("written");
        let want = wanted(folder, name, [(0, 200_000), (0, 0)]);
        add_task(&mut batch, i as u32, name, want.expect, want.spans);
    }
    fs::write(folder.join("first"), bytes(2, 200_000)).expect("written");
    [batch.tasks[0], batch.tasks[1]]
}

/// The two files, open.
fn descriptors(folder: &Path) -> [File; 2] {
    ["first", "second"].map(|name| File::open(folder.join(name)).expect("is there"))
}

/// The first with the other in the same blocks.
fn opened<'a>(
    [first, second]: &'a [Task; 2],
    [first_file, second_file]: &'a [File; 2],
    access: &'a Access,
) -> super::File<'a> {
    let open = |task, file: &'a File| super::File {
        task,
        access,
        open: OpenFile::new(file.as_fd(), VolumeId(0), false),
        holes: Holes::of(false),
        same_blocks: Vec::new(),
        may_be_stored: false,
    };
    super::File {
        same_blocks: vec![open(second, second_file)],
        ..open(first, first_file)
    }
}

/// The compared bytes did not belong to these files any more.
#[test]
fn files_are_not_equal_to_what_another_one_of_their_blocks_became() {
    let folder = tempfile::tempdir().expect("a folder");
    let tasks = two_in_the_same_blocks(folder.path());
    let mut answers: Vec<Completion> = Vec::new();
    let access = Access::new(None, PageUse::Keep);
    let files = descriptors(folder.path());
    let first = opened(&tasks, &files, &access);
    super::settle(&[first], 200_000, &mut answers);
    assert_eq!(answers.len(), 2);
    for answer in &answers {
        assert_eq!(failure(&answer.outcome), Failure::Changed);
    }
}
