//! Verdicts about folders: only about the topmost ones to which a verdict applies.

use super::beside::Beside;
use super::count::{Count, Percent};
use super::forms::Forms;
use super::homes::Homes;
use super::overlap::{Overlap, Search};
use super::parts::Parts;
use super::tallies::Tallies;
use super::tree::{Folder, Tree};

/// A verdict about a folder. "Elsewhere" is always outside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Other folders have the same names, structure, contents and targets of symbolic links. `with` is the first of
    /// them.
    Identical { with: Folder, count: Count },
    /// Another folder has the same contents, each as many times, in another layout or under other names.
    SameContents { with: Folder, count: Count },
    /// Another folder holds a copy of everything. `inside` is the smallest of them.
    Contained { inside: Folder, count: Count },
    /// Everything is found elsewhere, but not in one folder.
    InParts(Parts),
    /// Enough of it is also in another folder.
    Overlaps(Overlap),
    /// Everything that was seen is also elsewhere, but something was not seen. So nothing is said about the whole.
    NotFullySeen,
}

impl Verdict {
    /// The other folder, if there is one.
    pub fn other(&self) -> Option<Folder> {
        match self {
            Self::Identical { with, .. } | Self::SameContents { with, .. } => Some(*with),
            Self::Contained { inside, .. } => Some(*inside),
            Self::Overlaps(overlap) => Some(overlap.with),
            Self::InParts(_) | Self::NotFullySeen => None,
        }
    }

    /// True if everything in the folder is elsewhere, too.
    pub fn is_whole(&self) -> bool {
        !matches!(self, Self::Overlaps(_) | Self::NotFullySeen)
    }
}

/// A folder of which something can be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The folder.
    pub folder: Folder,
    /// The verdict.
    pub verdict: Verdict,
}

/// The requested verdicts.
pub struct Question<'a> {
    /// Folders of fewer bytes are passed over, with all below them.
    pub min_bytes: u64,
    /// How much of a folder has to be in another one.
    pub min_overlap: Percent,
    /// Which folders may get a line.
    pub wanted: &'a dyn Fn(Folder) -> bool,
}

/// Goes through all folders, from the top down, and no further where something was said.
pub fn findings(
    tree: &Tree,
    tallies: &Tallies,
    forms: &Forms,
    question: &Question<'_>,
) -> Vec<Finding> {
    let mut beside = Beside::new(tree);
    let search = Search {
        tree,
        tallies,
        least: question.min_overlap,
    };
    let mut found = Vec::new();
    // Below a folder that was not fully seen, only folders that were seen get a line.
    let mut told_until = 0;
    let mut next = 1;
    while (next as usize) < tree.len() {
        let folder = Folder(next);
        let tally = tallies.get(folder);
        if tally.contents == 0 || tally.total_bytes < question.min_bytes {
            next = tree.end(folder);
            continue;
        }
        let verdict = if !(question.wanted)(folder) {
            None
        } else if tree.unanswered(folder) > 0 {
            let tell = tally.only_here == 0 && next >= told_until;
            if tell {
                told_until = tree.end(folder);
            }
            tell.then_some(Verdict::NotFullySeen)
        } else if tally.only_here == 0 {
            Some(whole(tree, tallies, forms, &mut beside, folder))
        } else {
            search.run(&mut beside, folder).map(Verdict::Overlaps)
        };
        next = match &verdict {
            None | Some(Verdict::NotFullySeen) => next + 1,
            Some(_) => tree.end(folder),
        };
        found.extend(verdict.map(|verdict| Finding { folder, verdict }));
    }
    found
}

/// The verdict about a folder whose every content is also elsewhere.
fn whole(
    tree: &Tree,
    tallies: &Tallies,
    forms: &Forms,
    beside: &mut Beside,
    folder: Folder,
) -> Verdict {
    let mut same = forms.same_as(folder);
    if same.len() > 1 {
        let number = same.len() - 1;
        let at_least = false;
        let with = same.find(|&other| other != folder);
        let count = Count { number, at_least };
        let with = with.expect("of two, one is another one");
        return Verdict::Identical { with, count };
    }
    let homes = Homes::of(tree, folder);
    let alike = homes.alike(tree, folder);
    if let Some(&with) = alike.first() {
        let number = alike.len();
        let at_least = homes.count.at_least;
        let count = Count { number, at_least };
        return Verdict::SameContents { with, count };
    }
    match homes.smallest(tallies) {
        Some(inside) => Verdict::Contained {
            inside,
            count: homes.count,
        },
        None => Verdict::InParts(Parts::of(tree, tallies, beside, folder)),
    }
}
