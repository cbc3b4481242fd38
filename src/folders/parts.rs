//! Where the contents of a folder lie that is found elsewhere, but not in one folder.

use super::left::Left;
use super::seen::Content;
use super::shares::Sharing;
use super::tallies::Tallies;
use super::verdict::{FolderVerdict, PartPlace, Places};

/// Places that are looked for, at most.
const PLACES: usize = 16;

/// So many of them are named.
const NAMED: usize = 3;

/// Finds places that together hold everything of a folder of which every content is also elsewhere in what is left: each
/// the one that holds most of what those before it lack.
pub fn in_parts(
    left: &Left<'_>,
    tallies: &Tallies,
    sharing: &mut Sharing,
    folder: u32,
) -> FolderVerdict {
    let (seen, run) = (left.seen, left.seen.run());
    let mut lacking = seen.contents_below(folder);
    let (mut largest, mut number, mut bounded) = (Vec::new(), 0, false);
    while !lacking.is_empty() && number < PLACES {
        let shares = sharing.shares(left, folder, &lacking);
        bounded |= shares.bounded;
        let most = shares.of.into_iter().rev().max_by_key(|&(_, bytes)| bytes);
        let Some((place, bytes)) = most else { break };
        let directly = run.holds(place, folder);
        let part = if directly {
            lacking.retain(|&content| seen.copies(content).binary_search(&place).is_err());
            place
        } else {
            let part = narrow(left, tallies, &lacking, place, bytes);
            lacking.retain(|&content| !left.has_below(content, part));
            part
        };
        number += 1;
        if number <= NAMED {
            largest.push(PartPlace {
                path: seen.path(part),
                bytes,
                directly,
            });
        }
    }
    FolderVerdict::InParts {
        places: Places {
            number,
            at_least: bounded || !lacking.is_empty(),
        },
        largest,
    }
}

/// The lowest folder in a place that holds as many bytes of the contents.
fn narrow(left: &Left<'_>, tallies: &Tallies, contents: &[Content], place: u32, bytes: u64) -> u32 {
    let here = contents.iter().copied();
    let here: Vec<Content> = here
        .filter(|&content| left.has_below(content, place))
        .collect();
    let run = left.seen.run();
    let mut lowest = place;
    // Most folders hold too little of anything.
    while let Some(child) = run
        .children(lowest)
        .filter(|&child| tallies.get(child).bytes >= bytes)
        .find(|&child| left.bytes_below(&here, child) == bytes)
    {
        lowest = child;
    }
    lowest
}
