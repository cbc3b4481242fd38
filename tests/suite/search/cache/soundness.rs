//! Whatever changes between two runs, the answer with the cache is the one without it.

use std::fs::{self, File, FileTimes};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{Runs, search, tick};
use crate::common::limits::{rounds, seed};
use crate::common::noise;
use crate::common::rng::Rng;
use crate::common::volume::{Volume, sh};

/// Puts one random change into a tree; false if it was none.
fn change(rng: &mut Rng, top: &Path, content: &mut dyn FnMut(&mut Rng) -> Vec<u8>) {
    let place = |rng: &mut Rng| top.join(format!("d{}/f{}", rng.below(3), rng.below(12)));
    let path = place(rng);
    let times = |path: &Path| {
        let meta = fs::metadata(path).ok()?;
        let times = FileTimes::new().set_modified(meta.modified().ok()?);
        Some(times.set_accessed(meta.accessed().ok()?))
    };
    let before = times(&path);
    match rng.below(11) {
        // Other bytes in place, of one length or another.
        0 | 1 => fs::write(&path, content(rng)).expect("is written"),
        // The same, with the time of modification restored.
        2 | 3 => {
            fs::write(&path, content(rng)).expect("is written");
            if let Some(times) = before {
                let file = File::options().write(true).open(&path).expect("is there");
                file.set_times(times).expect("times are set");
            }
        }
        // Another file in its place.
        4 => {
            let new = top.join("new");
            fs::write(&new, content(rng)).expect("is written");
            fs::rename(&new, &path).expect("is renamed");
        }
        // Gone, and its inode number given to another.
        5 => {
            let _ = fs::remove_file(&path);
            fs::write(place(rng), content(rng)).expect("is written");
        }
        6 => {
            if let Ok(file) = File::options().write(true).open(&path) {
                file.set_len(rng.below(9000) as u64 + 1).expect("is cut");
            }
        }
        // One byte in the middle, through a memory map.
        7 => {
            if let Ok(file) = File::options().read(true).write(true).open(&path) {
                let length = file.metadata().expect("is open").len();
                if length > 0 {
                    through_a_map(&file, length as usize, rng.below(length as usize));
                    // The kernel writes it back within the minute that a file must have been left alone.
                    file.sync_all().expect("is written back");
                }
            }
        }
        8 => {
            let to = place(rng);
            if path != to {
                let _ = fs::remove_file(&to);
                let _ = fs::hard_link(&path, &to);
            }
        }
        9 => {
            if let Ok(file) = File::options().write(true).open(&path) {
                let time = SystemTime::UNIX_EPOCH + Duration::from_secs(rng.below(3) as u64);
                file.set_times(FileTimes::new().set_modified(time))
                    .expect("times are set");
            }
        }
        _ => {
            if let Ok(mut file) = File::options().write(true).open(&path) {
                let length = file.metadata().expect("is open").len();
                file.seek(SeekFrom::Start(length / 2)).expect("seeks");
                file.write_all(b"!").expect("is written");
            }
        }
    }
}

fn through_a_map(file: &File, length: usize, at: usize) {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    // SAFETY: the map is of this length, and nobody else has it.
    unsafe {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let map = mmap(
            std::ptr::null_mut(),
            length,
            access,
            MapFlags::SHARED,
            file,
            0,
        );
        let map = map.expect("is mapped");
        *map.cast::<u8>().add(at) ^= 1;
        munmap(map, length).expect("is unmapped");
    }
}

/// Few contents of few lengths, so that many files are equal, or nearly.
fn any_content(rng: &mut Rng) -> Vec<u8> {
    let length = [1, 700, 5000, 5000, 30_000, 150_000][rng.below(6)];
    let mut content = noise(7, length);
    let at = [0, length / 2, length - 1][rng.below(3)];
    content[at] = rng.below(2) as u8;
    content
}

/// Plays rounds in a folder; returns how many files were answered for.
fn play(top: &Path, cache: &Path, count: usize, between: &mut dyn FnMut(&mut Rng)) -> u64 {
    let mut rng = Rng::new(seed());
    let mut runs = Runs::new(cache.to_owned());
    let tree = top.join("tree");
    for folder in 0..3 {
        let folder = tree.join(format!("d{folder}"));
        fs::create_dir_all(&folder).expect("a folder");
        for file in 0..12 {
            let path = folder.join(format!("f{file}"));
            fs::write(path, any_content(&mut rng)).expect("is written");
        }
    }
    let mut answered = 0;
    for round in 0..count {
        for _ in 0..rng.below(4) {
            change(&mut rng, &tree, &mut any_content);
        }
        between(&mut rng);
        // The margin stands for the file system's clock and for maps; here changes are only a tick apart.
        tick(top);
        let roots = [tree.clone()];
        let without = search(&roots, None);
        let with = search(&roots, Some(runs.later()));
        assert_eq!(with.problems, Vec::<String>::new(), "round {round}");
        assert_eq!(with.sets, without.sets, "round {round}");
        answered += with.summary.cached.files;
    }
    answered
}

