//! Decides by a report of folders: files of one folder are removed if another folder has copies of them.

use std::collections::{BTreeSet, HashMap};

use super::name::Rank;
use super::set::{Fate, SetPlan};
use crate::action::bounds::Below;
use crate::action::reason::Code;
use crate::action::ways::folder_entry::parent;

/// Maximum number of copies in the other folder that are tried. The first one is enough, unless folders name each
/// other.
const TRIES: usize = 16;

/// Maximum length of a chain of folders of which each names the next one. In a longer chain, more files stay. The limit
/// bounds the stack.
const IN_A_ROW: usize = 64;

/// Folders whose files may be removed, each with the folder that has copies of these files.
#[derive(Clone, Debug, Default)]
pub struct FolderPairs {
    others: HashMap<Vec<u8>, Vec<Vec<u8>>>,
}

impl FolderPairs {
    /// Allows the removal of files below `folder` if a copy below `other` stays, or is itself removed for a copy that
    /// stays.
    pub fn add(&mut self, folder: &Below, other: &Below) {
        let others = self.others.entry(folder.path().to_vec()).or_default();
        others.push(other.path().to_vec());
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// The pairs whose first folder holds a path.
    fn of<'a>(&'a self, path: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let above = std::iter::successors(Some(parent(path)), |&at| {
            (!at.is_empty()).then(|| parent(at))
        });
        above.flat_map(|folder| {
            let others = self.others.get(folder).into_iter().flatten();
            others.map(move |other| (folder, other.as_slice()))
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CopyState {
    Open,
    /// It is not decided yet, so no other file may rely on it.
    UnderWay,
    Stays,
    /// The place of the file that stays for it.
    Goes(usize),
}

/// The files of one group during the decision.
struct Group<'a> {
    set: &'a SetPlan,
    pairs: &'a FolderPairs,
    /// All names, in order, each with the place of its file.
    names: Vec<(&'a [u8], usize)>,
    states: Vec<CopyState>,
}

impl FolderPairs {
    /// Decides about files of which each can replace each other. A file is removed only for one that stays.
    pub(super) fn decide(&self, set: &mut SetPlan, group: &[usize]) {
        let mut names: Vec<(&[u8], usize)> = Vec::new();
        for &index in group {
            let of_file = set.files[index].names.iter();
            names.extend(of_file.map(|name| (name.path(), index)));
        }
        names.sort_unstable();
        let mut deciding = Group {
            set,
            pairs: self,
            names,
            states: vec![CopyState::Open; set.files.len()],
        };
        for &index in group {
            deciding.settle(index, 0);
        }
        let states = deciding.states;
        let keepers: BTreeSet<usize> = states
            .iter()
            .filter_map(|state| match state {
                CopyState::Goes(keeper) => Some(*keeper),
                _ => None,
            })
            .collect();
        for &index in group {
            let file = &mut set.files[index];
            file.fate = match (states[index], file.hold()) {
                (CopyState::Goes(keeper), _) => Fate::Act { keeper, frees: 0 },
                (_, Some(hold)) => Fate::Keep(hold.into()),
                _ if keepers.contains(&index) => Fate::Keep(Code::CopyNeedsIt.into()),
                _ => Fate::Keep(Code::NoCopyThere.into()),
            };
        }
    }
}

impl Group<'_> {
    /// Decides about a file, after the files that it could be removed for.
    fn settle(&mut self, index: usize, depth: usize) -> CopyState {
        let file = &self.set.files[index];
        match self.states[index] {
            CopyState::Open => {}
            known => return known,
        }
        // The file stays as a whole if something holds one of its names.
        if file.hold().is_some() || depth == IN_A_ROW {
            self.states[index] = CopyState::Stays;
            return CopyState::Stays;
        }
        self.states[index] = CopyState::UnderWay;
        let keeper = self.keeper(index, depth);
        self.states[index] = keeper.map_or(CopyState::Stays, CopyState::Goes);
        self.states[index]
    }

    /// The file that stays for this one.
    fn keeper(&mut self, index: usize, depth: usize) -> Option<usize> {
        let (set, pairs) = (self.set, self.pairs);
        let names = &set.files[index].names;
        for (folder, other) in pairs.of(names[0].path()) {
            // A file that has a name elsewhere is not this folder's alone.
            if !names.iter().all(|name| lies_below(name.path(), folder)) {
                continue;
            }
            for place in self.starting(&[other, b"/"].concat()) {
                let (_, copy) = self.names[place];
                let (own, rank) = (set.files[index].rank(), set.files[copy].rank());
                // No file outside of a trash goes for a copy in one.
                if copy == index || rank == Rank::Leftover || rank > own {
                    continue;
                }
                let stays = match self.settle(copy, depth + 1) {
                    CopyState::Stays => copy,
                    CopyState::Goes(keeper) => keeper,
                    CopyState::Open | CopyState::UnderWay => continue,
                };
                let kept = &set.files[stays].names;
                if !kept.iter().any(|name| lies_below(name.path(), folder)) {
                    return Some(stays);
                }
            }
        }
        None
    }

    /// Places among the names of the first ones that start so.
    fn starting(&self, start: &[u8]) -> std::ops::Range<usize> {
        let first = self.names.partition_point(|&(path, _)| path < start);
        let names = self.names[first..].iter().take(TRIES);
        let count = names.take_while(|(path, _)| path.starts_with(start));
        first..first + count.count()
    }
}

fn lies_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.first() == Some(&b'/'))
}
