//! Checks the files again, carries out a step, and records the result in the journal.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use super::Actor;
use super::ahead::{self, Check, Checked, Proof};
use super::portion::{BATCH, Group, Sketched, renumbered};
use crate::action::access::Rights;
use crate::action::action_kind::{ActionKind, Reversal};
use crate::action::coherence::{Distinct, FileSystems};
use crate::action::failure;
use crate::action::journal::record::{Raw, Record, RecordedState};
use crate::action::places;
use crate::action::reason::{Code, Reason, THE_KEPT_FILE};
use crate::action::step::act::{Act, Trail};
use crate::action::step::check::{Opened, Times};
use crate::action::step::made::Made;
use crate::action::step::pair::Pair;
use crate::action::step::{Done, Outcome, Step};
use crate::action::ways::folder_entry::{self, NameInFolder};
use crate::action::ways::temporary::temporary;
use crate::hash::ContentDigest;
use crate::heartbeat::current;
use crate::sys::stat;

impl Actor {
    /// Carries out steps.
    pub(super) fn carry_out(&mut self, groups: Vec<Group>) {
        for part in ahead::apart(groups) {
            let checks: Vec<_> = part.iter().map(|group| self.checks(group)).collect();
            let mut part = part.into_iter();
            let may_run_ahead = self.portion == BATCH && ahead::is_worth_it(&checks);
            let files = |group: &Vec<Check>| group.iter().map(Check::files).collect();
            ahead::in_order(&checks, may_run_ahead, files, |checked| {
                if let Some(group) = part.next() {
                    self.carry_out_group(group, checked);
                }
            });
        }
    }

    fn checks(&self, group: &Group) -> Vec<Check> {
        let steps = group
            .iter()
            .filter_map(|(step, sketched)| Some((step, sketched.as_ref().ok()?)));
        steps
            .map(|(step, sketched)| self.check(step, sketched))
            .collect()
    }

    fn check(&self, step: &Step, sketched: &Sketched) -> Check {
        let keeper = sketched.keeper.as_ref();
        let keeper = keeper.map(|keeper| renumbered(keeper, &self.renumbered));
        let files = keeper.iter().chain([&sketched.victim]);
        let files = files.filter_map(|file| file.expected.identity());
        let ours = files.filter_map(|file| Some((file, *self.ours.get(&file)?)));
        let ours = ours.collect();
        let wanted =
            step.action.reversal() == Reversal::GivesBack || sketched.intent.together.is_some();
        let proof = match (step.action, self.settings.trust_hash) {
            (ActionKind::Reflink, _) => Proof::ByKernel,
            (_, true) => Proof::Reported {
                digest: step.digest,
                wanted,
            },
            (_, false) => Proof::Compared { wanted },
        };
        Check {
            reads: self.settings.reads.clone(),
            keeper,
            victim: sketched.victim.clone(),
            ours,
            proof,
        }
    }

    /// Carries out the steps of a group. `checked` has the result of the check of each fit step.
    fn carry_out_group(&mut self, group: Group, checked: Vec<Result<Checked, Reason>>) {
        let mut ready = Vec::with_capacity(group.len());
        for (step, sketched) in group {
            current::ask_about(&step.victim.path);
            match sketched {
                Ok(sketched) => ready.push((step, sketched)),
                Err(error) => self.end(step, error.into(), None),
            }
        }
        let pairs: Vec<_> = ready
            .iter()
            .zip(checked)
            .map(|((step, _), checked)| self.admit(step.action, checked?))
            .collect();
        let unfit = ready.iter().zip(&pairs).find_map(|((step, _), pair)| {
            let error = pair.as_ref().err()?;
            Some(error.for_others(&step.victim.path))
        });
        let Some(because) = unfit else {
            return self.act(ready, pairs.into_iter().flatten().collect());
        };
        for ((step, sketched), pair) in ready.into_iter().zip(pairs) {
            let error = pair.err().unwrap_or_else(|| because.clone());
            self.not_done(step, &sketched, error);
        }
    }

    /// Checks that a pair is the same as at its check, a moment ago or some steps ago, and will survive a loss of
    /// power.
    fn admit(
        &mut self,
        action: ActionKind,
        checked: Checked,
    ) -> Result<(Pair, Option<ContentDigest>), Reason> {
        let Checked {
            pair,
            digest,
            compared,
        } = checked;
        // A step before this one in the portion may have come to rely on it.
        if !pair.is_one_file() && self.kept.contains(&pair.victim.identity()) {
            return Err(Code::ReliedOn.into());
        }
        let keeper = pair.keeper.as_ref();
        // They were looked at before, with their ACLs and labels. A change of these shows in the change time; of
        // the rest it costs nothing to be sure.
        if let Some(keeper) = keeper {
            let rights = [keeper, &pair.victim].map(|file| Rights::of(&file.attributes));
            if let Some(apart) = self.common(action).apart(&rights[0], &rights[1]) {
                return Err(Reason::apart(apart, THE_KEPT_FILE));
            }
        }
        if compared {
            pair.as_compared()?;
        }
        if let Some(keeper) = keeper.filter(|_| action != ActionKind::Reflink) {
            self.synced.keeper(keeper, &self.ours)?;
        }
        Ok((pair, digest))
    }

