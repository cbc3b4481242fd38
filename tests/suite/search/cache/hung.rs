//! A file system of the cache folder that stops answering while a search uses the cache.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{REFUSED, ext4, old_pair};
use crate::common::limits::rounds;
use crate::common::run::finish;
use crate::common::{Tree, mirror, seekless};

/// The search waits for the cache for a second when it reads, and for up to 10 s when it writes, and then ends.
const LONGEST: Duration = Duration::from_secs(30);

/// True if the program has ended. The kernel may still hold a thread that waits for a write.
fn has_ended(run: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", run.id()));
    stat.expect("nobody has waited for it").contains(") Z ")
}

/// Lets the file system fall silent at moments of a search: before `most` of its requests at most.
fn silent(most: u64) {
    let volume = ext4();
    let tree = old_pair(&volume);
    let away = Tree::new().folder("store").folder("mounted");
    let daemon = mirror::mount(&away.path("store"), away.path("mounted"));
    let start = || {
        let find = seekless(tree.root(), "find -q -f nul --patience 1 --cache");
        let find = find.arg(daemon.path().join("cache")).arg("t");
        find.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    };
    let is_right = |run: Child| finish(run, LONGEST).exits(0).finds(["t/a t/b"]);
    let find = || is_right(start()).never_says(REFUSED);
    for is_new in [true, false] {
        let prepare = || {
            let _none = fs::remove_dir_all(away.path("store/cache"));
            if !is_new {
                find();
            }
            // What the kernel knows of names and attributes is a second old by then.
            thread::sleep(Duration::from_millis(1100));
        };
        prepare();
        let before = daemon.answered();
        find();
        let all = daemon.answered() - before;
        let step = all.div_ceil(most).max(1) as usize;
        for requests in (1..=all).step_by(step) {
            let what = format!("new: {is_new}, silent after {requests} of {all} requests");
            prepare();
            daemon.be_silent_after(requests);
            let began = Instant::now();
            let run = start();
            while !has_ended(&run) {
                assert!(began.elapsed() < LONGEST, "{what}: it does not end");
                thread::sleep(Duration::from_millis(10));
            }
            let is_silent = daemon.is_silent();
            daemon.be_silent(false);
            let said = is_right(run).stderr_text();
            // While it waits for its last writes, it says so.
            let waits = |line: &&str| line.contains("does not answer; waiting for it");
            let refused: Vec<_> = said.lines().filter(|line| !waits(line)).collect();
            assert!(said.lines().filter(waits).count() <= 1, "{what}: {said}");
            assert!(refused.len() <= usize::from(is_silent), "{what}: {said}");
            for line in refused {
                let is_clear = line.contains(REFUSED) && line.ends_with("does not answer");
                assert!(is_clear, "{what}: {said}");
            }
            find();
        }
    }
}

#[test]
#[ignore = "needs root, loop devices and /dev/fuse"]
fn a_folder_that_stops_answering_during_a_search_costs_a_line() {
    silent(3);
}

#[test]
#[ignore = "needs root, loop devices, /dev/fuse and minutes"]
fn in_full_a_folder_that_stops_answering_during_a_search_costs_a_line() {
    silent(rounds(10_000) as u64);
}
