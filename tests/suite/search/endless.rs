//! File systems that have no end or do not answer: a search of them ends all the same, with a line that says what is
//! missing, and an interruption is heeded within moments. Root only.

use std::process::Child;
use std::time::Duration;

use crate::common::daemon::{Daemon, Shows};
use crate::common::run::{Seekless, until};
use crate::common::{Run, Tree, noise, seekless};
use rustix::process::{Pid, Signal, kill_process};

/// A hang, not a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn mounted(tree: &Tree, shows: Shows) -> Daemon {
    let place = tree.path("mounted");
    std::fs::create_dir_all(&place).expect("a folder");
    Daemon::mount(place, shows)
}

fn interrupted(run: Seekless, when: impl FnOnce(&Child)) -> Run {
    let child = run.spawn();
    when(&child);
    // An earlier run may still wait in the same file system.
    until("it listens", || {
        crate::common::run::catches(&child, Signal::INT)
    });
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    crate::common::run::finish(child, PATIENCE)
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn ctrl_c_ends_the_listing_of_a_folder_without_end() {
    for shows in [Shows::EndlessFiles, Shows::EndlessFolders] {
        let tree = Tree::new();
        let daemon = mounted(&tree, shows);
        let run = seekless(tree.root(), "find mounted");
        let run = interrupted(run, |_| daemon.wait_for(2000));
        run.exits(130);
    }
}

/// Two equal files beside the place where the file system is mounted: others go on.
fn with_neighbours() -> Tree {
    Tree::new().copies(["beside/1", "beside/2"], noise(1, 5000))
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_folder_in_a_folder_without_end_is_left_with_a_line() {
    for one_number in [false, true] {
        let tree = with_neighbours();
        let _daemon = mounted(&tree, Shows::EndlessDepth { one_number });
        let run = seekless(tree.root(), "find -f nul beside mounted").run();
        let line = match one_number {
            false => "more than 16,384 folders deep",
            true => "more than 256 folders have the inode number of this one",
        };
        run.exits(1).says(line).finds(["beside/1 beside/2"]);
    }
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn ctrl_c_is_heeded_while_a_file_system_does_not_answer() {
    // While it lists, and while it reads.
    for reads in [false, true] {
        for options in ["", "-L"] {
            let tree = with_neighbours();
            let shows = Shows::Files {
                count: 200,
                size: 400_000,
            };
            // One that no earlier run waits for, and neither does the mount.
            let daemon = mounted(&tree, shows);
            daemon.wait_for(1);
            if reads {
                daemon.be_silent_after_reads(40);
            } else {
                daemon.be_silent(true);
            }
            let line = format!("find -f json {options} beside mounted");
            let run = interrupted(seekless(tree.root(), &line), |_| {
                until("it waits", || daemon.is_silent() && daemon.is_waited_for());
            });
            let run = run.exits(130);
            assert_eq!(run.json()["summary"]["incomplete"], true, "{run}");
        }
    }
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_folder_that_answers_slowly_is_listed_to_its_end() {
    for options in ["", "-L"] {
        let tree = Tree::new();
        let daemon = mounted(
            &tree,
            Shows::Files {
                count: 12,
                size: 10,
            },
        );
        daemon.be_slow(Duration::from_millis(400));
        // None is read: there readers would wait for each other.
        let line = format!("find -f json {options} --min-size 100 --patience 3 mounted");
        let run = seekless(tree.root(), &line).run();
        let run = run.exits(0).never_says("does not answer");
        let left_out = &run.json()["summary"]["left_out"];
        assert_eq!(left_out["filtered"], 12, "{run}");
    }
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_file_system_that_answers_again_is_searched_to_its_end() {
    let tree = with_neighbours();
    let shows = Shows::Files {
        count: 50,
        size: 400_000,
    };
    let daemon = mounted(&tree, shows);
    daemon.be_silent(true);
    let named = tree.path("named");
    let stderr = std::fs::File::create(&named).expect("a file");
    let run = seekless(tree.root(), "find -f nul beside mounted").stderr(stderr);
    let child = run.spawn();
    let is_named = || std::fs::read_to_string(&named).is_ok_and(|said| said.contains("not answer"));
    until("it is named", is_named);
    daemon.be_silent(false);
    let run = crate::common::run::finish(child, PATIENCE).exits(0);
    let mut sizes: Vec<usize> = run.sets().iter().map(|set| set.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 50], "{run}");
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn an_action_refuses_a_path_that_does_not_answer() {
    let tree = with_neighbours();
    let daemon = mounted(&tree, Shows::Files { count: 2, size: 10 });
    daemon.be_silent(true);
    for line in ["remove --yes", "remove --dry-run", "hardlink --yes"] {
        let line = format!("{line} --patience 2 beside mounted");
        seekless(tree.root(), &line)
            .run()
            .exits(2)
            .says("mounted: does not answer")
            .says("mounted: did not answer for ")
            .says("nothing was done");
        assert!(tree.path("beside/1").exists() && tree.path("beside/2").exists());
    }
}

/// Commands without `--patience` name what they wait for, and end when they are interrupted.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_command_about_a_silent_path_names_it() {
    let tree = with_neighbours();
    let daemon = mounted(&tree, Shows::Files { count: 2, size: 10 });
    daemon.be_silent(true);
    let lines = [
        "cache --cache mounted/o",
        "cache --clear --cache mounted/o",
        "devices mounted",
        "probe mounted",
    ];
    let runs = lines.map(|line| {
        let said = tree.path(line.replace('/', "-"));
        let stderr = std::fs::File::create(&said).expect("a file");
        let run = seekless(tree.root(), line).stderr(stderr);
        (line, said, run.spawn())
    });
    for (line, said, child) in runs {
        let named = format!("{}: does not answer", daemon.path().display());
        until(line, || {
            std::fs::read_to_string(&said).is_ok_and(|said| said.contains(&named))
        });
        kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
        crate::common::run::finish(child, PATIENCE).exits(130);
    }
}
