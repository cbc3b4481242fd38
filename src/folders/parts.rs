//! Where the contents of a folder lie that is found elsewhere, but not in one folder.

use super::beside::{Beside, bytes_below};
use super::count::Places;
use super::left::Left;
use super::tallies::Tallies;
use super::tree::{Content, Folder};

/// Places that are looked for, at most.
const PLACES: usize = 16;

/// A place that holds some of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderPart {
    /// The lowest folder that holds these bytes.
    pub folder: Folder,
    /// Bytes of the contents that lie there and in no place named before, each content counted once.
    pub bytes: u64,
    /// True if only the files directly in the folder count: it holds the folder that was asked about.
    pub directly: bool,
}

/// Places that together hold everything, each the one that holds most of what those before it lack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The places.
    pub places: Vec<FolderPart>,
    /// How many it takes.
    pub count: Places,
}

impl Parts {
    /// Looks for the places of a folder of which every content is elsewhere in what is left, too.
    pub fn of(staying: &Left<'_>, tallies: &Tallies, beside: &mut Beside, folder: Folder) -> Self {
        let tree = staying.tree;
        let mut left = tree.contents_below(folder);
        let (mut places, mut bounded) = (Vec::new(), false);
        while !left.is_empty() && places.len() < PLACES {
            let shares = beside.shares(staying, folder, &left);
            bounded |= shares.bounded;
            let most = shares.of.into_iter().rev().max_by_key(|&(_, bytes)| bytes);
            let Some((place, bytes)) = most else { break };
            let directly = tree.holds(place, folder);
            let part = if directly {
                place
            } else {
                narrow(staying, tallies, &left, place, bytes)
            };
            let before = left.len();
            left.retain(|&content| {
                if directly {
                    tree.copies(content).binary_search(&part.0).is_err()
                } else {
                    !staying.has_below(content, part)
                }
            });
            debug_assert!(left.len() < before, "a place holds something");
            places.push(FolderPart {
                folder: part,
                bytes,
                directly,
            });
        }
        let count = Places {
            number: places.len(),
            at_least: bounded || !left.is_empty(),
        };
        Self { places, count }
    }
}

/// The lowest folder that holds as much.
fn narrow(
    staying: &Left<'_>,
    tallies: &Tallies,
    contents: &[Content],
    place: Folder,
    bytes: u64,
) -> Folder {
    let here = contents.iter().copied();
    let here: Vec<Content> = here
        .filter(|&content| staying.has_below(content, place))
        .collect();
    let mut lowest = place;
    while let Some(child) = staying
        .tree
        .children(lowest)
        // Most hold too little of anything.
        .filter(|&child| tallies.get(child).bytes >= bytes)
        .find(|&child| bytes_below(staying, &here, child) == bytes)
    {
        lowest = child;
    }
    lowest
}
