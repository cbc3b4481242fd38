//! Tests of the scheduler: which pool gets a job, when, and how many jobs are in flight.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::device::{Policy, VolumeId};
use crate::file::{FileIndex, Fingerprint};
use crate::hash::Digest;
use crate::sys::{extents, page_cache};

use super::{bytes, fingerprint, in_time, settings, task};
use crate::hash::Fold;
use crate::read::open_file::Device;
use crate::read::scheduler::{Finished, Job, Lane, Scheduler};
use crate::read::task::{Batch, Failure, Outcome, Span, Task};

const POOLS: Policy = Policy {
    random_threads: 2,
    depth: 4,
    sequential_threads: 1,
    sequential_depth: 2,
    ..Policy::NOTHING
};

const DISK: Policy = Policy {
    random_threads: 1,
    depth: 4,
    sequential_threads: 1,
    sequential_depth: 1,
    ..Policy::NOTHING
};

/// Files of one folder, and what was asked of them.
struct TestAsker {
    files: Vec<(String, Fingerprint)>,
    scheduler: Scheduler<&'static str>,
    /// Jobs described, in order.
    described: Vec<Job<&'static str>>,
    /// Jobs in flight, by whether they are for the sequential pool.
    in_flight: HashMap<bool, usize>,
    most: HashMap<bool, usize>,
}

impl TestAsker {
    fn new(folder: &Path, sizes: &[usize]) -> Self {
        let files = sizes.iter().enumerate().map(|(i, &size)| {
            let name = format!("f{i}");
            let path = folder.join(&name);
            fs::write(&path, bytes(i as u64, size)).expect("written");
            (name, fingerprint(&path))
        });
        Self {
            files: files.collect(),
            scheduler: Scheduler::new(settings(folder), Fold::default()),
            described: Vec::new(),
            in_flight: HashMap::new(),
            most: HashMap::new(),
        }
    }

    fn ask(&mut self, volume: VolumeId, file: usize, bulk: bool) {
        self.scheduler.push(Job {
            bulk,
            ..job(volume, file)
        });
    }

    fn dispatch(&mut self) {
        let (files, described) = (&self.files, &mut self.described);
        let (in_flight, most) = (&mut self.in_flight, &mut self.most);
        self.scheduler
            .dispatch(&mut |job: &mut Job<&'static str>, _, batch: &mut Batch| {
                let (name, expect) = &files[job.file.0 as usize];
                described.push(*job);
                let count = in_flight.entry(job.bulk).or_insert(0);
                *count += 1;
                let highest = most.entry(job.bulk).or_insert(0);
                *highest = (*highest).max(*count);
                let spans = [(0, expect.size), (0, 0)].map(|(offset, len)| Span { offset, len });
                let device = Device {
                    volume: job.volume,
                    ..Device::default()
                };
                Task {
                    device,
                    ..task(batch, 0, name, *expect, spans)
                }
            });
    }

    /// Waits for some completions; none if nothing came for a while.
    fn wait(&mut self) -> Vec<Finished<&'static str>> {
        let arrived = self
            .scheduler
            .completions()
            .recv_timeout(Duration::from_millis(300));
        let arrived = arrived.unwrap_or_default().into_iter();
        let finished = arrived.filter_map(|completion| {
            // A late answer belongs to no job.
            let job = self.scheduler.job(completion.ticket)?;
            *self.in_flight.entry(job.bulk).or_insert(0) -= 1;
            self.scheduler.completed(completion)
        });
        finished.collect()
    }

    fn all(&mut self) -> Vec<Finished<&'static str>> {
        let mut all = Vec::new();
        while !self.scheduler.is_idle() {
            self.dispatch();
            all.extend(self.wait());
        }
        all
    }

    fn check(&self, finished: &[Finished<&'static str>], volume: VolumeId) {
        for f in finished {
            let size = self.files[f.job.file.0 as usize].1.size as usize;
            let content = bytes(f.job.file.0.into(), size);
            let digest = Digest::of(blake3::hash(&content), true);
            let Outcome::Read { digests, bytes, .. } = f.outcome else {
                panic!("{f:?}");
            };
            assert_eq!((digests, bytes), ([Some(digest), None], size as u64));
            assert_eq!((f.job.want, f.job.volume), ("all of it", volume));
        }
        let mut ids: Vec<_> = finished.iter().map(|f| f.job.file).collect();
        ids.sort_unstable();
        let twice = ids.windows(2).any(|pair| pair[0] == pair[1]);
        assert!(!twice, "answered twice: {ids:?}");
    }
}

