//! Folders outside of one that hold a copy of everything below it.

use super::count::Places;
use super::left::Left;
use super::tallies::Tallies;
use super::tree::{Content, Folder, Tree};

/// Copies from which a home is looked for. Where a content has more, all others below the folder have more, too.
const COPIES: usize = 256;

/// Once one home is found, further ones are counted for this many looks at a content, and as many more as there are
/// contents below the folder, this many times. Reasoned, not swept.
const FURTHER_LOOKS: usize = 4096;
const FURTHER_TIMES: usize = 8;

/// The lowest folders that hold everything of another folder, which lies neither below nor above them.
#[derive(Debug)]
pub struct Homes {
    /// In order.
    pub folders: Vec<Folder>,
    /// How many there are.
    pub count: Places,
}

impl Homes {
    /// Looks for the homes of a folder in what is left of a tree.
    pub fn of(left: &Left<'_>, folder: Folder) -> Self {
        let tree = left.tree;
        let mut contents: Vec<(usize, Content)> = tree
            .contents_and_pairs_below(folder)
            .into_iter()
            .map(|content| {
                let here = tree.copies_below(content, folder).len();
                (tree.copies(content).len() - here, content)
            })
            .collect();
        // A folder lacks the rarest content most likely, so most of the others need not be looked at.
        contents.sort_unstable();
        let mut found: Vec<Folder> = Vec::new();
        let mut bounded = false;
        if let Some(&(1.., rarest)) = contents.first() {
            let mut further = FURTHER_LOOKS + FURTHER_TIMES * contents.len();
            for (tried, at) in left.outside(rarest, folder).enumerate() {
                if tried == COPIES || further == 0 {
                    bounded = true;
                    break;
                }
                found.extend(climb(left, folder, at, &contents));
                if !found.is_empty() {
                    further = further.saturating_sub(contents.len());
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        let folders = lowest(tree, &found);
        let count = Places {
            number: folders.len(),
            at_least: bounded,
        };
        Self { folders, count }
    }

    /// The lowest folders with the same contents as the folder, each as many times, that were seen as a whole. In order.
    pub fn alike(&self, left: &Left<'_>, folder: Folder) -> Vec<Folder> {
        let tree = left.tree;
        let files = tree.files_below(folder).len();
        let alike_above = |&home: &Folder| {
            // A home has a copy of each content. Further copies may lie above it.
            let mut at = home;
            while !tree.holds(at, folder) && tree.files_below(at).len() <= files {
                let is_left = tree.unanswered(at) == 0 && !left.is_touched(at);
                if is_left && same_contents(tree, folder, at) {
                    return Some(at);
                }
                at = tree.parent(at);
            }
            None
        };
        let mut alike: Vec<Folder> = self.folders.iter().filter_map(alike_above).collect();
        alike.sort_unstable();
        alike.dedup();
        alike
    }

    /// The smallest one, by bytes and then in order.
    pub fn smallest(&self, tallies: &Tallies) -> Option<Folder> {
        let key = |folder: &Folder| (tallies.get(*folder).bytes, *folder);
        self.folders.iter().copied().min_by_key(key)
    }
}

/// The lowest folder that holds a place and all contents, if it does not hold the folder itself.
fn climb(
    left: &Left<'_>,
    of: Folder,
    from: Folder,
    contents: &[(usize, Content)],
) -> Option<Folder> {
    let tree = left.tree;
    let mut home = from;
    if tree.holds(home, of) {
        return None;
    }
    for &(_, content) in contents {
        while !left.has_below(content, home) {
            home = tree.parent(home);
            if tree.holds(home, of) {
                return None;
            }
        }
    }
    Some(home)
}

/// Those of sorted folders that hold no other.
fn lowest(tree: &Tree, sorted: &[Folder]) -> Vec<Folder> {
    let next = sorted.iter().skip(1).map(Some).chain([None]);
    let lowest = sorted.iter().zip(next);
    let lowest =
        lowest.filter(|(folder, next)| next.is_none_or(|&next| !tree.holds(**folder, next)));
    lowest.map(|(&folder, _)| folder).collect()
}

/// True if two folders hold the same contents, each as many times.
pub fn same_contents(tree: &Tree, one: Folder, other: Folder) -> bool {
    if tree.files_below(one).len() != tree.files_below(other).len() {
        return false;
    }
    let contents = tree.contents_and_pairs_below(one);
    contents.into_iter().all(|content| {
        tree.copies_below(content, one).len() == tree.copies_below(content, other).len()
    })
}
