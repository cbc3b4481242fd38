//! Carries out a plan: each portion of steps is written to the journal, then carried out. Callers can watch the run,
//! and end it between portions.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::plan::{EmptyFolder, Plan};
use super::step::folders;
use super::ways::folder_entry;
use super::{Actor, FolderTally, Journal, Outcome, Reason, RunHeader, Step, Tell};
use crate::heartbeat::current;

/// Maximum bytes of the files of steps that are carried out together. The run checks for an interruption between two
/// such parcels. One takes a second on a spinning disk.
const PARCEL: u64 = 128 << 20;

/// Maximum number of different notes that are counted; there are few.
const NOTES: usize = 16;

/// Progress and control of a running plan, for other threads.
#[derive(Debug, Default)]
pub struct ApplyControl {
    stop: Arc<AtomicBool>,
    run: OnceLock<String>,
    steps: AtomicU64,
    bytes: AtomicU64,
}

impl ApplyControl {
    /// A control that stops the run once this flag is set.
    pub fn stopped_by(stop: &Arc<AtomicBool>) -> Self {
        Self {
            stop: Arc::clone(stop),
            ..Self::default()
        }
    }

    /// Asks the run to end after the current portion of steps.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True if the run was asked to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The run's name, once it has begun.
    pub fn run_name(&self) -> Option<&str> {
        self.run.get().map(String::as_str)
    }

    /// Steps that have ended.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Bytes of the files of these steps.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn count(&self, step: &Step) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        // As in the totals of a plan.
        let size = if step.carries() {
            0
        } else {
            step.victim.expected.size
        };
        // Only one thread writes it.
        let bytes = self.bytes.load(Ordering::Relaxed).saturating_add(size);
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// Counts of the outcomes of the steps.
#[derive(Debug, Default)]
pub struct ApplyTally {
    /// The run's name, for undo.
    pub run: String,
    /// Steps that were done.
    pub done: u64,
    /// Of these, sidecar files that were carried.
    pub carried: u64,
    /// Steps that needed no change.
    pub already: u64,
    /// Steps that were not carried out because a file is not as expected.
    pub skipped: u64,
    /// Steps that the system refused.
    pub failed: u64,
    /// The journal could not be written: no further step was carried out.
    pub unwritten: bool,
    /// Bytes that were freed on the disk.
    pub freed: u64,
    /// Notes about finished steps, with their counts.
    pub notes: BTreeMap<String, u64>,
    /// The results for folders that were to be empty afterwards.
    pub folders: FolderTally,
    /// Folders that lost names, if any folder is to be removed.
    emptied: Option<HashSet<Vec<u8>>>,
}

/// Carries out all steps of a plan, and writes them to a new journal in this folder. Of the steps that could not be
/// [written down](Outcome::is_unwritten), only the first is reported, since all others would fail in the same way.
///
/// # Errors
/// If there can be no journal, or the destination cannot be reached; then nothing was done.
pub fn apply(
    plan: &Plan,
    journals: &Path,
    header: RunHeader,
    control: &Arc<ApplyControl>,
    tell: Tell<'_>,
) -> Result<ApplyTally, Reason> {
    let settings = plan.acting();
    // What is wrong with it is said once.
    if let Some(destination) = &settings.destination {
        folders::reach(destination)?;
        current::rest();
    }
    let journal = Journal::create(journals, header)?;
    let ended = Arc::clone(control);
    let actor = Actor::new(settings.clone(), journal).with_ends(move |step| ended.count(step));
    let run = actor.run_name().to_owned();
    control.run.get_or_init(|| run.clone());
    let mut work = Work {
        actor,
        waiting: Vec::new(),
        steps: 0,
        bytes: 0,
        tally: ApplyTally {
            run,
            emptied: (!plan.empty_folders().is_empty()).then(HashSet::new),
            ..ApplyTally::default()
        },
        control,
        tell,
    };
    let walked = plan.groups().try_for_each(|group| work.push(group));
    let walked = walked.and_then(|()| work.flush());
    work.finish();
    if walked.is_ok() && !control.is_stopped() {
        work.remove_folders(plan);
    }
    if let Err(error) = work.actor.end_of_run() {
        // Everything that was done is written down; only the next run takes this one for cut short.
        tracing::info!("{error}");
    }
    Ok(work.tally)
}

/// The reason why no further step is carried out.
enum Stop {
    Asked,
    Unwritten,
}

struct Work<'a> {
    actor: Actor,
    waiting: Vec<Vec<Step>>,
    steps: usize,
    bytes: u64,
    tally: ApplyTally,
    control: &'a ApplyControl,
    tell: Tell<'a>,
}