/// Whatever gives up on a volume, each of its jobs ends exactly once, and the others are read.
#[test]
fn every_job_of_a_volume_that_was_given_up_ends_once() {
    in_time(|| {
        let folder = tempfile::tempdir().expect("a folder");
        for seed in 0..36 {
            let mut asker = TestAsker::new(folder.path(), &[10; 60]);
            let lanes = [Lane::Pools, Lane::OwnPools, Lane::Disk("sda".into())];
            let add = |lane| asker.scheduler.add_volume(&"sda".into(), lane, POOLS);
            let volumes: Vec<VolumeId> = lanes.into_iter().cycle().take(4).map(add).collect();
            let dead = volumes[seed % 4];
            let of = |file: usize| volumes[(file * 7 + seed) % 4];
            let mut ended: HashMap<FileIndex, bool> = HashMap::new();
            let mut note = |finished: Finished<&'static str>| {
                let is_read = match finished.outcome {
                    Outcome::Failed(failure) => {
                        assert_eq!((failure, finished.job.volume), (Failure::Unanswered, dead));
                        false
                    }
                    _ => true,
                };
                let before = ended.insert(finished.job.file, is_read);
                assert_eq!(before, None, "ended twice: {finished:?}");
            };
            let give_up_at = seed * 31 % 50;
            for file in 0..60 {
                match file % 6 {
                    // Three files that are compared with each other.
                    3 => {
                        let set = (file..file + 3).map(|file| job(of(file), file));
                        asker.scheduler.push_set(0, set.collect());
                    }
                    0..3 => asker.ask(of(file), file, file % 2 == 0),
                    _ => {}
                }
                if file == 20 {
                    asker.scheduler.scan_done();
                }
                if seed % 3 > 0 {
                    asker.dispatch();
                }
                if file == give_up_at {
                    // Some of the answers are late: they arrive after it.
                    asker.scheduler.give_up(&[dead]);
                }
                if seed % 3 > 0 && (file + seed) % 20 == 0 {
                    asker.wait().into_iter().for_each(&mut note);
                }
            }
            while !asker.scheduler.is_idle() {
                while let Some(finished) = asker.scheduler.next_ended() {
                    note(finished);
                }
                asker.dispatch();
                asker.wait().into_iter().for_each(&mut note);
            }
            assert_eq!(ended.len(), 60, "seed {seed}");
            assert_eq!(asker.scheduler.outstanding(), 0);
            for (file, is_read) in ended {
                let is_healthy = of(file.0 as usize) != dead;
                assert!(is_read || !is_healthy, "seed {seed}: {file:?} was lost");
            }
            asker.scheduler.join();
        }
    });
}

fn job(volume: VolumeId, file: usize) -> Job<&'static str> {
    Job {
        file: FileIndex(file as u32),
        volume,
        want: "all of it",
        bulk: true,
    }
}

#[test]
fn windows_are_kept_and_everything_is_answered() {
    in_time(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let sizes: Vec<usize> = (0..300).map(|i| 100 + i * 1000).collect();
        let mut asker = TestAsker::new(folder.path(), &sizes);
        let volume = asker
            .scheduler
            .add_volume(&"sdy".into(), Lane::Pools, POOLS);
        for (i, &size) in sizes.iter().enumerate() {
            asker.ask(volume, i, size > 128 << 10);
        }
        let finished = asker.all();
        assert_eq!(finished.len(), sizes.len());
        asker.check(&finished, volume);
        assert!(asker.most[&false] <= 2 * 4 * 2, "{:?}", asker.most);
        assert!(asker.most[&true] <= 2 * 8 * 2, "{:?}", asker.most);
        asker.scheduler.join();
    });
}

