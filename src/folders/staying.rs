//! What is to be known of folders that cannot go.

use super::beside::Beside;
use super::going::Going;
use super::left::Left;
use super::overlap::{Overlap, Search};
use super::parts::Parts;
use super::tallies::Tallies;
use super::tree::{Folder, Tree};
use super::verdict::{Finding, Question, Verdict};

/// Looks at the topmost ones, and at those within them that are more like another folder.
pub fn others(
    tree: &Tree,
    tallies: &Tallies,
    going: &Going<'_>,
    question: &Question<'_>,
) -> Vec<Finding> {
    let mut beside = Beside::new(tree);
    let all = Left::all(tree);
    let search = Search {
        left: &all,
        tallies,
        least: question.min_overlap,
    };
    let mut found = Vec::new();
    // Below a folder that was not fully seen, only folders that were seen get a line.
    let mut told_until = 0;
    // The overlaps of the folders above.
    let mut above: Vec<(Folder, Overlap)> = Vec::new();
    let mut next = 1;
    while (next as usize) < tree.len() {
        let folder = Folder(next);
        let tally = tallies.get(folder);
        let is_small = tally.contents == 0 || tally.total_bytes < question.min_bytes;
        if is_small || going.unsaid.end_of_gone(folder).is_some() {
            next = tree.end(folder);
            continue;
        }
        next += 1;
        above.retain(|&(above, _)| tree.holds(above, folder));
        let verdict = if !(question.wanted)(folder) {
            None
        } else if tree.unanswered(folder) > 0 {
            let tell = tally.only_here_bytes == 0 && folder.0 >= told_until;
            if tell {
                told_until = tree.end(folder);
            }
            tell.then_some(Verdict::NotFullySeen)
        } else if tally.only_here_bytes == 0 && is_elsewhere(going, folder) {
            next = tree.end(folder);
            let parts = Parts::of(&going.left, tallies, &mut beside, folder);
            Some(Verdict::InParts(parts))
        } else {
            let overlap = search.run(&mut beside, folder);
            let overlap = overlap.filter(|overlap| {
                // What goes is no reason to let this one go.
                let stays = going.sure.end_of_gone(overlap.with).is_none();
                stays && is_news(tree, overlap, above.last())
            });
            above.extend(overlap.map(|overlap| (folder, overlap)));
            overlap.map(Verdict::Overlaps)
        };
        found.extend(verdict.map(|verdict| Finding { folder, verdict }));
    }
    found
}

/// True if all contents of a folder are also left outside of it.
fn is_elsewhere(going: &Going<'_>, folder: Folder) -> bool {
    let contents = going.left.tree.contents_below(folder);
    let mut contents = contents.into_iter();
    contents.all(|content| going.left.has_outside(content, folder))
}

/// True unless the line about a folder above says as much: that it is like another one, and so is all that lies in both.
fn is_news(tree: &Tree, overlap: &Overlap, above: Option<&(Folder, Overlap)>) -> bool {
    above.is_none_or(|(_, above)| {
        let (this, that) = (overlap.likeness(), above.likeness());
        !tree.holds(above.with, overlap.with) && this > that
    })
}
