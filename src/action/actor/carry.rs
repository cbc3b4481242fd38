//! Checks the files again, carries out a step, and records the result in the journal.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use super::ahead::{self, Group};
use super::{Actor, BATCH, Spent, Unproven};
use crate::action::access::ActionKind;
use crate::action::access::Rights;
use crate::action::failure;
use crate::action::journal::record::{Intent, Record, RecordedState};
use crate::action::places;
use crate::action::reason::{Code, Reason, THE_KEPT_FILE};
use crate::action::step::check::Times;
use crate::action::step::pair::{Act, Pair};
use crate::action::step::{Outcome, Step};
use crate::action::ways::folder_entry::{self, NameInFolder};
use crate::action::ways::folder_identity::Parents;
use crate::heartbeat::current;
use crate::lock::locked;
use crate::sys::stat;

impl Actor {
    /// Carries out steps.
    pub(super) fn carry_out(&mut self, groups: Vec<Group>) {
        let spent = Arc::clone(&self.spent);
        self.parents = Parents::default();
        let check = |mut group| {
            close(&spent);
            ahead::check(&mut group);
            group
        };
        for part in ahead::apart(groups) {
            let may_run_ahead = self.portion == BATCH && ahead::is_worth_it(&part);
            ahead::in_order(part, may_run_ahead, check, |group| {
                self.carry_out_group(group)
            });
        }
        close(&spent);
    }

    /// Carries out the steps of a group, whose files were compared.
    fn carry_out_group(&mut self, group: Group) {
        let mut ready = Vec::with_capacity(group.len());
        for (step, drafted) in group {
            current::ask_about(&step.victim.path);
            match drafted {
                Ok(mut drafted) => {
                    let admitted = self.admit(step.action, &mut drafted);
                    ready.push((step, drafted, admitted));
                }
                Err(error) => self.end(step, error.into(), Unproven::default()),
            }
        }
        let unfit = ready.iter().find_map(|(step, _, admitted)| {
            let error = admitted.as_ref().err()?;
            Some(error.for_others(&step.victim.path))
        });
        let Some(because) = unfit else {
            let ready = ready.into_iter();
            return self.act(ready.map(|(step, drafted, _)| (step, drafted)).collect());
        };
        for (step, drafted, admitted) in ready {
            let error = admitted.err().unwrap_or_else(|| because.clone());
            self.not_done(step, &drafted, error);
        }
    }

    /// Checks that two files are the same as when they were opened and compared, some steps ago, and will survive a
    /// loss of power.
    fn admit(&mut self, action: ActionKind, drafted: &mut Act) -> Result<(), Reason> {
        drafted.checked.as_ref().map_err(Reason::clone)?;
        let Act { intent, pair, .. } = drafted;
        // A step before this one in the portion may have come to rely on it.
        if self.kept.contains(&pair.victim.identity()) {
            return Err(Code::ReliedOn.into());
        }
        let kept = pair.keeper.stat.ctime_ns;
        pair.as_compared(&self.ours)?;
        let keeper = &pair.keeper;
        let rights = [keeper, &pair.victim].map(|file| Rights::of(&file.attributes));
        if let Some(apart) = self.common(action).apart(&rights[0], &rights[1]) {
            return Err(Reason::apart(apart, THE_KEPT_FILE));
        }
        // A change of its ACL or labels shows in the change time.
        if kept != keeper.stat.ctime_ns {
            self.look_at_rights(action, keeper, &intent.metadata)?;
        }
        if action != ActionKind::Reflink {
            self.synced.keeper(keeper, &self.ours)?;
        }
        Ok(())
    }

