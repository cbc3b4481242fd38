//! Takes claims, one set after the other, and decides the fate of each file.

use std::io;

use super::claim::{Claim, Origin};
use super::dangling::Dangling;
use super::decide::Choice;
use super::groups::{Groups, Together};
use super::inspector::Inspector;
use super::mount_check::MountCheck;
use super::set::SetPlan;
use super::settings::{FurtherNames, Settings, Sidecars};
use super::spool::Spool;
use super::totals::Totals;
use super::trash_check::TrashCheck;
use super::{Plan, classes, estimate, full};
use crate::action::ways::Ways;
use crate::action::{ActionKind, Common};
use crate::heartbeat::current;

/// What mounts and trash folders let go.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub mounts: MountCheck,
    pub trash: TrashCheck,
}

/// Plans sets, one after the other.
#[derive(Debug)]
pub struct Planner {
    settings: Settings,
    inspector: Inspector,
    ways: Ways,
    groups: Groups,
    checks: Checks,
    spool: Spool,
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
            checks: Checks::default(),
            settings,
            spool: Spool::new(),
        }
    }

    /// Sets the origin of the sets, once it is known; call it before the first set.
    pub fn set_origin(&mut self, origin: Origin) {
        self.settings.heed(&origin);
        self.inspector.set_origin(origin);
    }

    /// True if the plan removes names from their places.
    pub fn takes_names(&self) -> bool {
        self.settings.takes_names()
    }

    /// Plans for one set.
    pub fn add(&mut self, claim: Claim) -> io::Result<()> {
        let added = self.look_and_add(claim);
        current::rest();
        added
    }

    fn look_and_add(&mut self, claim: Claim) -> io::Result<()> {
        let mut set = self.inspector.look(claim);
        if self.settings.guards_ways {
            set.take_out_exposed(&mut self.ways);
        }
        // With a report of folders, a managed folder may go as a whole.
        if self.settings.policy.pairs.is_empty() {
            set.take_out_managed();
        } else if set.size == 0 {
            // Empty files of other folders are noise: they stay.
            set.files.retain(|file| file.managed().is_some());
        }
        let number = match self.settings.policy.by_name {
            true => set.files.iter().map(|file| file.names.len()).sum(),
            false => set.files.len(),
        };
        if number < 2 && set.left.is_empty() {
            return Ok(());
        }
        let same_metadata = self.settings.policy.same_metadata;
        if self.settings.policy.common == Common::Access || same_metadata {
            classes::look(&mut set, same_metadata);
        }
        if self.settings.sidecars == Sidecars::KeepTogether && self.settings.takes_names() {
            self.groups.look(&mut set);
        }
        self.settings
            .decide(&mut set, &Choice::ByRule, &mut self.checks);
        self.spool.push(&set)
    }

    /// Ends the plan.
    pub fn finish(self) -> io::Result<Plan> {
        let unmatched = self.inspector.unmatched();
        Plan {
            settings: Settings {
                bounds: self.inspector.bounds,
                ..self.settings
            },
            checks: self.checks,
            unmatched,
            spool: self.spool,
            together: Together::default(),
            whole: Default::default(),
            dangling: Dangling::default(),
            emptied: Vec::new(),
            totals: Totals::default(),
        }
        .summed_up()
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

    /// Decides the fate of each file of a set.
    pub(super) fn decide(&self, set: &mut SetPlan, choice: &Choice, checks: &mut Checks) {
        self.policy.decide(set, choice);
        if self.policy.action == ActionKind::Move {
            // A name cannot leave its file system; it would become a copy that takes more space.
            let files = set.files.iter_mut();
            for file in files.filter(|file| self.destination != Some(file.volume.dev)) {
                file.names.iter_mut().for_each(|name| name.goes = false);
            }
        }
        if self.policy.action == ActionKind::Hardlink {
            full::divide(set);
        }
        let action = self.policy.action;
        checks.mounts.set(set, action, self.trust_mounts);
        if action == ActionKind::Trash {
            checks.trash.set(set, &self.home_trash);
        }
        estimate::estimate(set, self.policy.action, self.destination);
    }
}
