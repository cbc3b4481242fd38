//! Inspects a step's files, decides what to do, and prepares the record for the journal.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustix::io::fcntl_dupfd_cloexec;

use super::ahead::{self, Group};
use super::{Actor, BATCH, Unsynced};
use crate::action::access::ActionKind;
use crate::action::access::Common;
use crate::action::coherence::{Coherence, Distinct};
use crate::action::failure::failed;
use crate::action::journal::record::{Intent, Metadata, Raw};
use crate::action::reads::Reads;
use crate::action::reason::{Code, Reason, THE_KEPT_FILE};
use crate::action::step::check::{Opened, OwnChanges, unreadable};
use crate::action::step::pair::{Act, Pair, Trail};
use crate::action::step::{Bond, Step};
use crate::action::step::{destination, folders, links, metadata, reflink};
use crate::action::ways::folder_entry::temporary;
use crate::action::ways::folder_identity::FolderIdentity;

/// The files of a step, before any other decision, and the metadata of the victim.
type OpenedPair = (Pair, rustix::io::Result<Metadata>);

fn open_pair(step: &Step, ours: &OwnChanges, reads: &Reads) -> Result<OpenedPair, Reason> {
    let victim = Opened::open(&step.victim, ours, reads)?;
    victim.changeable(step.action != ActionKind::Reflink)?;
    let keeper = Opened::open(&step.keeper, ours, reads).map_err(Reason::of_keeper)?;
    let metadata = metadata::of(&victim);
    Ok((Pair { keeper, victim }, metadata))
}

impl Actor {
    /// Checks the steps of a portion.
    pub(super) fn draft_groups(
        &mut self,
        groups: Vec<Vec<Step>>,
        unsynced: &mut Vec<Unsynced>,
    ) -> Vec<Group> {
        self.trashes.clear();
        let (ours, reads) = (Arc::clone(&self.ours), self.settings.reads.clone());
        let find = |group: Vec<Step>| -> Vec<_> {
            let opened = |step| (open_pair(&step, &ours, &reads), step);
            group.into_iter().map(opened).collect()
        };
        let mut drafted = Vec::with_capacity(groups.len());
        ahead::in_order(groups, self.portion == BATCH, find, |found| {
            drafted.push(self.draft_group(found, unsynced));
        });
        drafted
    }

    /// Checks steps that belong together: if one cannot be carried out, none is.
    fn draft_group(
        &mut self,
        group: Vec<(Result<OpenedPair, Reason>, Step)>,
        unsynced: &mut Vec<Unsynced>,
    ) -> Group {
        let draft = |(found, step): (Result<OpenedPair, Reason>, Step)| {
            let drafted = found.and_then(|found| self.draft(&step, found, unsynced));
            (step, drafted)
        };
        let mut group: Group = group.into_iter().map(draft).collect();
        if group.len() < 2 {
            return group;
        }
        let first = group.iter().find_map(|(step, drafted)| {
            let error = drafted.as_ref().err()?;
            Some(error.for_others(&step.victim.path))
        });
        let drafted = group.iter().find_map(|(_, drafted)| drafted.as_ref().ok());
        let number = drafted.map(|drafted| drafted.intent.step);
        for (_, drafted) in &mut group {
            match (&first, &mut *drafted) {
                (Some(because), Ok(_)) => *drafted = Err(because.clone()),
                (None, Ok(drafted)) => drafted.intent.together = number,
                (_, Err(_)) => {}
            }
        }
        group
    }

