//! Disks that spin, or say so.

use super::*;

/// Folders that lie far apart, each with so many files, the same in all of them; and their sets.
fn far_apart(files: u64) -> (Volume, crate::common::Sets) {
    let volume = Volume::on_loop("ext4", 4096, "-O ^flex_bg");
    for folder in 0..24 {
        let folder = volume.path().join(folder.to_string());
        fs::create_dir(&folder).expect("made");
        for file in 0..files {
            fs::write(folder.join(file.to_string()), noise(file, 40_000)).expect("written");
        }
    }
    let expected = find(&volume.path(), ".").exits(0).sets();
    (volume, expected)
}

/// A file system in the page cache of a disk that is said to spin.
#[test]
#[ignore = "needs root: mounts loop devices"]
fn a_flag_that_lies_is_found_out() {
    let (volume, expected) = far_apart(8);
    let told = "read as solid state from now on";
    let run = |options: &str| {
        volume.unmount();
        volume.mount();
        let disk = SpinningDisk::under(&volume.path());
        let run = seekless(&volume.path(), &format!("find -f nul -v {options} ."));
        let run = run.before(disk.show()).run().exits(0);
        assert_eq!(run.sets(), expected, "{run}");
        run
    };
    // Where the machine is busy with other things, even memory may take its time.
    let found_out = (0..20).any(|_| run("").stderr_text().contains(told));
    assert!(found_out, "never taken for what it is");
    run("--threads hdd").never_says(told);
}

/// Solid state that is kept busy for a second answers like a disk with a head, and is taken for one until a
/// lone read shows better.
#[test]
#[ignore = "needs root: mounts loop devices, limits reads"]
fn what_is_slow_for_a_moment_only_is_not_taken_for_a_disk_with_a_head() {
    let (volume, expected) = far_apart(30);
    let folder = tempfile::tempdir().expect("a folder");
    let (head, none) = ("read as a spinning disk", "read as solid state");
    // Where the machine is busy with other things, even memory may take its time.
    let found_out = (0..20).any(|_| {
        volume.unmount();
        volume.mount();
        let group = ControlGroup::with_reads(120, &volume.path());
        let answer = folder.path().join("answer");
        let mut child = seekless(&volume.path(), "find -f nul -v .")
            .before(group.enter())
            .stdout(fs::File::create(&answer).expect("a file"))
            .spawn();
        let mut told = Vec::new();
        for line in BufReader::new(child.stderr.take().expect("a pipe")).lines() {
            told.push(line.expect("text"));
            if told.last().is_some_and(|line| line.contains(head)) {
                group.allow_reads(None, &volume.path());
            }
        }
        let says = |what: &str| told.iter().any(|line| line.contains(what));
        assert!(child.wait().expect("a child").success());
        let answer = fs::read(&answer).expect("an answer");
        assert_eq!(crate::common::run::parse_bare(&answer, 0), expected);
        assert!(says(head), "never taken for a disk with a head: {told:?}");
        says(none)
    });
    assert!(found_out, "taken for a disk with a head to the end");
}