#[test]
fn a_disk_is_swept_upwards_when_the_scan_is_over() {
    in_time(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let sizes: Vec<usize> = (0..120).map(|i| 1000 + i * 3000).collect();
        let mut asker = TestAsker::new(folder.path(), &sizes);
        let disk = asker
            .scheduler
            .add_volume(&"sdz".into(), Lane::Disk("sdz".into()), DISK);
        let mut positions = Vec::new();
        for (i, (name, expect)) in asker.files.iter().enumerate() {
            let file = fs::File::open(folder.path().join(name)).expect("is there");
            file.sync_all().expect("written out");
            let position = extents::first_position(&file, 0);
            positions.push(position.unwrap_or(expect.ino));
            if i % 4 != 0 {
                page_cache::advise(&file, 0, 0, page_cache::Advice::DontNeed);
            }
        }
        // In no order.
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&i| (i * 7919 + 13) % 101);
        for i in order {
            asker.ask(disk, i, sizes[i] > 128 << 10);
        }
        let mut early = Vec::new();
        loop {
            asker.dispatch();
            let finished = asker.wait();
            let in_flight: usize = asker.in_flight.values().sum();
            if finished.is_empty() && in_flight == 0 {
                break;
            }
            early.extend(finished);
        }
        asker.check(&early, disk);
        let is_early = |i: usize| early.iter().any(|f| f.job.file.0 as usize == i);
        let cached = (0..sizes.len()).step_by(4);
        // Where the kernel does not tell what is cached, everything waits; and it may take pages
        // away while we look.
        if !early.is_empty() {
            let at_once = cached.clone().filter(|&i| is_early(i)).count();
            assert!(2 * at_once > cached.len(), "{at_once} of the cached files");
        }
        assert!(!asker.scheduler.is_idle() || early.len() == sizes.len());
        asker.described.clear();
        asker.scheduler.scan_done();
        let late = asker.all();
        asker.check(&late, disk);
        assert_eq!(early.len() + late.len(), sizes.len());
        // In one sweep, short and long files as they lie.
        let key = |job: &Job<_>| positions[job.file.0 as usize];
        assert!(
            asker.described.is_sorted_by_key(key),
            "{:?}",
            asker.described
        );
        asker.scheduler.join();
    });
}

#[test]
fn a_slow_device_without_order_gets_a_thread_of_its_own_and_loses_nothing() {
    in_time(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut asker = TestAsker::new(folder.path(), &[3000; 400]);
        for (name, _) in &asker.files {
            let file = fs::File::open(folder.path().join(name)).expect("is there");
            file.sync_all().expect("written out");
            page_cache::advise(&file, 0, 0, page_cache::Advice::DontNeed);
        }
        let policy = Policy { depth: 32, ..POOLS };
        let volume = (asker.scheduler).add_volume(&"sdy".into(), Lane::Pools, policy);
        asker.scheduler.may_have_a_head(volume, "sdy".into(), DISK);
        asker.scheduler.scan_done();
        (0..400).for_each(|i| asker.ask(volume, i, i % 50 == 0));
        let (mut finished, mut changes, mut uncached) = (Vec::new(), Vec::new(), 0);
        while !asker.scheduler.is_idle() {
            asker.dispatch();
            let arrived = asker.scheduler.completions().recv().expect("readers");
            for completion in arrived {
                // As slow as if a head had to move, as long as that is not known.
                if changes.is_empty() {
                    std::thread::sleep(Duration::from_millis(4));
                }
                finished.extend(asker.scheduler.completed(completion));
                changes.extend(asker.scheduler.changes());
            }
        }
        for f in &finished {
            let Outcome::Read { cached, .. } = f.outcome else {
                panic!("{f:?}");
            };
            uncached += usize::from(!cached);
        }
        asker.check(&finished, volume);
        assert_eq!(finished.len(), 400);
        // Where nothing leaves the page cache there is nothing to be seen.
        assert!(changes.len() == 1 || uncached < 200, "{changes:?}");
        asker.scheduler.join();
    });
}

#[test]
fn what_was_read_from_a_server_does_not_wait_for_what_may_never_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut asker = TestAsker::new(folder.path(), &[100; 40]);
    let policy = Policy {
        random_threads: 1,
        depth: 1,
        ..POOLS
    };
    let server = asker
        .scheduler
        .add_volume(&"server".into(), Lane::OwnPools, policy);
    for id in 0..40 {
        asker.ask(server, id, false);
    }
    asker.dispatch();
    assert!(asker.most[&false] <= 2, "one is read, one waits");
    let first = asker
        .scheduler
        .completions()
        .recv()
        .expect("a thread answers");
    assert_eq!(first.len(), 1, "none waits for others");
}
