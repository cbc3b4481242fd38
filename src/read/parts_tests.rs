//! Tests of long files that the threads of a pool share.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, ThreadId};

use crossbeam_channel::unbounded;
use rustix::io::Errno;

use crate::hash::Digest;

use super::access::Access;
use super::behind::PageUse;
use super::parts::Team;
use super::reader::{ReadSettings, Reader};
use super::stream::Window;
use super::task::{Batch, BatchKind, Completion, Failure, Outcome, Span};
use super::testing::{Hashing, add_task, bytes, fingerprint, forget_pages, in_time, settings};
use super::worker::{self, Shape};

/// Bytes of a part.
const EACH: usize = 4096;

/// Reads files of a folder with this many threads; tickets are their places in the list.
fn read(
    folder: &Path,
    files: &[String],
    threads: usize,
    settings: &ReadSettings,
    when_begun: impl Fn(u64) + Send + Sync + 'static,
) -> Vec<Completion<Digest>> {
    let (to, tasks) = unbounded();
    let (done, completions) = unbounded();
    for (i, name) in files.iter().enumerate() {
        let mut batch = Batch {
            kind: BatchKind::Bulk,
            ..Batch::default()
        };
        let expect = fingerprint(&folder.join(name));
        let (offset, len) = (0, expect.size);
        let spans = [Span { offset, len }, Span { offset, len: 0 }];
        add_task(&mut batch, i as u32, name, expect, spans).may_go_past_cache = true;
        to.send(batch).expect("we hold the other end");
    }
    let (settings, fold) = (
        settings.clone(),
        Hashing {
            part_begun: Arc::new(when_begun),
            ..Hashing::default()
        },
    );
    let count = files.len();
    in_time(move || {
        let shape = Shape {
            completions: 64,
            slots: 1,
            slot_size: 0,
            // As in the pool, the only place where files are read in parts.
            window: Window::NONE,
        };
        let team = Team::new(EACH as u64);
        thread::scope(|scope| {
            for _ in 0..threads {
                let reader = Reader::new(settings.clone(), fold.clone());
                let (team, tasks, done) = (team.clone(), tasks.clone(), done.clone());
                scope.spawn(move || worker::run(reader, shape, Some(team), &tasks, &done));
            }
            drop(done);
            let mut all: Vec<Completion<Digest>> = Vec::new();
            while all.len() < count {
                all.extend(completions.recv().expect("as many answers as tasks"));
            }
            drop(to);
            all.extend(completions.into_iter().flatten());
            all.sort_by_key(|completion| completion.ticket);
            all
        })
    })
}

fn one_file(folder: &Path, len: usize) -> Vec<String> {
    fs::write(folder.join("f"), bytes(7, len)).expect("written");
    vec!["f".to_owned()]
}

#[test]
fn whoever_reads_which_part_the_digest_is_that_of_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut contents = vec![bytes(0, 1_000_003), bytes(1, 3 * EACH), bytes(2, 1)];
    for parts in [4, 5, 7, 8, 9, 16, 33] {
        for beside in [-1, 0, 1] {
            let len = (parts * EACH).saturating_add_signed(beside);
            contents.push(bytes(contents.len() as u64, len));
        }
    }
    let name = |i: usize| format!("f{i}");
    for (i, content) in contents.iter().enumerate() {
        fs::write(folder.path().join(name(i)), content).expect("written");
    }
    let files: Vec<_> = (0..contents.len()).map(name).collect();
    let past_cache = ReadSettings {
        access: Access::new(None, PageUse::Drop, Some(4 << 20)),
        ..settings(folder.path())
    };
    let cached = settings(folder.path());
    for (threads, settings) in [
        (1, &cached),
        (2, &cached),
        (5, &cached),
        (1, &past_cache),
        // One more than there are buffers for.
        (5, &past_cache),
    ] {
        for name in &files {
            forget_pages(&folder.path().join(name));
        }
        let all = read(folder.path(), &files, threads, settings, |_| ());
        assert_eq!(all.len(), files.len(), "each is answered once");
        for (completion, content) in all.iter().zip(&contents) {
            let Outcome::Read { digests, bytes, .. } = completion.outcome else {
                panic!("{completion:?}");
            };
            let expected = Digest::of(blake3::hash(content), true);
            assert_eq!(digests, [Some(expected), None], "{}", content.len());
            assert_eq!(bytes, content.len() as u64);
        }
    }
}

/// Two threads and one file: neither goes on before both have begun a part.
#[test]
fn a_thread_that_has_nothing_to_do_helps() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = one_file(folder.path(), 20 * EACH);
    let readers: Mutex<HashSet<ThreadId>> = Mutex::default();
    let both = Condvar::new();
    let all = read(
        folder.path(),
        &files,
        2,
        &settings(folder.path()),
        move |_| {
            let mut readers = readers.lock().expect("nobody panics");
            readers.insert(thread::current().id());
            both.notify_all();
            drop(both.wait_while(readers, |readers| readers.len() < 2));
        },
    );
    let right = Digest::of(blake3::hash(&bytes(7, 20 * EACH)), true);
    let [Completion { outcome, .. }] = all[..] else {
        panic!("{all:?}");
    };
    assert!(matches!(outcome, Outcome::Read { digests: [Some(d), None], .. } if d == right));
}

/// Changes the file while its middle is read, and returns the outcome.
fn disturbed(what: impl Fn(&Path, &ReadSettings) + Send + Sync + 'static) -> Failure {
    let folder = tempfile::tempdir().expect("a folder");
    let len = 40 * EACH;
    let files = one_file(folder.path(), len);
    let settings = settings(folder.path());
    let (path, own, begun) = (folder.path().join("f"), settings.clone(), AtomicU64::new(0));
    let all = read(folder.path(), &files, 3, &settings, move |_| {
        if begun.fetch_add(1, Ordering::Relaxed) == 20 {
            what(&path, &own);
        }
    });
    match all[..] {
        [
            Completion {
                outcome: Outcome::Failed(failure),
                ..
            },
        ] => failure,
        _ => panic!("{all:?}"),
    }
}

#[test]
fn a_file_that_changes_while_parts_of_it_are_read_has_changed() {
    let cut_off = disturbed(|path, _| {
        let file = File::options().write(true).open(path);
        file.and_then(|file| file.set_len(10)).expect("cut off");
    });
    assert_eq!(cut_off, Failure::Changed);
    let written = disturbed(|path, _| {
        // Into a part that somebody has read.
        let file = File::options().write(true).open(path).expect("opened");
        file.write_all_at(b"x", 5).expect("written");
    });
    assert_eq!(written, Failure::Changed);
}

#[test]
fn a_run_that_is_told_to_stop_stops_between_parts() {
    let failure = disturbed(|_, settings| settings.stop.store(true, Ordering::Relaxed));
    assert_eq!(failure, Failure::Refused(Errno::CANCELED));
}
