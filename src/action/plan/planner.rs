//! Takes sets, one after the other, and plans them.

use std::collections::{BTreeMap, HashMap, HashSet};

use rustix::io::Errno;

use super::Plan;
use super::decide::{Choice, look_at_rights};
use super::inspector::Inspector;
use super::origin::{Listed, Origin};
use super::set::{Fate, PlannedFile, SetPlan};
use super::{Settings, Sidecars};
use crate::action::coherence::{FileSystems, Location};
use crate::action::reason::{Code, Reason};
use crate::action::step::check::gone;
use crate::action::step::{folders, reflink};
use crate::action::ways::Ways;
use crate::action::ways::folder_entry::{NameInFolder, bare, parent};
use crate::action::{ActionKind, Common};
use crate::decide::{DuplicateSet, Member};
use crate::heartbeat::current;
use crate::media::Identifiers;
use crate::sys::{attributes, open};

/// Plans sets, one after the other.
#[derive(Debug)]
pub struct Planner {
    plan: Plan,
    inspector: Inspector,
    ways: Ways,
}

impl Planner {
    /// A planner without sets.
    pub fn new(mut settings: Settings, origin: Origin) -> Self {
        settings.policy.isolate |= origin.isolate;
        settings.policy.by_reference |= !settings.bounds.reference.is_empty();
        let bounds = std::mem::take(&mut settings.bounds);
        let mut inspector = Inspector::new(origin, bounds);
        inspector.skips_trash = true;
        // Shared blocks change nothing that a program can see.
        inspector.finds_managed = settings.policy.action != ActionKind::Reflink;
        Self {
            inspector,
            ways: Ways::default(),
            plan: Plan::new(settings),
        }
    }

    /// Sets the origin of the sets, once it is known; call it before the first set.
    pub fn set_origin(&mut self, origin: Origin) {
        self.plan.settings.policy.isolate |= origin.isolate;
        self.inspector.set_origin(origin);
    }

    /// True if the plan removes names from their places.
    pub fn takes_names(&self) -> bool {
        self.plan.action().takes_names()
    }

    /// Where the identifiers of Live Photos belong, before the first set.
    pub fn identifiers(&self) -> &Identifiers {
        &self.plan.groups.identifiers
    }

    /// Plans for one set.
    pub fn add(&mut self, set: &DuplicateSet, said: Listed<'_>) {
        let mut set = self.look(set, said);
        let settings = &self.plan.settings;
        if set.files.len() > 1 || !set.left.is_empty() {
            let same_metadata = settings.acting.same_metadata;
            if settings.policy.common == Common::Access || same_metadata {
                look_at_rights(&mut set, same_metadata);
            }
            self.find_groups(&mut set);
            self.plan.decide(&mut set, &Choice::ByRule);
            // Most sets have two files of one name each, and the plan keeps them all.
            set.files.shrink_to_fit();
            set.files
                .iter_mut()
                .for_each(|file| file.names.shrink_to_fit());
            self.plan.sets.push(set);
        }
        current::rest();
    }

    /// Inspects the files of a set, and takes out those that must be left alone.
    fn look(&mut self, set: &DuplicateSet, said: Listed<'_>) -> SetPlan {
        let mut set = self.inspector.look(set, said);
        let settings = &self.plan.settings;
        if settings.acting.guards_ways() {
            set.take_out_exposed(&mut self.ways);
        }
        if !settings.allows_managed {
            set.take_out_managed();
        }
        set
    }

    /// Finds out what the files of a set belong together with.
    fn find_groups(&mut self, set: &mut SetPlan) {
        let Plan {
            settings, groups, ..
        } = &mut self.plan;
        if settings.sidecars == Sidecars::Ignore || !settings.policy.action.takes_names() {
            return;
        }
        groups.look(set);
        if groups.carries() {
            let names = set.files.iter_mut().flat_map(|file| &mut file.names);
            for group in names.filter_map(|name| name.group.as_deref_mut()) {
                let [folder, listed] = [&group.main, &group.listed].map(|main| parent(main));
                group.lets_file_come = self.inspector.lets_file_come(folder, listed);
            }
        }
    }

