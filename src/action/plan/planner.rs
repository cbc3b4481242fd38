//! Takes claims, one set after the other, and decides the fate of each file.

use super::Plan;
use super::claim::{Claim, Origin};
use super::decide::{Choice, look_at_rights};
use super::groups::Groups;
use super::inspector::Inspector;
use super::settings::{Settings, Sidecars};
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
    pub fn add(&mut self, claim: Claim) {
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
        if number > 1 || !set.left.is_empty() {
            if policy.common == Common::Access || policy.same_metadata {
                look_at_rights(&mut set, policy.same_metadata);
            }
            if settings.sidecars == Sidecars::KeepTogether && settings.takes_names() {
                self.groups.look(&mut set);
            }
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

    /// Ends the plan.
    pub fn finish(mut self) -> Plan {
        self.plan.unmatched = self.inspector.unmatched();
        self.plan.settings.bounds = self.inspector.bounds;
        self.plan.sum_up();
        self.plan
    }
}
