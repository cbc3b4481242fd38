//! Contents: holes, single bytes, and files that stay as they were.

use super::*;

#[test]
fn reading_leaves_the_access_time_alone() {
    let tree = Tree::new()
        .copies(["1", "2"], noise(1, 200_000))
        .file("3", noise(2, 200_000));
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for name in ["1", "2", "3"] {
        let times = fs::FileTimes::new().set_accessed(old);
        let file = File::options()
            .write(true)
            .open(tree.path(name))
            .expect("a file");
        file.set_times(times).expect("times can be set");
    }
    find(&tree, "--verify .").exits(0).finds(["1 2"]);
    for name in ["1", "2", "3"] {
        let atime = fs::metadata(tree.path(name)).expect("metadata").atime();
        assert_eq!(atime, 1_000_000_000, "{name}");
    }
}

#[test]
fn nothing_is_changed_by_looking() {
    let tree = Tree::new()
        .copies(["x/1", "x/2", "x/y/3"], noise(1, 70_000))
        .hard_link("x/4", "x/1")
        .symlink("x/5", "1")
        .fifo("x/6");
    let state = || {
        let entries = walkdir::WalkDir::new(tree.root()).sort_by_file_name();
        let facts = entries.into_iter().map(|entry| {
            let entry = entry.expect("listable");
            let data = entry.metadata().expect("metadata");
            let facts = (
                data.ino(),
                data.mode(),
                data.len(),
                data.nlink(),
                data.mtime(),
                data.mtime_nsec(),
                data.ctime(),
                data.ctime_nsec(),
            );
            (entry.path().to_owned(), facts)
        });
        facts.collect::<Vec<_>>()
    };
    let before = state();
    for options in ["", "-H", "-L", "-I", "--unique", "--verify", "-f json"] {
        seekless(tree.root(), &format!("find {options} x x/y"))
            .run()
            .exits(0);
    }
    assert_eq!(state(), before);
}
