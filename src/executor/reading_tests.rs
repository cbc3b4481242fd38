//! All ways of reading, against a plain read of each file.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::file::Fingerprint;
use crate::hash::Digest;
use crate::sys::ring::Ring;
use crate::sys::{cachestat, direct, open, stat};

use super::behind::{Behind, PageUse};
use super::budget::Budgets;
use super::buffer::LargePages;
use super::many::Many;
use super::one;
use super::reader::{Reader, Settings};
use super::source::Source;
use super::stream::Window;
use super::task::{Batch, Completion, Failure, Kind, Outcome, Span};
use super::testing::{Hashing, add_task, bytes, fingerprint, forget_pages, in_time, settings};
use super::worker::{self, Shape};

/// Something to read in the only folder.
#[derive(Clone)]
struct Wanted {
    name: String,
    expect: Fingerprint,
    spans: [Span; 2],
}

fn wanted(folder: &Path, name: &str, spans: [(u64, u64); 2]) -> Wanted {
    Wanted {
        name: name.to_owned(),
        expect: fingerprint(&folder.join(name)),
        spans: spans.map(|(offset, len)| Span { offset, len }),
    }
}

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
fn read(way: Way, settings: &Settings, all: &[Wanted]) -> Vec<Outcome<Digest>> {
    let (mut settings, all) = (settings.clone(), all.to_vec());
    settings.past_cache = matches!(way, Way::PastCache).then(LargePages::default);
    in_time(move || {
        let (to, tasks) = unbounded();
        let (done, completions) = unbounded();
        for (b, part) in all.chunks(64).enumerate() {
            let mut batch = Batch::default();
            for (i, want) in part.iter().enumerate() {
                let kind = match way {
                    Way::Stream { .. } if i % 3 > 0 => Kind::Bulk,
                    Way::PastCache => Kind::Bulk,
                    _ => Kind::Scattered,
                };
                if batch.kind != kind {
                    to.send(batch).expect("we hold the other end");
                    batch = Batch {
                        kind,
                        ..Batch::default()
                    };
                }
                add_task(
                    &mut batch,
                    (b * 64 + i) as u64,
                    &want.name,
                    want.expect,
                    want.spans,
                )
                .may_go_past_cache = true;
            }
            to.send(batch).expect("we hold the other end");
        }
        drop(to);
        let reader = Reader::new(settings, Hashing::default());
        let shape = |slots, slot_size, bytes, files| Shape {
            slots,
            slot_size,
            window: Window { bytes, files },
        };
        match way {
            Way::One => worker::run(reader, shape(0, 0, 0, 0), None, &tasks, &done),
            Way::Many { slots, slot_size } => {
                worker::run(reader, shape(slots, slot_size, 0, 0), None, &tasks, &done);
            }
            Way::Stream { bytes, files } => {
                worker::run(reader, shape(4, 4096, bytes, files), None, &tasks, &done);
            }
            Way::PastCache => worker::run(reader, shape(0, 0, 0, 1), None, &tasks, &done),
            Way::Broken => read_broken(reader, shape(8, 4096, 0, 0), &tasks, &done),
        }
        drop(done);
        let mut outcomes: Vec<Option<Outcome<Digest>>> = vec![None; all.len()];
        for completion in completions.into_iter().flatten() {
            let place = &mut outcomes[completion.ticket as usize];
            assert!(place.is_none(), "{} answered twice", completion.ticket);
            *place = Some(completion.outcome);
        }
        let outcomes = outcomes.into_iter().enumerate();
        outcomes
            .map(|(i, o)| o.unwrap_or_else(|| panic!("{way:?}: {i} not answered")))
            .collect()
    })
}

fn read_broken(
    mut reader: Reader<Hashing>,
    shape: Shape,
    tasks: &Receiver<Batch>,
    done: &Sender<Vec<Completion<Digest>>>,
) {
    // Where the kernel has no ring, there is nothing to compare.
    let mut many = Ring::new(shape.slots, shape.slot_size).map(|mut ring| {
        ring.break_down();
        Many::new(ring, shape)
    });
    for batch in tasks {
        let mut source = Source::new(batch, tasks, done);
        // What is cached does not need the ring.
        many = many.and_then(|mut many| many.run(&mut reader, &mut source).then_some(many));
        if many.is_none() {
            one::run(&mut reader, &mut source);
        }
        assert!(source.end().is_none(), "all is of one kind");
    }
}

fn failure(outcome: &Outcome<Digest>) -> Failure {
    match outcome {
        Outcome::Failed(failure) => *failure,
        other => panic!("expected a failure, got {other:?}"),
    }
}

