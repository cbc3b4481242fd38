//! Files that have reached the maximum number of names: the next file of their set stays, for the files that follow.

use std::collections::HashMap;

use super::set::{Fate, PlannedFile, SetPlan};
use crate::action::reason::Code;
use crate::sys::statfs;

/// Every file system allows this many names; no query is necessary below.
const FEW: u64 = 1000;

/// Keeps another file wherever the file that others become links to would exceed the maximum number of names of its
/// file system.
pub fn divide(set: &mut SetPlan) {
    divide_by(set, most_names);
}

fn divide_by(set: &mut SetPlan, most: impl Fn(&PlannedFile) -> Option<u64>) {
    // For each file that stays: what stands in for it now, and how many names that has.
    let mut stand_ins: HashMap<usize, (usize, u64)> = HashMap::new();
    let mut limits: HashMap<u64, Option<u64>> = HashMap::new();
    for place in 0..set.files.len() {
        let Fate::Act { keeper: first, .. } = set.files[place].fate else {
            continue;
        };
        let Some(kept) = set.files.get(first) else {
            continue;
        };
        let (keeper, names) = *stand_ins.get(&first).unwrap_or(&(first, kept.links));
        let more = names + set.files[place].names.len() as u64;
        let limit = match more > FEW {
            true => *limits.entry(kept.dev).or_insert_with(|| most(kept)),
            false => None,
        };
        match limit {
            Some(limit) if more > limit => {
                stand_ins.insert(first, (place, set.files[place].links));
                set.files[place].fate = Fate::Keep(Code::LinkLimit.about(limit.to_string()));
            }
            _ => {
                stand_ins.insert(first, (keeper, more));
                set.files[place].fate = Fate::Act { keeper, frees: 0 };
            }
        }
    }
}

fn most_names(file: &PlannedFile) -> Option<u64> {
    statfs::most_names(file.open()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(links: u64, fate: Fate) -> PlannedFile {
        PlannedFile {
            dev: 1,
            volume: Default::default(),
            shares_blocks: false,
            ino: 0,
            mtime_ns: 0,
            ctime_ns: 0,
            atime_ns: 0,
            links,
            allocated: 0,
            rights: Default::default(),
            names: vec![super::super::PlannedName {
                path: b"/x".to_vec(),
                listed: b"x".to_vec(),
                ..Default::default()
            }],
            fate,
        }
    }

    #[test]
    fn a_full_file_hands_over_to_the_next() {
        let act = || {
            file(
                1,
                Fate::Act {
                    keeper: 0,
                    frees: 0,
                },
            )
        };
        let kept = file(64_998, Fate::Keep(Code::Chosen.into()));
        let mut set = SetPlan {
            size: 1,
            digest: None,
            files: std::iter::once(kept).chain((0..5).map(|_| act())).collect(),
            ..SetPlan::default()
        };
        divide_by(&mut set, |_| Some(65_000));
        let keepers: Vec<_> = set
            .files
            .iter()
            .map(|file| match file.fate {
                Fate::Act { keeper, .. } => Some(keeper),
                _ => None,
            })
            .collect();
        assert_eq!(keepers, [None, Some(0), Some(0), None, Some(3), Some(3)]);
        let before = set.clone();
        divide_by(&mut set, |_| None);
        assert_eq!(set, before);
    }
}
