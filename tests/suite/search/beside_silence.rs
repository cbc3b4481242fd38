//! A search beside a file system that does not answer: nothing is lost of what does answer. Root only.

use std::fs::{self, File};
use std::thread;
use std::time::Duration;

use crate::common::daemon::{Daemon, Shows};
use crate::common::run::finish;
use crate::common::{Tree, noise, seekless};
use crate::search::endless::until;

/// Pairs of folders, of which a walker lists some before it waits.
const PAIRS: usize = 12;

/// Pairs of equal folders, `k/a0` and `k/b0` and so on, and `k/z` for a file system.
fn pairs() -> Tree {
    let mut tree = Tree::new();
    for pair in 0..PAIRS {
        let names = ["a", "b"].map(|side| format!("k/{side}{pair}/f"));
        tree = tree.copies([&names[0], &names[1]], noise(pair as u64, 5000));
    }
    tree.folder("k/z")
}

/// A folder that has just changed is listed again, and has no verdict if the run gave up meanwhile. Time stamps lag behind
/// the clock by up to 20 ms.
fn grow_old() {
    thread::sleep(Duration::from_millis(100));
}

fn silent(tree: &Tree, place: &str) -> Daemon {
    let shows = Shows::Files { count: 3, size: 10 };
    let daemon = Daemon::mount(tree.path(place), shows);
    daemon.be_silent(true);
    daemon
}

/// What was left out of a folder is known, although the walker that listed it waits for another file system.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn what_was_not_seen_in_a_folder_counts_beside_a_silent_file_system() {
    type Leave = fn(Tree, usize) -> Tree;
    let ways: [(&str, Leave); 2] = [
        ("in the trash", |tree, pair| {
            tree.file(format!("k/a{pair}/.Trash-0/files/only"), "only here")
        }),
        ("a special file", |tree, pair| {
            tree.fifo(format!("k/a{pair}/pipe"))
        }),
    ];
    for (what, leave) in ways {
        let tree = (0..PAIRS).fold(pairs(), leave);
        grow_old();
        let _daemon = silent(&tree, "k/z");
        let run = seekless(tree.root(), "folders --patience 2 k").run();
        let run = run.exits(1).says("z: did not answer");
        let text = run.stdout_text();
        assert!(!text.contains("identical to"), "{what}: {run}");
        assert_eq!(
            text.matches(", not fully seen: ").count(),
            PAIRS,
            "{what}: {run}"
        );
    }
}

/// The folders of other file systems are checked for changes all the same.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn what_changes_while_a_file_system_does_not_answer_is_noticed() {
    let tree = pairs();
    grow_old();
    let _daemon = silent(&tree, "k/z");
    let said = tree.path("said");
    let stderr = File::create(&said).expect("a file");
    // It is named after ten seconds, and given up after these.
    let run = seekless(tree.root(), "folders --patience 14 k").stderr(stderr);
    let child = run.spawn();
    until("it is named", || {
        fs::read_to_string(&said).is_ok_and(|said| said.contains("does not answer"))
    });
    tree.write("k/a0/new", "only here");
    let run = finish(child, Duration::from_secs(60)).exits(1);
    let text = run.stdout_text();
    assert!(text.contains("k/a0 (changed during the run)"), "{run}");
    assert_eq!(text.matches(", not fully seen: ").count(), 1, "{run}");
    assert_eq!(
        text.matches("identical to").count(),
        2 * (PAIRS - 1),
        "{run}"
    );
}

/// The folders of what stopped answering while it was read are not asked once more, and have no verdict.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn folders_of_what_stopped_answering_are_not_checked() {
    let tree = pairs();
    grow_old();
    let shows = Shows::Files {
        count: 200,
        size: 400_000,
    };
    let daemon = Daemon::mount(tree.path("k/z"), shows);
    daemon.be_silent_after_reads(40);
    let run = seekless(tree.root(), "folders --patience 2 k").run();
    let run = run.exits(1).says("z: did not answer");
    let text = run.stdout_text();
    assert!(!text.contains("k/z\n"), "{run}");
    assert_eq!(text.matches("identical to").count(), 2 * PAIRS, "{run}");
}

/// Another path that does not answer changes nothing about it.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_path_that_answers_is_searched_and_reported() {
    // It does not answer at all, or is opened and not listed.
    for requests in [0, 2, 3] {
        for (line, folders) in [
            (
                "find -f json --min-size 1MB k mounted",
                2 + 2 * PAIRS as u64,
            ),
            ("find -f json empty mounted", 1),
            ("folders -f json k/a0 mounted", 0),
            ("folders -f json empty mounted", 0),
        ] {
            let tree = pairs().folder("empty").folder("mounted");
            let shows = Shows::Files { count: 3, size: 10 };
            let daemon = Daemon::mount(tree.path("mounted"), shows);
            daemon.wait_for(1);
            match requests {
                // Whether a given folder answers is looked at before the search.
                0 if line.starts_with("folders") => continue,
                0 => daemon.be_silent(true),
                more => daemon.be_silent_after(more),
            }
            let line = format!("{line} --patience 1");
            let run = seekless(tree.root(), &line).run().exits(1);
            let run = run.says("mounted: did not answer");
            let listed = run.json()["summary"]["folders"].as_u64();
            if folders > 0 {
                assert!(listed >= Some(folders), "{requests}: {run}");
            }
        }
    }
}