    fn act(&mut self, ready: Vec<(Step, Sketched)>, pairs: Vec<(Pair, Option<ContentDigest>)>) {
        let made = Made::default();
        let acts: Vec<Act<'_>> = ready
            .iter()
            .zip(&pairs)
            .map(|((_, sketched), (pair, _))| Act {
                pair,
                intent: &sketched.intent,
                temporary: temporary(self.journal.mark(), sketched.intent.step),
                settings: &self.settings,
                progress: &self.progress,
                made: &made,
                to_prove: is_to_prove(&self.file_systems, pair),
                trail: Trail::default(),
            })
            .collect();
        let mut fates = places::perform(&acts);
        drop(acts);
        if fates.iter().all(Result::is_err) {
            made.take_back();
        }
        // Without these records, undo keeps the folders, unless the run was killed.
        let records = new_folders(&made, &self.new_folders);
        if !records.is_empty() {
            let _ = self.journal.note(&records);
        }
        if let Some(done) = fates.iter_mut().find_map(|fate| fate.as_mut().ok()) {
            done.notes.extend(made.open_up());
        }
        for (((step, sketched), (pair, digest)), fate) in ready.into_iter().zip(pairs).zip(fates) {
            // To close its files may take for ever, too.
            current::ask_about(&step.victim.path);
            match fate {
                Ok(done) => {
                    self.remember(&pair, &sketched);
                    let record = Record::Done {
                        step: sketched.intent.step,
                        now: now(&pair, &done),
                        digest,
                    };
                    // What it says can be seen from the files; without it undo only has to look closer.
                    let _ = self.journal.note(&[record]);
                    let folder = folder_entry::parent(&sketched.victim.path).to_vec();
                    let entry = self.folders.entry(folder.clone());
                    entry.or_insert(pair.victim.place.folder);
                    self.end(step, Outcome::Done(done), Some(folder));
                }
                Err(error) => {
                    if step.action == ActionKind::Hardlink {
                        self.remember_link(&pair);
                    }
                    let names = [
                        Some(&sketched.intent.victim),
                        sketched.intent.destination.as_ref(),
                    ];
                    let folders = names.into_iter().flatten();
                    if failure::leaves_it_open(
                        &error,
                        folders.map(|name| folder_entry::parent(&name.0)),
                    ) {
                        // Undo and a sweep look at the files of a step, and of a run, that has no recorded end.
                        self.has_open_steps = true;
                        self.end(step, error.into(), None);
                    } else {
                        self.not_done(step, &sketched, error);
                    }
                }
            }
        }
    }

    /// Records the change time of a kept file that had a further name for a moment.
    fn remember_link(&mut self, pair: &Pair) {
        if let Some(keeper) = &pair.keeper
            && let Ok(now) = stat::fresh_descriptor(&keeper.file)
            && (now.size, now.mtime_ns) == (keeper.stat.size, keeper.stat.mtime_ns)
            && now.ctime_ns != keeper.stat.ctime_ns
        {
            Arc::make_mut(&mut self.ours).insert(keeper.identity(), Times::of(&now));
        }
    }

    fn not_done(&mut self, of: Step, sketched: &Sketched, error: Reason) {
        let step = sketched.intent.step;
        let why = error.to_string();
        let _ = self.journal.note(&[Record::NotDone { step, why }]);
        self.end(of, error.into(), None);
    }

    /// Records the files whose change time this run set.
    fn remember(&mut self, pair: &Pair, sketched: &Sketched) {
        if let Some(keeper) = &sketched.keeper
            && let Some(before) = keeper.expected.identity()
        {
            let now = pair.keeper.as_ref().map_or(before, Opened::identity);
            self.kept.extend([before, now]);
            if before != now {
                let path = keeper.path.clone();
                Arc::make_mut(&mut self.renumbered).insert(path, [before, now]);
            }
        }
        for file in pair.keeper.iter().chain([&pair.victim]) {
            if let Ok(now) = stat::fresh_descriptor(&file.file)
                && Times::of(&now) != Times::of(&file.stat)
            {
                Arc::make_mut(&mut self.ours).insert(file.identity(), Times::of(&now));
            }
        }
    }
}

/// The records of folders that a step created, and that the journal names.
fn new_folders(made: &Made, named: &HashSet<Vec<u8>>) -> Vec<Record> {
    let made = made.identified().into_iter();
    let made = made.filter(|(path, _)| named.contains(path));
    made.map(|(path, folder)| Record::NewFolderMade {
        path: Raw(path),
        folder,
    })
    .collect()
}

/// True if a rename must be checked closely: the two may be one file, or a program carries out the rename.
fn is_to_prove(file_systems: &FileSystems, pair: &Pair) -> bool {
    let keeper = pair.keeper.as_ref().unwrap_or(&pair.victim);
    file_systems.between(keeper.location(), pair.victim.location()) != Distinct::Certain
}

/// The state of the file that has the name now, or that was moved.
fn now(pair: &Pair, done: &Done) -> Option<RecordedState> {
    let now = match &done.destination {
        Some(path) => NameInFolder::of(path.as_os_str().as_bytes()).ok()?.stat(),
        None => pair.victim.place.stat(),
    };
    Some((&now.ok()?).into())
}
