//! Tests that compare all ways of reading with a plain read of each file.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::hash::{Digest, SampleDigest};
use crate::sys::reads::Ring;
use crate::sys::{page_cache, reads};

use super::{Wanted, add_task, bytes, failure, forget_pages, in_time, settings, wanted};
use crate::hash::Fold;
use crate::read::access::Access;

use crate::read::many::Many;
use crate::read::page_use::PageUse;
use crate::read::reader::{ReadSettings, Reader};
use crate::read::stream::Window;
use crate::read::task::{Batch, BatchKind, Completion, Failure, Outcome, Recalls, Source};
use crate::read::worker::{self, Shape};

/// The ways of reading that are tried.
#[derive(Clone, Copy, Debug)]
enum Way {
    One,
    Many {
        slots: usize,
        slot_size: usize,
    },
    /// A ring that fails from the first call on.
    Broken,
    /// Two files of three one after the other, the rest through a ring.
    Stream {
        bytes: u64,
        files: usize,
    },
    /// One file after the other, past the page cache as far as that can be.
    PastCache,
}

const WAYS: [Way; 10] = [
    Way::PastCache,
    Way::Stream { bytes: 0, files: 1 },
    Way::Stream { bytes: 1, files: 1 },
    Way::Stream {
        bytes: 1 << 20,
        files: 3,
    },
    Way::One,
    Way::Broken,
    Way::Many {
        slots: 2,
        slot_size: 4096,
    },
    Way::Many {
        slots: 5,
        slot_size: 1000,
    },
    Way::Many {
        slots: 64,
        slot_size: 32 << 10,
    },
    Way::Many {
        slots: 8,
        slot_size: 256 << 10,
    },
];

/// Reads all and returns the outcomes in the order in which they were wanted.
fn read(way: Way, settings: &ReadSettings, all: &[Wanted]) -> Vec<Outcome> {
    let (settings, all) = (settings.clone(), all.to_vec());
    in_time(move || {
        let (to, tasks) = unbounded();
        let (done, completions) = unbounded();
        for (b, part) in all.chunks(64).enumerate() {
            let mut batch = Batch::default();
            for (i, want) in part.iter().enumerate() {
                let kind = match way {
                    Way::Stream { .. } if i % 3 > 0 => BatchKind::Bulk,
                    Way::PastCache => BatchKind::Bulk,
                    _ => BatchKind::Scattered,
                };
                if batch.kind != kind {
                    to.send(batch).expect("we hold the other end");
                    batch = Batch {
                        kind,
                        ..Batch::default()
                    };
                }
                let number = (b * 64 + i) as u32;
                let task = add_task(&mut batch, number, &want.name, want.expect, want.spans);
                task.device.may_go_past_cache = matches!(way, Way::PastCache);
                task.go_on_with = want.go_on_with;
            }
            to.send(batch).expect("we hold the other end");
        }
        drop(to);
        let reader = Reader::new(settings, Fold::default());
        let shape = |slots, slot_size, bytes, files| Shape {
            completions: 64,
            slots,
            slot_size,
            window: Window { bytes, files },
        };
        match way {
            Way::One => worker::run(reader, shape(0, 0, 0, 0), &tasks, &done),
            Way::Many { slots, slot_size } => {
                worker::run(reader, shape(slots, slot_size, 0, 0), &tasks, &done);
            }
            Way::Stream { bytes, files } => {
                worker::run(reader, shape(4, 4096, bytes, files), &tasks, &done);
            }
            Way::PastCache => worker::run(reader, shape(0, 0, 0, 1), &tasks, &done),
            Way::Broken => read_broken(reader, shape(8, 4096, 0, 0), &tasks, &done),
        }
        drop(done);
        let mut outcomes: Vec<Option<Outcome>> = vec![None; all.len()];
        for completion in completions.into_iter().flatten() {
            let place = &mut outcomes[completion.ticket.0 as usize];
            assert!(place.is_none(), "{:?} answered twice", completion.ticket);
            *place = Some(completion.outcome);
        }
        let outcomes = outcomes.into_iter().enumerate();
        outcomes
            .map(|(i, o)| o.unwrap_or_else(|| panic!("{way:?}: {i} not answered")))
            .collect()
    })
}

