//! All that is to be said about the folders of a tree: first which can go, then what is to be known of the others.

use std::cmp::Reverse;

use super::going::Going;
use super::left::Left;
use super::seen::Seen;
use super::shares::{Overlap, Search, Sharing};
use super::survey::{Finding, Forms, Survey, Tallies, Wanted};
use super::verdict::{CanGo, FolderEntry, FolderFinding, FolderGaps, FolderOverlap, FolderVerdict};

/// The answer of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    pub fn of(seen: &Seen<'_>, wanted: &Wanted) -> Self {
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

/// So many files or places are named of many.
const NAMED: usize = 3;

/// Looks at the topmost ones, and at those within them that are more like another folder.
fn others(survey: &Survey<'_>, going: &Going<'_>) -> Vec<Finding> {
    let (seen, run) = (survey.seen, survey.seen.run());
    let mut sharing = Sharing::new(run.folder_count());
    let search = Search {
        left: &Left::all(seen),
        tallies: &survey.tallies,
        least: survey.wanted.min_overlap,
    };
    let mut found = Vec::new();
    // Below a folder that was not fully seen, only folders that were seen get a line.
    let mut told_until = 0;
    // The overlaps of the folders above.
    let mut above: Vec<(u32, Overlap)> = Vec::new();
    let mut next = 0;
    while next < run.folder_count() {
        let folder = next;
        let end = run.below(folder).end;
        if survey.is_small(folder) || going.unsaid.end_of_gone(folder).is_some() {
            next = end;
            continue;
        }
        next += 1;
        above.retain(|&(above, _)| run.holds(above, folder));
        if !seen.is_listed(folder) {
            continue;
        }
        let is_elsewhere = survey.tallies.get(folder).only_here_bytes == 0;
        let verdict = if !seen.is_whole(folder) {
            let tell = is_elsewhere && folder >= told_until;
            if tell {
                told_until = end;
            }
            tell.then(|| not_fully_seen(seen, folder))
        } else if is_elsewhere && is_left_elsewhere(going, folder) {
            next = end;
            Some(FolderVerdict::InParts)
        } else {
            let overlap = search.run(&mut sharing, folder).filter(|overlap| {
                // What goes is no reason to let this one go.
                let stays = going.sure.end_of_gone(overlap.with).is_none();
                // The line about a folder above may say as much: that it is like another one, and so is all in both.
                let is_news = above.last().is_none_or(|(_, above)| {
                    !run.holds(above.with, overlap.with) && overlap.is_closer(above)
                });
                stays && is_news
            });
            above.extend(overlap.map(|overlap| (folder, overlap)));
            overlap.map(|overlap| overlaps(survey, folder, overlap))
        };
        found.extend(verdict.map(|verdict| Finding { folder, verdict }));
    }
    found
}

/// True if all contents of a folder are also left outside of it.
fn is_left_elsewhere(going: &Going<'_>, folder: u32) -> bool {
    let contents = going.left.seen.contents_below(folder);
    let mut contents = contents.into_iter();
    contents.all(|content| going.left.has_outside(content, folder))
}

fn not_fully_seen(seen: &Seen<'_>, folder: u32) -> FolderVerdict {
    let gaps = seen.gaps(folder);
    let named = gaps.iter().take(NAMED);
    FolderVerdict::NotFullySeen {
        unseen: FolderGaps {
            count: gaps.len(),
            first: named.map(|gap| (seen.path_of_gap(gap), gap.why)).collect(),
        },
    }
}

fn overlaps(survey: &Survey<'_>, folder: u32, overlap: Overlap) -> FolderVerdict {
    let seen = survey.seen;
    let is_only_here = |file: &usize| {
        let content = seen.content(*file);
        seen.copies(content).len() == seen.copies_below(content, folder)
    };
    let only_here: Vec<usize> = seen.files_below(folder).filter(is_only_here).collect();
    let bytes = only_here.iter().map(|&file| seen.size(seen.content(file)));
    let named = only_here.iter().take(NAMED);
    FolderVerdict::Overlaps {
        other: seen.path(overlap.with),
        overlap: FolderOverlap {
            shared: overlap.shared,
            of: survey.tallies.get(folder).bytes,
            only_here_files: only_here.len(),
            only_here_bytes: bytes.sum(),
            only_here: named.map(|&file| seen.path_of_file(file)).collect(),
            bounded: overlap.bounded,
        },
    }
}
