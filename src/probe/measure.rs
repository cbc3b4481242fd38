//! A run of experiments from its beginning to its end.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::device::{Class, DeviceMap, FilesystemKind, Leaf, Overrides, Volume};
use crate::read::{Access, PageUse};
use crate::sys::process;
use crate::units::counted;

use super::advice::advise;
use super::bench::Bench;
use super::busy::Busy;
use super::control::{Control, Stage};
use super::doubt::NoAdvice;
use super::experiment::{EXPERIMENTS, Experiment};
use super::findings::{
    ExperimentOutcome, ExperimentResult, Findings, MeasuredVolume, SCHEMA, Source,
};
use super::listing::Listing;
use super::recommended::Situation;
use super::rng::Rng;
use super::scratch;
use super::spec::{ProbeError, Spec};
use super::test_data::{Bypass, TestData};

/// Parts of the time for finding files, and for asking what they are.
const LISTING: f64 = 0.1;
const ASKING: f64 = 0.12;

/// Data that fills less than this lie close together, and seeks among them are short.
const SMALL: u64 = 256 << 20;

/// Everything that a measurement came to, with the volume that it is about.
#[derive(Debug)]
pub struct Measured {
    /// The result.
    pub findings: Findings,
    /// The volume, as it is read now.
    pub volume: Volume,
}

/// Measures. Problems with single experiments are in the findings.
///
/// # Errors
/// If the path is not there, or is neither a folder nor a regular file.
pub fn measure(
    spec: &Spec,
    overrides: Overrides,
    control: &Control,
) -> Result<Measured, ProbeError> {
    let failed = |cause| ProbeError::NoPath {
        path: spec.path.clone(),
        cause,
    };
    let path = fs::canonicalize(&spec.path).map_err(failed)?;
    let metadata = fs::metadata(&path).map_err(failed)?;
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(ProbeError::Unsuitable(spec.path.clone()));
    }
    let cores = process::cores();
    let mut device_map = DeviceMap::new(spec.system.clone(), overrides, cores);
    let id = device_map.volume(metadata.dev(), &path);
    let volume = device_map.get(id).clone();
    let busy = Busy::now(Path::new("/proc"), cores);
    let started = Instant::now();
    let mut run = Running {
        spec,
        control,
        volume: &volume,
        cores,
        notes: Vec::new(),
    };
    let (source, outcomes) = run.experiments(&path, &metadata);
    let notes = run.notes;
    let situation = Situation {
        policy: volume.policy,
        selector: &selector(&volume),
        cores,
    };
    let advice = match spec.bytes_per_second {
        None => advise(&outcomes, &situation),
        Some(rate) => Err(NoAdvice::Limited(rate)),
    };
    let (advice, no_advice) = match advice {
        Ok(mut advice) => {
            advice.flags = (spec.terms.flags)(&situation, &advice);
            (Some(advice), None)
        }
        Err(why) => (None, Some(why.words(&spec.terms))),
    };
    let findings = Findings {
        schema: SCHEMA,
        program: format!("seekless {}", env!("CARGO_PKG_VERSION")),
        path: spec.path.to_string_lossy().into_owned(),
        seed: spec.seed,
        seconds_allowed: spec.time.as_secs_f64(),
        seconds_taken: started.elapsed().as_secs_f64(),
        interrupted: control.is_cancelled(),
        place: place(&volume),
        source,
        busy,
        advice,
        no_advice,
        experiments: outcomes,
        notes,
    };
    Ok(Measured { findings, volume })
}

/// The state of one run.
struct Running<'a> {
    spec: &'a Spec,
    control: &'a Control,
    volume: &'a Volume,
    cores: usize,
    notes: Vec<String>,
}