fn read_broken(
    mut reader: Reader,
    shape: Shape,
    tasks: &Receiver<Batch>,
    done: &Sender<Vec<Completion>>,
) {
    // Where the kernel has no ring, there is nothing to compare.
    let mut many = Ring::new(shape.slots, shape.slot_size).map(|mut ring| {
        ring.break_down();
        Many::new(ring, shape.slots, shape.slot_size)
    });
    let recalls = Recalls::default();
    for batch in tasks {
        let mut source = Source::new(batch, tasks, done, 64, &recalls);
        // What is cached does not need the ring.
        many = many.and_then(|mut many| many.run(&mut reader, &mut source).then_some(many));
        if many.is_none() {
            worker::one_by_one(&mut reader, &mut source);
        }
        assert!(source.end().is_none(), "all is of one kind");
    }
}

#[test]
fn every_way_reads_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let sizes = [
        0,
        1,
        4095,
        4096,
        4097,
        (32 << 10) - 1,
        32 << 10,
        (32 << 10) + 1,
        (256 << 10) - 1,
        256 << 10,
        (256 << 10) + 1,
        (1 << 20) + 3,
    ];
    let mut all = Vec::new();
    let mut expected = Vec::new();
    for (i, &size) in sizes.iter().enumerate() {
        let content = bytes(i as u64, size);
        let name = format!("f{i}");
        fs::write(folder.path().join(&name), &content).expect("written");
        let size = size as u64;
        let head = size.min(4096);
        for spans in [
            [(0, size), (0, 0)],
            [(0, head), (0, 0)],
            [(0, head), (size - head, head)],
            [(size - head, head), (0, 0)],
            [(size / 3, size / 2), (0, size / 3)],
            [(size / 2, size - size / 2), (0, size)],
            [(0, 0), (0, size)],
            [(0, head), (0, size)],
            [(0, size.min(100_000)), (0, size)],
            [(0, size.min(200_000)), (0, size)],
        ] {
            all.push(wanted(folder.path(), &name, spans));
            expected.push(spans.map(|(offset, len)| {
                let part = &content[offset as usize..(offset + len) as usize];
                let whole = offset == 0 && len == size;
                (len > 0).then(|| Digest::of(blake3::hash(part), whole))
            }));
        }
    }
    // Shuffled, in the same way each time.
    let mut order: Vec<usize> = (0..all.len() * 3).map(|i| i % all.len()).collect();
    order.sort_by_key(|&i| (i * 7919 + 13) % 101);
    let shuffled: Vec<_> = order.iter().map(|&i| all[i].clone()).collect();
    let settings = settings(folder.path());
    for way in WAYS {
        for cached in [false, true] {
            for i in 0..sizes.len() {
                if !cached {
                    forget_pages(&folder.path().join(format!("f{i}")));
                }
            }
            let outcomes = read(way, &settings, &shuffled);
            for (&i, outcome) in order.iter().zip(&outcomes) {
                let Outcome::Read { digests, bytes, .. } = outcome else {
                    panic!("{way:?}: {} {:?}: {outcome:?}", all[i].name, all[i].spans);
                };
                assert_eq!(digests, &expected[i], "{way:?}: {:?}", all[i].spans);
                let [head, rest] = all[i].spans;
                let along = head.offset == rest.offset && head.len <= rest.len;
                let wanted = head.len + rest.len;
                // What is the beginning of the other span may come along with it.
                assert!(*bytes == wanted || along && *bytes == rest.len, "{bytes}");
            }
        }
    }
}

