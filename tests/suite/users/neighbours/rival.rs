//! The other user's process: it exchanges names as fast as it can.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::mount::{UnmountFlags, mount_bind, unmount};

use crate::common::Tree;
use crate::common::children::{Partner, own_process};
use crate::common::limits::Rng;
use crate::common::limits::seed;
use crate::common::users::NOBODY;

/// What the other process does until it is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// As `nobody`: the two names of each pair are exchanged.
    Exchange,
    /// As root, since `nobody` may not: the second of each pair is mounted over the first, and taken away.
    Mount,
}

/// Two names.
pub type Couple = (PathBuf, PathBuf);

pub struct Rival(Partner);

impl Rival {
    pub fn start(means: Means) -> Self {
        let mut command = Self::command(means);
        if means == Means::Exchange {
            command.uid(NOBODY).gid(NOBODY);
        }
        Self(Partner::start(command))
    }

    fn command(means: Means) -> Command {
        let mut command = own_process(module_path!(), "a_rival_swaps_names_until_it_is_stopped");
        command.env("SEEKLESS_RIVAL", format!("{means:?}"));
        command
    }

    /// Lets it work on these until [`Rival::stop`]; `pause` is how long it leaves them swapped at most.
    pub fn work_on(&mut self, couples: &[Couple], pause: Duration) {
        let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
        let words = couples.iter().flat_map(|(a, b)| [bytes(a), bytes(b)]);
        let pause = pause.as_nanos().to_string().into_bytes();
        let words: Vec<_> = std::iter::once(pause).chain(words).collect();
        let line = words.join(&b'\t');
        self.0.order(&line);
        self.answer();
    }

    /// Ends what it does; how often it did it.
    pub fn stop(&mut self) -> u64 {
        self.0.order(b"");
        self.answer()
    }

    fn answer(&mut self) -> u64 {
        self.0.answer("swaps:").parse().expect("a number")
    }
}

/// What the process does that [`Rival::start`] started.
#[test]
fn a_rival_swaps_names_until_it_is_stopped() {
    let Ok(means) = std::env::var("SEEKLESS_RIVAL") else {
        let tree = Tree::new().file("a", "one").file("b", "two");
        let mut rival = Rival(Partner::start(Rival::command(Means::Exchange)));
        rival.work_on(&[(tree.path("a"), tree.path("b"))], Duration::ZERO);
        let first = || std::fs::read(tree.path("a")).expect("there is always one");
        assert!((0..1_000_000).any(|_| first() == b"two"));
        assert!(rival.stop() > 0);
        assert_eq!(first(), b"one");
        return;
    };
    let is_mount = means == format!("{:?}", Means::Mount);
    let mut orders = BufReader::new(std::io::stdin()).split(b'\n');
    while let Some(Ok(line)) = orders.next() {
        let mut words = line.split(|&b| b == b'\t');
        let pause = words.next().and_then(|word| std::str::from_utf8(word).ok());
        let pause = pause.and_then(|word| word.parse().ok()).unwrap_or(0);
        let paths: Vec<&Path> = words
            .map(|word| Path::new(OsStr::from_bytes(word)))
            .collect();
        let couples: Vec<_> = paths.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        println!("swaps:0");
        let stopped = AtomicBool::new(false);
        let count = std::thread::scope(|scope| {
            let working = scope.spawn(|| swap(&couples, is_mount, pause, &stopped));
            let _ = orders.next();
            stopped.store(true, Ordering::Relaxed);
            working.join().expect("it swaps")
        });
        println!("swaps:{count}");
    }
}

/// Swaps any of these, waits a little, swaps it back, and waits longer: long enough for a step to begin.
fn swap(couples: &[(&Path, &Path)], is_mount: bool, pause: u64, stopped: &AtomicBool) -> u64 {
    let mut count = 0;
    let mut rng = Rng::new(seed() ^ pause);
    let mut random = |below: u64| rng.below(below.max(1) as usize) as u64;
    let exchange = |one, other| renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok();
    while !stopped.load(Ordering::Relaxed) {
        let (one, other) = couples[random(couples.len() as u64) as usize];
        let done = match is_mount {
            true => mount_bind(other, one).is_ok(),
            false => exchange(one, other),
        };
        wait(random(pause));
        if done {
            let back = match is_mount {
                true => unmount(one, UnmountFlags::DETACH).is_ok(),
                false => exchange(one, other),
            };
            count += 1 + u64::from(back);
        }
        wait(random(4 * pause));
    }
    count
}

fn wait(nanoseconds: u64) {
    let pause = Duration::from_nanos(nanoseconds);
    // A sleep is too long where a step takes microseconds.
    if pause > Duration::from_millis(1) {
        return std::thread::sleep(pause);
    }
    let start = Instant::now();
    while start.elapsed() < pause {
        std::hint::spin_loop();
    }
}
