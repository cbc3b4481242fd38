//! Puts the findings about folders together that belong to each other.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::forms::{Forms, Names};
use super::going::Going;
use super::staying::others;
use super::tallies::Tallies;
use super::tree::{Folder, Tree};
use super::verdict::{Finding, Question, Verdict};

/// One folder of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The result.
    pub finding: Finding,
    /// Bytes that are free once those of its files are gone that are elsewhere, too.
    pub gain: u64,
    /// What is nowhere else.
    pub only_here: OnlyHere,
}

/// The files of a folder whose contents are nowhere else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnlyHere {
    /// How many.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The first few.
    pub first: Vec<usize>,
}

/// Which folders of an entry can go. All of a report can go at once, and every content stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanGo {
    /// All of them.
    All,
    /// All but one.
    AllButOne,
    /// None of them.
    None,
}

/// Folders that are much the same, or one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which of them can go.
    pub can_go: CanGo,
    /// In order.
    pub members: Vec<Member>,
    /// Bytes that are free once those files are gone that are elsewhere, too; of several folders, in all but that of the
    /// largest gain.
    pub gain: u64,
}

/// So many files are named of many.
const NAMED: usize = 3;

/// Everything that is to be said about folders: first what can go, and the largest gain first. Folders that cannot go
/// and are generations of one tree are one entry.
pub fn entries(
    tree: &Tree,
    names: &impl Names,
    tallies: &Tallies,
    forms: &Forms,
    question: &Question<'_>,
) -> Vec<Entry> {
    let mut going = Going::of(tree, tallies, forms, question);
    let others = generations(others(tree, tallies, &going, question));
    let kind = |findings: &Vec<Finding>| match findings.len() {
        1 => CanGo::All,
        _ => CanGo::AllButOne,
    };
    let found = std::mem::take(&mut going.found).into_iter();
    let found = found.map(|findings| (kind(&findings), findings));
    let found = found.chain(others.into_iter().map(|findings| (CanGo::None, findings)));
    let mut entries: Vec<Entry> = found
        .map(|(can_go, findings)| {
            let members = findings.into_iter();
            let members = members.map(|finding| Member::of(tree, names, finding));
            let members: Vec<Member> = members.collect();
            let gains = members.iter().map(|member| member.gain);
            let stays = match members.len() {
                1 => 0,
                _ => gains.clone().max().unwrap_or(0),
            };
            let gain = gains.sum::<u64>() - stays;
            Entry {
                can_go,
                members,
                gain,
            }
        })
        .collect();
    entries.sort_by_key(|entry| {
        let first = entry.members[0].finding.folder;
        (entry.can_go == CanGo::None, Reverse(entry.gain), first)
    });
    entries
}

impl Member {
    fn of(tree: &Tree, names: &impl Names, finding: Finding) -> Self {
        let folder = finding.folder;
        let (mut gain, mut only_here) = (0, OnlyHere::default());
        if finding.verdict != Verdict::NotFullySeen {
            for file in tree.files_below(folder) {
                let content = tree.content(file);
                if tree.copies(content).len() == tree.copies_below(content, folder).len() {
                    only_here.files += 1;
                    only_here.bytes += tree.size(content);
                    if only_here.first.len() < NAMED {
                        only_here.first.push(file);
                    }
                } else if names.frees(file, folder) {
                    gain += tree.size(content);
                }
            }
        }
        Self {
            finding,
            gain,
            only_here,
        }
    }
}

/// Puts overlaps of generations of one tree together: enough of each is in another one.
fn generations(findings: Vec<Finding>) -> Vec<Vec<Finding>> {
    let overlap = |finding: &Finding| match &finding.verdict {
        Verdict::Overlaps(overlap) => Some(overlap.generation),
        _ => None,
    };
    let numbered = findings.iter().enumerate();
    let number: BTreeMap<Folder, usize> = numbered
        .filter(|(_, finding)| overlap(finding).is_some())
        .map(|(number, finding)| (finding.folder, number))
        .collect();
    let mut groups = Groups((0..findings.len()).collect());
    for (this, finding) in findings.iter().enumerate() {
        let other = overlap(finding).flatten();
        if let Some(&other) = other.and_then(|other| number.get(&other)) {
            groups.join(this, other);
        }
    }
    let mut entries: BTreeMap<usize, Vec<Finding>> = BTreeMap::new();
    for (number, finding) in findings.into_iter().enumerate() {
        entries.entry(groups.of(number)).or_default().push(finding);
    }
    entries.into_values().collect()
}

/// For each finding another one of its group with a lower number, or itself.
struct Groups(Vec<usize>);

impl Groups {
    fn of(&mut self, mut number: usize) -> usize {
        while self.0[number] != number {
            self.0[number] = self.0[self.0[number]];
            number = self.0[number];
        }
        number
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        let (low, high) = (one.min(other), one.max(other));
        self.0[high] = low;
    }
}