    fn act(&mut self, ready: Vec<(Step, Act)>) {
        let acts: Vec<&Act> = ready.iter().map(|(_, act)| act).collect();
        let fates = places::perform(&acts, &self.parents);
        let done = fates.iter().position(|(fate, _)| fate.is_ok());
        let done = done.map(|place| ready[place].0.victim.path.clone());
        for ((step, drafted), (fate, there)) in ready.into_iter().zip(fates) {
            let note = drafted.trail.note.take();
            current::ask_about(&step.victim.path);
            match fate {
                Ok(done) => {
                    let Act {
                        intent,
                        pair,
                        checked,
                        ..
                    } = drafted;
                    self.remember(intent.action, &pair);
                    let record = Record::Done {
                        step: intent.step,
                        now: now(&intent, &pair, there.as_ref()),
                        digest: checked.unwrap_or_default(),
                    };
                    // What it says can be seen from the files; without it undo only has to look closer.
                    let _ = self.journal.note(&[record]);
                    let here = (&intent.victim, pair.victim.place.folder);
                    let there = intent.destination.as_ref().zip(there);
                    let folders = [here].into_iter().chain(there).map(|(path, folder)| {
                        let path = folder_entry::parent(&path.0).to_vec();
                        self.folders.entry(path.clone()).or_insert(folder);
                        path
                    });
                    let folders = folders.collect();
                    let files = [pair.keeper.file, pair.victim.file];
                    locked(&self.spent).push((intent.victim.0, files));
                    self.end(step, Outcome::Done(done), Unproven { folders, note });
                }
                Err(error) => {
                    if step.action == ActionKind::Hardlink {
                        self.remember_link(&drafted.pair);
                    }
                    let names = [
                        Some(&drafted.intent.victim),
                        drafted.intent.destination.as_ref(),
                    ];
                    let folders = names.into_iter().flatten();
                    if failure::leaves_it_open(
                        &error,
                        folders.map(|name| folder_entry::parent(&name.0)),
                    ) {
                        // Undo and a sweep look at the files of a step, and of a run, that has no recorded end.
                        self.has_open_steps = true;
                        self.end(step, error.into(), Unproven::default());
                        continue;
                    }
                    // The others of its group say that it stays.
                    let done = done.as_deref().filter(|_| error.code != Code::Together);
                    let error = done.map_or(error.clone(), |done| error.torn(done));
                    self.not_done(step, &drafted, error);
                }
            }
        }
    }

    /// Records the change time of a kept file that had a further name for a moment.
    fn remember_link(&mut self, pair: &Pair) {
        let keeper = &pair.keeper;
        if let Ok(now) = stat::fresh_descriptor(&keeper.file)
            && (now.size, now.mtime_ns) == (keeper.stat.size, keeper.stat.mtime_ns)
            && now.ctime_ns != keeper.stat.ctime_ns
        {
            Arc::make_mut(&mut self.ours).insert(keeper.identity(), Times::of(&now));
        }
    }

    fn not_done(&mut self, of: Step, drafted: &Act, error: Reason) {
        let step = drafted.intent.step;
        let why = error.to_string();
        let _ = self.journal.note(&[Record::NotDone { step, why }]);
        self.end(of, error.into(), Unproven::default());
    }

    /// Records the files whose change time this run set.
    fn remember(&mut self, action: ActionKind, pair: &Pair) {
        let keeper = &pair.keeper;
        // Linking to it may have given it another number.
        self.kept
            .extend([(keeper.stat.dev, keeper.stat.ino), keeper.identity()]);
        // A removal or a rename changes a file that is met again under another name only.
        let changes = [ActionKind::Hardlink, ActionKind::Reflink].contains(&action);
        for file in [keeper, &pair.victim] {
            if (changes || file.stat.links > 1 || !file.is_kernels)
                && let Ok(now) = stat::fresh_descriptor(&file.file)
                && Times::of(&now) != Times::of(&file.stat)
            {
                Arc::make_mut(&mut self.ours).insert(file.identity(), Times::of(&now));
            }
        }
    }
}

/// Closes files, which frees the blocks of those that were removed: that takes as long as their steps.
fn close(spent: &Mutex<Spent>) {
    for (path, files) in std::mem::take(&mut *locked(spent)) {
        // To close them may take for ever, too.
        current::ask_about(&path);
        drop(files);
    }
}

/// The state of the file that has the name now, or that was moved.
fn now(intent: &Intent, pair: &Pair, there: Option<&OwnedFd>) -> Option<RecordedState> {
    let now = match (&intent.destination, there) {
        (Some(path), Some(there)) => stat::fresh_entry(there, &folder_entry::split(&path.0)?.1),
        (Some(path), None) => NameInFolder::of(&path.0).ok()?.stat(),
        (None, _) if intent.action == ActionKind::Remove => return None,
        (None, _) => pair.victim.place.stat(),
    };
    Some((&now.ok()?).into())
}