#[test]
fn a_file_without_the_head_that_it_must_have_is_not_read_on() {
    const SIZE: usize = (1 << 20) + 3;
    let folder = tempfile::tempdir().expect("a folder");
    let heads = [0, 1, 2].map(|seed| {
        let content = bytes(seed, SIZE);
        fs::write(folder.path().join(format!("f{seed}")), &content).expect("written");
        SampleDigest::of(&content[..4096])
    });
    let file = |number: usize, only: Option<usize>| Wanted {
        go_on_with: only.map(|only| heads[only]),
        ..wanted(
            folder.path(),
            &format!("f{number}"),
            [(0, 4096), (0, SIZE as u64)],
        )
    };
    let all = [file(0, None), file(1, Some(0)), file(2, Some(2))];
    let settings = settings(folder.path());
    for (bytes, files) in [(0, 1), (1 << 20, 3)] {
        let outcomes = read(Way::Stream { bytes, files }, &settings, &all);
        for (number, outcome) in outcomes.into_iter().enumerate() {
            let Outcome::Read { digests, bytes, .. } = outcome else {
                panic!("{outcome:?}");
            };
            let is_read_on = number != 1;
            assert_eq!(digests[0], Some(Digest::Sample(heads[number])));
            assert_eq!(digests[1].is_some(), is_read_on);
            assert_eq!(bytes >= SIZE as u64, is_read_on, "{bytes} bytes");
        }
    }
}

/// The file is shorter at the time of the read than the scan saw it.
#[test]
fn a_file_cut_off_meanwhile_has_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let size = 100_000;
    let mut all = Vec::new();
    for i in 0..20 {
        let name = format!("f{i}");
        fs::write(folder.path().join(&name), bytes(i, size)).expect("written");
        // The very moment between the look at the descriptor and the end of the read: what is
        // expected is there, yet the bytes end before the span does.
        let len = size as u64;
        all.push(wanted(folder.path(), &name, [(0, len + 1), (0, 0)]));
        all.push(wanted(folder.path(), &name, [(0, len), (0, 0)]));
        all.push(wanted(folder.path(), &name, [(0, 2 * len), (0, 0)]));
        // Beyond the end first, across the end then: the second piece is short when the file
        // has failed already.
        all.push(wanted(
            folder.path(),
            &name,
            [(2 * len, 10), (len - 10, 20)],
        ));
        all.push(wanted(folder.path(), &name, [(2 * len, 10), (0, 2 * len)]));
    }
    let settings = settings(folder.path());
    for way in WAYS {
        for i in 0..20 {
            forget_pages(&folder.path().join(format!("f{i}")));
        }
        for (i, outcome) in read(way, &settings, &all).iter().enumerate() {
            match i % 5 {
                1 => assert!(
                    matches!(outcome, Outcome::Read { .. }),
                    "{way:?}: {outcome:?}"
                ),
                _ => assert_eq!(failure(outcome), Failure::Changed, "{way:?}: {i}"),
            }
        }
    }
}

#[test]
fn what_is_not_the_expected_file_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let names = [
        "gone", "replaced", "grown", "folder", "fifo", "link", "fine",
    ];
    let mut all = Vec::new();
    for (i, name) in names.iter().enumerate() {
        for (j, size) in [10, 5000, 300_000].into_iter().enumerate() {
            let name = format!("{name}{j}");
            fs::write(at(&name), bytes(i as u64, size)).expect("written");
            all.push(wanted(folder.path(), &name, [(0, size as u64), (0, 0)]));
        }
    }
    for (j, size) in [10, 5000, 300_000].into_iter().enumerate() {
        let at = |name: &str| at(&format!("{name}{j}"));
        fs::remove_file(at("gone")).expect("removed");
        fs::write(at("new"), bytes(99, size)).expect("written");
        fs::rename(at("new"), at("replaced")).expect("renamed");
        fs::write(at("grown"), bytes(2, size + 1)).expect("written");
        fs::remove_file(at("folder")).expect("removed");
        fs::create_dir(at("folder")).expect("made");
        fs::remove_file(at("fifo")).expect("removed");
        mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RWXU, 0).expect("made");
        fs::remove_file(at("link")).expect("removed");
        symlink(at("fine"), at("link")).expect("made");
    }
    let settings = settings(folder.path());
    for way in WAYS {
        let outcomes = read(way, &settings, &all);
        for (want, outcome) in all.iter().zip(&outcomes) {
            match want.name.trim_end_matches(char::is_numeric) {
                "fine" => assert!(matches!(outcome, Outcome::Read { .. }), "{outcome:?}"),
                "gone" => assert_eq!(failure(outcome), Failure::Vanished),
                name => assert_eq!(failure(outcome), Failure::Changed, "{way:?}: {name}"),
            }
        }
    }
}