    /// Inspects the sidecar files that are in no set, of the groups whose photos and films are.
    fn add_lone_sidecars(&mut self) {
        let names = self.plan.sets.iter().flat_map(|set| &set.files);
        let names = names.flat_map(|file| &file.names);
        let grouped = names.filter_map(|name| Some((name.path(), name.group.as_deref()?)));
        let (mut seen, mut mains) = (HashSet::new(), BTreeMap::new());
        for (path, group) in grouped {
            if group.is_sidecar {
                seen.insert(path);
            } else {
                mains.insert(&group.main, group);
            }
        }
        let lone = mains.into_values().flat_map(|group| {
            let names = self.plan.groups.sidecars(group.key);
            let at =
                |main: &[u8], name: &[u8]| [&main[..main.len() - bare(main).len()], name].concat();
            names.map(move |name| (at(&group.main, name), at(&group.listed, name)))
        });
        let origin = self.inspector.origin();
        let lone =
            lone.filter(|(path, listed)| !seen.contains(&path[..]) && !origin.excludes(listed));
        let lone: Vec<_> = lone.collect();
        for (path, listed) in lone {
            let there = NameInFolder::of(&path).and_then(|place| place.stat().map_err(gone));
            let Ok(now) = there else { continue };
            let member = Member {
                names: vec![listed],
                ..Member::default()
            };
            let set = DuplicateSet {
                size: now.size,
                members: vec![member],
                ..DuplicateSet::default()
            };
            let said = Listed {
                has_facts: false,
                marked: &[],
            };
            let mut set = self.look(&set, said);
            // What must not be touched keeps its group from being whole.
            set.files.retain(|file| file.hold().is_none());
            if set.left.is_empty() && set.files.len() == 1 {
                self.find_groups(&mut set);
                set.files[0].fate = Fate::Leave(Code::NoReference.into());
                self.plan.lone.push(set);
            }
        }
    }

    /// Ends the plan.
    pub fn finish(mut self) -> Plan {
        if self.plan.groups.carries() {
            self.add_lone_sidecars();
            current::rest();
        }
        self.plan.unmatched = self.inspector.unmatched();
        self.plan.settings.bounds = self.inspector.bounds;
        self.plan.sum_up();
        self.plan
    }
}

/// Checks sets, one after the other.
#[derive(Debug, Default)]
pub(super) struct Checks {
    file_systems: FileSystems,
    /// Whether files can share blocks, by the file systems of victim and keeper.
    shared_blocks: HashMap<(u64, u64), bool>,
    /// Why no trash takes the files of a mount.
    trash: HashMap<Location, Option<Reason>>,
}

impl Checks {
    /// Leaves alone the files for which the action is impossible.
    pub fn set(&mut self, set: &mut SetPlan, settings: &Settings) {
        for index in 0..set.files.len() {
            let file = &set.files[index];
            let Fate::Act { keeper, .. } = file.fate else {
                continue;
            };
            if let Some(why) = self.why_not(file, &set.files[keeper], settings) {
                set.files[index].fate = Fate::Leave(why);
            }
        }
    }

    pub(super) fn why_not(
        &mut self,
        victim: &PlannedFile,
        keeper: &PlannedFile,
        settings: &Settings,
    ) -> Option<Reason> {
        if settings.policy.action == ActionKind::Reflink {
            let share = self
                .shared_blocks
                .entry((victim.volume.dev, keeper.volume.dev));
            if !*share.or_insert_with(|| can_share_blocks(victim, keeper)) {
                return Some(Code::NoSharedBlocks.into());
            }
        }
        let has_branches =
            !settings.acting.trust_mounts && self.file_systems.has_branches(victim.volume.dev);
        if has_branches && victim.names.iter().any(|name| hides_files(name.path())) {
            return Some(Code::HidesFiles.into());
        }
        self.no_trash(victim, settings)
    }

    fn no_trash(&mut self, file: &PlannedFile, settings: &Settings) -> Option<Reason> {
        if settings.policy.action != ActionKind::Trash {
            return None;
        }
        let why = self.trash.entry(file.volume.location).or_insert_with(|| {
            // If a folder cannot be examined, the step says so.
            let home = settings.acting.home_trash.as_deref();
            let choice = folders::choose(file.names[0].path(), file.volume.location, home).ok()?;
            let reasons = choice.refused.join("; ");
            choice.trash.is_none().then(|| Code::NoTrash.about(reasons))
        });
        why.clone()
    }
}

/// True if two files can share blocks. If one cannot be opened, the step reports it.
fn can_share_blocks(victim: &PlannedFile, keeper: &PlannedFile) -> bool {
    let both = keeper.open().zip(victim.open());
    both.is_none_or(|(keeper, victim)| reflink::is_supported(keeper, victim))
}

/// True if a name on mergerfs has a file on more than one branch.
fn hides_files(path: &[u8]) -> bool {
    let branches = NameInFolder::of(path)
        .map_err(|_| Errno::NOENT)
        .and_then(|place| open::any_handle(&place.folder, &place.name, false))
        .and_then(|file| attributes::extended_of_handle(&file, c"user.mergerfs.allpaths"));
    // A file for each of these paths. A mount that does not tell (`xattr=nosys`) is acted on as its programs do.
    branches.is_ok_and(|paths| paths.is_some_and(|paths| paths.contains(&0)))
}