impl Running<'_> {
    fn experiments(&mut self, path: &Path, metadata: &Metadata) -> (Source, Vec<ExperimentResult>) {
        if let Some(why) = nothing_to_measure(self.volume) {
            return (
                Source::default(),
                self.all(|_| ExperimentOutcome::Unmeasured(why.to_owned())),
            );
        }
        let mut rng = Rng::new(self.spec.seed);
        let scratch = self.scratch(path, metadata, &mut rng);
        let start = Instant::now();
        let end = start + self.spec.time;
        self.stage("listing", Some((start, end)));
        let listing = match metadata.is_dir() {
            true => {
                let until = start + self.spec.time.mul_f64(LISTING);
                Listing::below(path, until, &mut rng, self.control)
            }
            false => Listing::of_file(path),
        };
        if listing.unreadable > 0 {
            let folders = counted(listing.unreadable, "folder", "folders");
            self.notes.push(format!("{folders} could not be listed"));
        }
        if listing.is_partial && !self.control.is_cancelled() {
            let files = listing.entries.len();
            self.notes
                .push(format!("the tree is large: {files} of its files were used"));
        }
        let mut bench = Bench {
            control: self.control,
            rng,
            terms: self.spec.terms,
            cores: self.cores,
            class: self.volume.class,
            policy: self.volume.policy,
            chunk: self.volume.arrays.iter().find_map(|array| array.chunk),
            listing,
            test_data: None,
            until: end,
            outcomes: Vec::new(),
        };
        let asked = |row: &&Experiment| {
            let wanted = |wanted: &&Experiment| wanted.name == row.name;
            self.spec.experiments.iter().any(wanted)
        };
        let (first, rest): (Vec<_>, Vec<_>) =
            EXPERIMENTS.iter().filter(asked).partition(|row| row.first);
        let mut left: u32 = first.iter().chain(&rest).map(|row| row.share).sum();
        // The time for asking is needed by the others and not theirs.
        let reserve = if rest.is_empty() { 0.0 } else { ASKING };
        let reserve = self.spec.time.mul_f64(reserve);
        for row in first {
            self.one(
                &mut bench,
                row,
                &mut left,
                end - reserve.min(self.spec.time),
            );
        }
        let mut source = Source::default();
        if !rest.is_empty() {
            self.stage("asking", Some((start, end)));
            let mut test_data = match scratch {
                Some(fd) => TestData::of_scratch(fd, self.access()),
                None => {
                    bench.ask_all(Instant::now() + reserve);
                    TestData::of_files(&bench.listing, self.access())
                }
            };
            test_data.in_order = self.volume.is_read_in_order();
            bench.test_data = Some(test_data);
            source = self.describe(bench.test_data.as_ref());
        }
        for row in rest {
            self.one(&mut bench, row, &mut left, end);
        }
        source.bytes_read = bench.test_data.as_ref().map_or(0, TestData::bytes_read);
        let mut outcomes = std::mem::take(&mut bench.outcomes);
        let place = |outcome: &ExperimentResult| {
            EXPERIMENTS.iter().position(|row| row.name == outcome.name)
        };
        outcomes.sort_by_key(place);
        (source, outcomes)
    }

    /// The rules for all reads. Pages go as soon as they were read: nobody wants them again.
    fn access(&self) -> Access {
        let rate = self.spec.bytes_per_second.map(|rate| rate.0);
        let access = Access::new(rate, PageUse::Drop, None);
        access.budgets.add_volume(&super::jobs::DEVICE.into());
        access
    }

    /// Does one experiment within its share of the time that is left.
    fn one(&self, bench: &mut Bench<'_>, row: &Experiment, left: &mut u32, end: Instant) {
        self.control.set(|stage| {
            stage.name = row.name;
            stage.detail.clear();
        });
        let now = Instant::now();
        let share = f64::from(row.share) / f64::from((*left).max(1));
        *left = left.saturating_sub(row.share);
        bench.until = now + end.saturating_duration_since(now).mul_f64(share);
        let answer = match self.control.is_cancelled() {
            true => Err("interrupted".to_owned()),
            false => (row.run)(bench),
        };
        bench.outcomes.push(ExperimentResult {
            name: row.name,
            title: row.title,
            result: match answer {
                Ok(chart) => ExperimentOutcome::Chart(chart),
                Err(why) => ExperimentOutcome::Unmeasured(why),
            },
        });
    }

    /// The scratch file, if one is wanted and can be had.
    fn scratch(
        &mut self,
        path: &Path,
        metadata: &Metadata,
        rng: &mut Rng,
    ) -> Option<std::os::fd::OwnedFd> {
        let size = self.spec.scratch?;
        self.stage("scratch", None);
        let folder = match metadata.is_dir() {
            true => path.to_owned(),
            false => path
                .parent()
                .map_or_else(|| PathBuf::from("/"), Path::to_owned),
        };
        match scratch::write(&folder, size, rng, self.control) {
            Ok(fd) => Some(fd),
            Err(why) => {
                self.notes
                    .push(format!("{why}; the files that are there were read instead"));
                None
            }
        }
    }

    /// Describes the data that is read.
    fn describe(&mut self, test_data: Option<&TestData>) -> Source {
        let Some(test_data) = test_data else {
            return Source::default();
        };
        if test_data.sparse > 0 {
            self.notes.push(format!(
                "{} left out because not all of their bytes are on the disk (holes, reserved room, compression)",
                counted(test_data.sparse, "file was", "files were")
            ));
        }
        if test_data.bytes() < SMALL {
            self.notes.push(format!(
                "{} of data lie close together: on a spinning disk, seeks across the whole disk take longer. Use a \
                larger folder, or {}",
                crate::units::Bytes(test_data.bytes()),
                self.spec.terms.scratch
            ));
        }
        if !test_data.checked && test_data.bypass == Bypass::Dropped {
            self.notes.push(
                "the system does not report what is in the page cache: some reads may have been answered from memory"
                    .to_owned(),
            );
        }
        if matches!(self.volume.class, Class::Network | Class::Fuse)
            || self.volume.filesystem == "zfs"
        {
            self.notes.push(
                "the server or program behind this mount has a cache, which cannot be bypassed: remount it to measure \
                with a cold cache"
                    .to_owned(),
            );
        }
        Source {
            kind: if test_data.is_scratch() {
                "scratch"
            } else {
                "files"
            },
            files: test_data.files.len() as u64,
            bytes: test_data.bytes(),
            bytes_read: 0,
            cache: match test_data.bypass {
                Bypass::Direct => "direct",
                Bypass::Dropped => "dropped",
                Bypass::Impossible => "none",
            },
            cache_checked: test_data.checked,
        }
    }

    fn all(&self, answer: impl Fn(&Experiment) -> ExperimentOutcome) -> Vec<ExperimentResult> {
        let outcome = |row: &&'static Experiment| ExperimentResult {
            name: row.name,
            title: row.title,
            result: answer(row),
        };
        self.spec.experiments.iter().map(outcome).collect()
    }

    fn stage(&self, name: &'static str, span: Option<(Instant, Instant)>) {
        self.control.set(|stage| {
            *stage = Stage {
                name,
                detail: String::new(),
                span,
            };
        });
    }
}

