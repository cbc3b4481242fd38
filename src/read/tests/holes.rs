//! Tests that compare reads of sparse files with plain reads.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;

use crossbeam_channel::unbounded;
use proptest::prelude::*;

use crate::hash::Digest;

use super::{add_task, bytes, fingerprint, in_time, settings};
use crate::hash::Fold;
use crate::read::access::Access;
use crate::read::page_use::PageUse;
use crate::read::reader::{ReadSettings, Reader};
use crate::read::stream::Window;
use crate::read::task::{Batch, BatchKind, Completion, Outcome, Span};
use crate::read::worker::{self, Shape};

const M: u64 = 1 << 20;

/// How whole files are read.
#[derive(Clone, Copy, Debug)]
struct Way {
    kind: BatchKind,
    window: Window,
    past_cache: bool,
}

/// One file after the other, from front to back.
const PLAIN: Way = Way {
    kind: BatchKind::Bulk,
    window: Window::NONE,
    past_cache: false,
};

fn ways() -> Vec<Way> {
    let past_cache = |way| Way {
        past_cache: true,
        ..way
    };
    vec![
        PLAIN,
        past_cache(PLAIN),
        // A disk with a head.
        Way {
            window: Window {
                bytes: 2 * M,
                files: 3,
            },
            ..PLAIN
        },
        Way {
            kind: BatchKind::Compare,
            ..PLAIN
        },
    ]
}

/// Reads whole files of a folder; tickets are their places in the list.
fn read(folder: &Path, files: &[String], way: Way) -> Vec<Completion> {
    let (to, tasks) = unbounded();
    let (done, completions) = unbounded();
    let mut batch = Batch {
        kind: way.kind,
        ..Batch::default()
    };
    for (i, name) in files.iter().enumerate() {
        let expect = fingerprint(&folder.join(name));
        let whole = Span {
            offset: 0,
            len: expect.size,
        };
        let spans = [whole, Span { offset: 0, len: 0 }];
        add_task(&mut batch, i as u32, name, expect, spans)
            .device
            .may_go_past_cache = way.past_cache;
    }
    to.send(batch).expect("we hold the other end");
    let settings = ReadSettings {
        access: Access::new(None, PageUse::Drop),
        ..settings(folder)
    };
    let count = files.len();
    in_time(move || {
        let shape = Shape {
            completions: 64,
            slots: 1,
            slot_size: 0,
            window: way.window,
        };
        thread::scope(|scope| {
            let reader = Reader::new(settings, Fold::default());
            scope.spawn(move || worker::run(reader, shape, &tasks, &done));
            let mut all: Vec<Completion> = Vec::new();
            while all.len() < count {
                all.extend(completions.recv().expect("as many answers as tasks"));
            }
            drop(to);
            all.sort_by_key(|completion| completion.ticket);
            all
        })
    })
}

/// Writes a file of this length that has bytes in these places only.
fn write_thin(path: &Path, len: u64, islands: &[(u64, Vec<u8>)]) {
    let file = File::create(path).expect("made");
    file.set_len(len).expect("longer");
    for (offset, bytes) in islands {
        let left = len.saturating_sub(*offset).min(bytes.len() as u64);
        file.write_all_at(&bytes[..left as usize], *offset)
            .expect("written");
    }
}

/// Checks the results of reading and hashing, or of comparing with a plain copy.
fn check(folder: &Path, names: &[String], way: Way) {
    let all = read(folder, names, way);
    for (i, completion) in all.iter().enumerate() {
        let content = fs::read(folder.join(&names[i])).expect("is there");
        match completion.outcome {
            Outcome::Read { digests, bytes, .. } => {
                let expected = Digest::of(blake3::hash(&content), true);
                assert_eq!(digests, [Some(expected), None], "{way:?}");
                assert!(bytes <= content.len() as u64);
            }
            Outcome::Compared { with, .. } => {
                let equal =
                    |name: &String| fs::read(folder.join(name)).ok() == Some(content.clone());
                let first = names.iter().position(equal);
                assert_eq!(Some(with.0 as usize), first, "{way:?}");
            }
            ref other => panic!("{way:?}: {other:?}"),
        }
    }
}

/// A length, and islands anywhere: on the borders of blocks and beside them, short and long, of zeros too.
fn thin() -> impl Strategy<Value = (u64, Vec<(u64, Vec<u8>)>)> {
    let place = prop_oneof![0..6 * M, (0..1536_u64).prop_map(|block| block * 4096)];
    let len = prop_oneof![
        3 => 1..10_000_usize,
        2 => Just(4096_usize),
        1 => 60_000..300_000_usize,
    ];
    let island = (place, len, prop_oneof![4 => Just(true), 1 => Just(false)]).prop_map(
        |(offset, len, has_bytes)| {
            if has_bytes {
                (offset, bytes(offset, len))
            } else {
                (offset, vec![0; len])
            }
        },
    );
    let length = prop_oneof![2 * M..6 * M, (512..1536_u64).prop_map(|block| block * 4096)];
    (length, prop::collection::vec(island, 0..12))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// On whatever holds the temporary folder, where most of what was written has no place on the disk yet, and in
    /// memory.
    #[test]
    fn thin_files_are_read_like_any_others((len, islands) in thin(), other in thin()) {
        for folder in [tempfile::tempdir(), tempfile::tempdir_in("/dev/shm")] {
            let folder = folder.expect("a folder");
            let names = ["thin", "dense", "other"].map(str::to_owned);
            write_thin(&folder.path().join("thin"), len, &islands);
            let content = fs::read(folder.path().join("thin")).expect("is there");
            fs::write(folder.path().join("dense"), content).expect("written");
            write_thin(&folder.path().join("other"), len, &other.1);
            for way in ways() {
                check(folder.path(), &names, way);
            }
        }
    }
}
