//! Takes claims, one set after the other, and decides the fate of each file.

use std::io;

use super::claim::{Claim, Origin};
use super::decide::Choice;
use super::groups::Groups;
use super::inspector::Inspector;
use super::set::SetPlan;
use super::settings::{FurtherNames, Settings, Sidecars};
use super::{Plan, classes, estimate, full};
use crate::action::ways::Ways;
use crate::action::{ActionKind, Common};
use crate::heartbeat::current;

/// Plans sets, one after the other.
#[derive(Debug)]
pub struct Planner {
    plan: Plan,
    inspector: Inspector,
    ways: Ways,
    groups: Groups,
}

impl Planner {
    /// A planner without sets.
    pub fn new(mut settings: Settings, origin: Origin) -> Self {
        settings.heed(&origin);
        settings.policy.by_reference |= !settings.bounds.reference.is_empty();
        let bounds = std::mem::take(&mut settings.bounds);
        let mut inspector = Inspector::new(origin, bounds, settings.strict);
        inspector.skips_trash = true;
        // Shared blocks change nothing that a program can see.
        inspector.finds_managed =
            !settings.allows_managed && settings.policy.action != ActionKind::Reflink;
        Self {
            inspector,
            ways: Ways::default(),
            groups: Groups::default(),
            plan: Plan::new(settings),
        }
    }

    /// Sets the origin of the sets, once it is known; call it before the first set.
    pub fn set_origin(&mut self, origin: Origin) {
        self.plan.settings.heed(&origin);
        self.inspector.set_origin(origin);
    }

    /// True if the plan removes names from their places.
    pub fn takes_names(&self) -> bool {
        self.plan.settings.takes_names()
    }

    /// Plans for one set.
    pub fn add(&mut self, claim: Claim) -> io::Result<()> {
        let added = self.look_and_add(claim);
        current::rest();
        added
    }

    fn look_and_add(&mut self, claim: Claim) -> io::Result<()> {
        let mut set = self.inspector.look(claim);
        let settings = &self.plan.settings;
        let policy = &settings.policy;
        if settings.guards_ways {
            set.take_out_exposed(&mut self.ways);
        }
        // With a report of folders, a managed folder may go as a whole.
        if policy.pairs.is_empty() {
            set.take_out_managed();
        } else if set.size == 0 {
            // Empty files of other folders are noise: they stay.
            set.files.retain(|file| file.managed().is_some());
        }
        let number = if policy.by_name {
            set.files.iter().map(|file| file.names.len()).sum()
        } else {
            set.files.len()
        };
        if number < 2 && set.left.is_empty() {
            return Ok(());
        }
        if policy.common == Common::Access || policy.same_metadata {
            classes::look(&mut set, policy.same_metadata);
        }
        if settings.sidecars == Sidecars::KeepTogether && settings.takes_names() {
            self.groups.look(&mut set);
        }
        self.plan.decide(set, &Choice::ByRule)
    }

    /// Ends the plan.
    pub fn finish(mut self) -> io::Result<Plan> {
        self.plan.unmatched = self.inspector.unmatched();
        self.plan.settings.bounds = self.inspector.bounds;
        self.plan.summed_up()
    }
}

impl Settings {
    /// Applies the properties that the source gives for all sets.
    fn heed(&mut self, origin: &Origin) {
        self.policy.isolate |= origin.isolate;
        self.policy.by_name |= match self.further_names {
            FurtherNames::Stay => false,
            FurtherNames::AsReported => origin.hard_links,
            FurtherNames::Go => true,
        };
    }

    /// True if the plan removes names from their places. A link takes the place of its file, so its name is not
    /// removed.
    pub(super) fn takes_names(&self) -> bool {
        matches!(
            self.policy.action,
            ActionKind::Remove | ActionKind::Trash | ActionKind::Move
        )
    }
}

impl Plan {
    /// Decides the fate of each file of a set, and adds the set.
    pub(super) fn decide(&mut self, mut set: SetPlan, choice: &Choice) -> io::Result<()> {
        let settings = &self.settings;
        let action = settings.policy.action;
        settings.policy.decide(&mut set, choice);
        if action == ActionKind::Move {
            // A name cannot leave its file system; it would become a copy that takes more space.
            let files = set.files.iter_mut();
            for file in files.filter(|file| settings.destination != Some(file.volume.dev)) {
                file.names.iter_mut().for_each(|name| name.goes = false);
            }
        }
        if action == ActionKind::Hardlink {
            full::divide(&mut set);
        }
        self.mounts.set(&mut set, action, settings.trust_mounts);
        if action == ActionKind::Trash {
            self.trash.set(&mut set, &settings.home_trash);
        }
        estimate::estimate(&mut set, action, settings.destination);
        self.spool.push(&set)
    }
}
