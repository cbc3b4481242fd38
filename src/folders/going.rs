//! Which folders can go so that every content stays, if all of them go at once.
//!
//! Folders are looked at from the largest to the smallest, each against what is left without those found before. So a
//! folder goes because of a home that was looked at already, and stays. Of folders with the same contents all but one
//! can go: for what is looked at after them, the first one stays, and each other one would do as well.

use super::count::Places;
use super::forms::Forms;
use super::homes::{Homes, same_contents};
use super::left::Left;
use super::tallies::Tallies;
use super::tree::{Folder, Tree};
use super::verdict::{Finding, Question, Verdict};

/// Folders that can go.
pub struct Going<'t> {
    /// One folder, or several of which one has to stay. In order of size, the largest first.
    pub found: Vec<Vec<Finding>>,
    /// What is left if of several the first one stays.
    pub left: Left<'t>,
    /// What is left if all of several stay.
    pub sure: Left<'t>,
    /// All but the folders of which something was said.
    pub unsaid: Left<'t>,
}

/// What is looked at.
struct Search<'a, 't> {
    tree: &'t Tree,
    tallies: &'a Tallies,
    forms: &'a Forms,
    question: &'a Question<'a>,
}

impl<'t> Going<'t> {
    /// Finds them.
    pub fn of(tree: &'t Tree, tallies: &Tallies, forms: &Forms, question: &Question<'_>) -> Self {
        let search = Search {
            tree,
            tallies,
            forms,
            question,
        };
        let mut going = Self {
            found: Vec::new(),
            left: Left::all(tree),
            sure: Left::all(tree),
            unsaid: Left::all(tree),
        };
        let mut folders: Vec<Folder> = tree
            .folders()
            .filter(|&folder| tallies.get(folder).only_here == 0 && search.may_go(folder))
            .collect();
        // No folder is larger than the one that holds it.
        folders.sort_by_key(|&folder| (std::cmp::Reverse(tallies.get(folder).bytes), folder));
        for folder in folders {
            if !going.unsaid.is_touched(folder) {
                going.look_at(&search, folder);
            }
        }
        going
    }

    fn look_at(&mut self, search: &Search<'_, 't>, folder: Folder) {
        let homes = Homes::of(&self.left, folder);
        let copies = search.copies(&self.unsaid, folder, &homes);
        let findings: Vec<Finding> = if copies.len() > 1 {
            let of_copy = |&copy: &Folder| Finding {
                folder: copy,
                verdict: search.of_copy(&self.left, copy, &copies, homes.count.at_least),
            };
            copies.iter().map(of_copy).collect()
        } else {
            let verdict = search.of_one(&self.left, folder, &homes);
            let finding = verdict.map(|verdict| Finding { folder, verdict });
            self.sure.remove_all(&finding);
            finding.into_iter().collect()
        };
        self.unsaid.remove_all(&findings);
        self.left
            .remove_all(&findings[usize::from(copies.len() > 1)..]);
        if !findings.is_empty() {
            self.found.push(findings);
        }
    }
}

impl Left<'_> {
    fn remove_all<'f>(&mut self, findings: impl IntoIterator<Item = &'f Finding>) {
        findings
            .into_iter()
            .for_each(|finding| self.remove(finding.folder));
    }
}

impl Search<'_, '_> {
    /// True if it may be said of a folder that it can go.
    fn may_go(&self, folder: Folder) -> bool {
        let tally = self.tallies.get(folder);
        tally.contents > 0
            && tally.total_bytes >= self.question.min_bytes
            && self.tree.unanswered(folder) == 0
            && (self.question.wanted)(folder)
    }

    /// The folder and all others that hold the same and may go, in order: the topmost ones.
    fn copies(&self, unsaid: &Left<'_>, folder: Folder, homes: &Homes) -> Vec<Folder> {
        let (tree, this) = (self.tree, self.tallies.get(folder));
        let is_equal = |&at: &Folder| {
            let that = self.tallies.get(at);
            (that.contents, that.bytes) == (this.contents, this.bytes) && !tree.holds(at, folder)
        };
        let places = homes.folders.iter().copied();
        let mut copies: Vec<Folder> = places
            .chain(self.forms.same_as(folder))
            .filter(|&place| place != folder)
            .filter_map(|place| {
                let above = std::iter::successors(Some(place), |&at| Some(tree.parent(at)));
                let equal = above.take_while(is_equal);
                equal
                    .filter(|&at| self.may_go(at) && !unsaid.is_touched(at))
                    .last()
            })
            .chain([folder])
            .collect();
        copies.sort_unstable();
        copies.dedup();
        copies
    }

    /// The verdict on one of several folders that hold the same.
    fn of_copy(&self, left: &Left<'_>, copy: Folder, copies: &[Folder], at_least: bool) -> Verdict {
        if let Some(identical) = self.identical(left, copy) {
            return identical;
        }
        let mut others = copies.iter().copied().filter(|&other| other != copy);
        let count = Places {
            number: copies.len() - 1,
            at_least,
        };
        let alike = |&other: &Folder| same_contents(self.tree, copy, other);
        match others.clone().find(alike) {
            Some(with) => Verdict::SameContents { with, count },
            None => Verdict::Contained {
                inside: others.next().unwrap_or(copy),
                count,
            },
        }
    }

    /// The verdict on a folder that can go because of one that is left.
    fn of_one(&self, left: &Left<'_>, folder: Folder, homes: &Homes) -> Option<Verdict> {
        let inside = homes.smallest(self.tallies)?;
        if let Some(identical) = self.identical(left, folder) {
            return Some(identical);
        }
        let alike = homes.alike(left, folder);
        Some(match alike.first() {
            Some(&with) => Verdict::SameContents {
                with,
                count: Places {
                    number: alike.len(),
                    at_least: homes.count.at_least,
                },
            },
            None => Verdict::Contained {
                inside,
                count: homes.count,
            },
        })
    }

    fn identical(&self, left: &Left<'_>, folder: Folder) -> Option<Verdict> {
        let is_left = |other: &Folder| *other != folder && !left.is_touched(*other);
        let mut same = self.forms.same_as(folder);
        let number = same.len().saturating_sub(1);
        let with = same.find(is_left)?;
        Some(Verdict::Identical {
            with,
            count: Places {
                number,
                at_least: false,
            },
        })
    }
}