#[test]
fn what_is_cached_is_known_to_be_with_and_without_a_ring() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("f"), bytes(1, 10_000)).expect("written");
    let all = [wanted(folder.path(), "f", [(0, 4096), (5904, 4096)])];
    let settings = settings(folder.path());
    let cached = |way| match read(way, &settings, &all)[..] {
        [Outcome::Read { cached, .. }] => cached,
        ref other => panic!("{way:?}: {other:?}"),
    };
    let with_a_ring = Way::Many {
        slots: 2,
        slot_size: 4096,
    };
    // Nobody can tell on some file systems.
    assert_eq!(cached(Way::One), cached(with_a_ring));
}

#[test]
fn what_is_not_cached_is_paid_for_however_it_is_read() {
    const RATE: u64 = 3_000_000;
    const SIZE: usize = 300_000;
    let folder = tempfile::tempdir().expect("a folder");
    let names = ["f0", "f1", "f2"];
    let all = names.map(|name| {
        fs::write(folder.path().join(name), bytes(1, SIZE)).expect("written");
        wanted(folder.path(), name, [(0, SIZE as u64), (0, 0)])
    });
    for way in WAYS {
        if !names
            .map(|name| forget_pages(&folder.path().join(name)))
            .iter()
            .all(|&gone| gone)
        {
            return;
        }
        let budgets = Budgets::new(Some(RATE));
        budgets.add_volume(&"sda".into());
        let settings = Settings {
            budgets: Arc::new(budgets),
            ..settings(folder.path())
        };
        let began = Instant::now();
        read(way, &settings, &all);
        // A tenth of a second's worth is free.
        assert!(began.elapsed() >= Duration::from_millis(199), "{way:?}");
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

/// What the scan saw is larger than the file is by the time it is read.
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

/// A FIFO that took a file's place belongs to others: its bytes must not be swallowed.
#[test]
fn a_fifo_keeps_its_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("f");
    for size in [10, 300_000_u64] {
        fs::write(&path, bytes(1, size as usize)).expect("written");
        let all = [wanted(folder.path(), "f", [(0, size), (0, 0)])];
        fs::remove_file(&path).expect("removed");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).expect("made");
        let mut both = File::options()
            .read(true)
            .write(true)
            .open(&path)
            .expect("open");
        std::io::Write::write_all(&mut both, b"for somebody else").expect("written");
        for way in WAYS {
            let outcomes = read(way, &settings(folder.path()), &all);
            assert_eq!(failure(&outcomes[0]), Failure::Changed, "{way:?}");
        }
        let mut kept = [0; 17];
        std::io::Read::read_exact(&mut both, &mut kept).expect("still there");
        assert_eq!(&kept, b"for somebody else");
        fs::remove_file(&path).expect("removed");
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
            let stop = Arc::clone(&settings.stop);
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
                settings.stop.store(true, Ordering::Relaxed);
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

/// The fingerprint of these tests is the one that readers compare with.
#[test]
fn a_descriptor_has_the_fingerprint_of_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("f");
    fs::write(&path, b"x").expect("written");
    let manner = open::Manner {
        keep_access_time: true,
        follow: false,
    };
    let name = std::ffi::CString::new(path.to_str().expect("UTF-8")).expect("no NUL");
    let fd = open::file(CWD, &name, manner).expect("open");
    let now = stat::descriptor(&fd).expect("is open");
    assert_eq!(Fingerprint::from(&now), fingerprint(&path));
}

/// Files whose contents have these marks, compared; returns each one's outcome.
fn compare(marks: &[(usize, u8)], size: usize, spoil: impl Fn(&Path)) -> Vec<Outcome<Digest>> {
    let folder = tempfile::tempdir().expect("a folder");
    let content = |i: usize| {
        let (place, mark) = marks[i];
        let mut content = bytes(1, size);
        content[place] ^= mark;
        content
    };
    compare_spoilt(folder.path(), marks.len(), content, spoil)
}

/// So many files with these contents, compared; returns each one's outcome.
fn compare_contents(
    folder: &Path,
    files: usize,
    content: impl Fn(usize) -> Vec<u8>,
) -> Vec<Outcome<Digest>> {
    compare_spoilt(folder, files, content, |_| ())
}

fn compare_spoilt(
    folder: &Path,
    files: usize,
    content: impl Fn(usize) -> Vec<u8>,
    spoil: impl Fn(&Path),
) -> Vec<Outcome<Digest>> {
    let mut batch = Batch {
        kind: Kind::Compare,
        ..Batch::default()
    };
    for i in 0..files {
        let (name, content) = (format!("f{i}"), content(i));
        fs::write(folder.join(&name), &content).expect("written");
        let want = wanted(folder, &name, [(0, content.len() as u64), (0, 0)]);
        add_task(&mut batch, i as u64, &name, want.expect, want.spans);
    }
    let settings = settings(folder);
    spoil(folder);
    let (to, tasks) = unbounded();
    let (done, completions) = unbounded();
    to.send(batch).expect("we hold the other end");
    drop(to);
    let shape = Shape {
        slots: 2,
        slot_size: 4096,
        window: Window { bytes: 1, files: 1 },
    };
    worker::run(
        Reader::new(settings, Hashing::default()),
        shape,
        None,
        &tasks,
        &done,
    );
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
        let Outcome::Compared { with, bytes } = *outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(marks[with as usize], marks[i], "file {i}");
        assert_eq!(Some(with as usize), first, "file {i}");
        let alone = marks.iter().filter(|mark| **mark == marks[i]).count() == 1;
        let all = SIZE as u64;
        assert!(if alone { bytes <= all } else { bytes == all }, "{bytes}");
    }
    let early = |outcome: &Outcome<Digest>| matches!(outcome, Outcome::Compared { bytes, .. } if *bytes == 1 << 16);
    assert!(
        early(&outcomes[13]),
        "a difference in the middle, where a crowd is looked at first, ends the reading"
    );
}