/// Why a volume has no disk to measure, if so.
fn nothing_to_measure(volume: &Volume) -> Option<&'static str> {
    match (volume.class, FilesystemKind::of(&volume.filesystem)) {
        (_, FilesystemKind::Pseudo) => {
            Some("the kernel generates these files: there is no disk to measure")
        }
        (Class::Memory, _) => Some("these files are in memory: there is no disk to measure"),
        _ => None,
    }
}

/// What names this volume in a setting of threads.
fn selector(volume: &Volume) -> String {
    match (volume.stack.as_slice(), volume.leaves.as_slice()) {
        ([], _) => volume.class.word().to_owned(),
        // A partition stands for its disk; saying so is clearer.
        ([_, _], [leaf]) | ([_], [leaf]) if volume.stack.contains(&leaf.name) => {
            format!("dev:{}", leaf.name)
        }
        ([top, ..], _) => format!("dev:{top}"),
    }
}

fn place(volume: &Volume) -> MeasuredVolume {
    let disk = |leaf: &Leaf| {
        let mut words = vec![leaf.name.clone()];
        words.extend(leaf.model.clone());
        words.extend(
            leaf.rotational
                .map(|flag| format!("rotational={}", u8::from(flag))),
        );
        words.join(" ")
    };
    MeasuredVolume {
        mount: volume.mount_point.to_string_lossy().into_owned(),
        filesystem: volume.filesystem.clone(),
        disks: volume.leaves.iter().map(disk).collect(),
        class: volume.class.word().to_owned(),
        policy: volume.policy.describe(),
        chunk: volume.arrays.iter().find_map(|array| array.chunk),
    }
}

/// The shortest time in which anything can be measured.
pub const SHORTEST: Duration = Duration::from_millis(100);

/// The longest time that a measurement may take: a day.
pub const LONGEST: Duration = Duration::from_secs(86_400);
