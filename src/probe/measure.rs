//! A run of experiments from its beginning to its end.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::device::{Class, DeviceMap, FilesystemKind, Leaf, Overrides, SystemRoot, Volume};
use crate::read::{Access, PageUse};
use crate::sys::process;
use crate::units::{Bytes, counted};

use super::advice::advise;
use super::experiment::{EXPERIMENTS, Experiment, Ground};
use super::findings::{
    ExperimentOutcome, ExperimentResult, Findings, MeasuredVolume, SCHEMA, Source,
};
use super::sweep::Control;
use super::test_data::{self, DEVICE, TestData};

/// The shortest time in which anything can be measured.
pub const SHORTEST: Duration = Duration::from_millis(100);

/// The longest time that a measurement may take: a day.
pub const LONGEST: Duration = Duration::from_secs(86_400);

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Spec {
    /// A folder, or a file: what lies below is read.
    pub path: PathBuf,
    /// How long it may take, scratch file aside.
    pub time: Duration,
    /// Read a scratch file of this size instead of existing files.
    pub scratch: Option<Bytes>,
    /// The experiments to do.
    pub experiments: Vec<&'static Experiment>,
    /// Decides which places are read.
    pub seed: u64,
    /// The most that may be read in a second, bytes.
    pub bytes_per_second: Option<Bytes>,
    /// Where the system tells about its devices.
    pub system: SystemRoot,
}

/// Why nothing can be measured at all.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The path cannot be looked at.
    #[error("{}: {cause}", path.display())]
    NoPath {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// The path is neither a folder nor a regular file.
    #[error("{}: neither a folder nor a regular file", .0.display())]
    Unsuitable(PathBuf),
    /// There is no scratch file, and why.
    #[error("{0}")]
    NoScratch(String),
}

/// The part of the time for finding files.
const LISTING: f64 = 0.2;

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
/// If the path is not there, or is neither a folder nor a regular file, or a scratch file cannot be made.
pub fn measure(spec: &Spec, control: &Control) -> Result<Measured, ProbeError> {
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
    let mut device_map = DeviceMap::new(spec.system.clone(), Overrides::default(), cores);
    let id = device_map.volume(metadata.dev(), &path);
    let volume = device_map.get(id).clone();
    let started = Instant::now();
    let mut findings = Findings {
        schema: SCHEMA,
        program: format!("seekless {}", env!("CARGO_PKG_VERSION")),
        path: spec.path.to_string_lossy().into_owned(),
        seed: spec.seed,
        seconds_allowed: spec.time.as_secs_f64(),
        seconds_taken: 0.0,
        interrupted: false,
        place: place(&volume),
        source: Source::default(),
        experiments: Vec::new(),
        advice: None,
        no_advice: None,
        notes: Vec::new(),
    };
    match nothing_to_measure(&volume) {
        Some(why) => findings
            .experiments
            .extend(spec.experiments.iter().map(|row| {
                let result = ExperimentOutcome::Unmeasured(why.to_owned());
                row.outcome(result)
            })),
        None => experiments(
            spec,
            (&path, metadata.is_dir()),
            (&volume, cores),
            control,
            &mut findings,
        )?,
    }
    let advice = match spec.bytes_per_second {
        None => advise(&findings.experiments, &volume.policy, cores),
        Some(rate) => Err(format!("the measurement was limited to {rate} per second")),
    };
    match advice {
        Ok(advice) => findings.advice = Some(advice),
        Err(why) => findings.no_advice = Some(why),
    }
    findings.seconds_taken = started.elapsed().as_secs_f64();
    findings.interrupted = control.is_cancelled();
    Ok(Measured { findings, volume })
}

