//! Inspects a step's files, decides what to do, and prepares the record for the journal.

use std::sync::Arc;

use super::portion::{BATCH, Group, Numbered, Renumbered, Sketched, Unsynced, renumbered};
use super::{Actor, ahead};
use crate::action::access::Common;
use crate::action::act::{Preparation, Sketch};
use crate::action::action_kind::ActionKind;
use crate::action::check::{Bound, Opened, OwnChanges};
use crate::action::coherence::{Distinct, relies_on_keeper};
use crate::action::folder_entry::parent;
use crate::action::folder_identity::FolderIdentity;
use crate::action::reads::Reads;
use crate::action::reason::{Code, Facts, IDENTITY, Reason, THE_KEPT_FILE};
use crate::action::record::{Intent, Metadata, Raw, Record};
use crate::action::step::{Step, StepFile};
use crate::action::step_error::{StepError, failed};
use crate::action::temporary::temporary;
use crate::action::{links, metadata, move_away, reflink, trash};
use crate::sys::stat;

/// The files of a step, before any other decision.
struct Found {
    victim: Opened,
    keeper: Option<FitKeeper>,
    /// The victim's.
    metadata: rustix::io::Result<Metadata>,
}

/// A file that was found fit to stay.
struct FitKeeper {
    file: Opened,
    target: StepFile,
    /// Its place among the step's keeper and the alternates.
    place: usize,
}

/// Finds the files of a step.
struct Finder {
    ours: Arc<OwnChanges>,
    reads: Reads,
    renumbered: Arc<Renumbered>,
    trust_hash: bool,
}

impl Finder {
    fn files(&self, step: &Step) -> Result<Found, Reason> {
        let victim = self.open(&step.victim, Bound::Strict)?;
        victim.changeable()?;
        if step.action != ActionKind::Reflink {
            victim.replaceable()?;
        }
        let keeper = match step.keeper.is_none() && step.action.takes_content_along() {
            true => None,
            false => Some(self.keeper(step, 0)?),
        };
        let metadata = metadata::of(&victim);
        Ok(Found {
            victim,
            keeper,
            metadata,
        })
    }

    /// The first unchanged file of those that stay, from this place on.
    fn keeper(&self, step: &Step, from: usize) -> Result<FitKeeper, Reason> {
        let bound = match self.trust_hash && step.action != ActionKind::Reflink {
            true => Bound::Strict,
            false => Bound::BytesAreCompared,
        };
        let targets = step.keeper.iter().chain(&step.alternates);
        let mut first = None;
        for (place, target) in targets.enumerate().skip(from) {
            match self.open(target, bound) {
                Ok(file) => {
                    let target = target.clone();
                    return Ok(FitKeeper {
                        file,
                        target,
                        place,
                    });
                }
                Err(unfit) => first.get_or_insert(unfit),
            };
        }
        Err(first.unwrap_or_else(|| Code::Gone.into()).of_keeper())
    }

    /// Opens a file. If no bytes will be compared, the file must have the expected inode number.
    fn open(&self, target: &StepFile, bound: Bound) -> Result<Opened, Reason> {
        let target = &renumbered(target, &self.renumbered);
        let file = Opened::open(target, bound, &self.ours, &self.reads)?;
        let number = target.expected.ino;
        match self.trust_hash && number.is_some_and(|number| number != file.stat.ino) {
            true => Err(Reason::changed(IDENTITY)),
            false => Ok(file),
        }
    }
}

impl Actor {
    /// Checks the steps of a portion.
    pub(super) fn sketch_groups(
        &mut self,
        groups: Vec<Vec<Numbered>>,
        unsynced: &mut Vec<Unsynced>,
    ) -> Vec<Group> {
        let finder = self.finder();
        let find = |group: &Vec<Numbered>| -> Vec<_> {
            group.iter().map(|of| finder.files(&of.step)).collect()
        };
        let mut sketched = Vec::with_capacity(groups.len());
        ahead::in_order(&groups, self.portion == BATCH, find, |found| {
            let group = &groups[sketched.len()];
            sketched.push(self.sketch_group(group, found, unsynced));
        });
        let with_steps = groups.into_iter().zip(sketched);
        with_steps
            .map(|(group, sketched)| group.into_iter().zip(sketched).collect())
            .collect()
    }

    fn finder(&self) -> Finder {
        Finder {
            ours: Arc::clone(&self.ours),
            reads: self.settings.reads.clone(),
            renumbered: Arc::clone(&self.renumbered),
            trust_hash: self.settings.trust_hash,
        }
    }

