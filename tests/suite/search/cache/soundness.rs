//! Whatever changes between two runs, the answer with the cache is the one without it.

use std::fs::{self, File, FileTimes, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use seekless::engine::Trust;

use super::{Runs, search, search_for, tick};
use crate::common::limits::Rng;
use crate::common::limits::{rounds, seed};
use crate::common::mounts::{Shown, Shows};
use crate::common::noise;
use crate::common::volume::Volume;

/// Puts one random change into a tree. With `Trust::Modification`, none that changes a file under the time of
/// modification that it had; if numbers do not last, nor one that puts another file under its name and time.
fn change(
    rng: &mut Rng,
    top: &Path,
    (trust, keeps_numbers): (Trust, bool),
    content: &mut dyn FnMut(&mut Rng) -> Vec<u8>,
) {
    let place = |rng: &mut Rng| top.join(format!("d{}/f{}", rng.below(3), rng.below(12)));
    let path = place(rng);
    let times = |path: &Path| {
        let meta = fs::metadata(path).ok()?;
        let times = FileTimes::new().set_modified(meta.modified().ok()?);
        Some(times.set_accessed(meta.accessed().ok()?))
    };
    let before = times(&path);
    match rng.below(13) {
        // Other bytes in place, of one length or another.
        0 | 1 => fs::write(&path, content(rng)).expect("is written"),
        // The same, with the time of modification restored.
        2 | 3 => {
            fs::write(&path, content(rng)).expect("is written");
            if let (Some(times), Trust::Change) = (before, trust) {
                restore(&path, times);
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
        // The same, with the name and the time of modification of the file that is gone.
        11 => {
            let _ = fs::remove_file(&path);
            fs::write(&path, content(rng)).expect("is written");
            // Where numbers are made up, nothing but its times tells a file from the next one of its name.
            if let (Some(times), true) = (before, keeps_numbers) {
                restore(&path, times);
            }
        }
        12 => {
            let mode = Permissions::from_mode(0o600 + rng.below(0o100) as u32);
            let _ = fs::set_permissions(&path, mode);
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

fn restore(path: &Path, times: FileTimes) {
    let file = File::options().write(true).open(path).expect("is there");
    file.set_times(times).expect("times are set");
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
    let length = [1, 700, 5000, 5000, 30_000, 150_000, 150_000][rng.below(7)];
    let mut content = noise(7, length);
    let at = [0, length / 2, length - 1][rng.below(3)];
    content[at] = rng.below(2) as u8;
    content
}

/// One way to play.
pub struct Play<'a> {
    /// The tree.
    pub tree: PathBuf,
    pub runs: Runs,
    /// Inode numbers last from mount to mount.
    pub keeps_numbers: bool,
    /// What happens to the file system between a change and the next search.
    pub between: &'a mut dyn FnMut(&mut Rng),
}

impl Play<'_> {
    /// Plays so many rounds; returns how many files were answered for.
    pub fn rounds(&mut self, count: usize) -> u64 {
        let mut rng = Rng::new(seed());
        for folder in 0..3 {
            let folder = self.tree.join(format!("d{folder}"));
            fs::create_dir_all(&folder).expect("a folder");
            for file in 0..12 {
                let path = folder.join(format!("f{file}"));
                fs::write(path, any_content(&mut rng)).expect("is written");
            }
        }
        let rules = (self.runs.trust, self.keeps_numbers);
        let mut answered = 0;
        for round in 0..count {
            for _ in 0..rng.below(4) {
                change(&mut rng, &self.tree, rules, &mut any_content);
            }
            (self.between)(&mut rng);
            // The margin stands for the file system's clock and for maps; here changes are only a tick apart.
            if self.keeps_numbers {
                tick(self.tree.parent().expect("a folder above"));
            }
            if rng.percent(3) {
                // The clock was wrong for a while.
                let back = Duration::from_secs(rng.below(1000) as u64);
                self.runs.ahead = self.runs.ahead.saturating_sub(back);
            }
            let roots = [self.tree.clone()];
            let digests = rng.percent(50);
            let without = search_for(&roots, None, digests);
            let with = search_for(&roots, Some(self.runs.later()), digests);
            let is_expected =
                |line: &String| line.contains("files on this file system are not cached");
            assert!(with.problems.iter().all(is_expected), "{:?}", with.problems);
            assert_eq!(with.sets, without.sets, "round {round}");
            answered += with.summary.cached.files;
        }
        answered
    }
}

/// Both levels, each with a cache of its own.
pub fn levels(away: &Path) -> [Runs; 2] {
    [
        Runs::new(away.join("strict")),
        Runs::by_mtime(away.join("by mtime")),
    ]
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
    for (kind, mebibytes, options) in [
        ("ext4", 64, ""),
        // Times in whole seconds.
        ("ext4", 64, "-I 128"),
        ("xfs", 320, ""),
        ("btrfs", 256, ""),
    ] {
        let away = tempfile::tempdir().expect("a folder");
        for runs in levels(away.path()) {
            let trust = runs.trust;
            let volume = Volume::on_loop(kind, mebibytes, options);
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
            let answered = Play {
                tree: volume.path().join("tree"),
                runs,
                keeps_numbers: true,
                between: &mut plug,
            }
            .rounds(count);
            // Most files of most rounds were not changed; within a second many changes leave one time.
            let most = match options {
                "-I 128" => 0..1,
                _ => count as u64 * 10..u64::MAX,
            };
            let what = format!("{kind} {options} {trust:?}");
            assert!(most.contains(&answered), "{what}: {answered}");
        }
    }
}

#[test]
#[ignore = "needs root"]
fn nothing_is_kept_of_what_is_in_memory_or_in_layers() {
    let away = tempfile::tempdir().expect("a folder");
    for runs in levels(away.path()) {
        let memory = Volume::tmpfs("");
        let layers = Shows::new(Shown::Overlay);
        for top in [memory.path(), layers.point()] {
            let mut play = Play {
                tree: top.join("tree"),
                runs: Runs {
                    folder: runs.folder.clone(),
                    ..runs
                },
                keeps_numbers: true,
                between: &mut |_| {},
            };
            assert_eq!(play.rounds(10), 0, "{}", top.display());
        }
    }
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
