//! Carries steps out, in batches: looks, writes down what will be done, looks again, does it.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::os::fd::OwnedFd;

use super::act::{Act, Preparation, Sketch};
use super::check::{Bound, Opened, Ours, Pair};
use super::folder_entry::Identity;
use super::journal::{Journal, JournalError};
use super::metadata;
use super::record::{Blake3, Intent, Raw, Record};
use super::settled::{self, Settled};
use super::step::{ActionKind, Failure, Outcome, Reversal, Settings, Skip, Step, Target, Unfit};
use super::swap;
use super::trouble::{Trouble, failed};
use crate::hash::ContentDigest;
use crate::sys::{fault, stat};

/// Steps that share one wait for the journal, and one for each folder.
///
/// Such a wait takes milliseconds; this many make it cheap beside the work itself. Reasoned, not swept.
pub const BATCH: usize = 64;

/// Carries out the steps of one run.
pub struct Actor {
    settings: Settings,
    journal: Journal,
    /// Files whose change time is of our making.
    ours: Ours,
    /// Files for whose sake others were acted on.
    kept: HashSet<Identity>,
    settled: Settled,
    progress: Box<dyn Fn(u64)>,
}

impl fmt::Debug for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actor")
            .field("settings", &self.settings)
            .field("journal", &self.journal)
            .finish_non_exhaustive()
    }
}

/// A step that was found fit to be written down.
struct Sketched {
    intent: Intent,
    keeper: Target,
    victim: Target,
}

impl Actor {
    /// Begins a run that writes to this journal.
    pub fn new(settings: Settings, journal: Journal) -> Self {
        fault::arm();
        Self {
            settings,
            journal,
            ours: Ours::new(),
            kept: HashSet::new(),
            settled: Settled::default(),
            progress: Box::new(|_| {}),
        }
    }

    /// Tells somebody how many bytes of the file at hand are done, where that takes long.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(u64) + 'static) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// The run's name, for `seekless undo`.
    pub fn run_name(&self) -> &str {
        self.journal.run_name()
    }

    /// Carries out one step.
    pub fn perform(&mut self, step: &Step) -> Outcome {
        let mut outcome = Outcome::Already;
        self.perform_all(std::slice::from_ref(step), |_, told| outcome = told);
        outcome
    }

    /// Carries out steps in this order, and tells each one's outcome with its index.
    ///
    /// Outcomes of up to [`BATCH`] steps are told together, when they are known to be on the disk. Nothing
    /// follows after steps that could not be [written down](Failure::is_unwritten).
    pub fn perform_all(&mut self, steps: &[Step], mut tell: impl FnMut(usize, Outcome)) {
        for (number, batch) in steps.chunks(BATCH).enumerate() {
            let outcomes = self.perform_batch(batch);
            let is_over = outcomes.iter().any(is_unwritten);
            for (index, outcome) in outcomes.into_iter().enumerate() {
                tell(number * BATCH + index, outcome);
            }
            if is_over {
                return;
            }
        }
    }

    /// Writes down that the run came to its end: what is said of it then is all that there is to say.
    ///
    /// # Errors
    /// If that cannot be written. The run counts as one that was cut short then.
    pub fn end(mut self) -> Result<(), JournalError> {
        self.journal.end()
    }

    fn perform_batch(&mut self, steps: &[Step]) -> Vec<Outcome> {
        let sketched: Vec<_> = steps.iter().map(|step| self.sketch(step)).collect();
        let intents = sketched.iter().flatten();
        let intents: Vec<_> = intents
            .map(|sketched| Record::Intent(Box::new(sketched.intent.clone())))
            .collect();
        let written = match intents.is_empty() {
            true => Ok(()),
            false => self.journal.write(&intents),
        };
        let mut folders = HashMap::new();
        let mut outcomes = Vec::with_capacity(steps.len());
        for (step, sketched) in steps.iter().zip(sketched) {
            outcomes.push(match (sketched, &written) {
                (Err(trouble), _) => (outcome(trouble), None),
                (Ok(_), Err(error)) => (unwritten(error), None),
                (Ok(sketched), Ok(())) => self.carry_out(step, &sketched, &mut folders),
            });
        }
        settled::folders(outcomes, &folders)
    }

