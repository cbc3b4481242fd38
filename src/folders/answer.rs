//! All that is to be said about the folders of a tree.

use std::cmp::Reverse;

use super::forms::Forms;
use super::going::Going;
use super::seen::Seen;
use super::staying::others;
use super::survey::{Finding, Survey, Wanted};
use super::tallies::Tallies;
use super::verdict::{CanGo, FolderEntry, FolderFinding, FolderVerdict};

/// The answer of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldersAnswer {
    /// What can go first, and the largest gain first.
    pub entries: Vec<FolderEntry>,
    /// Folders that were looked at.
    pub folders: usize,
    /// Files whose content counts.
    pub files: usize,
}

impl FoldersAnswer {
    /// Finds out.
    pub fn of(seen: &Seen<'_>, wanted: &Wanted<'_>) -> Self {
        let survey = Survey {
            seen,
            tallies: Tallies::of(seen),
            forms: Forms::of(seen),
            wanted,
        };
        let mut going = Going::of(&survey);
        let staying = others(&survey, &going);
        let found = std::mem::take(&mut going.found).into_iter();
        let found = found.map(|findings| {
            let can_go = if findings.len() == 1 {
                CanGo::All
            } else {
                CanGo::AllButOne
            };
            (can_go, findings)
        });
        let staying = staying.into_iter();
        let found = found.chain(staying.map(|finding| (CanGo::None, vec![finding])));
        let mut entries: Vec<(u32, FolderEntry)> = found
            .map(|(can_go, findings)| (findings[0].folder, entry(&survey, can_go, findings)))
            .collect();
        entries.sort_by_key(|(first, entry)| {
            (entry.can_go == CanGo::None, Reverse(entry.gain), *first)
        });
        Self {
            entries: entries.into_iter().map(|(_, entry)| entry).collect(),
            folders: seen.run().folder_count() as usize,
            files: seen.file_count(),
        }
    }
}

fn entry(survey: &Survey<'_>, can_go: CanGo, findings: Vec<Finding>) -> FolderEntry {
    let folders = findings.into_iter();
    let folders = folders.map(|found| finding(survey, found.folder, found.verdict));
    let folders: Vec<FolderFinding> = folders.collect();
    let gains = folders.iter().map(|folder| folder.gain);
    let stays = match can_go {
        CanGo::AllButOne => gains.clone().max().unwrap_or(0),
        CanGo::All | CanGo::None => 0,
    };
    FolderEntry {
        can_go,
        gain: gains.sum::<u64>() - stays,
        folders,
    }
}

fn finding(survey: &Survey<'_>, folder: u32, verdict: FolderVerdict) -> FolderFinding {
    let seen = survey.seen;
    let files = seen.files_below(folder);
    let is_freed = |file: &usize| {
        let content = seen.content(*file);
        seen.copies(content).len() > seen.copies_below(content, folder) && seen.frees(*file, folder)
    };
    let gain = match verdict {
        FolderVerdict::NotFullySeen { .. } => 0,
        _ => {
            let freed = files.clone().filter(is_freed);
            freed.map(|file| seen.size(seen.content(file))).sum()
        }
    };
    FolderFinding {
        path: seen.path(folder),
        verdict,
        files: files.len(),
        bytes: survey.tallies.get(folder).total_bytes,
        gain,
        noise: seen.noise(folder),
        links: seen.links(folder),
    }
}
