//! Which folders can go so that every content stays, if all of them go at once.
//!
//! Folders are looked at from the largest to the smallest, each against what is left without those found before. So a
//! folder goes because of a home that was looked at already, and stays. Of folders with the same contents all but one
//! can go: for what is looked at after them, the first one stays, and each other one would do as well.

use std::cmp::Reverse;

use super::left::{Homes, Left};
use super::survey::{Finding, Survey};
use super::verdict::{FolderVerdict, Places};

/// Folders that can go.
pub struct Going<'s> {
    /// One folder, or several of which one has to stay. In order of size, the largest first.
    pub found: Vec<Vec<Finding>>,
    /// What is left if of several the first one stays.
    pub left: Left<'s>,
    /// What is left if all of several stay.
    pub sure: Left<'s>,
    /// All but the folders of which something was said.
    pub unsaid: Left<'s>,
}

impl<'s> Going<'s> {
    /// Finds them.
    pub fn of(survey: &Survey<'s>) -> Self {
        let all = Left::all(survey.seen);
        let mut going = Self {
            found: Vec::new(),
            left: all.clone(),
            sure: all.clone(),
            unsaid: all,
        };
        let tally = |folder| survey.tallies.get(folder);
        let folders = 0..survey.seen.run().folder_count();
        let mut folders: Vec<u32> = folders
            .filter(|&folder| tally(folder).only_here_bytes == 0 && may_go(survey, folder))
            .collect();
        // No folder is larger than the one that holds it.
        folders.sort_by_key(|&folder| (Reverse(tally(folder).bytes), folder));
        for folder in folders {
            if !going.unsaid.is_touched(folder) {
                going.look_at(survey, folder);
            }
        }
        going
    }

    fn look_at(&mut self, survey: &Survey<'_>, folder: u32) {
        let homes = Homes::of(&self.left, folder);
        let copies = copies(survey, &self.unsaid, folder, &homes);
        let findings: Vec<Finding> = if copies.len() > 1 {
            let of_copy = |&copy: &u32| Finding {
                folder: copy,
                verdict: of_copy(survey, &self.left, copy, &copies, homes.count.at_least),
            };
            copies.iter().map(of_copy).collect()
        } else {
            let verdict = of_one(survey, &self.left, folder, &homes);
            let finding = verdict.map(|verdict| Finding { folder, verdict });
            finding.into_iter().collect()
        };
        for (nth, finding) in findings.iter().enumerate() {
            self.unsaid.remove(finding.folder);
            if findings.len() == 1 {
                self.sure.remove(finding.folder);
            }
            if findings.len() == 1 || nth > 0 {
                self.left.remove(finding.folder);
            }
        }
        if !findings.is_empty() {
            self.found.push(findings);
        }
    }
}

/// True if it may be said of a folder that it can go.
fn may_go(survey: &Survey<'_>, folder: u32) -> bool {
    !survey.is_small(folder) && survey.seen.is_whole(folder) && survey.seen.is_listed(folder)
}

/// The folder and all others that hold the same and may go, in order: the topmost ones.
fn copies(survey: &Survey<'_>, unsaid: &Left<'_>, folder: u32, homes: &Homes) -> Vec<u32> {
    let run = survey.seen.run();
    let this = survey.tallies.get(folder);
    let is_equal = |&at: &u32| {
        let that = survey.tallies.get(at);
        (that.contents, that.bytes) == (this.contents, this.bytes) && !run.holds(at, folder)
    };
    let topmost = |place: u32| {
        let equal = run.upwards(place).take_while(is_equal);
        let equal = equal.filter(|&at| may_go(survey, at) && !unsaid.is_touched(at));
        equal.last()
    };
    let places = homes.folders.iter().chain(survey.forms.same_as(folder));
    let others = places.filter(|&&place| place != folder);
    let mut copies: Vec<u32> = others.filter_map(|&place| topmost(place)).collect();
    copies.push(folder);
    copies.sort_unstable();
    copies.dedup();
    copies
}

/// The verdict on one of several folders that hold the same.
fn of_copy(
    survey: &Survey<'_>,
    left: &Left<'_>,
    copy: u32,
    copies: &[u32],
    at_least: bool,
) -> FolderVerdict {
    if let Some(identical) = identical(survey, left, copy) {
        return identical;
    }
    let other = copies.iter().copied().find(|&other| other != copy);
    FolderVerdict::Contained {
        other: survey.seen.path(other.unwrap_or(copy)),
        places: Places {
            number: copies.len() - 1,
            at_least,
        },
    }
}

/// The verdict on a folder that can go because of one that is left.
fn of_one(
    survey: &Survey<'_>,
    left: &Left<'_>,
    folder: u32,
    homes: &Homes,
) -> Option<FolderVerdict> {
    let inside = homes.smallest(&survey.tallies)?;
    if let Some(identical) = identical(survey, left, folder) {
        return Some(identical);
    }
    Some(FolderVerdict::Contained {
        other: survey.seen.path(inside),
        places: homes.count,
    })
}

fn identical(survey: &Survey<'_>, left: &Left<'_>, folder: u32) -> Option<FolderVerdict> {
    let same = survey.forms.same_as(folder);
    let is_left = |&&other: &&u32| other != folder && !left.is_touched(other);
    let other = *same.iter().find(is_left)?;
    Some(FolderVerdict::Identical {
        other: survey.seen.path(other),
        places: Places {
            number: same.len() - 1,
            at_least: false,
        },
    })
}
