//! The library leaves the process of its caller as it is: limits, signals, threads and descriptors.

use std::env;
use std::fs;
use std::thread;
use std::time::Duration;

use crate::common::Tree;
use crate::common::children::own_process;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seekless::{Action, Compare, Folders, Journals, Search};

/// The environment variable that tells a child to work.
const WORK: &str = "SEEKLESS_TEST_LIBRARY_PROCESS";

/// The state that belongs to the process.
///
/// The signals that have handlers are left out: the C library handles one of its own from the second thread on.
fn state() -> String {
    let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).expect("proc");
    let wanted = ["Umask:", "SigBlk:", "SigIgn:", "Threads:"];
    let status = read("status");
    let status = status.lines();
    let status: Vec<&str> = status
        .filter(|line| wanted.iter().any(|name| line.starts_with(name)))
        .collect();
    let open = fs::read_dir("/proc/self/fd").expect("listed").count();
    let folder = env::current_dir().expect("a folder");
    format!("{status:?}, {open} open, {folder:?}\n{}", read("limits"))
}

/// The state once nothing changes it: the first thread of a test program blocks all signals while it starts this one.
fn state_at_rest() -> String {
    loop {
        let before = state();
        thread::sleep(Duration::from_millis(50));
        if state() == before {
            return before;
        }
    }
}

/// Waits until the threads that have ended are gone from `/proc`.
#[track_caller]
fn stays(before: &str, work: &str) {
    for _ in 0..1000 {
        if state() == before {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{work}: {before}\nbecame {}", state());
}

/// Starts itself once more: the library works in a process of its own.
#[test]
fn nothing_of_the_process_changes() {
    if env::var_os(WORK).is_some() {
        return do_everything();
    }
    let mut again = own_process(module_path!(), "nothing_of_the_process_changes");
    let worked = again.env(WORK, "1").output().expect("runs");
    let said = String::from_utf8_lossy(&worked.stdout);
    assert!(
        worked.status.success() && said.contains("all done"),
        "{said}{}",
        String::from_utf8_lossy(&worked.stderr)
    );
}

/// Does everything that the library can do.
fn do_everything() {
    // A soft limit below the hard one, which a search could raise.
    let lower = Rlimit {
        current: Some(400),
        ..getrlimit(Resource::Nofile)
    };
    setrlimit(Resource::Nofile, lower).expect("lowered");
    let tree = Tree::new().copies(["a", "b"], "same").folder("sub");
    let tree = tree.copies(["sub/c", "sub/d"], vec![1; 300_000]);
    let away = tempfile::tempdir().expect("a folder");
    let journals = Journals::new(away.path().join("journals"));
    let before = state_at_rest();

    let search = Search::new([tree.root()]).verify(true).io_idle(true);
    let sets = search.run().expect("searched");
    stays(&before, "a search");
    let plan = Action::hardlink().io_idle(true).plan(&sets);
    let applied = plan.expect("planned").apply(&journals).expect("applied");
    assert_eq!(applied.done, 2);
    stays(&before, "an action");
    let undo = journals.undo(&applied.run).expect("opened");
    let undone = undo.io_idle(true).run().expect("undone");
    assert_eq!(undone.restored, 2);
    stays(&before, "an undo");
    let sub = tree.path("sub");
    let beside = away.path().join("beside");
    std::fs::create_dir(&beside).expect("a folder");
    std::fs::write(beside.join("e"), vec![1; 300_000]).expect("written");
    let compare = Compare::new([&sub, &beside]).io_idle(true);
    compare.on_progress(|_| {}).run().expect("compared");
    stays(&before, "a comparison");
    let folders = Folders::new([tree.root()]).io_idle(true);
    folders.on_progress(|_| {}).run().expect("compared");
    stays(&before, "a comparison of folders");
    println!("all done");
}