/// So many files are shared out among threads.
#[test]
fn a_crowd_is_told_apart_like_a_pair() {
    const SIZE: usize = 70_000;
    let marks: Vec<_> = (0..300)
        .map(|i| (69_000 + i % 7, u8::from(i % 3 == 0)))
        .collect();
    let outcomes = compare(&marks, SIZE, |_| ());
    let content = |i: usize| if marks[i].1 == 0 { (0, 0) } else { marks[i] };
    for (i, outcome) in outcomes.iter().enumerate() {
        let first = (0..marks.len()).find(|&other| content(other) == content(i));
        let with = match outcome {
            Outcome::Compared { with, .. } => Some(*with as usize),
            _ => None,
        };
        assert_eq!(with, first, "file {i}: {outcome:?}");
    }
}

/// Files that begin to differ from the first one at one place, in the same way, and are not equal: where a
/// difference is tells them apart only as far as they are unlike.
#[test]
fn what_differs_from_the_first_in_the_same_way_is_looked_at_once_more() {
    const SIZE: usize = 200_000;
    let folder = tempfile::tempdir().expect("a folder");
    let content = |i: usize| {
        let mut content = bytes(1, SIZE);
        if i > 0 {
            content[10] ^= 1;
            content[5_000 + i % 4] ^= 1;
        }
        content
    };
    let outcomes = compare_contents(folder.path(), 40, content);
    for (i, outcome) in outcomes.iter().enumerate() {
        let first = (0..40).find(|&other| content(other) == content(i));
        let with = match outcome {
            Outcome::Compared { with, .. } => Some(*with as usize),
            _ => None,
        };
        assert_eq!(with, first, "file {i}: {outcome:?}");
    }
}

/// Many pairs within one crowd: each goes its own way once it is known.
#[test]
fn pairs_within_a_crowd_are_compared_to_their_ends() {
    const SIZE: usize = 700_001;
    let folder = tempfile::tempdir().expect("a folder");
    let content = |i: usize| {
        let mut content = bytes(1, SIZE);
        content[300_000] ^= (i / 3) as u8;
        // One of three differs from the others later.
        content[SIZE - 9] ^= u8::from(i % 3 == 2);
        content
    };
    let outcomes = compare_contents(folder.path(), 60, content);
    for (i, outcome) in outcomes.iter().enumerate() {
        let first = if i % 3 == 2 { i } else { i / 3 * 3 };
        let Outcome::Compared { with, bytes } = *outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(with as usize, first, "file {i}");
        assert!(i % 3 == 2 || bytes == SIZE as u64, "file {i}: {bytes}");
    }
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
                with: 1,
                bytes: 200_000
            }
        );
        assert!(equal, "{:?}", outcomes[i]);
    }
}

