//! How much of the contents of a folder lies in the folders beside it and beside those above it.

use super::left::Left;
use super::seen::Content;

/// Places in which one content is looked up, at most: some contents have 100,000 copies.
const PLACES: usize = 256;

/// Where contents lie outside of a folder.
#[derive(Debug)]
pub struct Shares {
    /// In order: the highest folders that do not hold the folder, with the bytes of the contents that lie in each.
    /// Contents directly in a folder above are counted for that one, which holds the folder.
    pub of: Vec<(u32, u64)>,
    /// True if a content has more places than were looked at.
    pub bounded: bool,
}

/// Finds them; keeps its memory from one folder to the next.
#[derive(Debug)]
pub struct Sharing {
    /// By folder; zero between two questions.
    bytes: Vec<u64>,
    met: Vec<u32>,
}

impl Sharing {
    /// For a tree of so many folders.
    pub fn new(folders: u32) -> Self {
        Self {
            bytes: vec![0; folders as usize],
            met: Vec::new(),
        }
    }

    /// Adds up which of the contents lie where outside of `folder`.
    pub fn shares(&mut self, left: &Left<'_>, folder: u32, contents: &[Content]) -> Shares {
        let mut bounded = false;
        for &content in contents {
            bounded |= self.look_up(left, folder, content);
        }
        self.met.sort_unstable();
        let take = |at: u32| (at, std::mem::take(&mut self.bytes[at as usize]));
        let of = self.met.drain(..).map(take).collect();
        Shares { of, bounded }
    }

    /// Looks up one content; true if it has more places.
    fn look_up(&mut self, left: &Left<'_>, folder: u32, content: Content) -> bool {
        let run = left.seen.run();
        let (copies, size) = (left.seen.copies(content), left.seen.size(content));
        let mut next = 0;
        for _ in 0..PLACES {
            let Some(&at) = copies.get(next) else {
                return false;
            };
            let (place, end) = if run.holds(folder, at) {
                (None, run.below(folder).end)
            } else if let Some(end) = left.end_of_gone(at) {
                (None, end)
            } else {
                let apart = run
                    .upwards(at)
                    .take_while(|&above| !run.holds(above, folder));
                match apart.last() {
                    Some(place) => (Some(place), run.below(place).end),
                    None => (Some(at), at + 1),
                }
            };
            if let Some(place) = place {
                let bytes = &mut self.bytes[place as usize];
                if *bytes == 0 {
                    self.met.push(place);
                }
                *bytes += size;
            }
            next += past(&copies[next..], end);
        }
        next < copies.len()
    }
}

/// How many of sorted numbers lie below a limit; mostly few.
fn past(numbers: &[u32], limit: u32) -> usize {
    let near = &numbers[..numbers.len().min(8)];
    match near.iter().position(|&number| number >= limit) {
        Some(count) => count,
        None => near.len() + numbers[near.len()..].partition_point(|&number| number < limit),
    }
}
