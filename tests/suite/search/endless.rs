//! File systems that have no end or do not answer: a search of them ends all the same, with a line that says what is
//! missing, and an interruption is heeded within moments. Root only.

use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::daemon::{Daemon, Shows};
use crate::common::run::Seekless;
use crate::common::volume::Volume;
use crate::common::{Run, Tree, noise, seekless};
use rustix::fs::{Advice, fadvise};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};

/// A hang, not a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn mounted(tree: &Tree, shows: Shows) -> Daemon {
    let place = tree.path("mounted");
    std::fs::create_dir_all(&place).expect("a folder");
    Daemon::mount(place, shows)
}

/// Waits for something that will be so.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not yet: {what}");
        thread::sleep(Duration::from_millis(10));
    }
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

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_folder_without_end_ends_where_address_space_does() {
    let limit = || {
        let most = Some(170 << 20);
        let limit = Rlimit {
            current: most,
            maximum: most,
        };
        Ok(setrlimit(Resource::As, limit)?)
    };
    for options in ["", "-L", "--unique"] {
        let tree = Tree::new();
        let _daemon = mounted(&tree, Shows::EndlessFiles);
        let line = format!("find -f nul {options} mounted");
        seekless(tree.root(), &line)
            .before(limit)
            .run()
            .exits(1)
            .says("memory is almost exhausted")
            .finds([]);
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
fn what_does_not_answer_is_named_and_not_waited_for() {
    // One waits for so long that it is named before it is given up.
    for (reads, line) in [
        (false, "--patience 12 mounted beside"),
        (true, "--patience 4 beside mounted"),
        (false, "--patience 4 -L beside mounted"),
        (true, "--patience 4 -L mounted beside"),
    ] {
        let tree = with_neighbours();
        let daemon = mounted(
            &tree,
            Shows::Files {
                count: 200,
                size: 400_000,
            },
        );
        match reads {
            true => daemon.be_silent_after_reads(40),
            false => daemon.be_silent(true),
        }
        let line = format!("find -f nul {line}");
        let run = seekless(tree.root(), &line).run();
        let place = daemon.path().display();
        let run = run
            .exits(1)
            .says(&format!("{place}: does not answer"))
            .says(&format!("{place}: did not answer"));
        let named = run.stderr_text().matches("does not answer").count();
        assert_eq!(named, 1, "{run}");
        assert!(
            run.sets().contains(
                &crate::common::sets(["beside/1 beside/2"])
                    .into_iter()
                    .next()
                    .expect("one")
            ),
            "{run}"
        );
    }
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_link_to_what_does_not_answer_is_left_out_and_the_others_are_followed() {
    let tree = with_neighbours()
        .folder("x")
        .symlink("x/a-to-mounted", "../mounted")
        .symlink("x/b-to-beside", "../beside");
    let daemon = mounted(&tree, Shows::Files { count: 9, size: 10 });
    daemon.be_silent(true);
    let run = seekless(tree.root(), "find -f nul -L --patience 4 x").run();
    let place = daemon.path().display();
    run.exits(1)
        .says(&format!("{place}: does not answer"))
        .says(&format!("{place}: did not answer"))
        .finds(["x/b-to-beside/1 x/b-to-beside/2"]);
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn files_behind_links_are_found_beside_a_link_to_what_does_not_answer() {
    // Inode numbers rise there, and links are followed in their order: the silent one last.
    let volume = Volume::tmpfs("");
    let tree = Tree::inside(&volume.path())
        .copies(["beside/1", "beside/2"], noise(1, 5000))
        .folder("x")
        .symlink("x/1", "../beside/1")
        .symlink("x/2", "../beside/2")
        .symlink("x/z", "../mounted/n0");
    let daemon = mounted(&tree, Shows::Files { count: 9, size: 10 });
    daemon.be_silent(true);
    let run = seekless(tree.root(), "find -f nul -L --patience 4 x").run();
    run.exits(1).finds(["x/1 x/2"]);
}

/// The only walker of the disk follows the link first, and waits. The sweep of the disk begins all the same.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_link_to_what_does_not_answer_costs_nothing_of_a_spinning_disk() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let tree = Tree::inside(std::path::Path::new(folder))
        .folder("x")
        .symlink("x/0", "../mounted/n0")
        .copies(["x/1", "x/2"], noise(1, 5000))
        .copies(["x/y/1", "x/y/2"], noise(2, 6000));
    let daemon = mounted(&tree, Shows::Files { count: 9, size: 10 });
    daemon.be_silent(true);
    for name in ["x/1", "x/2", "x/y/1", "x/y/2"] {
        // What is in the page cache does not wait for the sweep.
        let file = std::fs::File::open(tree.path(name)).expect("is there");
        file.sync_all().expect("can be written out");
        fadvise(&file, 0, None, Advice::DontNeed).expect("advice can be given");
    }
    let line = "find -f nul -L --threads hdd --patience 4 x";
    let run = seekless(tree.root(), line).run();
    run.exits(1).finds(["x/1 x/2", "x/y/1 x/y/2"]);
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
fn a_path_that_falls_silent_when_it_is_opened_costs_no_other_path() {
    let tree = with_neighbours();
    let daemon = mounted(&tree, Shows::Files { count: 2, size: 10 });
    // Its metadata is told, and nothing else.
    daemon.be_silent_after_lookups(1);
    let line = "find -f nul --patience 4 beside/1 beside/2 mounted/n0";
    seekless(tree.root(), line)
        .run()
        .exits(1)
        .says("mounted: did not answer")
        .finds(["beside/1 beside/2"]);
}

#[test]
#[ignore = "mounts a file system of its own: root only"]
fn paths_that_do_not_answer_are_waited_for_together() {
    let mut tree = with_neighbours();
    let names: Vec<String> = (0..9).map(|nth| format!("mounted{nth}")).collect();
    for name in &names {
        tree = tree.folder(name);
    }
    let shows = Shows::Files { count: 2, size: 10 };
    let daemons = names
        .iter()
        .map(|name| Daemon::mount(tree.path(name), shows));
    let daemons: Vec<Daemon> = daemons.collect();
    daemons.iter().for_each(|daemon| daemon.be_silent(true));
    let line = format!("find -f nul {} beside", names.join(" "));
    let child = seekless(tree.root(), &line).spawn();
    until("they are waited for together", || {
        daemons.iter().all(Daemon::is_waited_for)
    });
    daemons.iter().for_each(|daemon| daemon.be_silent(false));
    let run = crate::common::run::finish(child, PATIENCE).exits(0);
    let mut sizes: Vec<usize> = run.sets().iter().map(|set| set.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 18], "{run}");
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

/// Nothing was found because the only path stopped answering while it was searched.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn an_action_that_finds_nothing_beside_a_silent_file_system_has_done_nothing() {
    type Silence = fn(&Daemon);
    let silences: [(&str, Silence); 3] = [
        ("soon", |daemon| daemon.be_silent_after(3)),
        ("later", |daemon| daemon.be_silent_after(8)),
        ("in a read", |daemon| {
            daemon.be_silent_after_reads(daemon.reads() + 1);
        }),
    ];
    for (when, fall_silent) in silences {
        for line in [
            "remove --yes",
            "hardlink --dry-run",
            "move --yes --to there",
        ] {
            let tree = Tree::new().folder("there");
            let shows = Shows::Files {
                count: 200,
                size: 400_000,
            };
            let daemon = mounted(&tree, shows);
            // The kernel asks once whether the file system wants to know of each file that is closed.
            std::fs::read(tree.path("mounted/n0")).expect("it answers");
            fall_silent(&daemon);
            let line = format!("{line} --patience 1 mounted");
            let run = seekless(tree.root(), &line).run();
            assert_eq!(run.code(), 2, "{when}: {run}");
            run.says("mounted: did not answer").says("nothing was done");
        }
    }
}

/// Each ends after the patience, with a line that names the path, and does nothing.
#[test]
#[ignore = "mounts a file system of its own: root only"]
fn a_command_whose_only_path_does_not_answer_has_done_nothing() {
    for (line, place) in [
        ("find -q mounted", "mounted"),
        ("find -q --unique mounted", "mounted"),
        ("folders -q mounted", "mounted"),
        ("remove --dry-run mounted", "mounted"),
        ("find -o mounted/report beside", "mounted/report"),
        ("find -f fdupes -o mounted/report beside", "mounted/report"),
        ("folders -o mounted/report beside", "mounted/report"),
        ("remove -n -o mounted/plan beside", "mounted/plan"),
        ("find --newer mounted/n0 beside", "mounted/n0"),
        ("remove --dry-run --older mounted/n0 beside", "mounted/n0"),
        ("undo --journal mounted/journals", "mounted/journals"),
    ] {
        let tree = with_neighbours();
        let daemon = mounted(&tree, Shows::Files { count: 2, size: 10 });
        daemon.be_silent(true);
        let run = seekless(tree.root(), &format!("{line} --patience 1"));
        let run = run.patience(PATIENCE).run().exits(2);
        let run = run.says(place).says("not answer");
        assert_eq!(run.stdout_text(), "", "{line}: {run}");
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
        "cache clear --yes --cache mounted/o",
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

/// Opened from the top each time, a tree of this shape takes time by the square of its depth.
#[test]
#[ignore = "needs strace"]
fn folders_are_looked_at_again_from_the_folder_above() {
    const DEPTH: usize = 1500;
    let tree = Tree::new().folder("x");
    let mut above = std::fs::File::open(tree.path("x")).expect("opened");
    for _ in 0..DEPTH {
        rustix::fs::mkdirat(&above, "d", rustix::fs::Mode::RWXU).expect("made");
        let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::RDONLY;
        let below = rustix::fs::openat(&above, "d", flags, rustix::fs::Mode::empty());
        above = below.expect("opened").into();
    }
    let calls = tree.path("calls");
    let run = std::process::Command::new("strace")
        .args(["-f", "-s", "100000", "-e", "trace=openat,openat2", "-o"])
        .arg(&calls)
        .args([env!("CARGO_BIN_EXE_seekless"), "find", "--unique", "x"])
        .current_dir(tree.root())
        .output();
    assert!(run.expect("strace is there").status.success());
    let bytes = std::fs::metadata(&calls).expect("written").len();
    let each = bytes / DEPTH as u64;
    assert!(
        each < 1000,
        "{each} bytes of paths and calls for each folder"
    );
}
