//! Disks that spin, or say so.

use super::*;

/// Folders that lie far apart, each with so many files, the same in all of them; and their sets.
fn far_apart(files: u64) -> (Volume, crate::common::Sets) {
    let volume = Volume::on_loop("ext4", 4096, "-O ^flex_bg");
    for folder in 0..24 {
        let folder = volume.path().join(folder.to_string());
        fs::create_dir(&folder).expect("made");
        for file in 0..files {
            crate::common::write(folder.join(file.to_string()), noise(file, 40_000))
                .expect("written");
        }
    }
    let expected = find(&volume.path(), ".").exits(0).sets();
    (volume, expected)
}

/// A disk that answers like one with a head is read as such, whatever its flag says.
#[test]
#[ignore = "needs root: mounts loop devices, limits reads"]
fn what_is_slow_is_read_as_a_spinning_disk() {
    let (volume, expected) = far_apart(30);
    let folder = tempfile::tempdir().expect("a folder");
    volume.unmount();
    volume.mount();
    // It may be another loop device now.
    let group = ControlGroup::with_reads(120, &volume.path());
    let answer = folder.path().join("answer");
    let mut child = seekless(&volume.path(), "find -f nul -v .")
        .before(group.enter())
        .stdout(fs::File::create(&answer).expect("a file"))
        .spawn();
    let mut told = Vec::new();
    for line in BufReader::new(child.stderr.take().expect("a pipe")).lines() {
        told.push(line.expect("text"));
        if told
            .last()
            .is_some_and(|line| line.contains("read as a spinning disk"))
        {
            group.allow_reads(None, &volume.path());
        }
    }
    assert!(child.wait().expect("a child").success());
    let answer = fs::read(&answer).expect("an answer");
    assert_eq!(crate::common::run::parse_bare(&answer, 0), expected);
    let is_taken = told
        .iter()
        .any(|line| line.contains("read as a spinning disk"));
    assert!(is_taken, "never taken for a disk with a head: {told:?}");
}
