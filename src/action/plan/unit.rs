//! What stays or goes by itself: a file with all its names, or (`--hard-links`) each name of a file.

use super::set::{PlannedFile, PlannedName, Rank, SetPlan};
use crate::action::bounds::Hold;
use crate::action::keep::Traits;

/// The place of a file in its set, and of the name in the file if names count.
pub type Unit = (usize, Option<usize>);

/// The reason why a file with these names must stay; it stays as a whole if one of its names does.
pub fn hold(names: &[PlannedName]) -> Option<Hold> {
    let holds = names.iter().filter_map(|name| name.hold);
    holds.min_by_key(|hold| *hold as u8)
}

/// The preference for a file with these names: that for its best name.
pub fn rank(names: &[PlannedName]) -> Rank {
    let ranks = names.iter().map(PlannedName::rank);
    ranks.min().unwrap_or(Rank::Leftover)
}

/// True if other files may go because a file with these names stays.
pub fn is_relied_on(names: &[PlannedName]) -> bool {
    names.iter().any(PlannedName::is_relied_on)
}

impl PlannedFile {
    /// The reason why the file must stay; a file stays as a whole if one of its names does.
    pub fn hold(&self) -> Option<Hold> {
        hold(&self.names)
    }

    /// The preference for the file: that for its best name.
    pub fn rank(&self) -> Rank {
        rank(&self.names)
    }
}

impl SetPlan {
    /// These files, or all their names.
    pub(super) fn units(&self, files: &[usize], by_name: bool) -> Vec<Unit> {
        let units = files.iter().flat_map(|&file| {
            let names = if by_name {
                self.files[file].names.len()
            } else {
                1
            };
            (0..names).map(move |name| (file, by_name.then_some(name)))
        });
        units.collect()
    }

    /// The names of a unit.
    pub(super) fn names_of(&self, (file, name): Unit) -> &[PlannedName] {
        let names = &self.files[file].names;
        name.map_or(names, |name| &names[name..=name])
    }

    /// The properties of a unit that rules compare.
    pub(super) fn traits(&self, unit: Unit) -> Traits<'_> {
        let (file, name) = unit;
        let mut traits = self.traits_as(file, self.names_of(unit));
        traits.place.1 = name.filter(|_| self.is_ordered).unwrap_or(0);
        traits
    }
}