    /// Looks at a step's files, decides what to do, and finds the words for the journal.
    fn sketch(&mut self, step: &Step) -> Result<Sketched, Trouble> {
        let victim = Opened::open(&step.victim, Bound::Strict, &self.ours).map_err(Skip::Victim)?;
        victim.changeable().map_err(Skip::Victim)?;
        let (keeper, target) = self.keeper(step)?;
        if keeper.identity() == victim.identity() {
            return Err(match step.action {
                ActionKind::Hardlink | ActionKind::Reflink => Trouble::Already,
                _ => Skip::SameFile.into(),
            });
        }
        if keeper.stat.size != victim.stat.size {
            let shorter = keeper.stat.size.min(victim.stat.size);
            return Err(Skip::Differs(shorter).into());
        }
        if self.kept.contains(&victim.identity()) {
            return Err(Skip::Kept.into());
        }
        let number = self.journal.next_step();
        let unique = format!("{}-{number}", self.journal.mark());
        let sketch = Sketch {
            step,
            keeper: &keeper,
            keeper_path: &target.path,
            victim: &victim,
            settings: &self.settings,
            unique: &unique,
        };
        let prepared = (step.action.row().prepare)(&sketch)?;
        let metadata = metadata::of(&victim).map_err(failed("read its metadata"))?;
        let aim = |target: &Target, opened: &Opened| Target {
            path: target.path.clone(),
            expected: opened.expected(),
        };
        Ok(Sketched {
            keeper: aim(target, &keeper),
            victim: aim(&step.victim, &victim),
            intent: self.intent(number, step.action, &keeper, &victim, prepared, metadata, {
                (target.path.clone(), step.victim.path.clone())
            }),
        })
    }

    #[allow(clippy::too_many_arguments, reason = "a record has so many fields")]
    fn intent(
        &self,
        number: u64,
        action: ActionKind,
        keeper: &Opened,
        victim: &Opened,
        prepared: Preparation,
        metadata: super::record::Metadata,
        (keeper_path, victim_path): (Vec<u8>, Vec<u8>),
    ) -> Intent {
        let temporary = swap::temporary(self.journal.mark(), number);
        Intent {
            step: number,
            action,
            victim: Raw(victim_path),
            victim_state: (&victim.stat).into(),
            names: victim.stat.links,
            metadata,
            keeper: Raw(keeper_path),
            keeper_state: (&keeper.stat).into(),
            temporary: temporary.to_string_lossy().into_owned(),
            destination: prepared.destination.map(Raw),
            trash_info: prepared.trash_info.map(Raw),
            link_text: prepared.link_text.map(Raw),
        }
    }

