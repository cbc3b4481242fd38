//! Disks that cannot be read everywhere.

use super::*;

/// Changes the place of the image that holds these bytes: the file system's checksum for them
/// does not fit any more, and reading them is an input/output error.
fn damage(image: &Path, bytes: &[u8]) {
    let content = fs::read(image).expect("the image can be read");
    let at = content
        .windows(bytes.len())
        .position(|window| window == bytes);
    let at = at.expect("the content is in the image") as u64;
    let file = File::options().write(true).open(image).expect("writable");
    file.write_all_at(&[!bytes[0]], at).expect("written");
}

/// Three files of one content, of which one cannot be read at this place.
fn one_of_three_is_damaged(length: usize, at: usize) {
    let volume = Volume::on_loop("btrfs", 256, "-d single -m single");
    let content = noise(1, length);
    for name in ["1", "2", "3"] {
        crate::common::write(volume.path().join(name), &content).expect("written");
    }
    crate::common::write(volume.path().join("other"), noise(2, length)).expect("written");
    volume.unmount();
    damage(&volume.image(), &content[at..at + 64]);
    volume.mount();
    let readable = |name: &&str| fs::read(volume.path().join(name)).is_ok();
    let (whole, broken): (Vec<_>, Vec<_>) = ["1", "2", "3"].into_iter().partition(readable);
    assert_eq!(broken.len(), 1, "the stage is set");
    for options in ["", "--verify", "--threads 1", "--threads hdd"] {
        volume.unmount();
        volume.mount();
        find(&volume.path(), &format!("{options} ."))
            .exits(1)
            .says(broken[0])
            .finds([&whole.join(" ")]);
    }
    let run = find(&volume.path(), "--unique .").exits(1).says(broken[0]);
    assert!(!run.sets().contains(&[broken[0].into()].into()), "{run}");
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn d03_an_error_in_the_middle_of_a_file_is_named_and_never_a_match() {
    one_of_three_is_damaged(8 << 20, 4 << 20);
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn an_error_at_the_beginning_of_a_file_is_named_and_never_a_match() {
    one_of_three_is_damaged(1 << 20, 0);
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn an_error_at_the_end_of_a_file_is_named_and_never_a_match() {
    one_of_three_is_damaged(1 << 20, (1 << 20) - 64);
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn d01_two_damaged_files_are_not_duplicates_of_each_other() {
    let volume = Volume::on_loop("btrfs", 256, "-d single -m single");
    let contents = [noise(1, 1 << 20), noise(2, 1 << 20)];
    let mut same_head = contents[1].clone();
    same_head[..500_000].copy_from_slice(&contents[0][..500_000]);
    crate::common::write(volume.path().join("1"), &contents[0]).expect("written");
    crate::common::write(volume.path().join("2"), &same_head).expect("written");
    volume.unmount();
    damage(&volume.image(), &contents[0][700_000..700_064]);
    damage(&volume.image(), &same_head[700_000..700_064]);
    volume.mount();
    find(&volume.path(), ".").finds([]);
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn a_folder_and_a_file_with_broken_metadata_are_named() {
    let volume = Volume::on_loop("ext4", 64, "");
    for name in ["x", "broken-folder"] {
        fs::create_dir(volume.path().join(name)).expect("a folder");
    }
    for name in ["x/1", "x/2", "x/broken-file", "broken-folder/3"] {
        crate::common::write(volume.path().join(name), "same").expect("written");
    }
    volume.unmount();
    for name in ["/broken-folder", "/x/broken-file"] {
        sh(&format!(
            "debugfs -w -R 'clri {name}' {}",
            volume.image().display()
        ));
    }
    volume.mount();
    find(&volume.path(), ".")
        .exits(1)
        .says("broken-folder")
        .says("broken-file")
        .finds(["x/1 x/2"]);
}
