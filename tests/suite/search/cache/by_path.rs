//! Files whose inode numbers do not last: kept by path with `--cache mtime`, on servers whose clock is another one.

use std::fs::{self};
use std::time::Duration;

use super::soundness::Play;
use super::{Answer, Runs, search};
use crate::common::limits::Rng;
use crate::common::limits::rounds;
use crate::common::noise;
use crate::common::standin::{Rules, Standin};

const KINDS: [Rules; 3] = [Rules::FAT, Rules::SMB, Rules::NFS];

const YEARS: Duration = Duration::from_secs(3 * 365 * 24 * 3600);

/// A server with a pair of copies.
fn pair(rules: Rules) -> Standin {
    let server = Standin::new(rules);
    for name in ["a", "b"] {
        fs::write(server.point().join(name), noise(1, 5000)).expect("is written");
    }
    server
}

fn run(server: &Standin, runs: &mut Runs) -> Answer {
    search(&[server.point().to_owned()], Some(runs.later()))
}

#[test]
#[ignore = "needs root"]
fn the_third_run_reads_nothing_whatever_the_numbers_are_and_the_clock_of_the_server_says() {
    for rules in KINDS {
        for ahead in [Duration::ZERO, YEARS] {
            let mut server = Standin::new(rules);
            server.advance(ahead);
            for name in ["a", "b"] {
                fs::write(server.point().join(name), noise(1, 5000)).expect("is written");
            }
            let away = tempfile::tempdir().expect("a folder");
            let mut runs = Runs::by_mtime(away.path().join("cache"));
            for read in [10_000, 10_000, 0, 0] {
                let answer = run(&server, &mut runs);
                assert_eq!((answer.bytes_read(), answer.sets.len()), (read, 1));
                // Mounted elsewhere, as after the next start.
                let next = server.again();
                drop(server);
                server = next;
            }
        }
    }
}

#[test]
#[ignore = "needs root"]
fn without_the_option_and_within_a_minute_everything_is_read() {
    let server = pair(Rules::FAT);
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("strict"));
    for _ in 0..4 {
        assert_eq!(run(&server, &mut runs).bytes_read(), 10_000);
    }
    let runs = Runs::by_mtime(away.path().join("by mtime"));
    for _ in 0..4 {
        let answer = search(&[server.point().to_owned()], Some(runs.now()));
        assert_eq!(answer.bytes_read(), 10_000);
    }
}

fn on_servers(count: usize) {
    for rules in KINDS {
        let away = tempfile::tempdir().expect("a folder");
        let server = Standin::new(rules);
        let answered = Play {
            tree: server.point().join("tree"),
            runs: Runs::by_mtime(away.path().join("cache")),
            keeps_numbers: false,
            between: &mut |_: &mut Rng| server.advance(Duration::from_secs(120)),
        }
        .rounds(count);
        assert!(answered > count as u64 * 5, "{rules:?}: {answered}");
    }
}

#[test]
#[ignore = "needs root"]
fn the_answer_is_right_on_servers() {
    on_servers(12);
}

#[test]
#[ignore = "needs root and minutes"]
fn in_full_the_answer_is_right_on_servers() {
    on_servers(rounds(2000));
}