#[test]
fn a_stopped_run_answers_for_everything() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = Vec::new();
    for i in 0..200 {
        let name = format!("f{i}");
        let size = if i % 10 == 0 { 1 << 20 } else { 10_000 };
        fs::write(folder.path().join(&name), bytes(i, size)).expect("written");
        all.push(wanted(folder.path(), &name, [(0, size as u64), (0, 0)]));
    }
    for way in WAYS {
        for wait in [None, Some(0), Some(1), Some(5)] {
            let settings = settings(folder.path());
            let stop = Arc::clone(&settings.access.stop);
            for want in &all {
                forget_pages(&folder.path().join(&want.name));
            }
            let stopper = wait.map(|wait| {
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(wait));
                    stop.store(true, Ordering::Relaxed);
                })
            });
            if wait == Some(0) {
                settings.access.stop.store(true, Ordering::Relaxed);
            }
            for (want, outcome) in all.iter().zip(read(way, &settings, &all)) {
                match outcome {
                    Outcome::Read { bytes, .. } => assert_eq!(bytes, want.expect.size),
                    Outcome::Failed(Failure::Refused(e)) => {
                        assert_eq!(e, rustix::io::Errno::CANCELED);
                    }
                    other => panic!("{other:?}"),
                }
            }
            if let Some(stopper) = stopper {
                stopper.join().expect("no panic");
            }
        }
    }
}

/// Reads a file that is not cached. Returns the outcome, and the bytes that are cached afterwards.
fn past_cache(size: usize, spans: [(u64, u64); 2], page_use: PageUse) -> Option<(Outcome, u64)> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("f");
    fs::write(&path, bytes(7, size)).expect("written");
    let file = File::open(&path).expect("is there");
    if !reads::begin_direct(&file) || !forget_pages(&path) {
        return None;
    }
    let settings = ReadSettings {
        access: Access::new(None, page_use),
        ..settings(folder.path())
    };
    let all = [wanted(folder.path(), "f", spans)];
    let outcome = read(Way::PastCache, &settings, &all).remove(0);
    let pages = page_cache::cached_pages(&file, 0, size as u64)?;
    Some((outcome, pages * page_cache::page_size()))
}

#[test]
fn what_is_hardly_wanted_again_does_not_get_into_the_page_cache() {
    const LONG: u64 = 64 << 20;
    const SHORT: u64 = (1 << 20) + 17;
    for (size, spans, page_use, stays) in [
        (LONG + 5, [(0, LONG + 5), (0, 0)], PageUse::KeepShort, false),
        (SHORT, [(0, SHORT), (0, 0)], PageUse::Drop, false),
        (SHORT, [(0, SHORT), (0, 0)], PageUse::Keep, true),
    ] {
        let Some((outcome, cached)) = past_cache(size as usize, spans, page_use) else {
            // The file system is in memory, or has no such reads.
            return;
        };
        assert!(matches!(outcome, Outcome::Read { .. }), "{outcome:?}");
        assert_eq!(cached > 0, stays, "{size} {spans:?} {page_use:?}: {cached}");
    }
}
