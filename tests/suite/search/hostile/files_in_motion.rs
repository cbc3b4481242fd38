//! Files that somebody else works on during the run. What is reported must have been so at some
//! moment, and what nobody touched must be found all the same.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;

const FILES: usize = 40;
const LENGTH: usize = 256 * 1024;

/// Still pairs, `still/N` and `copy/N`, all of one size, and for each a `restless/N` and its
/// twin, which shares the first half with it and nothing else.
fn studio() -> Tree {
    let mut tree = Tree::new();
    for i in 0..FILES {
        let content = still(i);
        tree = tree
            .file(format!("still/{i}"), &content)
            .file(format!("copy/{i}"), &content)
            .file(format!("restless/{i}"), halves(i, b'A', b'B'))
            .file(format!("restless/{i}-twin"), halves(i, b'A', b'C'));
    }
    tree
}

/// A number in front, then all `A`.
fn still(i: usize) -> Vec<u8> {
    halves(i, b'A', b'A')
}

fn halves(i: usize, first: u8, second: u8) -> Vec<u8> {
    let mut content = vec![first; LENGTH];
    content[LENGTH / 2..].fill(second);
    content[..8].copy_from_slice(&(i as u64).to_be_bytes());
    content
}

/// Runs the program again and again while `disturb` works on the restless files, and insists
/// that the still pairs are found, each with what `allowed` lets join it.
fn run_while(disturb: impl Fn(&Path, usize) + Sync, options: &str) {
    let tree = studio();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for i in 0..FILES {
                    disturb(&tree.path(format!("restless/{i}")), i);
                }
            }
        });
        let runs = (0..12).map(|_| {
            let arguments = format!("find -f nul {options} still copy restless");
            seekless(tree.root(), &arguments).run()
        });
        let runs: Vec<Run> = runs.collect();
        stop.store(true, Ordering::Relaxed);
        for run in runs {
            check(&run);
        }
    });
}

#[track_caller]
fn check(run: &Run) {
    assert!([0, 1].contains(&run.code()), "{run}");
    let sets = run.sets();
    for i in 0..FILES {
        let pair = [format!("copy/{i}"), format!("still/{i}")].map(String::into_bytes);
        assert!(sets.contains(&pair.into()), "pair {i} is not whole\n{run}");
    }
    for set in sets {
        let restless = set
            .iter()
            .filter(|name| name.starts_with(b"restless"))
            .count();
        assert!(
            restless == 0,
            "restless files have no equals: {set:?}\n{run}"
        );
    }
}

#[test]
fn a_file_that_turns_into_a_fifo_blocks_nobody() {
    run_while(
        |path, i| {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            let next = path.with_file_name(format!("next-{i}.tmp"));
            mknodat(CWD, &next, FileType::Fifo, Mode::from_raw_mode(0o644), 0).expect("a FIFO");
            fs::rename(&next, path).expect("replaced");
            fs::write(&next, halves(i, b'A', b'B')).expect("written");
            fs::rename(&next, path).expect("replaced");
        },
        "--exclude *.tmp",
    );
}

#[test]
fn a_file_that_turns_into_a_link_is_not_followed() {
    run_while(
        |path, i| {
            let next = path.with_file_name(format!("next-{i}.tmp"));
            let target = format!("../still/{i}");
            std::os::unix::fs::symlink(target, &next).expect("a link");
            fs::rename(&next, path).expect("replaced");
            fs::write(&next, halves(i, b'A', b'B')).expect("written");
            fs::rename(&next, path).expect("replaced");
        },
        "--exclude *.tmp",
    );
}
