//! Looks at a step's files, decides what to do, and finds the words for the journal.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::{Actor, BATCH, Group, Numbered, Sketched, ahead};
use crate::action::access::Common;
use crate::action::act::{Preparation, Sketch};
use crate::action::check::{Bound, Opened, Ours};
use crate::action::folder_entry::Identity;
use crate::action::record::{Intent, Metadata, Raw};
use crate::action::step::{ActionKind, Skip, Step, Target, Unfit};
use crate::action::trouble::{Trouble, failed};
use crate::action::{further_name, metadata, swap, together};

/// A kept file that has to be waited for.
pub struct Unsettled {
    pub identity: Identity,
    pub ctime_ns: i64,
    pub fd: OwnedFd,
}

/// The files of a step, as they are before anything else is decided.
struct Found {
    victim: Opened,
    keeper: Opened,
    /// The one that was found fit to stay: the step's own or an alternate.
    kept: Target,
    /// The victim's.
    metadata: rustix::io::Result<Metadata>,
}

/// What it takes to find the files of a step.
struct Finder {
    ours: Arc<Ours>,
    trust_hash: bool,
}

impl Finder {
    fn files(&self, step: &Step) -> Result<Found, Skip> {
        let victim = Opened::open(&step.victim, Bound::Strict, &self.ours).map_err(Skip::Victim)?;
        victim.changeable().map_err(Skip::Victim)?;
        if step.action != ActionKind::Reflink {
            victim.replaceable().map_err(Skip::Victim)?;
        }
        let (keeper, kept) = self.keeper(step)?;
        let metadata = metadata::of(&victim);
        Ok(Found {
            victim,
            keeper,
            kept,
            metadata,
        })
    }

    /// The first file of those that stay which is what it was.
    fn keeper(&self, step: &Step) -> Result<(Opened, Target), Skip> {
        let bound = match self.trust_hash && step.action != ActionKind::Reflink {
            true => Bound::Strict,
            false => Bound::BytesAreCompared,
        };
        let mut first = None;
        for target in std::iter::once(&step.keeper).chain(&step.alternates) {
            match Opened::open(target, bound, &self.ours) {
                Ok(keeper) => return Ok((keeper, target.clone())),
                Err(unfit) => first.get_or_insert(unfit),
            };
        }
        Err(Skip::Keeper(first.unwrap_or(Unfit::Gone)))
    }
}

impl Actor {
    /// Looks at the steps of a portion.
    pub(super) fn sketch_groups(
        &mut self,
        groups: Vec<Vec<Numbered>>,
        unsettled: &mut Vec<Unsettled>,
    ) -> Vec<Group> {
        let finder = Finder {
            ours: Arc::clone(&self.ours),
            trust_hash: self.settings.trust_hash,
        };
        let find = |group: &Vec<Numbered>| -> Vec<_> {
            group.iter().map(|of| finder.files(&of.step)).collect()
        };
        let mut sketched = Vec::with_capacity(groups.len());
        ahead::in_order(&groups, self.portion == BATCH, find, |found| {
            let group = &groups[sketched.len()];
            sketched.push(self.sketch_group(group, found, unsettled));
        });
        let with_steps = groups.into_iter().zip(sketched);
        with_steps
            .map(|(group, sketched)| group.into_iter().zip(sketched).collect())
            .collect()
    }

    /// Looks at steps that belong together: if one cannot be done, none is.
    fn sketch_group(
        &mut self,
        group: &[Numbered],
        found: Vec<Result<Found, Skip>>,
        unsettled: &mut Vec<Unsettled>,
    ) -> Vec<Result<Sketched, Trouble>> {
        let mut sketched: Vec<_> = group
            .iter()
            .zip(found)
            .map(|(of, found)| self.sketch(&of.step, found?, unsettled))
            .collect();
        if sketched.len() < 2 {
            return sketched;
        }
        let first = group.iter().zip(&sketched).find_map(|(of, sketched)| {
            let trouble = sketched.as_ref().err()?;
            Some((of.step.victim.path.clone(), trouble.to_string()))
        });
        let number = sketched
            .iter()
            .find_map(|sketched| Some(sketched.as_ref().ok()?.intent.step));
        for sketched in &mut sketched {
            match (&first, &mut *sketched) {
                (Some((with, why)), Ok(_)) => *sketched = Err(together::together(with, why)),
                (None, Ok(sketched)) => sketched.intent.together = number,
                (_, Err(_)) => {}
            }
        }
        sketched
    }