    fn draft(
        &mut self,
        step: &Step,
        (mut pair, metadata): OpenedPair,
        unsynced: &mut Vec<Unsynced>,
    ) -> Result<Act, Reason> {
        for file in [&mut pair.victim, &mut pair.keeper] {
            let kept_by = self.file_systems.of(file.stat.dev, &file.file);
            file.is_kernels = *kept_by == Coherence::Kernel;
        }
        let Pair { keeper, victim } = &pair;
        self.stands_for(step, keeper, victim)?;
        if self.kept.contains(&victim.identity()) {
            return Err(Code::ReliedOn.into());
        }
        let metadata = metadata.map_err(failed("read its metadata"))?;
        self.look_at_rights(step.action, keeper, &metadata)?;
        let number = self.journal.next_step();
        let temporary = temporary(self.journal.mark(), number);
        let folder = FolderIdentity::of(&victim.place.folder);
        let mut intent = Intent {
            step: number,
            action: step.action,
            victim: Raw(step.victim.path.clone()),
            victim_state: (&victim.stat).into(),
            names: victim.stat.links,
            metadata,
            keeper: Raw(step.keeper.path.clone()),
            keeper_state: (&keeper.stat).into(),
            temporary: temporary.to_string_lossy().into_owned(),
            recorded: match &step.bond {
                Bond::Recorded(copy) => Some(copy.clone()),
                _ => None,
            },
            together: None,
            destination: None,
            new_folders: 0,
            trash_info: None,
            link_text: None,
            parent: folder.map_err(failed("examine its folder"))?,
        };
        let settings = &self.settings;
        match step.action {
            ActionKind::Remove | ActionKind::Hardlink => {}
            ActionKind::Trash => {
                let unique = format!("{}-{number}", self.journal.mark());
                let trash = match self.trashes.entry(victim.volume()) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        new.insert(folders::folder_for(&step.victim.path, victim, settings)?)
                    }
                };
                destination::prepare_trash(trash, &unique, &mut intent)?;
            }
            ActionKind::Symlink => links::prepare_symbolic(settings, &mut intent),
            ActionKind::Reflink => reflink::prepare(keeper, victim)?,
            ActionKind::Move => destination::prepare_move(step, settings, &mut intent)?,
        }
        self.begin_to_sync(step, keeper, unsynced)?;
        let [one, other] = [keeper, victim].map(Opened::location);
        let to_prove = self.file_systems.between(one, other) != Distinct::Certain;
        Ok(Act {
            intent,
            pair,
            checked: Ok(None),
            to_prove,
            guards_ways: self.settings.guards_ways(),
            trail: Trail::default(),
        })
    }

    /// Checks that the kept file can stand for the victim: it is another file.
    fn stands_for(&self, step: &Step, keeper: &Opened, victim: &Opened) -> Result<(), Reason> {
        let (one, other) = (keeper.location(), victim.location());
        if step.action.gives_up_bytes()
            && !self.settings.trust_mounts
            && let Distinct::Unprovable(kind) = self.file_systems.between(one, other)
        {
            return Err(Code::Unprovable.about(kind));
        }
        if keeper.identity() == victim.identity() {
            let links = [ActionKind::Hardlink, ActionKind::Reflink];
            let is_done = links.contains(&step.action);
            let code = if is_done {
                Code::Already
            } else {
                Code::SameFile
            };
            return Err(code.into());
        }
        if step.bond == Bond::Bytes && keeper.stat.size != victim.stat.size {
            let shorter = keeper.stat.size.min(victim.stat.size);
            return Err(Reason::differs(shorter));
        }
        Ok(())
    }

    /// Checks that the kept file may replace the victim with this metadata.
    pub(super) fn look_at_rights(
        &self,
        action: ActionKind,
        keeper: &Opened,
        victim: &Metadata,
    ) -> Result<(), Reason> {
        let wants_same = action.makes_links() && self.settings.same_metadata;
        let common = self.common(action);
        // The rest is looked at together with the bytes.
        if !wants_same && common != Common::Access {
            return Ok(());
        }
        let keeper = metadata::of(keeper).map_err(failed("read its metadata"))?;
        let [one, other] = [&keeper, victim].map(|metadata| metadata.rights(wants_same));
        let apart = common.apart(&one, &other);
        apart.map_or(Ok(()), |apart| Err(Reason::apart(apart, THE_KEPT_FILE)))
    }

    /// Starts to write the kept file's bytes to the disk, so that one wait is enough for all files of a portion.
    fn begin_to_sync(
        &mut self,
        step: &Step,
        keeper: &Opened,
        unsynced: &mut Vec<Unsynced>,
    ) -> Result<(), Reason> {
        let identity = keeper.identity();
        // Sets come one after the other: a file that is waited for already is the last one.
        let is_known = unsynced
            .last()
            .is_some_and(|last| last.identity == identity);
        let is_needed = step.action != ActionKind::Reflink && !is_known;
        if is_needed && self.synced.start(keeper, &self.ours) {
            let fd = fcntl_dupfd_cloexec(&keeper.file, 0).map_err(unreadable);
            unsynced.push(Unsynced {
                identity,
                ctime_ns: keeper.stat.ctime_ns,
                fd: fd.map_err(Reason::of_keeper)?,
            });
        }
        Ok(())
    }
}