    /// Checks steps that belong together: if one cannot be carried out, none is.
    fn sketch_group(
        &mut self,
        group: &[Numbered],
        found: Vec<Result<Found, Reason>>,
        unsynced: &mut Vec<Unsynced>,
    ) -> Vec<Result<Sketched, StepError>> {
        let mut sketched: Vec<_> = group
            .iter()
            .zip(found)
            .map(|(of, found)| self.sketch(&of.step, found?, unsynced))
            .collect();
        if sketched.len() < 2 {
            return sketched;
        }
        let first = group.iter().zip(&sketched).find_map(|(of, sketched)| {
            let error = sketched.as_ref().err()?;
            Some(error.for_others(&of.step.victim.path))
        });
        let number = sketched
            .iter()
            .find_map(|sketched| Some(sketched.as_ref().ok()?.intent.step));
        for sketched in &mut sketched {
            match (&first, &mut *sketched) {
                (Some(because), Ok(_)) => *sketched = Err(because.clone()),
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
        unsynced: &mut Vec<Unsynced>,
    ) -> Result<Sketched, StepError> {
        let (victim, metadata) = (found.victim, found.metadata);
        self.file_systems.of(victim.stat.dev, &victim.file);
        let kept = found
            .keeper
            .map(|kept| self.stands_for(step, kept, &victim));
        let kept = kept.transpose()?;
        let other = kept
            .as_ref()
            .filter(|(keeper, _)| keeper.identity() != victim.identity());
        let is_further = kept.is_some() && other.is_none();
        if !is_further && self.kept.contains(&victim.identity()) {
            return Err(Code::ReliedOn.into());
        }
        let metadata = metadata.map_err(failed("read its metadata"))?;
        if let Some((keeper, _)) = other {
            self.look_at_rights(step.action, keeper, &metadata)?;
        }
        // What goes without a kept file names itself.
        let (keeper, keeper_path) = match &kept {
            Some((keeper, target)) => (keeper, &target.path),
            None => (&victim, &step.victim.path),
        };
        let number = self.journal.next_step();
        let unique = format!("{}-{number}", self.journal.mark());
        let sketch = Sketch {
            step,
            keeper,
            keeper_path,
            victim: &victim,
            settings: &self.settings,
            unique: &unique,
        };
        let prepared = prepare(&sketch)?;
        for path in &prepared.new_folders {
            if self.new_folders.insert(path.clone()) {
                self.missing.push(Record::NewFolder {
                    action: step.action,
                    path: Raw(path.clone()),
                });
            }
        }
        let aim = |target: &StepFile, opened: &Opened| StepFile {
            path: target.path.clone(),
            expected: opened.expected(),
        };
        let sketched = Sketched {
            keeper: kept.as_ref().map(|(keeper, target)| aim(target, keeper)),
            keeper_is: kept.as_ref().map(|(keeper, _)| keeper.identity()),
            victim: aim(&step.victim, &victim),
            victim_is: victim.identity(),
            intent: self.intent(number, step.action, keeper, &victim, prepared, metadata, {
                (keeper_path.clone(), step.victim.path.clone())
            })?,
        };
        if let Some((keeper, _)) = kept {
            self.begin_to_sync(step, keeper, unsynced);
        }
        Ok(sketched)
    }

    /// The file that stays for the victim: another one, or the victim itself under another name if that name may be
    /// removed.
    fn stands_for(
        &mut self,
        step: &Step,
        kept: FitKeeper,
        victim: &Opened,
    ) -> Result<(Opened, StepFile), StepError> {
        let (keeper, target) = self.apart(step, kept, victim)?;
        let is_further = keeper.identity() == victim.identity();
        match step.action {
            _ if !is_further => {}
            ActionKind::Hardlink | ActionKind::Reflink => return Err(StepError::Already),
            _ if self.settings.further_names && is_another_entry(&keeper, victim) => {}
            _ => return Err(Code::SameFile.into()),
        }
        if keeper.stat.size != victim.stat.size {
            let shorter = keeper.stat.size.min(victim.stat.size);
            return Err(Reason::differs(shorter).into());
        }
        Ok((keeper, target))
    }

    /// Checks that the kept file may replace the victim with this metadata.
    fn look_at_rights(
        &self,
        action: ActionKind,
        keeper: &Opened,
        victim: &Metadata,
    ) -> Result<(), StepError> {
        let links = matches!(action, ActionKind::Hardlink | ActionKind::Symlink);
        let wants_same = links && self.settings.same_metadata;
        let common = self.common(action);
        // The rest is looked at together with the bytes.
        if !wants_same && common != Common::Access {
            return Ok(());
        }
        let keeper = metadata::of(keeper).map_err(failed("read its metadata"))?;
        if let Some(apart) = common.apart(&keeper.rights(), &victim.rights()) {
            return Err(Reason::apart(apart, THE_KEPT_FILE).into());
        }
        let differences = metadata::differences(&keeper, victim);
        match wants_same && !differences.is_empty() {
            true => Err(Code::Metadata
                .with(Facts {
                    what: Some(format!("has another {} than", differences.join(", "))),
                    whom: Some(THE_KEPT_FILE.to_owned()),
                    ..Facts::default()
                })
                .into()),
            false => Ok(()),
        }
    }

    /// Starts to write the kept file's bytes to the disk, so that one wait is enough for all files of a portion.
    fn begin_to_sync(&mut self, step: &Step, keeper: Opened, unsynced: &mut Vec<Unsynced>) {
        let identity = keeper.identity();
        // Sets come one after the other: a file that is waited for already is the last one.
        let is_known = unsynced
            .last()
            .is_some_and(|last| last.identity == identity);
        let is_needed = step.action != ActionKind::Reflink && !is_known;
        if is_needed && self.synced.start(&keeper, &self.ours) {
            unsynced.push(Unsynced {
                identity,
                ctime_ns: keeper.stat.ctime_ns,
                fd: keeper.file,
            });
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a record has this many fields")]
    fn intent(
        &mut self,
        number: u64,
        action: ActionKind,
        keeper: &Opened,
        victim: &Opened,
        prepared: Preparation,
        metadata: Metadata,
        (keeper_path, victim_path): (Vec<u8>, Vec<u8>),
    ) -> Result<Intent, StepError> {
        let temporary = temporary(self.journal.mark(), number);
        let folder = parent(&victim_path);
        let times = self.times.as_mut();
        let folder_times = times.and_then(|times| times.note(folder, &victim.place.folder));
        let in_folder = FolderIdentity::of(&victim.place.folder);
        Ok(Intent {
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
            parent: in_folder.map_err(failed("examine its folder"))?,
            folder_times,
        })
    }

    /// The first file of those that stay, from this one on, that is provably not the victim, if the action needs that.
    fn apart(
        &mut self,
        step: &Step,
        mut kept: FitKeeper,
        victim: &Opened,
    ) -> Result<(Opened, StepFile), Reason> {
        let mut first = None;
        loop {
            match self.stands_apart(step.action, &kept.file, victim) {
                Ok(()) => return Ok((kept.file, kept.target)),
                Err(skip) => first.get_or_insert(skip),
            };
            match self.finder().keeper(step, kept.place + 1) {
                Ok(next) => kept = next,
                Err(skip) => return Err(first.unwrap_or(skip)),
            }
        }
    }

    /// Fails if the action needs a proof that the two are different files, and there can be none.
    fn stands_apart(
        &mut self,
        action: ActionKind,
        keeper: &Opened,
        victim: &Opened,
    ) -> Result<(), Reason> {
        self.file_systems.of(keeper.stat.dev, &keeper.file);
        match self
            .file_systems
            .between(keeper.location(), victim.location())
        {
            Distinct::Unprovable(kind)
                if relies_on_keeper(action) && !self.settings.trust_mounts =>
            {
                Err(Code::Unprovable.about(kind))
            }
            _ => Ok(()),
        }
    }
}

/// Makes the decisions of an action that come before its record.
fn prepare(sketch: &Sketch<'_>) -> Result<Preparation, StepError> {
    match sketch.step.action {
        ActionKind::Remove => Ok(Preparation::default()),
        ActionKind::Trash => trash::prepare(sketch),
        ActionKind::Hardlink => links::prepare_hard(sketch),
        ActionKind::Symlink => Ok(links::prepare_symbolic(sketch)),
        ActionKind::Reflink => reflink::prepare(sketch),
        ActionKind::Move => move_away::prepare(sketch),
    }
}

/// True if two names of one file are two entries of folders. A later check, for all files, makes sure that the kept name
/// is still there once the other was set aside.
fn is_another_entry(keeper: &Opened, victim: &Opened) -> bool {
    let [one, other] = [keeper, victim].map(|file| {
        let folder = stat::descriptor(&file.place.folder);
        folder.map(|folder| (folder.dev, folder.ino))
    });
    let is_known = one.is_ok() && other.is_ok();
    is_known && (one != other || keeper.place.name != victim.place.name) && victim.stat.links >= 2
}
