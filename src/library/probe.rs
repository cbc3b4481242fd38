//! Measures how a disk likes to be read.

use std::fmt;
use std::io;
use std::panic;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::Callback;
use super::beside::TICK;
use super::cancel::{Cancel, WhenLeft};
use super::error::{Cause, Error};
use super::reading::check_rate;
use crate::device::SystemRoot;
use crate::probe::{self, Control, EXPERIMENTS, Findings, LONGEST, Spec, text};
use crate::units::Bytes;

/// Measures which reads suit the disk below a path. It reads existing files and writes to none of them.
///
/// ```
/// # use std::time::Duration;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path();
/// # std::fs::write(path.join("a"), vec![1; 1 << 20])?;
/// let findings = seekless::Probe::new(path).time(Duration::from_secs(1)).run()?;
/// let answer = match findings.advice() {
///     Some(_) => "Advice: ",
///     None => "No advice: ",
/// };
/// assert!(findings.text().contains(answer));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is measured before `run`"]
pub struct Probe<'a> {
    spec: Spec,
    cancel: Cancel,
    on_progress: Option<Callback<'a, str>>,
}

impl fmt::Debug for Probe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe")
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

/// Recommended settings for a disk.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiskAdvice {
    /// True if the disk is rotational: reads then go across it in its own order.
    pub rotational: bool,
    /// Threads for scattered reads.
    pub random_threads: usize,
    /// Scattered reads that each of them keeps in flight.
    pub depth: usize,
    /// Whole files read at a time.
    pub streams: usize,
    /// Why.
    pub reasons: Vec<String>,
}

/// The results of a measurement.
#[derive(Debug)]
pub struct ProbeFindings(Findings);

impl<'a> Probe<'a> {
    /// Measures with the files below this folder, or with this file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            spec: Spec {
                path: path.into(),
                time: Duration::from_secs(60),
                scratch: None,
                experiments: EXPERIMENTS.iter().collect(),
                seed: 1,
                bytes_per_second: None,
                system: SystemRoot::default(),
            },
            cancel: Cancel::default(),
            on_progress: None,
        }
    }

    /// The longest time that it may take. The default is one minute, the most is one day.
    pub fn time(mut self, time: Duration) -> Self {
        self.spec.time = time.min(LONGEST);
        self
    }

    /// Reads a scratch file of this many bytes instead of existing files. The scratch file has no name, and
    /// disappears at the end.
    pub fn scratch(mut self, bytes: u64) -> Self {
        self.spec.scratch = Some(Bytes(bytes));
        self
    }

    /// The seed that determines which places are read.
    pub fn seed(mut self, seed: u64) -> Self {
        self.spec.seed = seed;
        self
    }

    /// Limits reading to this many bytes per second: at least 1 kB (1,000 bytes). With a limit there is no advice, since
    /// the measurement may only show the limit.
    pub fn bytes_per_second(mut self, bytes: u64) -> Self {
        self.spec.bytes_per_second = Some(Bytes(bytes));
        self
    }

    /// Ends early when this is cancelled, and returns the results so far.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Calls this about ten times a second with the current experiment and its current point.
    pub fn on_progress(mut self, tell: impl FnMut(&str) + Send + 'a) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }

    /// Measures. Problems with single experiments are in the findings.
    ///
    /// # Errors
    /// If the path is not there, or is neither a folder nor a regular file, or the limit is too low, or there is no scratch file.
    pub fn run(mut self) -> Result<ProbeFindings, Error> {
        check_rate(self.spec.bytes_per_second.map(|rate| rate.0))?;
        let control = Control::default();
        let measured = thread::scope(|scope| {
            let (spec, control) = (&self.spec, &control);
            let measure = move || probe::measure(spec, control);
            let measuring = thread::Builder::new().spawn_scoped(scope, measure)?;
            let left = WhenLeft(|| control.cancel());
            while !measuring.is_finished() {
                thread::park_timeout(TICK);
                if self.cancel.is_cancelled() {
                    control.cancel();
                }
                if let Some(tell) = &mut self.on_progress {
                    let stage = control.stage();
                    tell(&format!("{} {}", stage.name, stage.detail));
                }
            }
            drop(left);
            let measured = measuring.join();
            io::Result::Ok(measured.unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
        });
        let measured = measured.map_err(Cause::Thread)?.map_err(Cause::from)?;
        Ok(ProbeFindings(measured.findings))
    }
}

impl ProbeFindings {
    /// The recommended settings; `None` if neither scattered reads nor streams could be measured.
    pub fn advice(&self) -> Option<DiskAdvice> {
        let advice = self.0.advice.as_ref()?;
        Some(DiskAdvice {
            rotational: advice.rotational,
            random_threads: advice.random_threads,
            depth: advice.depth,
            streams: advice.streams,
            reasons: advice.reasons.clone(),
        })
    }

    /// True if it was cancelled.
    pub fn incomplete(&self) -> bool {
        self.0.interrupted
    }

    /// The whole report, as text: what was measured, then the advice, or the reason why there is none.
    pub fn text(&self) -> String {
        let conclusion = text::conclusion(&self.0);
        format!("{}\n{}\n", text::report(&self.0), conclusion.join("\n"))
    }

    /// The whole report, as the JSON that `seekless probe -f json` prints, without its options.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(&self.0).unwrap_or_default()
    }
}