impl Work<'_> {
    /// Adds a group and never divides it: an interruption comes before the whole group or after it.
    fn push(&mut self, group: Vec<Step>) -> Result<(), Stop> {
        self.steps += group.len();
        let sizes = group.iter().map(|step| step.victim.expected.size);
        self.bytes += sizes.sum::<u64>();
        self.waiting.push(group);
        if self.steps >= self.actor.portion() || self.bytes >= PARCEL {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), Stop> {
        if self.control.is_stopped() {
            return Err(Stop::Asked);
        }
        let groups = std::mem::take(&mut self.waiting);
        (self.steps, self.bytes) = (0, 0);
        let (tally, told) = (&mut self.tally, &mut *self.tell);
        self.actor
            .perform_groups(groups, &mut |step, outcome| tally.add(step, outcome, told));
        if self.actor.is_over() {
            Err(Stop::Unwritten)
        } else {
            Ok(())
        }
    }

    /// Removes the folders that this run emptied.
    fn remove_folders(&mut self, plan: &Plan) {
        let Some(mut emptied) = self.tally.emptied.take() else {
            return;
        };
        // A folder comes after those in it.
        let folders: Vec<&EmptyFolder> = plan
            .empty_folders()
            .iter()
            .filter(|folder| {
                let is_ours = emptied.contains(&folder.path);
                if is_ours {
                    emptied.insert(folder_entry::parent(&folder.path).to_vec());
                }
                is_ours
            })
            .collect();
        if self.tally.unreached(plan) == 0 {
            self.tally.folders = self.actor.remove_folders(plan.action(), &folders);
        }
    }

    /// Processes the outcomes of the last steps.
    fn finish(&mut self) {
        let (tally, told) = (&mut self.tally, &mut *self.tell);
        self.actor
            .finish(&mut |step, outcome| tally.add(step, outcome, told));
    }
}

impl ApplyTally {
    /// Number of steps of this plan that the run did not reach.
    pub fn unreached(&self, plan: &Plan) -> u64 {
        let ended = self.done + self.already + self.skipped + self.failed;
        plan.totals().steps.saturating_sub(ended)
    }

    fn add(&mut self, step: &Step, outcome: &Outcome, tell: Tell<'_>) {
        match outcome {
            Outcome::Failed(_) if outcome.is_unwritten() => {
                if std::mem::replace(&mut self.unwritten, true) {
                    return;
                }
            }
            Outcome::Done(done) => {
                self.done += 1;
                self.carried += u64::from(step.carries());
                self.freed += done.freed;
                if let Some(emptied) = &mut self.emptied {
                    let folder = folder_entry::parent(&step.victim.path);
                    if !emptied.contains(folder) {
                        emptied.insert(folder.to_vec());
                    }
                }
                for note in &done.notes {
                    if self.notes.len() < NOTES || self.notes.contains_key(note) {
                        *self.notes.entry(note.clone()).or_default() += 1;
                    }
                }
            }
            Outcome::Already => self.already += 1,
            Outcome::Skipped(_) => self.skipped += 1,
            Outcome::Failed(_) => self.failed += 1,
        }
        tell(step, outcome);
    }
}