#[test]
fn a_file_is_read_on_only_if_its_head_is_wanted() {
    let folder = tempfile::tempdir().expect("a folder");
    let contents: Vec<_> = (0..12).map(|i| bytes(i, 700_000 + i as usize)).collect();
    let digest = |bytes: &[u8], whole| Digest::of(blake3::hash(bytes), whole);
    let head = |content: &[u8]| digest(&content[..4096], false);
    let settings = settings(folder.path());
    let heads: Vec<_> = contents.iter().step_by(2).map(|c| head(c)).collect();
    let choosy = Hashing {
        reads_on: Arc::new(move |head| heads.contains(head)),
        ..Hashing::default()
    };
    let (to, tasks) = unbounded();
    let (done, completions) = unbounded();
    let mut batch = Batch {
        kind: Kind::Bulk,
        ..Batch::default()
    };
    let mut cold = Vec::new();
    for (i, content) in contents.iter().enumerate() {
        let name = format!("f{i}");
        fs::write(folder.path().join(&name), content).expect("written");
        forget_pages(&folder.path().join(&name));
        let file = File::open(folder.path().join(&name)).expect("is there");
        let size = content.len() as u64;
        cold.push(cachestat::cached_pages(&file, 0, size) == Some(0));
        let expect = fingerprint(&folder.path().join(&name));
        let spans = [(0, 4096), (0, size)].map(|(offset, len)| Span { offset, len });
        add_task(&mut batch, i as u64, &name, expect, spans).may_end_early = i % 3 > 0;
    }
    to.send(batch).expect("we hold the other end");
    drop(to);
    let shape = Shape {
        slots: 1,
        slot_size: 0,
        window: Window {
            bytes: 256 << 10,
            files: 4,
        },
    };
    in_time(move || worker::run(Reader::new(settings, choosy), shape, None, &tasks, &done));
    let all: Vec<_> = completions.into_iter().flatten().collect();
    assert_eq!(all.len(), contents.len());
    for completion in all {
        let i = completion.ticket as usize;
        let content = &contents[i];
        let Outcome::Read { digests, bytes, .. } = completion.outcome else {
            panic!("{completion:?}");
        };
        assert_eq!(digests[0], Some(head(content)));
        // What the page cache kept is read on for nothing.
        let may_end = i % 2 == 1 && !i.is_multiple_of(3);
        let ended = may_end && digests[1].is_none();
        assert!(ended || !may_end || !cold[i], "read in vain");
        match ended {
            true => assert!(bytes < content.len() as u64 / 4, "{bytes}"),
            false => {
                assert_eq!(digests[1], Some(digest(content, true)));
                assert_eq!(bytes, content.len() as u64);
            }
        }
    }
}

/// Of a file that is not cached; what was read then, and the bytes that are cached afterwards.
fn past_cache(
    size: usize,
    spans: [(u64, u64); 2],
    page_use: PageUse,
) -> Option<(Outcome<Digest>, u64)> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("f");
    fs::write(&path, bytes(7, size)).expect("written");
    let file = File::open(&path).expect("is there");
    if !direct::begin(&file) || !forget_pages(&path) {
        return None;
    }
    let settings = Settings {
        behind: Behind::new(page_use),
        ..settings(folder.path())
    };
    let all = [wanted(folder.path(), "f", spans)];
    let outcome = read(Way::PastCache, &settings, &all).remove(0);
    settings.behind.join();
    let pages = cachestat::cached_pages(&file, 0, size as u64)?;
    Some((outcome, pages * cachestat::page_size()))
}

#[test]
fn what_is_hardly_wanted_again_does_not_get_into_the_page_cache() {
    const LONG: u64 = 64 << 20;
    const SHORT: u64 = (1 << 20) + 17;
    for (size, spans, page_use, stays) in [
        (LONG + 5, [(0, LONG + 5), (0, 0)], PageUse::KeepShort, false),
        (
            SHORT,
            [(4096, 32768), (524_288, SHORT - 524_288)],
            PageUse::KeepShort,
            false,
        ),
        (SHORT, [(0, SHORT), (0, 0)], PageUse::GiveBack, false),
        (SHORT, [(0, SHORT), (0, 0)], PageUse::Keep, true),
        (
            SHORT,
            [(4096, 32768), (524_288, 65536)],
            PageUse::Keep,
            true,
        ),
        // Neither can such a read begin anywhere.
        (
            SHORT,
            [(4096, 32768), (524_289, 65536)],
            PageUse::KeepShort,
            true,
        ),
    ] {
        let Some((outcome, cached)) = past_cache(size as usize, spans, page_use) else {
            // The file system is in memory, or has no such reads.
            return;
        };
        assert!(matches!(outcome, Outcome::Read { .. }), "{outcome:?}");
        assert_eq!(cached > 0, stays, "{size} {spans:?} {page_use:?}: {cached}");
    }
}