#[test]
#[ignore = "needs root and loop devices"]
fn the_answer_is_right_on_other_file_systems_and_after_new_mounts() {
    on_file_systems(12);
}

#[test]
#[ignore = "needs root, loop devices and minutes"]
fn in_full_the_answer_is_right_on_other_file_systems_and_after_new_mounts() {
    on_file_systems(rounds(2000));
}

fn on_file_systems(count: usize) {
    let away = tempfile::tempdir().expect("a folder");
    for (kind, mebibytes, options) in [
        ("ext4", 64, ""),
        // Times in whole seconds.
        ("ext4", 64, "-I 128"),
        ("xfs", 320, ""),
        ("btrfs", 256, ""),
    ] {
        let volume = Volume::on_loop(kind, mebibytes, options);
        let cache = away.path().join(format!("cache of {kind} {options}"));
        // Whatever is plugged in first takes the number of the loop device.
        let mut before = None;
        let mut plug = |rng: &mut Rng| {
            if rng.percent(20) {
                volume.unmount();
                before = match before.take() {
                    None => Some(Volume::on_loop("ext4", 8, "")),
                    Some(_) => None,
                };
                volume.mount();
            }
        };
        let answered = play(&volume.path(), &cache, count, &mut plug);
        // Most files of most rounds were not changed; within a second many changes leave one time.
        let most = match options {
            "-I 128" => 0..1,
            _ => count as u64 * 10..u64::MAX,
        };
        assert!(most.contains(&answered), "{kind} {options}: {answered}");
    }
    let volume = Volume::tmpfs("");
    let cache = away.path().join("cache of tmpfs");
    assert_eq!(play(&volume.path(), &cache, count.min(50), &mut |_| {}), 0);
}

#[test]
#[ignore = "needs root and loop devices"]
fn a_snapshot_and_its_original_have_rows_of_their_own() {
    let volume = Volume::on_loop("btrfs", 256, "");
    let top = volume.path();
    sh(&format!("btrfs -q subvolume create {}/a", top.display()));
    fs::write(top.join("a/one"), noise(1, 5000)).expect("is written");
    fs::write(top.join("a/two"), noise(2, 5000)).expect("is written");
    sh(&format!(
        "btrfs -q subvolume snapshot {0}/a {0}/b",
        top.display()
    ));
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    search(std::slice::from_ref(&top), Some(runs.later()));
    // Inode number and generation stay those of the original.
    tick(&top);
    fs::write(top.join("b/one"), noise(2, 5000)).expect("is written");
    for _ in 0..2 {
        let without = search(std::slice::from_ref(&top), None);
        let with = search(std::slice::from_ref(&top), Some(runs.later()));
        assert_eq!(with.sets, without.sets);
        assert_eq!(without.sets.len(), 1);
    }
    let last = search(std::slice::from_ref(&top), Some(runs.later()));
    assert_eq!(last.bytes_read(), 0);
}

#[test]
#[ignore = "needs root and loop devices"]
fn of_two_file_systems_with_one_uuid_nothing_is_kept() {
    let first = Volume::on_loop("ext4", 16, "");
    fs::write(first.path().join("one"), noise(1, 5000)).expect("is written");
    fs::write(first.path().join("two"), noise(1, 5000)).expect("is written");
    let away = tempfile::tempdir().expect("a folder");
    let mut runs = Runs::new(away.path().join("cache"));
    let roots = [first.path()];
    let read = |runs: &mut Runs| search(&roots, Some(runs.later())).bytes_read();
    assert_eq!((read(&mut runs), read(&mut runs)), (10_000, 0));
    first.unmount();
    let second = Volume::on_loop("ext4", 16, "");
    second.unmount();
    fs::copy(first.image(), second.image()).expect("is copied");
    second.mount();
    first.mount();
    assert_eq!(read(&mut runs), 10_000);
    second.unmount();
    assert_eq!(read(&mut runs), 0);
    second.mount();
}