/// Does the experiments with what lies below a path, each in its share of the time.
fn experiments(
    spec: &Spec,
    (path, is_folder): (&Path, bool),
    (volume, cores): (&Volume, usize),
    control: &Control,
    findings: &mut Findings,
) -> Result<(), ProbeError> {
    let mut rng = Rng::with_seed(spec.seed);
    // Pages go as soon as they were read: nobody wants them again.
    let rate = spec.bytes_per_second.map(|rate| rate.0);
    let access = Access::new(rate, PageUse::Drop);
    access.budgets.add_volume(&DEVICE.into());
    let mut test_data = TestData::new(access);
    if let Some(size) = spec.scratch {
        control.begin("scratch");
        let above = path
            .parent()
            .map_or_else(|| PathBuf::from("/"), Path::to_owned);
        let folder = if is_folder { path } else { &above };
        let file = test_data::write_scratch(folder, size, &mut rng, control);
        test_data.add_scratch(file.map_err(ProbeError::NoScratch)?);
    }
    let start = Instant::now();
    let end = start + spec.time;
    control.begin("listing");
    if test_data.scratch.is_none() && is_folder {
        let until = start + spec.time.mul_f64(LISTING);
        test_data.add_below(path, until, &mut rng, control);
    } else if test_data.scratch.is_none() {
        test_data.add(path, None);
    }
    findings.notes = notes(&test_data, volume, control);
    let mut ground = Ground {
        control,
        rng,
        cores,
        policy: volume.policy,
        test_data,
        until: end,
    };
    let is_wanted = |row: &&Experiment| {
        spec.experiments
            .iter()
            .any(|wanted| wanted.name == row.name)
    };
    let mut left: u32 = EXPERIMENTS
        .iter()
        .filter(is_wanted)
        .map(|row| row.share)
        .sum();
    for row in EXPERIMENTS.iter().filter(is_wanted) {
        control.begin(row.name);
        let now = Instant::now();
        ground.until = now + end.saturating_duration_since(now) * row.share / left;
        left -= row.share;
        let answer = match () {
            () if control.is_cancelled() => Err("interrupted".to_owned()),
            () if ground.test_data.files.is_empty() => Err(
                "no file with content can be read: use a larger folder or a scratch file"
                    .to_owned(),
            ),
            () => row.run(&mut ground),
        };
        findings.experiments.push(row.outcome(match answer {
            Ok(chart) => ExperimentOutcome::Chart(chart),
            Err(why) => ExperimentOutcome::Unmeasured(why),
        }));
    }
    let test_data = ground.test_data;
    findings.source = Source {
        kind: match test_data.scratch {
            Some(_) => "scratch",
            None => "files",
        },
        files: test_data.files.len() as u64,
        bytes: test_data.bytes(),
        bytes_read: test_data.bytes_read.load(Ordering::Relaxed),
    };
    Ok(())
}

impl Experiment {
    fn outcome(&self, result: ExperimentOutcome) -> ExperimentResult {
        ExperimentResult {
            name: self.name,
            title: self.title,
            result,
        }
    }
}

/// What the reader has to know about the data.
fn notes(test_data: &TestData, volume: &Volume, control: &Control) -> Vec<String> {
    let mut notes = Vec::new();
    if test_data.unreadable > 0 {
        let folders = counted(test_data.unreadable, "folder", "folders");
        notes.push(format!("{folders} could not be listed"));
    }
    if test_data.is_partial && !control.is_cancelled() {
        let files = test_data.files.len();
        notes.push(format!("the tree is large: {files} of its files were used"));
    }
    if test_data.sparse > 0 {
        let files = counted(test_data.sparse, "file was", "files were");
        notes.push(format!(
            "{files} left out because not all of their bytes are on the disk (holes, reserved room, compression)"
        ));
    }
    if test_data.bytes() < SMALL {
        notes.push(format!(
            "{} of data lie close together: on a spinning disk, seeks across the whole disk take longer. Use a larger \
            folder or a scratch file",
            Bytes(test_data.bytes())
        ));
    }
    let is_far = matches!(volume.class, Class::Network | Class::Fuse);
    if is_far || volume.filesystem == "zfs" {
        notes.push(
            "the server or program behind this mount has a cache, which cannot be bypassed: remount it to measure with \
            a cold cache"
                .to_owned(),
        );
    }
    notes
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

fn place(volume: &Volume) -> MeasuredVolume {
    let disk = |leaf: &Leaf| {
        let mut words = vec![leaf.name.clone()];
        words.extend(leaf.model.clone());
        let flag = leaf.rotational.map(u8::from);
        words.extend(flag.map(|flag| format!("rotational={flag}")));
        words.join(" ")
    };
    MeasuredVolume {
        mount: volume.mount_point.to_string_lossy().into_owned(),
        filesystem: volume.filesystem.clone(),
        disks: volume.leaves.iter().map(disk).collect(),
        class: volume.class.word().to_owned(),
        policy: volume.policy.describe(),
    }
}