    /// The first file of those that stay which is what it was.
    fn keeper<'a>(&self, step: &'a Step) -> Result<(Opened, &'a Target), Skip> {
        let bound = match self.settings.trust_hash && step.action != ActionKind::Reflink {
            true => Bound::Strict,
            false => Bound::BytesAreCompared,
        };
        let mut first = None;
        for target in std::iter::once(&step.keeper).chain(&step.alternates) {
            match Opened::open(target, bound, &self.ours) {
                Ok(keeper) => return Ok((keeper, target)),
                Err(unfit) => first.get_or_insert(unfit),
            };
        }
        Err(Skip::Keeper(first.unwrap_or(Unfit::Gone)))
    }

    /// Looks again, acts, and writes down what came of it.
    fn carry_out(
        &mut self,
        step: &Step,
        sketched: &Sketched,
        folders: &mut HashMap<Identity, OwnedFd>,
    ) -> (Outcome, Option<Identity>) {
        let number = sketched.intent.step;
        let done = self.act(step, sketched, folders);
        let (outcome, folder, record) = match done {
            Ok((done, folder, digest)) => {
                let record = Record::Done {
                    step: number,
                    now: now(&sketched.intent, done.destination.as_deref()),
                    digest: digest.map(Blake3),
                };
                (Outcome::Done(done), Some(folder), Some(record))
            }
            // Only the files tell what it came to.
            Err(Trouble::Stuck(stuck)) => (Outcome::Failed(stuck), None, None),
            Err(trouble) => {
                let outcome = outcome(trouble);
                let why = match &outcome {
                    Outcome::Skipped(skip) => skip.to_string(),
                    Outcome::Failed(failure) => failure.to_string(),
                    Outcome::Already | Outcome::Done(_) => "already so".to_owned(),
                };
                (outcome, None, Some(Record::NotDone { step: number, why }))
            }
        };
        if let Some(record) = record {
            // What it says can be seen from the files; without it undo only has to look closer.
            let _ = self.journal.note(&[record]);
        }
        (outcome, folder)
    }

    fn act(
        &mut self,
        step: &Step,
        sketched: &Sketched,
        folders: &mut HashMap<Identity, OwnedFd>,
    ) -> Result<(super::step::Done, Identity, Option<ContentDigest>), Trouble> {
        let mut pair = self.open_pair(sketched)?;
        // A step before this one in the batch may have come to rely on it.
        if self.kept.contains(&pair.victim.identity()) {
            return Err(Skip::Kept.into());
        }
        // What undo will have to prove.
        let mut digest = None;
        if step.action != ActionKind::Reflink {
            pair.keeper.guard().map_err(Skip::Keeper)?;
            pair.victim.guard().map_err(Skip::Victim)?;
            let gives_back = step.action.row().undo == Reversal::GivesBack;
            digest = match self.settings.trust_hash {
                true => step.digest,
                false => pair.compare(gives_back)?,
            };
            self.settled.keeper(&pair.keeper)?;
        }
        let act = Act {
            pair: &pair,
            intent: &sketched.intent,
            temporary: &swap::temporary(self.journal.mark(), sketched.intent.step),
            settings: &self.settings,
            progress: &self.progress,
        };
        let done = (step.action.row().perform)(&act)?;
        self.remember(&pair);
        let folder = stat::descriptor(&pair.victim.place.folder);
        let folder = folder.map_or((0, 0), |s| (s.dev, s.ino));
        folders.entry(folder).or_insert(pair.victim.place.folder);
        Ok((done, folder, digest))
    }

    fn open_pair(&self, sketched: &Sketched) -> Result<Pair, Trouble> {
        let open = |target: &Target| Opened::open(target, Bound::Strict, &self.ours);
        let victim = open(&sketched.victim).map_err(Skip::Victim)?;
        let keeper = open(&sketched.keeper).map_err(Skip::Keeper)?;
        Ok(Pair { keeper, victim })
    }

    /// Takes note of which files have a change time of our making.
    fn remember(&mut self, pair: &Pair) {
        self.kept.insert(pair.keeper.identity());
        for file in [&pair.keeper, &pair.victim] {
            if let Ok(now) = stat::fresh_descriptor(&file.file)
                && now.ctime_ns != file.stat.ctime_ns
            {
                self.ours.insert(file.identity(), now.ctime_ns);
            }
        }
    }
}

/// What has the name now, or what was moved.
fn now(intent: &Intent, destination: Option<&[u8]>) -> Option<super::record::State> {
    let path = destination.unwrap_or(&intent.victim.0);
    let now = super::folder_entry::Place::of(path).ok()?.stat().ok()?;
    Some((&now).into())
}

fn outcome(trouble: Trouble) -> Outcome {
    match trouble {
        Trouble::Already => Outcome::Already,
        Trouble::Skip(skip) => Outcome::Skipped(skip),
        Trouble::Failed(failure) | Trouble::Stuck(failure) => Outcome::Failed(failure),
    }
}

fn is_unwritten(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(failure) if failure.is_unwritten())
}

fn unwritten(error: &JournalError) -> Outcome {
    Outcome::Failed(Failure {
        doing: "write down what would be done, so nothing was".to_owned(),
        cause: std::io::Error::other(Unwritten(error.to_string())),
        hint: Some("make room for the journal, or put it on another disk with --journal DIR"),
    })
}

/// What the system said about the journal, so that it can be told from what it said about a file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unwritten(String);

impl Failure {
    /// True if the step was not done because it could not be written down: no other step can be, either.
    pub fn is_unwritten(&self) -> bool {
        self.cause.get_ref().is_some_and(|e| e.is::<Unwritten>())
    }
}
