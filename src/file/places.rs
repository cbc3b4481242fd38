//! Which folder and volume each file lies in. Files come in runs of one folder.

use super::{DevIndex, DirId};

/// Files `1 << SHIFT` apart share an entry that says which run they begin in.
const SHIFT: usize = 6;

/// Files one after the other with the same place.
#[derive(Clone, Copy, Debug)]
struct PlaceRun {
    first: u32,
    dir: DirId,
    volume: DevIndex,
}

/// A column of folders and volumes: 12 bytes for each run.
#[derive(Debug, Default)]
pub struct Places {
    len: usize,
    runs: Vec<PlaceRun>,
    /// The run of every `1 << SHIFT`-th file.
    starts: Vec<u32>,
}

impl Places {
    /// Adds one.
    pub fn push(&mut self, dir: DirId, volume: DevIndex) {
        let goes_on = |run: &PlaceRun| run.dir == dir && run.volume == volume;
        if !self.runs.last().is_some_and(goes_on) {
            self.runs.push(PlaceRun {
                first: self.len as u32,
                dir,
                volume,
            });
        }
        if self.len.is_multiple_of(1 << SHIFT) {
            self.starts.push(self.runs.len() as u32 - 1);
        }
        self.len += 1;
    }

    /// The one at this place.
    pub fn get(&self, i: usize) -> (DirId, DevIndex) {
        let start = self.starts[i >> SHIFT] as usize;
        let further = self.runs[start + 1..].iter();
        let further = further.take_while(|run| run.first as usize <= i);
        let run = self.runs[start + further.count()];
        (run.dir, run.volume)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of every length, also across the shared entries.
    #[test]
    fn each_file_has_the_place_it_came_with() {
        let mut places = Places::default();
        let mut expected = Vec::new();
        for run in 0..300_u32 {
            for _ in 0..run % 150 {
                let place = (DirId(run / 2), DevIndex((run % 3) as u16));
                places.push(place.0, place.1);
                expected.push(place);
            }
        }
        for (i, &place) in expected.iter().enumerate() {
            assert_eq!(places.get(i), place, "{i}");
        }
        assert!(places.runs.len() <= 300);
    }
}