    fn sketch(
        &mut self,
        step: &Step,
        found: Found,
        unsettled: &mut Vec<Unsettled>,
    ) -> Result<Sketched, Trouble> {
        let (victim, metadata) = (found.victim, found.metadata);
        let (keeper, target) = self.stand_in(found.keeper, found.kept);
        let is_further = keeper.identity() == victim.identity();
        if is_further && self.settings.further_names && further_name::may_go(step.action) {
            further_name::is_another(&keeper, &victim)?;
        } else if is_further {
            return Err(match step.action {
                ActionKind::Hardlink | ActionKind::Reflink => Trouble::Already,
                _ => Skip::SameFile.into(),
            });
        }
        if keeper.stat.size != victim.stat.size {
            let shorter = keeper.stat.size.min(victim.stat.size);
            return Err(Skip::Differs(shorter).into());
        }
        if !is_further && self.kept.contains(&victim.identity()) {
            return Err(Skip::Kept.into());
        }
        let metadata = metadata.map_err(failed("read its metadata"))?;
        if !is_further {
            self.look_at_rights(step.action, &keeper, &metadata)?;
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
        let aim = |target: &Target, opened: &Opened| Target {
            path: target.path.clone(),
            expected: opened.expected(),
        };
        let sketched = Sketched {
            keeper: aim(&target, &keeper),
            keeper_is: keeper.identity(),
            victim: aim(&step.victim, &victim),
            victim_is: victim.identity(),
            intent: self.intent(number, step.action, &keeper, &victim, prepared, metadata, {
                (target.path.clone(), step.victim.path.clone())
            }),
        };
        self.begin_to_settle(step, keeper, unsettled);
        Ok(sketched)
    }

    /// Makes sure that the kept file may stand for the victim, of which this is the metadata.
    fn look_at_rights(
        &self,
        action: ActionKind,
        keeper: &Opened,
        victim: &Metadata,
    ) -> Result<(), Trouble> {
        let links = matches!(action, ActionKind::Hardlink | ActionKind::Symlink);
        let wants_same = links && self.settings.same_metadata;
        let common = self.common(action);
        // The rest is looked at together with the bytes.
        if !wants_same && common != Common::Access {
            return Ok(());
        }
        let keeper = metadata::of(keeper).map_err(failed("read its metadata"))?;
        if let Some(apart) = common.apart(&keeper.rights(), &victim.rights()) {
            return Err(Skip::Apart(apart).into());
        }
        let differences = metadata::differences(&keeper, victim);
        match wants_same && !differences.is_empty() {
            true => Err(Skip::Metadata(differences).into()),
            false => Ok(()),
        }
    }

    /// Sends the kept file's bytes on their way to the disk, so that all of a portion can be waited for together.
    fn begin_to_settle(&mut self, step: &Step, keeper: Opened, unsettled: &mut Vec<Unsettled>) {
        let identity = keeper.identity();
        // Sets come one after the other: a file that is waited for already is the last one.
        let is_known = unsettled
            .last()
            .is_some_and(|last| last.identity == identity);
        let is_needed = step.action != ActionKind::Reflink && !is_known;
        if is_needed && self.settled.start(&keeper, &self.ours) {
            unsettled.push(Unsettled {
                identity,
                ctime_ns: keeper.stat.ctime_ns,
                fd: keeper.file,
            });
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a record has so many fields")]
    fn intent(
        &self,
        number: u64,
        action: ActionKind,
        keeper: &Opened,
        victim: &Opened,
        prepared: Preparation,
        metadata: Metadata,
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
            together: None,
            destination: prepared.destination.map(Raw),
            trash_info: prepared.trash_info.map(Raw),
            link_text: prepared.link_text.map(Raw),
        }
    }

    /// A file that can have no further name is kept, but others become links to a copy of it that stays.
    fn stand_in(&mut self, mut keeper: Opened, mut target: Target) -> (Opened, Target) {
        while let Some(next) = self.stand_ins.get(&keeper.identity()).cloned() {
            match Opened::open(&next, Bound::Strict, &self.ours) {
                Ok(opened) => (keeper, target) = (opened, next),
                Err(_) => {
                    // It changed meanwhile: the next file that cannot be linked takes its place.
                    self.stand_ins.remove(&keeper.identity());
                    break;
                }
            }
        }
        (keeper, target)
    }
}
