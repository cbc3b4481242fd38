//! Many generations of one tree are one entry.

use std::collections::BTreeMap;

use super::count::Percent;
use super::forms::{Forms, Names};
use super::tallies::Tallies;
use super::tree::{Folder, Tree};
use super::verdict::{Finding, Verdict};

/// One folder of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The result.
    pub finding: Finding,
    /// Bytes that would be free if it went: of files that are elsewhere, too.
    pub gain: u64,
}

/// Folders that are much the same, or one that is in others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// In order.
    pub members: Vec<Member>,
    /// Bytes that would be free if all of them went but one, that of the largest gain, where one is all that holds the
    /// others.
    pub gain: u64,
}

/// Puts findings together that are generations of one tree: at least `least` of each is in another one. Largest gain
/// first.
pub fn entries(
    tree: &Tree,
    names: &impl Names,
    tallies: &Tallies,
    forms: &Forms,
    least: Percent,
    findings: Vec<Finding>,
) -> Vec<Entry> {
    // Of a folder that was not fully seen nothing can go, so none goes in its place either.
    let places = findings.iter().enumerate();
    let places = places.filter(|(_, finding)| finding.verdict != Verdict::NotFullySeen);
    let number: BTreeMap<Folder, usize> = places
        .map(|(number, finding)| (finding.folder, number))
        .collect();
    let mut groups = Groups((0..findings.len()).collect());
    let mut by_form = BTreeMap::new();
    for (this, finding) in findings.iter().enumerate() {
        let other = match &finding.verdict {
            Verdict::Identical { .. } => {
                let form = forms.number(finding.folder);
                Some(*by_form.entry(form).or_insert(this))
            }
            verdict => {
                let generation = generation(tallies, least, finding.folder, verdict);
                generation.and_then(|other| number.get(&other).copied())
            }
        };
        if let Some(other) = other {
            groups.join(this, other);
        }
    }
    let mut entries: BTreeMap<usize, Entry> = BTreeMap::new();
    for (number, finding) in findings.into_iter().enumerate() {
        let gain = gain(tree, names, &finding);
        let entry = entries.entry(groups.of(number)).or_insert(Entry {
            members: Vec::new(),
            gain: 0,
        });
        entry.members.push(Member { finding, gain });
    }
    let mut entries: Vec<Entry> = entries.into_values().collect();
    for entry in &mut entries {
        let gains = entry.members.iter().map(|member| member.gain);
        let all: u64 = gains.clone().sum();
        let stays = match entry.members.len() {
            1 => 0,
            _ => gains.max().unwrap_or(0),
        };
        entry.gain = all - stays;
    }
    entries.sort_by_key(|entry| {
        let first = entry.members[0].finding.folder;
        (std::cmp::Reverse(entry.gain), first)
    });
    entries
}

/// The folder of which this one is another generation.
fn generation(
    tallies: &Tallies,
    least: Percent,
    folder: Folder,
    verdict: &Verdict,
) -> Option<Folder> {
    match verdict {
        Verdict::Contained { inside, .. } => {
            let (this, other) = (tallies.get(folder), tallies.get(*inside));
            least.is_met(this.bytes, other.bytes).then_some(*inside)
        }
        Verdict::SameContents { with, .. } => Some(*with),
        Verdict::Overlaps(overlap) => overlap.generation,
        Verdict::Identical { .. } | Verdict::InParts(_) | Verdict::NotFullySeen => None,
    }
}

/// Bytes of the files whose content is elsewhere, too.
fn gain(tree: &Tree, names: &impl Names, finding: &Finding) -> u64 {
    let folder = finding.folder;
    if finding.verdict == Verdict::NotFullySeen {
        return 0;
    }
    let files = tree.files_below(folder);
    let elsewhere = files.filter(|&file| {
        let content = tree.content(file);
        tree.copies(content).len() > tree.copies_below(content, folder).len()
    });
    let freed = elsewhere.filter(|&file| names.frees(file, folder));
    freed.map(|file| tree.size(tree.content(file))).sum()
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
